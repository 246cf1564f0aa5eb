"""Runs the functions named check_... of a script and prints what became of each, as JSON."""

import contextlib
import json
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest


@contextlib.contextmanager
def raises(kind: type[BaseException], sentence: str) -> Iterator[None]:
    """The block must raise exactly this type, and the sentence be part of its message."""
    with pytest.raises(kind) as caught:
        yield
    assert caught.type is kind
    assert sentence in str(caught.value)


def main(namespace: dict[str, Any]) -> None:
    outcome = {}
    checks: list[tuple[str, Callable[[], None]]] = [(n, f) for n, f in namespace.items() if n.startswith("check_")]
    for name, check in checks:
        try:
            check()
            outcome[name] = "passed"
        except Exception:
            outcome[name] = traceback.format_exc()
    json.dump(outcome, sys.stdout)

"""Calls a submission once a case while the virtual GPU counts: python counted_calls.py WATCHER CASES MODULE

It stands in for the task's evaluator, and has its result lines in test mode; to them comes `test.N.torch`: the
operations of torch that were called and are kernels of their own on a GPU, as JSON. CASES is a JSON file of pairs, a
case's line and the arguments of reference.generate_input. MODULE has the custom_kernel. A first call, which may
compile, choose among configs and fill caches, is not counted; before the second one the launch log gets
{"event": "call", "number": N}.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

# They hand out memory, or look at a tensor, without a kernel.
_NO_KERNEL = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_", "set_", "detach"}


def main(watcher: str, cases: str, module: str) -> None:
    sys.path[0] = os.getcwd()
    with os.fdopen(int(os.environ["POPCORN_FD"]), "w", buffering=1) as results:
        for number, (line, arguments) in enumerate(json.loads(Path(cases).read_text())):
            results.write(f"test.{number}.spec: {line}\n")
            operations = call(number, watcher, module, arguments)
            results.write(f"test.{number}.torch: {json.dumps(operations)}\ntest.{number}.status: pass\n")
        results.write("check: pass\n")


def call(number: int, watcher: str, module: str, arguments: dict[str, Any]) -> dict[str, int]:
    """The operations of torch that the counted call made."""
    from mxsub.virtual import WATCH_VARIABLE, launch_log

    custom_kernel = import_module(module).custom_kernel
    data = import_module("reference").generate_input(**arguments)
    custom_kernel(data)
    launch_log.record({"event": "call", "number": number})
    os.environ[WATCH_VARIABLE] = watcher
    try:
        return operations_of(lambda: custom_kernel(data))
    finally:
        del os.environ[WATCH_VARIABLE]


def operations_of(action: Callable[[], object]) -> dict[str, int]:
    """The operations of torch that an action makes, without those that only make memory or views."""
    from torch.utils._python_dispatch import TorchDispatchMode

    made: Counter[str] = Counter()
    mode: Any = TorchDispatchMode

    class Noting(mode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            name = function._schema.name.removeprefix("aten::")
            views = any(
                result.alias_info is not None and not result.alias_info.is_write for result in function._schema.returns
            )
            if not views and name not in _NO_KERNEL:
                made[name] += 1
            return function(*args, **(kwargs or {}))

    with Noting():
        action()
    return dict(made)


if __name__ == "__main__":
    main(*sys.argv[1:])

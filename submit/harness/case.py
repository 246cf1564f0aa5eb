"""A case of a task, and the line that it is in a case file and in an evaluator's results."""

import re
from typing import Any

Case = dict[str, int | bool | str]
_INTEGER = re.compile(r"-?[0-9]{1,40}")


def case_line(case: Case) -> str:
    """A case as a line of a case file: `m: 8; n: 2112; k: 7168; seed: 124`."""
    return "; ".join(
        f"{key}: {str(value).lower() if isinstance(value, bool) else value}" for key, value in case.items()
    )


def parse_case(line: str) -> dict[str, Any]:
    """A spec line back as a dict, integers as such; its keys may be in any order (the server sorts them)."""
    case: dict[str, Any] = {}
    for part in line.split(";"):
        key, _, value = (piece.strip() for piece in part.partition(":"))
        if key:
            case[key] = int(value) if _INTEGER.fullmatch(value) else {"true": True, "false": False}.get(value, value)
    return case

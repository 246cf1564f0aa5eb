"""The routes under /_fake/ by which somebody at a keyboard turns faults on and looks at the rows."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .faults import FAULTS
from .rows import Row
from .shown import iso, score_text
from .wire import Answer

if TYPE_CHECKING:
    from .bot import FakeKernelBot


def control(bot: "FakeKernelBot", method: str, path: str, query: Mapping[str, Sequence[str]]) -> Answer:
    """One request: GET rows, requests or faults, POST faults/NAME?times=N&on=ROUTE, DELETE faults.

    times: a number, or `always`. on: as of FakeKernelBot.set_fault.
    """
    match (method, *path.removeprefix("/_fake/").split("/")):
        case ("GET", "rows"):
            return _answer([_row(row) for row in bot.rows])
        case ("GET", "requests"):
            return _answer([f"{received.method} {received.path}" for received in bot.requests])
        case ("GET", "faults"):
            table = {name: fault.description for name, fault in FAULTS.items()}
            return _answer({"on": bot.faults, "known": table})
        case ("DELETE", "faults"):
            bot.clear_faults()
            return _answer({"on": bot.faults})
        case ("POST", "faults", name) if name in FAULTS:
            times = query.get("times", ["1"])[0]
            if times != "always" and not times.isdecimal():
                return _answer({"detail": f"times is a number or `always`, not {times!r}"}, 400)
            bot.set_fault(name, None if times == "always" else int(times), query.get("on", [""])[0])
            return _answer({"on": bot.faults})
        case _:
            return _answer({"detail": f"nothing here for {method} {path}"}, 404)


def _row(row: Row) -> dict[str, object]:
    return {
        "id": row.id,
        "user": row.user,
        "leaderboard": row.leaderboard,
        "gpu": row.gpu,
        "mode": row.mode,
        "file_name": row.file_name,
        "created": iso(row.created.timestamp()),
        "done": row.done,
        "status": row.status,
        "error": row.error,
        "runs": [
            {"mode": run.mode, "secret": run.secret, "passed": run.passed, "score": score_text(run.score)}
            for run in row.runs
        ],
        "code": row.code,
    }


def _answer(value: object, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value, indent=1).encode())

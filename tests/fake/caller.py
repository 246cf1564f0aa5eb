"""A user of the fake who speaks plain HTTP, for the tests of the fake itself."""

import json
import time
from collections.abc import Callable
from typing import Any, TypeVar

import requests

from tests.fake_kernelbot import FakeKernelBot

TEXT = b"#!POPCORN leaderboard amd-mxfp4-mm\n#!POPCORN gpu MI355X\n\ndef custom_kernel(data):\n    return data\n"
BACKGROUND = "/submission/amd-mxfp4-mm/MI355X/"
STREAMING = "/amd-mxfp4-mm/MI355X/"
BANNED_WORD = (
    "Your code contains work on another stream. This is not allowed and may result in your disqualification. "
    "If you think this is a mistake, please contact us."
)
MISSING_FILE = '{"detail":[{"type":"missing","loc":["body","file"],"msg":"Field required","input":null}]}'


class Caller:
    """A user of the fake who speaks plain HTTP."""

    def __init__(self, bot: FakeKernelBot, name: str) -> None:
        self.bot = bot
        self.headers = {"X-Popcorn-Cli-Id": bot.add_user(name)}

    def get(self, path: str) -> requests.Response:
        return requests.get(self.bot.url + path, headers=self.headers, timeout=5)

    def post(self, path: str, text: bytes = TEXT, name: str = "sub.py", timeout: float = 5) -> requests.Response:
        files = {"file": (name, text)}
        return requests.post(self.bot.url + path, headers=self.headers, files=files, timeout=timeout)

    def final(self, number: int = 1) -> dict[str, Any]:
        return eventually(
            lambda: self.get(f"/user/submissions/{number}").json(), lambda row: row["job"]["status"] in FINAL
        )


T = TypeVar("T")
FINAL = ("succeeded", "failed", "timed_out", "hacked")


def eventually(look: Callable[[], T], good: Callable[[T], bool]) -> T:
    end = time.monotonic() + 20
    while not good(seen := look()):
        assert time.monotonic() < end, seen
        time.sleep(0.01)
    return seen


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    """(name, data) of each event of a well-formed stream."""
    blocks = [block.split("\n") for block in text.split("\n\n") if block]
    return [(lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))) for lines in blocks]

"""The fake and one user of it."""

from collections.abc import Iterator

import pytest

from tests.fake.caller import Caller
from tests.fake_kernelbot import FakeKernelBot


@pytest.fixture
def bot() -> Iterator[FakeKernelBot]:
    with FakeKernelBot(run_seconds=0.1, heartbeat_seconds=0.03, gap_seconds=1.0, slow_accept_seconds=0.5) as bot:
        yield bot


@pytest.fixture
def ada(bot: FakeKernelBot) -> Caller:
    return Caller(bot, "ada")

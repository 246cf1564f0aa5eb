"""A desk for the tests of posting: a history, the fake service, and a pace that does not wait for long."""

from pathlib import Path

from mxsub.submit.history import History
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.kernelbot import CliId, KernelBot, Patience, RateLimited
from mxsub.submit.posting.pace import Pace
from mxsub.submit.posting.sending import Desk
from mxsub.submit.posting.submitting import Submitted, hand_in, see_through
from tests.fake_kernelbot import FakeKernelBot

BOARD, GPU = "amd-mxfp4-mm", "MI355X"
TEXT = "#!POPCORN leaderboard amd-mxfp4-mm\n#!POPCORN gpu MI355X\n\ndef custom_kernel(data):\n    return data  # é\n"
QUICK = Patience(retries=1, backoff=0.01, get_timeout=2.0, post_timeout=1.0, stream_timeout=3.0, stream_silence=1.0)
PACE = Pace(poll=0.03, grace=0.4, settle=0.3, outage=0.5, queue=10.0, silence=300.0, running=0.8, pending=0.8)


class TestDesk:
    """What one user sees of one fake service. told: every sentence that the user was shown."""

    __test__ = False

    def __init__(self, folder: Path, bot: FakeKernelBot, user: str = "ada", pace: Pace = PACE) -> None:
        cli_id = CliId(bot.add_user(user))
        self.told: list[str] = []
        self.history = History.open(folder)
        self.desk = Desk(self.history, KernelBot(bot.url, cli_id, QUICK), pace, self.told.append, lambda _: None)

    def begin(self, mode: str = "test", text: str = TEXT) -> SubmissionRecord:
        """An attempt on record, as `mxsub submit` makes it."""
        sha256 = self.history.versions.record(text).sha256
        return self.history.submissions.begin(
            sha256,
            service=self.desk.bot.base_url,
            account=self.desk.account,
            leaderboard=BOARD,
            gpu=GPU,
            mode=mode,
            file_name="sub.py",
        )

    def carry_out(self, record: SubmissionRecord) -> Submitted:
        """From the attempt, however far it is, to its verdict."""
        return see_through(self.desk, hand_in(self.desk, record, refuse_to_wait), lambda *_: None)

    def known(self, record: SubmissionRecord) -> SubmissionRecord:
        """The attempt as the history has it."""
        return self.history.submissions.get(record.uid)


def refuse_to_wait(limit: RateLimited) -> None:
    """A user who did not ask for --wait-for-slot."""
    raise limit

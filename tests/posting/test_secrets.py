"""What may never be kept or shown: the service's secret seed and runs, and the user's id."""

import pytest

from mxsub.submit.crash import keep_traceback
from mxsub.submit.kernelbot import CliId, KernelBot, KernelBotError, Patience
from tests.contestant import ACCEPTED, MODES, POLL, Contestant
from tests.fake_kernelbot import SECRET_MARKER, SECRET_SEED, FakeKernelBot


def assert_nothing_leaked(ada: Contestant, shown: str) -> None:
    """Neither in what was shown nor in any file but the id's own. Of the id, the middle is looked for."""
    secrets = [str(SECRET_SEED), SECRET_MARKER, ada.cli_id[4:-4]]
    for secret in secrets:
        assert secret not in shown
    files = ada.kept()
    assert ada.cli_id.encode() in files.pop(str(ada.yaml))
    for path, content in files.items():
        for secret in secrets:
            assert secret.encode() not in content, path


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_a_submission(ada: Contestant, bot: FakeKernelBot, mode: str, json_too: tuple[str, ...]) -> None:
    file = ada.write(ACCEPTED, *MODES)
    with ada.history() as history:
        # As long as somebody reads, the write-ahead log stays.
        history.submissions.latest()
        done = ada.run("submit", file, "--mode", mode, "--yes", *json_too, *POLL)
        assert done.exit_code == 0
        assert bot.rows[0].runs
        assert [run.secret for run in bot.rows[0].runs].count(True) == (3 if mode == "leaderboard" else 0)
        files = ada.kept()
        assert any(path.endswith("-wal") and b"passed" in content for path, content in files.items())
        assert_nothing_leaked(ada, done.output)
        whoami = ada.run("whoami", *json_too)
        assert f"{ada.cli_id[:4]}…{ada.cli_id[-4:]}" in whoami.stdout
        assert_nothing_leaked(ada, whoami.output)


TROUBLES = [
    ("secret-failed", "leaderboard"), ("failed", "leaderboard"), ("crash", "profile"), ("hacked", "profile"),
    ("sse-cut", "profile"), ("sse-malformed", "profile"), ("sse-error", "profile"), ("http-401", "test"),
    ("http-413", "leaderboard"), ("malformed-json", "leaderboard"), ("redirect", "leaderboard"),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "mode"), TROUBLES)
def test_trouble(ada: Contestant, bot: FakeKernelBot, fault: str, mode: str) -> None:
    bot.set_fault(fault)
    done = ada.run("submit", ada.write(ACCEPTED, *MODES), "--mode", mode, "--yes", *POLL)
    resumed = ada.run("submit", "--resume", "--json", *POLL)
    assert_nothing_leaked(ada, done.output + resumed.output)


def test_a_traceback_that_is_kept(ada: Contestant, bot: FakeKernelBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every kind of failure, with all that it was raised from."""
    monkeypatch.setenv("HOME", str(ada.home))
    monkeypatch.setenv("XDG_STATE_HOME", str(ada.home / "state"))
    with KernelBot(bot.url, CliId(ada.cli_id), Patience(retries=0, post_timeout=0.3, get_timeout=0.3)) as client:
        for fault in ("http-500", "malformed-json", "wrong-types", "cut-after-accept", "no-answer", "redirect"):
            bot.set_fault(fault)
            with pytest.raises(KernelBotError) as caught:
                client.submit("amd-mxfp4-mm", "MI355X", "test", "sub.py", ACCEPTED.encode())
            assert "Traceback" in keep_traceback(caught.value).read_text()
            assert_nothing_leaked(ada, f"{caught.value!r} {vars(caught.value)}")


def test_the_boards_seed_is_not_read(bot: FakeKernelBot, ada: Contestant) -> None:
    with KernelBot(bot.url) as client:
        boards = client.leaderboards()
    assert boards[0].task is not None
    assert str(SECRET_SEED) not in repr(boards)

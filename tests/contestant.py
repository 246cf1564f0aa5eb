"""A contestant at a command line: a project, a home with an id, and the fake service, for the tests of commands."""

import os
import pty
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from click.testing import CliRunner, Result

from mxsub.cli import main
from mxsub.submit.history import History
from mxsub.submit.history.codec import now
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.new_project import create_project
from tests.fake_kernelbot import FakeKernelBot
from tests.posting_desk import BOARD, GPU

MXSUB = [sys.executable, "-c", "from mxsub.cli import main; main()"]

# Lint accepts it, and no GPU is needed to see that.
ACCEPTED = f"#!POPCORN leaderboard {BOARD}\n#!POPCORN gpu {GPU}\n\ndef custom_kernel(data):\n    return data\n"
MODES = ("test", "benchmark", "leaderboard", "profile")
POLL = ("--poll", "0.05")


class Contestant:
    """One user of one fake service, in a project folder and a home folder of their own."""

    def __init__(self, folder: Path, bot: FakeKernelBot, user: str = "ada") -> None:
        self.bot = bot
        self.home = folder / "home"
        self.project = folder / "project"
        self.home.mkdir(parents=True)
        create_project(self.project)
        self.cli_id = bot.add_user(user)
        self.yaml = self.home / ".popcorn.yaml"
        self.yaml.write_text(f"cli_id: {self.cli_id}\n")
        self.environment = {
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "POPCORN_API_URL": bot.url,
            "MXSUB_RETRIES": "0",
            "COLUMNS": "200",
        }

    def write(self, text: str = ACCEPTED, *modes: str, name: str = "sub.py") -> Path:
        """A submission's file that has passed `mxsub test` in these modes."""
        path = self.project / name
        path.write_bytes(text.encode())
        self.record_passed(text, *modes)
        return path

    def record_passed(self, text: str, *modes: str, gpu: str = GPU) -> None:
        """What `mxsub test` leaves in the history, without its minutes on the virtual GPU."""
        with self.history() as history:
            for mode in modes:
                history.runs.record(
                    history.versions.record(text).sha256,
                    started=now(), task=BOARD, mode=mode, whole=True, gpu=gpu, virtual=True, triton="3.6.0",
                    outcome="passed", geometric_mean=None, detail={},
                )  # fmt: skip

    def history(self) -> History:
        return History.open(self.project)

    def records(self) -> list[SubmissionRecord]:
        """The attempts in the history, the latest first."""
        with self.history() as history:
            return history.submissions.latest()

    def run(self, *arguments: object, typed: str | None = None) -> Result:
        """A command in this process, where nobody watches; no traceback of mxsub's is ever shown."""
        runner = CliRunner(env=self.environment)
        result = runner.invoke(main, self.line(*arguments), input=typed, prog_name="mxsub")
        assert result.exit_code in (0, 1, 2, 3, 4, 130), result.output
        assert 'cli.py", line' not in result.output
        return result

    def start(self, *arguments: object, before: Callable[[], None] | None = None) -> subprocess.Popen[str]:
        """A command as a process of its own. before: called in it before it starts."""
        return subprocess.Popen(
            [*MXSUB, *self.line(*arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            text=True, env=os.environ | self.environment, preexec_fn=partial(_prepare, before),
        )  # fmt: skip

    def at_terminal(self, *arguments: object) -> "Terminal":
        """A command as a process whose user watches and types."""
        return Terminal([*MXSUB, *self.line(*arguments)], os.environ | self.environment)

    def line(self, *arguments: object) -> list[str]:
        """The arguments, with the project's folder where the command has one."""
        words = [str(argument) for argument in arguments]
        return words if words[0] in ("register", "whoami", "join") else [*words, "--project", str(self.project)]

    def kept(self) -> dict[str, bytes]:
        """Every file in the home and the project, by path."""
        return {
            str(path): path.read_bytes()
            for folder in (self.home, self.project)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


class Terminal:
    """A process on a pseudo-terminal. shown: all that it wrote so far."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            command, env=environment | {"TERM": "xterm"}, preexec_fn=partial(_prepare, partial(os.login_tty, slave))
        )
        os.close(slave)
        self.shown = ""

    def read_until(self, text: str, seconds: float = 60.0) -> None:
        """Until the text was shown."""
        ends = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < ends, self.shown
            if not self._read():
                raise AssertionError(f"it ended without {text!r}: {self.shown}")

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def wait(self) -> int:
        """The exit code, once all that it wrote is read."""
        ends = time.monotonic() + 60
        while self._read():
            assert time.monotonic() < ends, self.shown
        os.close(self._master)
        return self.process.wait(60)

    def _read(self) -> bool:
        if not select.select([self._master], [], [], 1.0)[0]:
            return self.process.poll() is None
        try:
            found = os.read(self._master, 4096)
        except OSError:  # all writers have closed it
            return False
        self.shown += found.decode("utf-8", "replace")
        return bool(found)


def _prepare(before: Callable[[], None] | None) -> None:
    """Ctrl-C works, also where the tests run in the background; for a process about to start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if before is not None:
        before()


def no_files() -> None:
    """No file may be written any more, as on a full disk; for a process about to start."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

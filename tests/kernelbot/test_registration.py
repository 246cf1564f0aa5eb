"""Registering: the old id stays until the new one works, and an interrupted registration goes on."""

import base64
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from mxsub.submit.errors import UsageError
from mxsub.submit.kernelbot import (
    CliId,
    KernelBot,
    KernelBotError,
    Patience,
    login_url,
    read_cli_id,
    register,
    write_cli_id,
)
from tests.fake_kernelbot import FakeKernelBot

UUID = "a13f62d3-4416-453a-a130-88c568d39682"
QUICK = Patience(retries=0, backoff=0.01, get_timeout=5)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def bot(home: Path) -> Iterator[FakeKernelBot]:
    with FakeKernelBot() as fake:
        yield fake


def state_of(url: str) -> dict[str, object]:
    state = dict(parse_qsl(urlsplit(url).query))["state"]
    told = json.loads(base64.urlsafe_b64decode(state + "=" * (-len(state) % 4)))
    assert isinstance(told, dict)
    return told


def test_login_pages() -> None:
    told = base64.urlsafe_b64encode(f'{{"cli_id":"{UUID}","is_reset":false}}'.encode()).decode().rstrip("=")
    assert login_url("discord", CliId(UUID), False) == (
        "https://discord.com/oauth2/authorize?client_id=1361364685491802243&response_type=code"
        "&redirect_uri=https%3A%2F%2Fsite--bot--dxfjds728w5v.code.run%2Fauth%2Fcli%2Fdiscord"
        f"&scope=identify&state={told}"
    )
    assert login_url("github", CliId(UUID), False) == (
        f"https://github.com/login/oauth/authorize?client_id=Ov23lieFd2onYk4OnKIR&state={told}"
        "&redirect_uri=https%3A%2F%2Fsite--bot--dxfjds728w5v.code.run%2Fauth%2Fcli%2Fgithub"
    )
    assert state_of(login_url("github", CliId(UUID), True)) == {"cli_id": UUID, "is_reset": True}
    with pytest.raises(UsageError, match="gitlab"):
        login_url("gitlab", CliId(UUID), False)


def test_the_new_id_is_written_once_it_works(bot: FakeKernelBot, home: Path) -> None:
    write_cli_id(CliId(UUID))
    during: list[object] = []

    def log_in(url: str) -> None:
        during.append(read_cli_id())
        pending = home / "state" / "mxsub" / "registration.json"
        during.append(stat.S_IMODE(pending.stat().st_mode))
        bot.finish_login(str(state_of(url)["cli_id"]), user="ada")

    with KernelBot(bot.url, patience=QUICK) as client:
        new = register(client, "github", False, log_in, poll_seconds=0.01)
        assert client.accepts(new)
    assert during == [CliId(UUID), 0o600]
    assert read_cli_id() == new != CliId(UUID)
    assert not list((home / "state" / "mxsub").iterdir())


def test_an_unfinished_login_keeps_the_old_id_and_goes_on(bot: FakeKernelBot) -> None:
    write_cli_id(CliId(UUID))
    pages: list[str] = []
    with KernelBot(bot.url, patience=QUICK) as client:
        for _ in range(2):
            with pytest.raises(KernelBotError, match="not finished within") as caught:
                register(client, "github", False, pages.append, poll_seconds=0.01, limit_seconds=0.05)
        assert read_cli_id() == CliId(UUID)
        assert pages[0] == pages[1]
        secret = str(state_of(pages[0])["cli_id"])
        assert secret not in f"{caught.value} {caught.value.hint}"
        bot.finish_login(secret, user="ada")
        assert register(client, "github", False, pages.append) == CliId(secret) == read_cli_id()
        assert len(pages) == 2
        # Finished: the next one is a new one.
        with pytest.raises(KernelBotError):
            register(client, "github", True, pages.append, poll_seconds=0.01, limit_seconds=0.02)
        assert state_of(pages[2]) != state_of(pages[0])


def test_another_provider_begins_anew(bot: FakeKernelBot) -> None:
    pages: list[str] = []
    with KernelBot(bot.url, patience=QUICK) as client:
        for provider in ("github", "discord"):
            with pytest.raises(KernelBotError):
                register(client, provider, False, pages.append, poll_seconds=0.01, limit_seconds=0.02)
    assert state_of(pages[0]) != state_of(pages[1])


def test_a_service_that_is_away_for_a_while_is_waited_for(bot: FakeKernelBot) -> None:
    def log_in(url: str) -> None:
        bot.finish_login(str(state_of(url)["cli_id"]), user="ada")
        bot.set_fault("http-500", times=3)

    with KernelBot(bot.url, patience=QUICK) as client:
        assert register(client, "github", False, log_in, poll_seconds=0.01) == read_cli_id()


def test_a_broken_file_is_found_before_a_new_id_is_asked_for(bot: FakeKernelBot, home: Path) -> None:
    (home / ".popcorn.yaml").write_text("a: [")
    with KernelBot(bot.url, patience=QUICK) as client, pytest.raises(UsageError):
        register(client, "github", False, print)
    assert bot.requests == []


def test_a_killed_registration_goes_on_with_the_same_id(bot: FakeKernelBot, home: Path) -> None:
    script = (
        "import sys; from mxsub.submit.kernelbot import KernelBot, register\n"
        "register(KernelBot(sys.argv[1]), 'github', False, lambda url: print(url, flush=True), poll_seconds=0.05)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script, bot.url], stdout=subprocess.PIPE, text=True, env=os.environ)
    assert child.stdout is not None
    first = child.stdout.readline().strip()
    time.sleep(0.1)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert read_cli_id() is None
    with KernelBot(bot.url, patience=QUICK) as client:
        new = register(
            client, "github", False, lambda url: bot.finish_login(str(state_of(url)["cli_id"])), poll_seconds=0.01
        )
    assert new.secret == state_of(first)["cli_id"]
    assert read_cli_id() == new

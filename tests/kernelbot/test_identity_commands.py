"""`mxsub register`, `whoami` and `join` as a contestant types them."""

import base64
import json
import re
import signal
import stat
import subprocess
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest

from mxsub.submit.kernelbot import DEFAULT_URL, CliId, service_url
from tests.contestant import Contestant
from tests.fake_kernelbot import INVITE_CODE, FakeKernelBot

OLD = "00000000-1111-2222-3333-444444444444"


@pytest.fixture
def bot() -> Iterator[FakeKernelBot]:
    with FakeKernelBot() as fake:
        yield fake


def login_page(process: "subprocess.Popen[str]") -> tuple[str, dict[str, object]]:
    """The address that the user is shown, and what its state says."""
    assert process.stdout is not None
    assert process.stdout.readline() == "Log in here; the address is for you alone:\n"
    url = process.stdout.readline().strip()
    state = dict(parse_qsl(urlsplit(url).query))["state"]
    told = json.loads(base64.urlsafe_b64decode(state + "=" * (-len(state) % 4)))
    assert isinstance(told, dict)
    return url, told


def masked(cli_id: object) -> str:
    return str(CliId(str(cli_id)))


@pytest.mark.parametrize(("provider", "host"), [("discord", "discord.com"), ("github", "github.com")])
def test_registering_and_registering_again(ada: Contestant, bot: FakeKernelBot, provider: str, host: str) -> None:
    """The file keeps all that is not the id, and the old id until the login is finished."""
    for arguments, again in (((), False), (("--again",), True)):
        before = f"# mine\neditor: vim  # quoted\ncli_id: {OLD}  # the id\nlist: [1, 2]\n"
        ada.yaml.write_text(before)
        ada.yaml.chmod(0o644)
        process = ada.start("register", provider, "--no-browser", *arguments)
        url, told = login_page(process)
        assert (urlsplit(url).hostname, told["is_reset"]) == (host, again)
        assert ada.yaml.read_text() == before
        bot.finish_login(str(told["cli_id"]), "grace", provider)
        out, said = process.communicate(timeout=60)
        assert (process.returncode, said) == (0, "")
        assert f"registered: the service knows the id {masked(told['cli_id'])}, which is in {ada.yaml}\n" in out
        assert str(told["cli_id"]) not in out
        assert ada.yaml.read_text() == before.replace(OLD, str(told["cli_id"]))
        assert stat.S_IMODE(ada.yaml.stat().st_mode) == 0o600


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_login_that_is_broken_off_keeps_the_old_id(ada: Contestant, bot: FakeKernelBot, end: signal.Signals) -> None:
    before = ada.yaml.read_text()
    process = ada.start("register", "github", "--no-browser", "--again")
    _, told = login_page(process)
    process.send_signal(end)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == ((130, "interrupted\n") if end == signal.SIGINT else (-signal.SIGKILL, ""))
    assert ada.yaml.read_text() == before
    assert ada.run("whoami").exit_code == 0
    # The login is finished after all: the next `register` finds that, and asks for no other.
    bot.finish_login(str(told["cli_id"]), "ada", "github")
    done = ada.run("register", "github", "--no-browser", "--again")
    assert done.exit_code == 0
    assert "Log in here" not in done.output
    assert ada.yaml.read_text() == f"cli_id: {told['cli_id']}\n"


@pytest.mark.parametrize("content", ["a: [1\n", f"cli_id: {OLD}\n- x\n", f"- {OLD}\n", f"cli_id: '{OLD}\n"])
def test_a_broken_file_is_one_sentence_and_stays(ada: Contestant, bot: FakeKernelBot, content: str) -> None:
    ada.yaml.write_text(content)
    for arguments in (("register", "github", "--no-browser"), ("whoami",), ("join", "x")):
        done = ada.run(*arguments)
        assert done.exit_code == 2
        assert re.fullmatch(
            rf"error: {re.escape(str(ada.yaml))}:\d+:\d+: .*\nThe file was left as it is: .*\n", done.stderr
        )
        assert OLD[4:-4] not in done.output
    assert ada.yaml.read_text() == content
    assert bot.requests == []


def test_a_home_that_cannot_be_written_loses_no_login(ada: Contestant, bot: FakeKernelBot) -> None:
    """The finished login is kept, and the next `register` has it at once."""
    process = ada.start("register", "github", "--no-browser")
    _, told = login_page(process)
    process.kill()
    process.communicate(timeout=60)
    bot.finish_login(str(told["cli_id"]), "grace")
    ada.yaml.unlink()
    ada.environment["HOME"] = str(ada.home / "missing")
    done = ada.run("register", "github", "--no-browser")
    assert done.exit_code == 3
    assert "missing/.popcorn.yaml: cannot be written: No such file or directory" in done.stderr
    ada.environment["HOME"] = str(ada.home)
    assert ada.run("register", "github", "--no-browser").exit_code == 0
    assert ada.yaml.read_text() == f"cli_id: {told['cli_id']}\n"


def test_whoami(ada: Contestant, bot: FakeKernelBot) -> None:
    nobody = json.loads(ada.run("whoami", "--json").stdout)
    assert nobody == {"service": bot.url, "cli_id": masked(ada.cli_id), "user": None}
    assert "your name is not known" in ada.run("whoami").stdout
    bot.add_submission("grace", "# g\n")
    bot.add_submission("ada", "# a\n")
    assert ada.run("whoami").stdout == f"{bot.url} knows the id {masked(ada.cli_id)}: ada\n"
    assert json.loads(ada.run("whoami", "--json").stdout)["user"] == "ada"
    # What goes wrong after the id is known costs the name only.
    bot.set_fault("http-500-detail", None, "GET /gpus")
    assert json.loads(ada.run("whoami", "--json").stdout)["user"] is None


@pytest.mark.parametrize("arguments", [("whoami",), ("whoami", "--json"), ("join", INVITE_CODE)])
def test_who_is_not_registered(ada: Contestant, bot: FakeKernelBot, arguments: tuple[str, ...]) -> None:
    for content, requests in ((f"cli_id: {OLD}\n", 1), ("cli_id: null\n", 0), ("cli_id:\n", 0), ("", 0)):
        bot.requests.clear()
        ada.yaml.write_text(content)
        done = ada.run(*arguments)
        assert (done.exit_code, done.stdout) == (4, "")
        assert "KernelBot refused (401): " in done.stderr
        assert "Run `mxsub register github` or `mxsub register discord`" in done.stderr
        assert OLD[4:-4] not in done.stderr
        assert len(bot.requests) == requests


def test_join(ada: Contestant, bot: FakeKernelBot) -> None:
    for code, said in (("wrong", r"KernelBot refused \(400\): Invalid invite code"), ("", "Missing required field")):
        done = ada.run("join", code)
        assert done.exit_code == 4
        assert re.search(said, done.stderr)
    for _ in range(2):
        assert ada.run("join", INVITE_CODE).stdout == "open to you: amd-invited\n"
    ada.yaml.write_text(f"cli_id: {bot.add_user('grace')}\n")
    done = ada.run("join", INVITE_CODE)
    assert done.exit_code == 4
    assert "This invite code has already been claimed" in done.stderr


def test_an_empty_address_is_the_public_services(monkeypatch: pytest.MonkeyPatch) -> None:
    for empty in ("", "  "):
        monkeypatch.setenv("POPCORN_API_URL", empty)
        assert service_url() == service_url("") == DEFAULT_URL
    monkeypatch.setenv("POPCORN_API_URL", "http://127.0.0.1:9//")
    assert service_url() == "http://127.0.0.1:9"


@pytest.mark.parametrize("url", ["http://kernelbot.example", "ftp://localhost", "nowhere", "https://me@host"])
def test_an_address_that_would_show_the_id(ada: Contestant, url: str) -> None:
    for arguments in (("whoami",), ("join", "x"), ("register", "github", "--no-browser")):
        done = ada.run(*arguments, "--api-url", url)
        assert done.exit_code == 2
        assert "--api-url" in done.stderr

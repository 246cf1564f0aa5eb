"""Registering: a new id, a login in the browser, and the new id in place of the old one only once it works."""

import base64
import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, get_args
from urllib.parse import quote

import platformdirs

from mxsub.submit.errors import EnvironmentProblem, UsageError
from mxsub.submit.kernelbot.client import KernelBot
from mxsub.submit.kernelbot.errors import ConnectionCut, KernelBotError, ServiceFault, Unreachable
from mxsub.submit.kernelbot.identity import CliId, read_cli_id, write_cli_id
from mxsub.submit.replacing import replaced

Provider = Literal["discord", "github"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)

# The service throws away unfinished registrations that are older.
LIMIT_SECONDS = 600.0
POLL_SECONDS = 2.0

# Both are production's, whatever service is talked to: the providers know no other address.
_REDIRECT = "https://site--bot--dxfjds728w5v.code.run/auth/cli/"
_DISCORD = "https://discord.com/oauth2/authorize?client_id=1361364685491802243&response_type=code"
_GITHUB = "https://github.com/login/oauth/authorize?client_id=Ov23lieFd2onYk4OnKIR"


def login_url(provider: str, cli_id: CliId, again: bool) -> str:
    """The page where the user logs in. It holds the id, so it is for the user's eyes only: never log it.

    again: the account was registered before. Raises UsageError for an unknown provider.
    """
    told = json.dumps({"cli_id": cli_id.secret, "is_reset": again}, separators=(",", ":"))
    state = base64.urlsafe_b64encode(told.encode()).rstrip(b"=").decode()
    redirect = quote(_REDIRECT + _checked(provider), safe="")
    if provider == "discord":
        return f"{_DISCORD}&redirect_uri={redirect}&scope=identify&state={state}"
    return f"{_GITHUB}&state={state}&redirect_uri={redirect}"


def register(
    bot: KernelBot,
    provider: str,
    again: bool,
    on_url: Callable[[str], None],
    *,
    poll_seconds: float = POLL_SECONDS,
    limit_seconds: float = LIMIT_SECONDS,
) -> CliId:
    """Waits until the user has logged in, then writes the new id over the old one, and returns it.

    An unfinished registration is kept, so that one that was interrupted goes on with the same id.
    on_url: called with the login page's address; not where the login turns out to be finished already.
    Raises UsageError for an unknown provider or a broken identity file, before anything is asked for; ConnectionCut
    and its kind where the login is not finished within limit_seconds, with the old id as it was.
    """
    current = read_cli_id()
    _checked(provider)
    pending = _Pending.read()
    if pending is not None and (pending.cli_id == current or not pending.fits(bot.base_url, provider)):
        pending = None
    if pending is not None and bot.accepts(pending.cli_id):
        return _finished(pending.cli_id)
    if pending is None or pending.again != again or pending.age > LIMIT_SECONDS:
        pending = _Pending(bot.base_url, provider, again, bot.start_registration(provider), time.time())
        pending.write()
    on_url(login_url(provider, pending.cli_id, again))
    _wait(bot, pending.cli_id, poll_seconds, limit_seconds)
    return _finished(pending.cli_id)


@dataclass(frozen=True)
class _Pending:
    """A registration under way. started: seconds since 1970."""

    service: str
    provider: str
    again: bool
    cli_id: CliId
    started: float

    @classmethod
    def read(cls) -> Self | None:
        """The one that was left unfinished; None where there is none that makes sense."""
        try:
            told = json.loads(_pending_path().read_bytes())
            return cls(
                str(told["service"]),
                str(told["provider"]),
                bool(told["again"]),
                CliId(str(told["cli_id"])),
                float(told["started"]),
            )
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None

    def write(self) -> None:
        path = _pending_path()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentProblem(f"{path.parent}: cannot be made: {error.strerror}") from None
        told = {
            "service": self.service,
            "provider": self.provider,
            "again": self.again,
            "cli_id": self.cli_id.secret,
            "started": self.started,
        }
        with replaced(path, mode=0o600, error=EnvironmentProblem) as file:
            file.write(json.dumps(told).encode())

    def fits(self, service: str, provider: str) -> bool:
        return (self.service, self.provider) == (service, provider)

    @property
    def age(self) -> float:
        """Seconds; without end where the clock has been set back since."""
        seconds = time.time() - self.started
        return seconds if seconds >= 0 else float("inf")


def _pending_path() -> Path:
    return platformdirs.user_state_path("mxsub") / "registration.json"


def _checked(provider: str) -> str:
    if provider not in PROVIDERS:
        raise UsageError(f"there is no login with {provider!r}", f"Logins: {', '.join(PROVIDERS)}.")
    return provider


def _wait(bot: KernelBot, cli_id: CliId, poll_seconds: float, limit_seconds: float) -> None:
    """Until the service takes the id. A service that is away for a while is waited for as well."""
    ends = time.monotonic() + limit_seconds
    while True:
        trouble: KernelBotError | None = None
        try:
            if bot.accepts(cli_id):
                return
        except (Unreachable, ConnectionCut, ServiceFault) as error:
            trouble = error
        if time.monotonic() + poll_seconds > ends:
            break
        time.sleep(poll_seconds)
    if trouble is not None:
        raise trouble
    raise KernelBotError(
        f"the login was not finished within {limit_seconds:g} s; your id is as it was",
        "Run the same command again for a new login page; an account that was registered before needs --again.",
        may_have_arrived=False,
    )


def _finished(cli_id: CliId) -> CliId:
    """Written first and forgotten second, so that a kill in between loses nothing."""
    write_cli_id(cli_id)
    with suppress(OSError):
        _pending_path().unlink()
    return cli_id

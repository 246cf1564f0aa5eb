"""Which service a command talks to, and who is asking."""

import hashlib
from dataclasses import dataclass

from mxsub.submit.kernelbot import (
    CliId,
    KernelBot,
    KernelBotError,
    NotRegistered,
    Patience,
    SubmissionEntry,
    read_cli_id,
    service_url,
)
from mxsub.submit.plain_text import one_line

SHORTEST_FINGERPRINT = 16


@dataclass(frozen=True)
class Identity:
    """Who the service takes this machine's user for. user: the name in the rankings; None for who is in none."""

    service: str
    cli_id: CliId
    user: str | None

    @property
    def sentence(self) -> str:
        name = one_line(self.user or "") or "your name is not known, as it is in no ranking that could be read"
        return f"{self.service} knows the id {self.cli_id}: {name}"

    def to_dict(self) -> dict[str, object]:
        return {"service": self.service, "cli_id": str(self.cli_id), "user": self.user}


def account_of(cli_id: CliId | None) -> str:
    """What the history keeps of an id: 16 hexadecimal digits of its hash, which lead back to nobody's id. "" for no
    id."""
    if cli_id is None:
        return ""
    return hashlib.sha256(cli_id.secret.encode()).hexdigest()[:SHORTEST_FINGERPRINT]


def open_service(api_url: str | None, patience: Patience | None = None) -> KernelBot:
    """The service as the registered user sees it; close it.

    Raises NotRegistered where there is no id on this machine, UsageError for an address or identity file that cannot
    be used.
    """
    address = service_url(api_url)
    cli_id = read_cli_id()
    if cli_id is None:
        raise NotRegistered(401, "there is no KernelBot id here")
    return KernelBot(address, cli_id, patience or Patience.from_environment())


def identify(bot: KernelBot) -> Identity:
    """Asks the service whether it knows the id, and for the user's name.

    No route tells the name, so it is looked up in the ranking of the board that the user submitted to last; where that
    cannot be read, the name stays unknown. Raises NotRegistered where the service does not know the id.
    """
    if bot.cli_id is None:
        raise NotRegistered(401, "there is no KernelBot id here")
    entries = bot.submissions(limit=1)
    return Identity(bot.base_url, bot.cli_id, _name(bot, entries[0]) if entries else None)


def _name(bot: KernelBot, entry: SubmissionEntry) -> str | None:
    try:
        user_id = bot.submission(entry.id).user_id
        for gpu in bot.gpus(entry.leaderboard_name):
            for ranked in bot.ranking(entry.leaderboard_name, gpu):
                if user_id is not None and ranked.user_id == user_id:
                    return ranked.user_name
    except KernelBotError:
        # The id works, which is what was asked.
        return None
    return None

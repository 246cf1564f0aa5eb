"""KernelBot's routes as methods."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Self, TypeVar
from urllib.parse import quote

import requests
from pydantic import TypeAdapter

from mxsub.submit.kernelbot.answers import (
    Accepted,
    Health,
    Joined,
    Leaderboard,
    LoginStarted,
    RankingEntry,
    RunnerQueue,
    SubmissionCount,
    SubmissionDetail,
    SubmissionEntry,
)
from mxsub.submit.kernelbot.decoding import decoded, validated
from mxsub.submit.kernelbot.errors import BadAnswer, NotFound, NotRegistered
from mxsub.submit.kernelbot.identity import CliId
from mxsub.submit.kernelbot.results import Streamed
from mxsub.submit.kernelbot.stream import read_result
from mxsub.submit.kernelbot.transport import Patience, Transport

Answer = TypeVar("Answer")

_ACCEPTED = TypeAdapter(Accepted)
_DETAIL = TypeAdapter(SubmissionDetail)
_ENTRIES = TypeAdapter(list[SubmissionEntry])
_LEADERBOARDS = TypeAdapter(list[Leaderboard])
_GPUS = TypeAdapter(list[str])
_QUEUE = TypeAdapter(RunnerQueue)
_RANKING = TypeAdapter(list[RankingEntry])
_COUNT = TypeAdapter(SubmissionCount)
_JOINED = TypeAdapter(Joined)
_LOGIN = TypeAdapter(LoginStarted)
_HEALTH = TypeAdapter(Health)

# The most that the service lists at once.
PAGE = 100


class KernelBot:
    """A service and, where it is known, who is asking.

    base_url: as `service_url` gives it; UsageError for one that it would refuse.
    Every method raises KernelBotError's subclasses, NotRegistered among them where it needs an id and has none.
    """

    def __init__(self, base_url: str, cli_id: CliId | None = None, patience: Patience | None = None) -> None:
        self.patience = patience or Patience()
        self.cli_id = cli_id
        self._transport = Transport(base_url, self.patience)

    @property
    def base_url(self) -> str:
        """The service's address, without a slash at its end."""
        return self._transport.base_url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connections."""
        self._transport.close()

    def submit(self, leaderboard: str, gpu: str, mode: str, file_name: str, text: bytes) -> Accepted:
        """Hands in a file to be run in the background. Never sent twice: where the error's `may_have_arrived` is
        true, look among `submissions` first."""
        path = _path("submission", leaderboard, gpu, mode)
        response = self._transport.call("POST", path, cli_id=self._id(), file=_file(file_name, text))
        return _answer(_ACCEPTED, response, "the submission")

    def submit_streaming(
        self,
        leaderboard: str,
        gpu: str,
        mode: str,
        file_name: str,
        text: bytes,
        on_status: Callable[[float], None] | None = None,
    ) -> Streamed:
        """Hands in a file and stays until its result is there; leaving early cancels the run. Never sent twice.

        on_status: called with the seconds elapsed, about every 15 s.
        """
        path = _path(leaderboard, gpu, mode)
        with self._transport.stream(path, cli_id=self._id(), file=_file(file_name, text)) as response:
            return read_result(response, self.patience, on_status)

    def submission(self, submission_id: int) -> SubmissionDetail:
        """One submission of the user's, its code and public runs included."""
        what = f"submission {submission_id}"
        response = self._transport.call("GET", _path("user", "submissions", str(submission_id)), cli_id=self._id())
        value = decoded(response.content, what)
        if isinstance(value, dict):
            value["seen_at"] = _date(response)
        return validated(_DETAIL, value, what)

    def submissions(self, leaderboard: str | None = None, limit: int = 50, offset: int = 0) -> list[SubmissionEntry]:
        """The user's submissions, newest first. limit: 1 to 100."""
        query: dict[str, str | int] = {"limit": limit, "offset": offset}
        if leaderboard is not None:
            query["leaderboard"] = leaderboard
        response = self._transport.call("GET", "/user/submissions", cli_id=self._id(), query=query)
        return _answer(_ENTRIES, response, "the list of submissions")

    def submission_pages(self, leaderboard: str, limit: int | None = None) -> Iterator[list[SubmissionEntry]]:
        """The user's submissions to a board, newest first, a page a request; `limit` of them, or all."""
        offset = 0
        while limit is None or offset < limit:
            wanted = PAGE if limit is None else min(PAGE, limit - offset)
            page = self.submissions(leaderboard, limit=wanted, offset=offset)
            yield page
            if len(page) < wanted:
                return
            offset += wanted

    def delete(self, submission_id: int) -> None:
        """Deletes a submission with its runs, at work or not; frees its place in the rate limit."""
        try:
            self._transport.call("DELETE", _path("user", "submissions", str(submission_id)), cli_id=self._id())
        except NotFound as error:
            # Sent again after its answer was lost, it finds that the first one has worked.
            if error.tries == 1:
                raise

    def leaderboards(self) -> list[Leaderboard]:
        """Every leaderboard with its task; the secret seed is left out as the answer is decoded."""
        return _answer(_LEADERBOARDS, self._transport.call("GET", "/leaderboards"), "the list of leaderboards")

    def gpus(self, leaderboard: str) -> list[str]:
        """The GPUs of a leaderboard. A closed one asks for the id of somebody who has joined."""
        response = self._transport.call("GET", _path("gpus", leaderboard), cli_id=self.cli_id)
        return _answer(_GPUS, response, "the list of GPUs")

    def runner_queue(self, gpu: str) -> RunnerQueue:
        """How busy a GPU's runners are; "unavailable" for a GPU that the service does not have. It costs the service
        a call to GitHub, so ask seldom."""
        return _answer(_QUEUE, self._transport.call("GET", _path("runner_queue", gpu)), "the runners' queue")

    def ranking(self, leaderboard: str, gpu: str, limit: int | None = None, offset: int = 0) -> list[RankingEntry]:
        """The ranking, best first; all of it without a limit."""
        query: dict[str, str | int] = {"offset": offset}
        if limit is not None:
            query["limit"] = limit
        path = _path("submissions", leaderboard, gpu)
        return _answer(_RANKING, self._transport.call("GET", path, cli_id=self.cli_id, query=query), "the ranking")

    def submission_count(self, leaderboard: str, gpu: str, user_id: str | None = None) -> int:
        """How many users are ranked, or with user_id how many ranked runs that user has."""
        query = {} if user_id is None else {"user_id": user_id}
        path = _path("submission_count", leaderboard, gpu)
        response = self._transport.call("GET", path, cli_id=self.cli_id, query=query)
        return _answer(_COUNT, response, "the number of submissions").count

    def join(self, code: str) -> list[str]:
        """The leaderboards that an invite code opens; using it again is fine."""
        response = self._transport.call("POST", "/user/join", cli_id=self._id(), json={"code": code})
        return list(_answer(_JOINED, response, "the invite code").leaderboards)

    def start_registration(self, provider: str) -> CliId:
        """A new id, which the service takes only once the login with the provider is finished."""
        response = self._transport.call("GET", "/auth/init", query={"provider": provider})
        state = _answer(_LOGIN, response, "the registration").state
        try:
            return CliId(state)
        except ValueError:
            pass
        raise BadAnswer(
            "KernelBot's answer to the registration is not as documented: state is no id", may_have_arrived=True
        )

    def accepts(self, cli_id: CliId) -> bool:
        """Whether the service knows an id."""
        try:
            self._transport.call("GET", "/user/submissions", cli_id=cli_id, query={"limit": 1})
        except NotRegistered:
            return False
        return True

    def health(self) -> None:
        """Returns where the service is there and well."""
        _answer(_HEALTH, self._transport.call("GET", "/health"), "the question for its health")

    def _id(self) -> CliId:
        if self.cli_id is None:
            raise NotRegistered(401, "there is no KernelBot id here")
        return self.cli_id


def _path(*parts: str) -> str:
    """A path of parts, whatever is in them."""
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def _file(name: str, text: bytes) -> tuple[str, bytes, str]:
    return name, text, "text/x-python"


def _answer(adapter: TypeAdapter[Answer], response: requests.Response, what: str) -> Answer:
    return validated(adapter, decoded(response.content, what), what)


def _date(response: requests.Response) -> datetime:
    """When the service answered, by its own clock; by this machine's where it does not say."""
    try:
        moment = parsedate_to_datetime(response.headers.get("Date", ""))
    except ValueError:
        return datetime.now(UTC)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)

"""One request to the service: sent, sent again where that is safe, and its failure as a typed error."""

import os
import random
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

import requests
import urllib3.exceptions
from requests.adapters import HTTPAdapter

from mxsub import __version__
from mxsub.submit.errors import UsageError
from mxsub.submit.kernelbot.address import checked_url
from mxsub.submit.kernelbot.errors import BadAnswer, ConnectionCut, KernelBotError, Refused, Unreachable
from mxsub.submit.kernelbot.identity import CliId
from mxsub.submit.kernelbot.refusals import refusal
from mxsub.submit.plain_text import one_line

ID_HEADER = "X-Popcorn-Cli-Id"
RETRIES_VARIABLE = "MXSUB_RETRIES"
SAFE_METHODS = frozenset({"GET", "DELETE"})
SAFE_STATUSES = frozenset({429, 502, 503, 504})
CONNECT_SECONDS = 15.0
LONGEST_PAUSE = 30.0

# Failures of the TLS handshake, so before the request was sent. Any other may come later.
_HANDSHAKE = ("CERTIFICATE_VERIFY_FAILED", "WRONG_VERSION_NUMBER", "HANDSHAKE_FAILURE", "PROTOCOL_VERSION")

_ONLINE = "Nothing was sent. Check the network and the service's address, then try again."

# Found before anything is sent. InvalidHeader is not among them: it may be about the answer's headers.
_UNSENDABLE = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidSchema,
    requests.exceptions.MissingSchema,
)

File = tuple[str, bytes, str]


@dataclass(frozen=True)
class Patience:
    """How long to wait and how often to try again.

    retries: tries after the first. backoff: seconds before the second try; doubles with each. Timeouts, in seconds:
    get_timeout and post_timeout for silence of the service, stream_timeout for a whole stream, stream_silence for
    silence in one, whose heartbeat comes every 15 s.
    """

    retries: int = 4
    backoff: float = 0.5
    get_timeout: float = 30.0
    post_timeout: float = 60.0
    stream_timeout: float = 3600.0
    stream_silence: float = 120.0

    @classmethod
    def from_environment(cls) -> Self:
        """With the number of retries of $MXSUB_RETRIES, if set; UsageError where that is no number from 0 to 100."""
        given = os.environ.get(RETRIES_VARIABLE, "").strip()
        if not given:
            return cls()
        if not (given.isascii() and given.isdigit() and int(given) <= 100):
            raise UsageError(f"{RETRIES_VARIABLE} is {given!r}, and must be a number from 0 to 100")
        return cls(retries=int(given))

    def pause(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row: doubling, with jitter, so that clients do not step in
        time with each other."""
        return min(LONGEST_PAUSE, self.backoff * 2.0 ** (failures - 1)) * random.uniform(0.5, 1.0)


class Transport:
    """A session with one service.

    Raises, from every call, KernelBotError's subclasses only.
    """

    def __init__(self, base_url: str, patience: Patience) -> None:
        self.base_url = checked_url(base_url, "the service's address")
        self.patience = patience
        self._session = requests.Session()
        # The repeating is done here: urllib3's own would not cover an answer that is cut in its body.
        self._session.mount("https://", HTTPAdapter(max_retries=0))
        self._session.mount("http://", HTTPAdapter(max_retries=0))
        self._session.headers["User-Agent"] = f"mxsub/{__version__}"
        self._session.headers["Accept-Encoding"] = "identity"
        # A password that ~/.netrc has for the host is none of KernelBot's business.
        self._session.auth = _as_it_is
        if urlsplit(self.base_url).scheme == "http":
            # Plain http goes to this machine only, so not through a proxy on another.
            self._session.trust_env = False

    def close(self) -> None:
        self._session.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        cli_id: CliId | None = None,
        query: Mapping[str, str | int] | None = None,
        json: Mapping[str, str] | None = None,
        file: File | None = None,
    ) -> requests.Response:
        """A whole answer of status 2xx.

        GET and DELETE are sent again after a lost connection and after 429, 502, 503 and 504; a POST only where no
        connection could be made. seconds of silence end it, by the method's own patience.
        """
        seconds = self.patience.get_timeout if method in SAFE_METHODS else self.patience.post_timeout
        request = requests.Request(method, self.base_url + path, params=query, json=json, headers=_headers(cli_id))
        if file is not None:
            request.files = {"file": file}
        return self._repeated(request, seconds, stream=False)

    @contextmanager
    def stream(self, path: str, *, cli_id: CliId, file: File) -> Iterator[requests.Response]:
        """An answer of status 2xx whose body is still to be read; sent again only where no connection could be made."""
        request = requests.Request("POST", self.base_url + path, headers=_headers(cli_id), files={"file": file})
        with self._repeated(request, self.patience.stream_silence, stream=True) as response:
            yield response

    def _repeated(self, request: requests.Request, seconds: float, *, stream: bool) -> requests.Response:
        tries = 0
        while True:
            tries += 1
            try:
                return self._once(request, seconds, stream=stream)
            except KernelBotError as error:
                error.tries = tries
                if tries > self.patience.retries or not _may_repeat(str(request.method), error):
                    raise
            time.sleep(self.patience.pause(tries))

    def _once(self, request: requests.Request, seconds: float, *, stream: bool) -> requests.Response:
        failure: KernelBotError
        try:
            prepared = self._session.prepare_request(request)
            settings = self._session.merge_environment_settings(str(prepared.url), {}, stream, None, None)
            response = self._session.send(
                prepared,
                timeout=(min(CONNECT_SECONDS, seconds), seconds),
                # A redirect would carry the id to whatever host it names.
                allow_redirects=False,
                **settings,
            )
            if response.ok and not response.is_redirect and response.status_code < 300:
                return response
            failure = _refused(response, str(request.headers.get(ID_HEADER, "")))
            response.close()
        except requests.RequestException as error:
            failure = _lost(error, urlsplit(self.base_url).netloc, seconds)
        # Out of the except block, so that no traceback leads to the request, whose headers hold the id.
        raise failure


def lost(error: Exception, response: requests.Response, seconds: float) -> KernelBotError:
    """The error that a failure while a stream is read means."""
    return _lost(error, urlsplit(response.url).netloc, seconds)


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _headers(cli_id: CliId | None) -> dict[str, str]:
    return {ID_HEADER: cli_id.secret} if cli_id else {}


def _may_repeat(method: str, error: KernelBotError) -> bool:
    if isinstance(error, Unreachable):
        return error.passing
    if method not in SAFE_METHODS:
        return False
    return isinstance(error, ConnectionCut) or (isinstance(error, Refused) and error.status in SAFE_STATUSES)


def _refused(response: requests.Response, secret: str) -> KernelBotError:
    """What an answer that is not of status 2xx means. secret: the id, which the answer may repeat."""
    status = response.status_code
    if status >= 400:
        body = response.content.replace(secret.encode(), b"(your id)") if secret else response.content
        return refusal(status, response.headers.get("Content-Type", ""), body)
    if status >= 300:
        try:
            host = urlsplit(response.headers.get("Location", "")).hostname
        except ValueError:
            host = None
        target = f"to {one_line(host)}" if host else "elsewhere"
        return BadAnswer(
            f"the service's address sends mxsub on ({status}) {target}, where it will not take your id",
            "Give the address of the service itself (--api-url, POPCORN_API_URL).",
            may_have_arrived=False,
        )
    return BadAnswer(f"KernelBot answered with the unexpected status {status}", may_have_arrived=True)


def _lost(error: Exception, host: str, seconds: float) -> KernelBotError:
    """What a failure of the connection means: that nothing was sent, or that its answer is lost."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLError) and any(reason in str(cause) for reason in _HANDSHAKE):
            return Unreachable(
                f"no safe connection to {host}: {one_line(cause.reason or str(cause))}",
                "Check the address, this machine's clock and its certificates.",
                passing=False,
            )
    if any(isinstance(cause, requests.exceptions.ProxyError) for cause in causes):
        return Unreachable(f"{host} cannot be reached: the proxy failed", "Check HTTPS_PROXY.")
    if any(isinstance(cause, urllib3.exceptions.NameResolutionError) for cause in causes):
        return Unreachable(f"{host} cannot be reached: there is no such host, or no network", _ONLINE)
    # A NewConnectionError is a ConnectTimeoutError too.
    if any(isinstance(cause, urllib3.exceptions.NewConnectionError) for cause in causes):
        refused = any(isinstance(cause, ConnectionRefusedError) for cause in causes)
        return Unreachable(f"{host} cannot be reached" + (": connection refused" if refused else ""), _ONLINE)
    if any(isinstance(cause, urllib3.exceptions.ConnectTimeoutError) for cause in causes):
        return Unreachable(f"{host} cannot be reached: it did not take the connection in time", _ONLINE)
    if isinstance(error, _UNSENDABLE):
        return Unreachable(f"the request to {host} cannot be sent", "Check the service's address.", passing=False)
    timeouts = (requests.exceptions.ReadTimeout, urllib3.exceptions.ReadTimeoutError, TimeoutError)
    if any(isinstance(cause, timeouts) for cause in causes):
        return ConnectionCut(f"{host} did not answer within {seconds:g} s")
    return ConnectionCut(f"the connection to {host} was cut before its answer was whole")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and all that it wraps: as an argument, a reason, a cause or a context."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting:
        current = waiting.pop()
        if any(current is other for other in found):
            continue
        found.append(current)
        yield current
        wrapped = (*current.args, getattr(current, "reason", None), current.__cause__, current.__context__)
        waiting.extend(inner for inner in wrapped if isinstance(inner, BaseException))

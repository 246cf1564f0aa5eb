"""Every way in which a call to KernelBot can fail.

    ServiceError                 exit code 4 (mxsub.submit.errors)
    └── KernelBotError           any failure of a call
        ├── Unreachable          nothing was sent: no such host, refused, TLS, a bad address
        ├── ConnectionCut        the request was sent and its answer lost: cut, or too slow
        ├── BadAnswer            an answer that is not the protocol's: HTML, broken JSON, a field missing, a redirect
        └── Refused              the service's own no, with its HTTP status
            ├── NotRegistered    401, or no id here at all
            ├── Forbidden        403
            ├── NotFound         404, or a leaderboard that does not exist
            ├── RateLimited      429, or any status with the rate limit's text
            └── ServiceFault     5xx that is no refusal

Each is one sentence that holds the service's own words. `may_have_arrived` is the question that matters after a
submission's POST: where it is true, the service may have the submission, and sending it again may make a second one.
"""

from mxsub.submit.errors import ServiceError

REGISTER = "Run `mxsub register github` or `mxsub register discord`; with --again if you have registered before."


class KernelBotError(ServiceError):
    """A call to KernelBot failed.

    may_have_arrived: whether the service may have acted on the request all the same. tries: how often it was sent.
    """

    tries = 1

    def __init__(self, message: str, hint: str = "", *, may_have_arrived: bool) -> None:
        super().__init__(message, hint)
        self.may_have_arrived = may_have_arrived


class Unreachable(KernelBotError):
    """No connection could be made, so nothing was sent.

    passing: another try may work.
    """

    def __init__(self, message: str, hint: str = "", *, passing: bool = True) -> None:
        super().__init__(message, hint, may_have_arrived=False)
        self.passing = passing


class ConnectionCut(KernelBotError):
    """The request went out, at least in part, and no whole answer came back."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, may_have_arrived=True)


class BadAnswer(KernelBotError):
    """Something answered, but not as KernelBot does."""


class Refused(KernelBotError):
    """The service said no.

    status: the HTTP status that fits the refusal, which is not always the one that it was sent with.
    detail: the service's own words, on one line.
    """

    verb = "refused"

    def __init__(self, status: int, detail: str, hint: str = "", *, may_have_arrived: bool = False) -> None:
        super().__init__(f"KernelBot {self.verb} ({status}): {detail}", hint, may_have_arrived=may_have_arrived)
        self.status = status
        self.detail = detail


class NotRegistered(Refused):
    """The service does not know the id, or there is none here."""

    def __init__(self, status: int, detail: str, hint: str = REGISTER, *, may_have_arrived: bool = False) -> None:
        super().__init__(status, detail, hint, may_have_arrived=may_have_arrived)


class Forbidden(Refused):
    """Somebody else's submission, or a closed leaderboard that one has to `join`."""


class NotFound(Refused):
    """There is no such submission, leaderboard or route."""


class RateLimited(Refused):
    """Too many submissions within an hour.

    used, allowed, category: what the service counted, its limit, and of what ("leaderboard", or "test" for every
        other mode); None where it did not say.
    wait_seconds: seconds until a place is free; None where it did not say.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        hint: str = "",
        *,
        used: int | None = None,
        allowed: int | None = None,
        category: str | None = None,
        wait_seconds: float | None = None,
    ) -> None:
        super().__init__(status, detail, hint)
        self.used, self.allowed, self.category = used, allowed, category
        self.wait_seconds = wait_seconds


class ServiceFault(Refused):
    """The service, its host or its runner failed; it did not judge the request."""

    verb = "failed"

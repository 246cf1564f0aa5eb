"""How often to ask the service, and for how long."""

from dataclasses import dataclass
from typing import Self

POLL_SECONDS = 5.0


@dataclass(frozen=True)
class Pace:
    """All in seconds.

    poll: between two questions about a submission; five is what the official client takes. grace: how long a request
    whose answer was lost may take to show up among the account's submissions. settle: how long the status may stay
    unfinished after the service called the submission done. outage: how long a service that does not answer is waited
    for. queue: between two questions about the runners' queue, each of which costs the service a call to GitHub.
    silence: how old the heartbeat of a running job may be; one comes every 15 s. running: the longest that a job runs;
    the service ends it after 30 minutes. pending: the longest that a job waits for its turn.
    """

    poll: float = POLL_SECONDS
    grace: float = 30.0
    settle: float = 30.0
    outage: float = 900.0
    queue: float = 60.0
    silence: float = 300.0
    running: float = 2400.0
    pending: float = 7200.0

    @classmethod
    def of_poll(cls, seconds: float) -> Self:
        """What is counted in polls goes faster or slower with them."""
        return cls(poll=seconds, grace=6 * seconds, settle=6 * seconds, outage=180 * seconds, queue=12 * seconds)

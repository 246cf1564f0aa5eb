"""The client of a KernelBot service: requests, typed answers, typed errors, and who the user is."""

from mxsub.submit.kernelbot.address import DEFAULT_URL, service_url
from mxsub.submit.kernelbot.answers import (
    Accepted,
    Job,
    Leaderboard,
    ListedRun,
    RankingEntry,
    RunEntry,
    RunnerQueue,
    SubmissionDetail,
    SubmissionEntry,
    Task,
)
from mxsub.submit.kernelbot.client import KernelBot
from mxsub.submit.kernelbot.errors import (
    BadAnswer,
    ConnectionCut,
    Forbidden,
    KernelBotError,
    NotFound,
    NotRegistered,
    RateLimited,
    Refused,
    ServiceFault,
    Unreachable,
)
from mxsub.submit.kernelbot.identity import CliId, read_cli_id, write_cli_id
from mxsub.submit.kernelbot.registration import PROVIDERS, Provider, login_url, register
from mxsub.submit.kernelbot.results import CompileResult, EvalResult, ProfileResult, RunResult, Streamed, SystemInfo
from mxsub.submit.kernelbot.transport import Patience

__all__ = [
    "DEFAULT_URL",
    "PROVIDERS",
    "Accepted",
    "BadAnswer",
    "CliId",
    "CompileResult",
    "ConnectionCut",
    "EvalResult",
    "Forbidden",
    "Job",
    "KernelBot",
    "KernelBotError",
    "Leaderboard",
    "ListedRun",
    "NotFound",
    "NotRegistered",
    "Patience",
    "ProfileResult",
    "Provider",
    "RankingEntry",
    "RateLimited",
    "Refused",
    "RunEntry",
    "RunResult",
    "RunnerQueue",
    "ServiceFault",
    "Streamed",
    "SubmissionDetail",
    "SubmissionEntry",
    "SystemInfo",
    "Task",
    "Unreachable",
    "login_url",
    "read_cli_id",
    "register",
    "service_url",
    "write_cli_id",
]

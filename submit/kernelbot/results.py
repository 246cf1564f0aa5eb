"""What a streamed submission ends with: everything that the runner saw of the public run."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import AliasPath, Field

from mxsub.submit.kernelbot.fields import Answer, Text


class SystemInfo(Answer):
    """The runner's machine; "" where an older service does not tell."""

    gpu: str = ""
    device_count: int = 1
    cpu: str = ""
    runtime: str = ""
    platform: str = ""
    torch: str = ""
    hostname: str = ""


class CompileResult(Answer):
    """A build by nvcc or hipcc."""

    nvcc_found: bool = False
    nvcc_version: str = ""
    success: bool
    command: str = ""
    stdout: str = ""
    stderr: str = ""
    exit_code: int


class RunResult(Answer):
    """One process of the evaluator.

    success: it ended by itself. passed: its check passed. duration: seconds. result: its output, key by key.
    """

    success: bool
    passed: bool
    command: str = ""
    stdout: str = ""
    stderr: str = ""
    exit_code: int
    duration: float
    result: dict[str, Text]


class ProfileResult(Answer):
    """A profiler's output. trace: a zip in standard base64."""

    profiler: str = ""
    trace: str = Field(default="", repr=False)
    download_url: str | None = None


class EvalResult(Answer):
    """start, end: the runner's local time."""

    start: datetime | None = None
    end: datetime | None = None
    compilation: CompileResult | None = None
    run: RunResult | None = None
    profile: ProfileResult | None = None


class Streamed(Answer):
    """A streamed submission's result.

    success: the runner did its work; says nothing about tests. error: why it did not. runs: by name: test,
    benchmark, leaderboard, profile.0 and so on. report: for people, in Markdown; may be empty.
    """

    success: bool = Field(validation_alias=AliasPath("results", 0, "success"))
    error: str = Field(default="", validation_alias=AliasPath("results", 0, "error"))
    system: SystemInfo = Field(default=SystemInfo(), validation_alias=AliasPath("results", 0, "system"))
    runs: Mapping[str, EvalResult] = Field(validation_alias=AliasPath("results", 0, "runs"))
    report: str = Field(default="", validation_alias=AliasPath("reports", 0))

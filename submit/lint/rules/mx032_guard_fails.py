"""MX032: KernelGuard comes to no verdict."""

from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    verdict = source.verdict
    if verdict is None or not verdict.failure:
        return
    if verdict.about_text:
        yield Hit(1, 1, f"{verdict.failure} on this text, and the service then refuses all modes but test")
    else:
        yield Hit(
            1,
            1,
            f"{verdict.failure}, so whether the service would reject the file is unknown",
            "Install mxsub with its dependencies: `pip install kernelguard`.",
            "warning",
        )


RULE = Rule(
    code="MX032",
    name="kernelguard-fails",
    severity="error",
    judge="kernelguard",
    finds="a text on which KernelGuard fails, or does not finish within the service's 30 seconds",
    why=(
        "without a verdict the service answers 'KernelGuard pre-check is unavailable right now' and runs nothing; "
        "lines of tens of thousands of letters and digits, such as base64 data in one string, take it minutes"
    ),
    example='DATA = "TVqQAAMAAAAEAAAA..."  # 40,000 characters in one line',
    fix="Break long data into lines of a triple-quoted string, which KernelGuard skips, or take it out.",
    check=check,
)

"""The process that runs KernelGuard: a JSON string a line in, a verdict as JSON a line out.

Started as `python -m mxsub.submit.lint.guard_worker SECONDS`. It ends with its input, and by itself when one text
takes longer than SECONDS and a little more, so that it never outlives a parent that was killed.
"""

import contextlib
import io
import json
import signal
import sys

import kernelguard

SPARE_SECONDS = 5


def verdict_of(code: str) -> dict[str, object]:
    """The fields of a guard.Verdict for a text; `failure` names the exception where KernelGuard raises one."""
    try:
        # What KernelGuard, or a parser's warning, prints must not get between the answers.
        with contextlib.redirect_stdout(io.StringIO()):
            result = kernelguard.analyze_code(code, compute_structural_hash=False)
    except Exception as error:
        return {
            "should_filter": False,
            "reason": "",
            "classification": "",
            "matches": [],
            "failure": f"KernelGuard itself fails with {type(error).__name__}",
        }
    found = result["matched_patterns"]
    rejects = bool(result["should_filter"])
    filtering = [
        rejects and kernelguard.get_rule_policy(match["pattern"]).max_outcome == kernelguard.AUTO_FILTER
        for match in found
    ]
    if rejects and not any(filtering):
        filtering = [True] * len(found)
    return {
        "should_filter": rejects,
        "reason": str(result["filter_reason"] or ""),
        "classification": str(result["classification"]),
        "matches": [
            {
                "pattern": str(match["pattern"]),
                "severity": str(match["severity"]),
                "evidence": str(match["evidence"]),
                "filters": filters,
            }
            for match, filters in zip(found, filtering, strict=True)
        ],
        "failure": "",
    }


def main() -> None:
    """Answers until the input ends."""
    seconds = int(float(sys.argv[1])) + SPARE_SECONDS
    for line in sys.stdin.buffer:
        if hasattr(signal, "alarm"):
            signal.alarm(seconds)
        answer = json.dumps(verdict_of(json.loads(line)))
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

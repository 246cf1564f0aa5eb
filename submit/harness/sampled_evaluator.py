"""Tests a submission of whose launches only a sample of the workgroups runs: python sampled_evaluator.py test CASEFILE

It stands in for the task's eval.py, in test mode, and has the same arguments and result lines. Of the output only those
elements are compared that were written, from inputs that were: the others are taken from the reference before the
task's own check sees them.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO


def main(arguments: list[str]) -> int:
    """The exit code: 0, or 112 where a check fails."""
    evaluator = import_module("eval")  # the task's
    with os.fdopen(int(os.environ["POPCORN_FD"]), "w", buffering=1) as results:
        cases = evaluator.read_cases(Path(arguments[1]), None)
        log(results, "test-count", len(cases))
        passed = True
        for number, case in enumerate(cases):
            log(results, f"test.{number}.spec", case.spec)
            right, message = check(case.arguments)
            log(results, f"test.{number}.status", "pass" if right else "fail")
            log(results, f"test.{number}.{'message' if right else 'error'}", message)
            passed = passed and right
        log(results, "check", "pass" if passed else "fail")
    return 0 if passed else 112


def log(results: TextIO, key: str, value: object) -> None:
    """One line of the result."""
    text = str(value).replace("\n", "\\n")
    results.write(f"{key}: {text}\n")


def check(arguments: dict[str, Any]) -> tuple[bool, str]:
    """Is what was written right? And how much that was."""
    import torch

    from mxsub.virtual.unwritten import written_elements

    reference, submission = import_module("reference"), import_module("submission")
    data = reference.generate_input(**arguments)
    output = submission.custom_kernel(tuple(item.clone() for item in data))
    expected = reference.ref_kernel(data)
    if not isinstance(output, torch.Tensor) or output.shape != expected.shape or not output.is_cuda:
        right, message = reference.check_implementation(data, output)  # which says what it is instead
        return right, message
    written = written_elements(output)
    if written is None:
        return (
            False,
            "the output was not made by torch.empty(), so that it is not known which of it a sample has written",
        )
    if not written.any():
        return (
            False,
            "the sample wrote no element of the output from inputs that it had written: sample more workgroups",
        )
    output = torch.where(written.cuda(), output, expected)
    right, message = reference.check_implementation(data, output)
    # The check's own words on what is right count the elements that were taken from the reference.
    share = f"{int(written.sum()):,} of {written.numel():,} elements were written and compared"
    return right, share if right else f"{message}; {share}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

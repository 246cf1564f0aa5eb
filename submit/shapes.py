"""Problem shapes: the m, n, k of one matrix product."""

from typing import NamedTuple

from mxsub.submit.errors import UsageError


class Shape(NamedTuple):
    """(m, k) activations times (n, k) weights gives (m, n)."""

    m: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"


def parse_shape(text: str) -> Shape:
    """`M,N,K` or `MxNxK` as a shape; UsageError for anything else."""
    parts = text.replace("x", ",").split(",")
    if len(parts) == 3 and all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        return Shape(*(int(part) for part in parts))
    raise UsageError(f"'{text}' is no shape", "Write M,N,K with three positive integers, e.g. 16,2112,7168.")

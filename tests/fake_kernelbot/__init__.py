"""A KernelBot on loopback for tests: the whole protocol over real HTTP, with a switch for every fault.

By hand: `python -m tests.fake_kernelbot --help`.
"""

from .boards import BOARDS, INVITE_CODE, SECRET_SEED
from .bot import FakeKernelBot
from .faults import FAULTS
from .runner import SECRET_MARKER

__all__ = ["BOARDS", "FAULTS", "INVITE_CODE", "SECRET_MARKER", "SECRET_SEED", "FakeKernelBot"]

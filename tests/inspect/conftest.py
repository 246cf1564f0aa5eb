"""Instructions on the emulator, counted."""

from typing import Any

import numpy as np
import pytest

from mxsub.virtual.tracing import Tracing
from tests.bench import Bench

# v1: 4 times the lane's number; s[4:5] and s[6:7]: the addresses of the source and the target.
BEFORE = "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32_e32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"


class Counter:
    """Runs instructions and keeps what was counted."""

    def run(self, text: str, words: int = 64, **options: Any) -> Tracing:
        """Between BEFORE and s_endpgm; source and target have `words` words each."""
        counted = Tracing()
        data, out = np.arange(words, dtype=np.uint32), np.zeros(words, np.uint32)
        Bench().bare(f"{BEFORE}{text}\ns_endpgm", data, out, watchers=[counted], **options)
        return counted


@pytest.fixture
def counter() -> Counter:
    return Counter()

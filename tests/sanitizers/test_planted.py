"""Every sanitizer finds the fault that it is there for, where it is, and nothing in the twin without it."""

import re

import numpy as np
import pytest

from mxsub.virtual.faults import IllegalAccess
from mxsub.virtual.sanitizers import SANITIZERS
from tests.sanitizers.planted import END, PAIRS, START, Pair

LOC = "\t.loc\t1 {line} 5 ; submission.py:{line}:5\n"


def with_lines(text: str) -> str:
    """Each instruction at a line of its own of submission.py."""
    return "".join(LOC.format(line=number) + line + "\n" for number, line in enumerate(text.strip().splitlines(), 1))


def findings(bench, text: str, waves: int, grid: tuple[int, int, int] = (1, 1, 1)):
    watchers = [watcher() for some in SANITIZERS.values() for watcher in some]
    data, out = np.arange(256, dtype=np.uint32), np.zeros(256, np.uint32)
    bench.bare(with_lines(text), data, out, waves, grid=grid, watchers=watchers, lds_bytes=1024)
    return bench.report.findings


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_fault_and_twin(bench, pair: Pair):
    faulty = pair.text.format(pair.fault)
    # exec's own fault is also said, more vaguely, by the machine.
    found = [
        f for f in findings(bench, faulty, pair.waves, pair.grid) if "ran with lanes switched off" not in f.sentence
    ]
    assert [finding.sanitizer for finding in found] == [pair.sanitizer], found
    (finding,) = found
    assert re.search(pair.sentence, finding.sentence), finding.sentence
    assert finding.instruction.startswith(pair.instruction)
    line = faulty.strip().splitlines().index(finding.instruction.strip()) + 1
    last = len(faulty.splitlines()) - faulty.splitlines()[::-1].index(finding.instruction)
    assert finding.source in (f"submission.py:{line}:5", f"submission.py:{last}:5")
    assert re.match(r"workgroup \d, wave \d", finding.place)
    assert finding.count >= 1
    assert "hardware" in finding.sentence or "wrong" in finding.sentence

    cured = findings(bench, pair.text.format(pair.cure), pair.waves, pair.grid)
    assert [f for f in cured if "ran with lanes switched off" not in f.sentence] == []


def test_each_sanitizer_has_planted_faults():
    assert {pair.sanitizer for pair in PAIRS} == set(SANITIZERS)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("global_load_dword v3, v1, s[4:5] offset:768", r"reads 4 bytes right past the end of source \(1,024 bytes\)"),
        ("v_lshlrev_b32_e32 v4, 4, v0\nds_write_b128 v4, v[4:7]", r"writes 16 bytes right past the end of LDS"),
        ("ds_read_b32 v3, v1", "reads 4 bytes of LDS of which some were never written"),
    ],
)
def test_what_cannot_be_let_pass(bench, text, want):
    with pytest.raises(IllegalAccess, match=want + r".* at submission\.py:\d+:5: "):
        findings(bench, START + text + END, 2)

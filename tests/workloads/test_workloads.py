"""Kernels of the common kinds against references on the CPU, compiled by the oldest and the newest Triton.

Each workload runs in a process of its own. `make slow` installs the newest Triton first; without it these tests fail.
"""

import pytest

from mxsub import virtual
from mxsub.submit.trial import SANITIZERS
from tests.workloads.running import on_version
from tests.workloads.triton_versions import VERSIONS
from tests.workloads.workload import NAMES

OLDEST, NEWEST = VERSIONS[0], VERSIONS[-1]


# Of a loop on tl.atomic_cas Triton 3.6.0 makes code in which lanes of one wave come to different barriers.
KNOWN = {("race", "take_numbers")}


@pytest.mark.slow
@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("name", NAMES)
def test_results_are_the_reference_s_and_sanitizers_find_nothing(name, version, tmp_path):
    """On the runner's version under the sanitizers too."""
    environment = {}
    if version == OLDEST:
        environment = {virtual.WATCH_VARIABLE: ",".join(SANITIZERS), virtual.LOG_VARIABLE: str(tmp_path / "log")}
    first, *lines = on_version(version, "tests.workloads.running", [name], environment)
    assert first == {"triton": version}
    assert lines
    assert {line["case"]: line["outcome"] for line in lines} == {line["case"]: "right" for line in lines}
    found = {(sanitizer, kernel) for line in lines for sanitizer, kernel, _ in line["findings"]}
    assert found == (KNOWN if name == "atomics" and version == OLDEST else set())


@pytest.mark.slow
@pytest.mark.parametrize(("version", "mixed_fp8"), [(OLDEST, False), (NEWEST, True)])
def test_what_triton_compiles_wrongly_gives_wrong_results(version, mixed_fp8):
    """As the machine code says, and so as on the hardware. Where an entry changes, Triton has mended it."""
    (found,) = on_version(version, "tests.workloads.compiler_faults", [])
    assert found == {
        "mixed_fp8_of_a_small_k": [mixed_fp8, not mixed_fp8],
        "signed_atomic_extremes": [False, True],
    }


def test_a_version_that_is_not_installed_is_named():
    with pytest.raises(FileNotFoundError, match=r"there is no Triton 3\.0\.0 in .*make \.venv/triton-3\.0\.0"):
        next(on_version("3.0.0", "tests.workloads.running", []))

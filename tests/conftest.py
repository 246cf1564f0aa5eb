"""Small real files: a project folder with fragments and templates of its own. A contestant and a fake service."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.contestant import Contestant
from tests.fake_kernelbot import FakeKernelBot

CONFIGS = """\
leaderboard: toy-mm
gpu: MI355X
task: toy-mm
runner: {python: "3.12", torch: 2.10.0, triton: 3.6.0}
multiples: {m: 1, n: 64, k: 64}
default_variant: plain
defaults:
  BLOCK_SIZE_M: 16
  BLOCK_SIZE_N: 64
  BLOCK_SIZE_K: 256
  GROUP_SIZE_M: 1
  NUM_KSPLIT: 1
  QUANTIZE: fast
  num_warps: 4
  num_stages: 2
shapes:
  - {m: 4, n: 2880, k: 512}
  - {m: 16, n: 2112, k: 7168}
other_shapes:
  - {max_m: 16}
  - {BLOCK_SIZE_M: 32}
variants:
  plain:
    description: a toy
    launcher: toy
    fragments: [quantize_fast, quantize_slow, tile, toy_gemm, toy_split, toy_reduce]
"""

FRAGMENTS = {
    "quantize_fast": '''\
        """Fast."""

        import triton

        FRAGMENT = {"role": "quantize", "kernel": "quantize_fast", "needs": ["fp4_conversion"]}


        @triton.jit
        def quantize_fast(x):
            return x
    ''',
    "quantize_slow": '''\
        """Slow."""

        import triton

        FRAGMENT = {"role": "quantize", "kernel": "quantize_slow"}


        @triton.jit
        def quantize_slow(x):
            return x
    ''',
    "tile": '''\
        """Tiles."""

        import triton

        FRAGMENT = {"role": "device"}


        @triton.jit
        def tile(pid):
            return pid
    ''',
    "toy_gemm": '''\
        """A GEMM."""

        import triton
        import triton.language as tl

        from mxsub.kernels.tile import tile

        FRAGMENT = {
            "role": "gemm",
            "generation": "constexpr",
            "kernel": "toy_gemm",
            "k_tail": "dropped",
            "tunable": {
                "BLOCK_SIZE_M": [16, 32],
                "BLOCK_SIZE_N": [16, 32, 64, 128],
                "BLOCK_SIZE_K": [128, 256, 512],
                "GROUP_SIZE_M": [1, 4],
            },
            "relations": {"BLOCK_SIZE_N % 32 == 0": "scales come in groups of 32 rows"},
        }


        @triton.jit
        def toy_gemm(a_ptr, BLOCK_SIZE_M: tl.constexpr):
            """Multiply."""
            tl.store(a_ptr, tile(tl.program_id(0)))  # one tile
    ''',
    "toy_split": '''\
        """A split GEMM."""

        import triton

        FRAGMENT = {
            "role": "split_k",
            "generation": "constexpr",
            "kernel": "toy_split",
            "tunable": {
                "BLOCK_SIZE_M": [16, 32],
                "BLOCK_SIZE_N": [32, 64],
                "BLOCK_SIZE_K": [128, 256, 512],
                "GROUP_SIZE_M": [1],
                "NUM_KSPLIT": [1, 2, 4, 5, 7, 8],
            },
        }


        @triton.jit
        def toy_split(a_ptr):
            pass
    ''',
    "toy_reduce": '''\
        """Sums."""

        import triton

        FRAGMENT = {"role": "reduce", "kernel": "toy_reduce"}


        @triton.jit
        def toy_reduce(a_ptr):
            pass
    ''',
}

LAUNCHER = """\
def launcher(m, n, k):
    return print
"""


@pytest.fixture
def project_folder(tmp_path: Path) -> Path:
    """A toy project: a `dropped` GEMM, a split-K pair, two quantizers."""
    folder = tmp_path / "project"
    (folder / "kernels").mkdir(parents=True)
    (folder / "templates").mkdir()
    (folder / "configs.yaml").write_text(CONFIGS)
    for name, source in FRAGMENTS.items():
        (folder / "kernels" / f"{name}.py").write_text(dedent(source))
    (folder / "templates" / "launch_toy.py.jinja").write_text(LAUNCHER)
    return folder


@pytest.fixture
def bot() -> Iterator[FakeKernelBot]:
    with FakeKernelBot(run_seconds=0.1, heartbeat_seconds=0.05) as fake:
        yield fake


@pytest.fixture
def ada(tmp_path: Path, bot: FakeKernelBot) -> Contestant:
    return Contestant(tmp_path, bot)


@pytest.fixture
def bench():
    from tests.bench import Bench  # numpy and the emulator, for the tests that need them

    return Bench()


@pytest.fixture
def random(request: pytest.FixtureRequest):
    """Random numbers of the test's own: the same in every run, whichever tests ran before."""
    import numpy as np

    return np.random.default_rng(zlib.crc32(request.node.name.encode()))

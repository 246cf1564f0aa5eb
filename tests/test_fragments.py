"""Fragments are read without importing them, and what is wrong with one is said with its place."""

from pathlib import Path
from textwrap import dedent

import pytest

from mxsub.submit.errors import UnknownFragment, UsageError
from mxsub.submit.fragments import SHIPPED, find_fragment, read_fragment

GOOD = '''\
    """Adds."""

    import triton
    import triton.language as tl

    from mxsub.kernels.tile_order import tile_of

    FRAGMENT = {"role": "gemm", "kernel": "add", "tunable": {"BLOCK": [16, 32]}}


    # Why it is so.
    @triton.jit
    def add(x_ptr):
        """Add."""
        tl.store(x_ptr, tile_of(1))
'''


def fragment(folder: Path, source: str) -> Path:
    path = folder / "add.py"
    path.write_text(dedent(source))
    return path


def test_a_fragment(tmp_path: Path) -> None:
    read = read_fragment(fragment(tmp_path, GOOD))
    assert read.name == "add"
    assert read.info.tunable == {"BLOCK": [16, 32]}
    assert read.imports == ("import triton", "import triton.language as tl")
    assert read.needs_fragments == ("tile_order",)
    assert read.code.startswith("# Why it is so.\n@triton.jit\ndef add(x_ptr):")
    assert read.code.endswith("tl.store(x_ptr, tile_of(1))")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('FRAGMENT = {"role"', 'FRAGMENTS = {"role"', r"add\.py:1:1: is no fragment: it has no FRAGMENT dict"),
        ('"gemm"', '"gem"', r"add\.py:8:1: FRAGMENT: role: input should be 'quantize', 'gemm'"),
        ('"tunable"', '"tuneable"', r"add\.py:8:1: FRAGMENT: tuneable: extra inputs are not permitted"),
        ("[16, 32]", "[16, 32] * 2", r"add\.py:8:1: FRAGMENT must be a literal dict"),
        ('"kernel": "add"', '"kernel": "sub"', r"add\.py:1:1: FRAGMENT names the kernel 'sub', which the file does"),
        ("import triton\n", "import triton\nx = 1\n", r"add\.py:4:1: code above FRAGMENT is not rendered"),
        ("def add(", "def add((", r"add\.py:13:\d+: "),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = fragment(tmp_path, GOOD)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=message):
        read_fragment(path)


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    fragment(tmp_path, GOOD)
    with pytest.raises(UnknownFragment, match="there is no fragment 'sub'") as caught:
        find_fragment("sub", (tmp_path,))
    assert caught.value.hint == "Fragments: add."


def test_every_shipped_fragment_is_one() -> None:
    names = sorted(path.stem for path in SHIPPED.glob("*.py") if path.stem != "__init__")
    assert len(names) >= 9
    for name in names:
        assert find_fragment(name, (SHIPPED,)).code

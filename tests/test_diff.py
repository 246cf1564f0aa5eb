"""What changed between two versions: configs, code, line ends; and that it stays quick on long files."""

import json
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mxsub.submit.config_table import Name, configs_in, shown_value
from mxsub.submit.diff import Difference, Line, diff
from mxsub.submit.errors import UsageError
from mxsub.submit.line_matching import matching_lines
from mxsub.submit.version import Version

OLD = """\
import triton

CONFIGS = {
    (16, 2112, 7168): dict(BLOCK_SIZE_M=16, BLOCK_SIZE_N=64, QUANTIZE=quantize_software, cache_modifier=".cg"),
    (4, 2880, 512): dict(BLOCK_SIZE_M=16, BLOCK_SIZE_N=32),
    (8, 2112, 7168): dict(BLOCK_SIZE_M=8),
}


def config_of(m, n, k):
    if (m, n, k) in CONFIGS:
        return CONFIGS[m, n, k]
    if m <= 16:
        return dict(BLOCK_SIZE_M=16)
    return dict(BLOCK_SIZE_M=32)


def custom_kernel(data):
    return run(data)
"""
NEW = """\
import triton

CONFIGS: dict = {
    (16, 2112, 7168): {"BLOCK_SIZE_M": 8, "BLOCK_SIZE_N": 64, "QUANTIZE": quantize_hardware, "num_warps": 4},
    (4, 2880, 512): dict(BLOCK_SIZE_M=16, BLOCK_SIZE_N=32),
    (64, 7168, 2048): dict(BLOCK_SIZE_M=64),
}


def config_of(m, n, k):
    if (m, n, k) in CONFIGS:
        return CONFIGS[m, n, k]
    if m <= 16:
        return dict(BLOCK_SIZE_M=8)
    return dict(BLOCK_SIZE_M=32)


def custom_kernel(data):
    return run(data)
"""


def of(old: str, new: str, context: int = 3) -> Difference:
    return diff(Version("old", old), Version("new", new), context)


def shown(difference: Difference) -> list[str]:
    return [f"{line.old or ''}|{line.new or ''}|{line.sign}{line.text}" for line in difference.lines]


def test_configs_shape_by_shape() -> None:
    changes = [(c.shape, c.kind, c.key, c.old, c.new) for c in of(OLD, NEW).configs]
    assert changes == [
        ("16x2112x7168", "changed", "BLOCK_SIZE_M", 16, 8),
        ("16x2112x7168", "changed", "QUANTIZE", Name("quantize_software"), Name("quantize_hardware")),
        ("16x2112x7168", "removed", "cache_modifier", ".cg", None),
        ("16x2112x7168", "added", "num_warps", None, 4),
        ("8x2112x7168", "shape removed", "BLOCK_SIZE_M", 8, None),
        ("m <= 16", "changed", "BLOCK_SIZE_M", 16, 8),
        ("64x7168x2048", "shape added", "BLOCK_SIZE_M", None, 64),
    ]
    assert of(OLD, NEW).same_shapes == 2  # 4x2880x512 and the other shapes


def test_configs_are_read_from_the_text() -> None:
    text = """\
A = {(1, 2): dict(a=-1, b=True, c=None, d=1.5, e="x", f=tl.float32, g=2 * 3, **BASE)}
B = {(1, 2): {"a": 2, **MORE}, (3,): {}, "name": dict(a=1), (1, "x"): dict(a=1), (True, 1): dict(a=1)}
C = {(5, 6): [1, 2], (7, 8): dict(BASE, a=1), (9, 9): {1: 2}}
(D := {(9, 9, 9): dict(a=1)})


def pick(m):
    if m > 8:
        if m > 9:
            return dict(a=1)
        return {"a": 2}
    elif m > 4:
        return {"a": 3}
    else:
        return {"a": 4}
"""
    assert configs_in(text) == {
        "1x2": {
            "a": -1,
            "b": True,
            "c": Name("None"),
            "d": 1.5,
            "e": "x",
            "f": Name("tl.float32"),
            "g": Name("2 * 3"),
            "**BASE": Name("BASE"),
        },
        "B 1x2": {"a": 2, "**MORE": Name("MORE")},
        "3": {},
        "m > 8": {"a": 2},
        "m > 4": {"a": 3},
        "other shapes": {"a": 4},
    }


@pytest.mark.parametrize("text", ["", "x = (", "\0", "x = " + "-" * 50_000 + "1", "CONFIGS = {}\n", "CONFIGS = []\n"])
def test_texts_without_configs(text: str) -> None:
    assert configs_in(text) == {}


def test_recorded_configs_stand_in_for_what_cannot_be_read() -> None:
    old = Version("v1", "x = (", config={"4x2880x512": {"num_warps": 4}, "note": "no config"})
    new = Version("v2", "y = (", config={"4x2880x512": {"num_warps": 8}})
    (change,) = diff(old, new).configs
    assert change.to_dict() == {"shape": "4x2880x512", "kind": "changed", "key": "num_warps", "old": 4, "new": 8}


def test_values_as_they_stand_in_a_submission() -> None:
    assert [shown_value(value) for value in (1, ".cg", 'a"b', True, Name("tl.float32"))] == [
        "1",
        '".cg"',
        "'a\"b'",
        "True",
        "tl.float32",
    ]


def test_a_number_that_becomes_a_truth_value_is_a_change() -> None:
    (change,) = of("C = {(1, 1): dict(a=1)}\n", "C = {(1, 1): dict(a=True)}\n").configs
    assert (change.old, change.new) == (1, True)


def test_code_is_folded_and_numbered() -> None:
    old = "".join(f"line {n}\n" for n in range(1, 21))
    new = old.replace("line 10\n", "line ten\nand more\n")
    assert shown(of(old, new, context=1)) == [
        "1|1|⋯ 8 unchanged lines",
        "9|9| line 9",
        "10||-line 10",
        "|10|+line ten",
        "|11|+and more",
        "11|12| line 11",
        "12|13|⋯ 9 unchanged lines",
    ]
    difference = of(old, new)
    assert (difference.added, difference.removed) == (2, 1)
    assert [line.hidden for line in difference.lines if line.kind == "folded"] == [6, 7]


def test_context_of_nothing_and_of_everything() -> None:
    old, new = "a\nb\nc\n", "a\nB\nc\n"
    assert shown(of(old, new, context=0)) == [
        "1|1|⋯ 1 unchanged line",
        "2||-b",
        "|2|+B",
        "3|3|⋯ 1 unchanged line",
    ]
    assert shown(of(old, new, context=1_000_000)) == ["1|1| a", "2||-b", "|2|+B", "3|3| c"]


def test_changes_that_are_near_share_their_context() -> None:
    old = "".join(f"{n}\n" for n in range(20))
    new = old.replace("5\n", "five\n", 1).replace("\n11\n", "\neleven\n")
    kinds = [line.kind for line in of(old, new, context=3).lines]
    assert kinds.count("folded") == 2
    assert kinds[1:-1].count("folded") == 0


def test_identical_texts_say_so() -> None:
    difference = of(OLD, OLD)
    assert difference.identical
    assert difference.lines == difference.configs == difference.notes == ()
    assert difference.sentence == f"old and new are identical (sha256 {Version('x', OLD).sha256[:12]})"


def test_the_sentence() -> None:
    assert "4 lines added, 4 removed; configs changed for 4 shapes" in of(OLD, NEW).sentence
    assert "1 line added, 0 removed; configs changed for 0 shapes" in of("a\n", "a\nb\n").sentence


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        ("a\nb\n", "a\r\nb\r\n", "line ends differ: LF in old, CRLF in new"),
        ("a\nb\n", "a\rb\n", "line ends differ: LF in old, CR and LF in new"),
        ("a\nb\n", "a\nb", "new has no line end after its last line"),
        ("a", "a\n", "old has no line end after its last line"),
    ],
)
def test_what_no_line_shows_is_noted(old: str, new: str, note: str) -> None:
    difference = of(old, new)
    assert not difference.identical
    assert note in difference.notes
    assert (difference.added, difference.removed) == (0, 0)


def test_where_the_versions_came_from() -> None:
    old = Version(
        "v8", "a\n", variant="runtime", gpu="MI355X", provenance={"mxsub": "0.1", "fragments": {"gemm": "11"}}
    )
    new = Version(
        "v13", "b\n", variant="constexpr", gpu="MI355X", provenance={"mxsub": "0.1", "fragments": {"gemm": "22"}}
    )
    assert [(change.key, change.old, change.new) for change in diff(old, new).origins] == [
        ("variant", "runtime", "constexpr"),
        ("fragments.gemm", "11", "22"),
    ]
    assert diff(old, Version("a file", "b\n")).origins == ()


def test_json() -> None:
    content = json.loads(json.dumps(of(OLD, NEW).to_dict()))
    assert content["old"]["label"] == "old"
    assert content["new"]["sha256"] == Version("x", NEW).sha256
    assert content["identical"] is False
    assert content["configs"][1] == {
        "shape": "16x2112x7168",
        "kind": "changed",
        "key": "QUANTIZE",
        "old": "quantize_software",
        "new": "quantize_hardware",
    }
    assert {"kind": "folded", "old": 18, "new": 18, "text": "⋯ 2 unchanged lines", "hidden": 2} in content["lines"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x89PNG\r\n", "the byte 0x89 at offset 0 is not UTF-8 text"),
        (b"caf\xe9", "the byte 0xE9 at offset 3 is not UTF-8 text"),
        (b"a\0b", "a binary file, with NUL at offset 1"),
    ],
)
def test_what_is_no_text_is_a_usage_error(data: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Version.of_bytes("x.bin", data)


def test_a_file_that_is_not_there(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=r"missing\.py: cannot be read: No such file"):
        Version.of_file(tmp_path / "missing.py")
    (tmp_path / "there.py").write_bytes("é\r\n".encode())
    assert Version.of_file(tmp_path / "there.py").text == "é\r\n"


def applied(lines: tuple[Line, ...], old: list[str]) -> list[str]:
    """The new side, from the diff's lines and the old side."""
    result: list[str] = []
    for line in lines:
        if line.kind == "folded":
            assert line.old is not None
            result += old[line.old - 1 : line.old - 1 + line.hidden]
        elif line.kind != "removed":
            result.append(line.text)
    return result


LINES = st.lists(st.sampled_from(["", "a", "b", "c", "    return x", "}"]), max_size=40)


@settings(max_examples=300, deadline=None)
@given(LINES, LINES, st.integers(0, 4))
def test_a_diff_applied_to_the_old_side_gives_the_new_one(old: list[str], new: list[str], context: int) -> None:
    difference = of("".join(line + "\n" for line in old), "".join(line + "\n" for line in new), context)
    if difference.identical:
        assert old == new
        return
    assert applied(difference.lines, old) == new
    numbered = [line for line in difference.lines if line.kind != "folded"]
    assert all(old[line.old - 1] == line.text for line in numbered if line.old)
    assert all(new[line.new - 1] == line.text for line in numbered if line.new)
    hidden = sum(line.hidden for line in difference.lines)
    assert hidden + sum(line.old is not None for line in numbered) == len(old)


def long_texts(kind: str) -> tuple[list[str], list[str]]:
    numbers = random.Random(3)
    lines = [f"    x{n} = load(ptr + {n})" for n in range(10_000)]
    if kind == "edited":
        return lines, [line + "  # new" if n % 40 == 0 else line for n, line in enumerate(lines)]
    if kind == "different":
        return lines, [line.replace("x", "y") for line in lines]
    if kind == "shuffled":
        return lines, numbers.sample(lines, len(lines))
    if kind == "blank":
        return [""] * 10_000, ["", "x"] * 5_000
    if kind == "pairs":
        return [lines[n // 2] for n in range(10_000)], [lines[n // 2] for n in range(2_000, 10_000)]
    return numbers.choices("abcdefgh", k=10_000), numbers.choices("abcdefgh", k=10_000)


@pytest.mark.parametrize("kind", ["edited", "different", "shuffled", "blank", "pairs", "few kinds of lines"])
def test_ten_thousand_lines_take_no_long_time(kind: str) -> None:
    old, new = long_texts(kind)
    started = time.process_time()
    difference = of("\n".join(old), "\n".join(new))
    assert time.process_time() - started < 5
    assert applied(difference.lines, old) == new
    if kind == "edited":
        assert (difference.added, difference.removed) == (250, 250)
    if kind == "pairs":
        assert (difference.added, difference.removed) == (0, 2_000)


def test_unique_lines_anchor_the_rest() -> None:
    """A brace alone must not tie a new function to the end of the old one."""
    old = ["def a():", "    {", "    }", "", "def b():", "    {", "    }"]
    new = ["def a():", "    {", "    }", "", "def n():", "    {", "    }", "", "def b():", "    {", "    }"]
    pairs = matching_lines(old, new)
    assert (0, 0) in pairs
    assert (4, 8) in pairs
    assert len(pairs) == 7

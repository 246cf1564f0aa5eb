"""A config that would drop work or read out of bounds does not build."""

from pathlib import Path

import pytest

from mxsub.submit.config_check import check, split_size
from mxsub.submit.errors import UsageError
from mxsub.submit.project import SHIPPED, load_project
from mxsub.submit.relations import holds


def problem(folder: Path, old: str = "", new: str = "") -> UsageError:
    path = folder / "configs.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    project = load_project(folder)
    with pytest.raises(UsageError) as caught:
        check(project, project.variant())
    return caught.value


@pytest.fixture
def masked(project_folder: Path) -> Path:
    """The toy project with a GEMM that masks the tail of K."""
    path = project_folder / "kernels" / "toy_gemm.py"
    path.write_text(path.read_text().replace('"k_tail": "dropped"', '"k_tail": "masked"'))
    return project_folder


def test_the_toy_project_is_right(masked: Path) -> None:
    project = load_project(masked)
    check(project, project.variant())


@pytest.mark.parametrize("variant", ["constexpr", "runtime"])
def test_the_shipped_project_is_right(variant: str) -> None:
    project = load_project(SHIPPED)
    check(project, project.variant(variant))


def test_a_dropped_tail(project_folder: Path) -> None:
    error = problem(project_folder, "k: 512}", "k: 576}")
    assert ":10:17: BLOCK_SIZE_K 256 does not divide K 576" in error.message
    assert "the last 64 of K would be dropped for 4x2880x576 in variant 'plain'" in error.message
    assert error.hint == "Use a fragment that masks the tail."


def test_a_dropped_tail_names_the_sizes_that_divide(project_folder: Path) -> None:
    error = problem(project_folder, "k: 512}", "k: 640}")
    assert "the last 128 of K would be dropped" in error.message
    assert error.hint.startswith("Use 128, or a fragment")


def test_a_fragment_that_drops_tails_cannot_serve_shapes_that_are_not_listed(project_folder: Path) -> None:
    error = problem(project_folder)
    assert "drops the rest of a K" in error.message
    assert "for shapes that are not listed" in error.message


def test_block_size_n_against_the_scale_groups(masked: Path) -> None:
    error = problem(masked, "k: 512}", "k: 512, BLOCK_SIZE_N: 16}")
    assert ":17:43: BLOCK_SIZE_N % 32 == 0 does not hold (scales come in groups of 32 rows) for 4x2880x512" in (
        error.message
    )
    assert error.hint == "Here BLOCK_SIZE_N is 16."


def test_a_value_that_the_kernel_does_not_take(masked: Path) -> None:
    error = problem(masked, "k: 512}", "k: 512, BLOCK_SIZE_N: 48}")
    assert ":17:43: BLOCK_SIZE_N is 48, which is not allowed for 4x2880x512" in error.message
    assert error.hint == "Allowed: 16, 32, 64, 128."


def test_true_is_no_number(masked: Path) -> None:
    error = problem(masked, "GROUP_SIZE_M: 1", "GROUP_SIZE_M: true")
    assert "GROUP_SIZE_M is True, which is not allowed" in error.message


def test_splits_without_work(masked: Path) -> None:
    error = problem(masked, "k: 512}", "k: 512, NUM_KSPLIT: 4}")
    assert ":17:41: NUM_KSPLIT 4 leaves 2 splits without work" in error.message
    assert error.hint == "With this BLOCK_SIZE_K, NUM_KSPLIT may be 1, 2."


def test_an_unknown_key(masked: Path) -> None:
    error = problem(masked, "k: 512}", "k: 512, BLOCK_SIZE: 16}")
    assert ":17:29: unknown key 'BLOCK_SIZE' for 4x2880x512" in error.message
    assert "BLOCK_SIZE_M" in error.hint


def test_a_missing_key(masked: Path) -> None:
    error = problem(masked, "  GROUP_SIZE_M: 1\n", "")
    assert "no value for 'GROUP_SIZE_M'" in error.message


def test_a_fragment_that_is_needed_and_not_listed(masked: Path) -> None:
    error = problem(masked, "tile, toy_gemm", "toy_gemm")
    assert "the fragment 'toy_gemm' needs 'tile', which variant 'plain' does not list" in error.message


def test_fragments_that_call_one_another_in_a_circle(masked: Path) -> None:
    path = masked / "kernels" / "tile.py"
    path.write_text(
        path.read_text().replace("import triton\n", "import triton\n\nfrom mxsub.kernels.toy_gemm import x\n")
    )
    error = problem(masked)
    assert "fragments call one another in a circle: toy_gemm -> tile -> toy_gemm" in error.message


def test_a_split_without_a_fragment_that_splits(masked: Path) -> None:
    path = masked / "configs.yaml"
    path.write_text(path.read_text().replace("toy_gemm, toy_split, toy_reduce", "toy_gemm"))
    error = problem(masked, "k: 512}", "k: 512, NUM_KSPLIT: 2}")
    assert "NUM_KSPLIT is 2, which is not allowed for 4x2880x512" in error.message
    assert error.hint == "Allowed: 1."


def test_a_split_needs_a_reduce(masked: Path) -> None:
    error = problem(masked, ", toy_reduce]", "]")
    assert "splits K and has no fragment that reduces the parts" in error.message


@pytest.mark.parametrize(
    ("k", "splits", "block", "size"),
    [(7168, 7, 256, 1024), (7168, 7, 512, 1024), (7168, 14, 512, 512), (512, 4, 256, 256), (448, 2, 128, 256)],
)
def test_split_size(k: int, splits: int, block: int, size: int) -> None:
    assert split_size(k, splits, block) == size


@pytest.mark.parametrize(
    ("relation", "truth"),
    [
        ("a % 32 == 0", True),
        ("a * b <= 64", False),
        ("a >= 16 and b != 3", True),
        ("not (a < b) or a == 1", True),
        ("1 < b < a", True),
    ],
)
def test_relations(relation: str, truth: bool) -> None:
    assert holds(relation, {"a": 64, "b": 2}) is truth


@pytest.mark.parametrize("relation", ["__import__('os')", "a.b", "a[0]", "a ==", "(lambda: a)()"])
def test_relations_are_no_code(relation: str) -> None:
    with pytest.raises(ValueError, match=r"relation"):
        holds(relation, {"a": 64})

"""configs.yaml -> Project: what is read, and that every mistake is one sentence with file:line:col."""

from pathlib import Path

import pytest

from mxsub.submit.errors import UsageError
from mxsub.submit.project import SHIPPED, find_project, load_project
from mxsub.submit.shapes import Shape, parse_shape


def edit(folder: Path, old: str, new: str) -> Path:
    path = folder / "configs.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return folder


def test_configs_are_layered(project_folder: Path) -> None:
    edit(project_folder, "k: 7168}", "k: 7168, NUM_KSPLIT: 7, num_warps: 8}")
    edit(
        project_folder,
        "fragments:",
        "defaults: {num_warps: 2, num_stages: 1}\n    shapes: [{m: 4, n: 2880, k: 512, num_stages: 3}]\n    fragments:",
    )
    variant = load_project(project_folder).variant()
    assert variant.config(Shape(16, 2112, 7168))["NUM_KSPLIT"] == 7
    assert variant.config(Shape(16, 2112, 7168))["num_warps"] == 8  # the shape's beats the variant's default
    assert variant.config(Shape(4, 2880, 512))["num_stages"] == 3  # the variant's own shape beats all
    assert variant.config(Shape(4, 2880, 512))["num_warps"] == 2


def test_the_first_rule_that_fits_serves_other_shapes(project_folder: Path) -> None:
    variant = load_project(project_folder).variant()
    assert variant.config(Shape(16, 64, 64))["BLOCK_SIZE_M"] == 16
    assert variant.config(Shape(17, 64, 64))["BLOCK_SIZE_M"] == 32


def test_the_project_is_found_from_a_folder_below(project_folder: Path) -> None:
    below = project_folder / "kernels"
    assert find_project(below).folder == project_folder


def test_no_project(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no configs\.yaml in .* or above") as caught:
        find_project(tmp_path)
    assert "mxsub init" in caught.value.hint


def test_the_shipped_project_lists_the_boards_ten_shapes() -> None:
    project = load_project(SHIPPED)
    assert (project.leaderboard, project.gpu.name, project.runner.triton) == ("amd-mxfp4-mm", "MI355X", "3.6.0")
    expected = {
        (8, 2112, 7168), (16, 3072, 1536), (64, 3072, 1536), (256, 2880, 512),
        (4, 2880, 512), (16, 2112, 7168), (32, 4096, 512), (32, 2880, 512), (64, 7168, 2048), (256, 3072, 1536),
    }  # fmt: skip
    for name in ("constexpr", "runtime"):
        assert {tuple(listed.shape) for listed in project.variant(name).listed} == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gpu: MI355X", "gpu: MI999X", ":2:6: unknown GPU 'MI999X'"),
        ("gpu: MI355X\n", "", ":1:1: the key 'gpu' is missing here"),
        ("task: toy-mm", "task: toy-mm\ncolour: red", ":4:1: unknown key 'colour'"),
        ("triton: 3.6.0}", "trition: 3.6.0}", ":4:9: the key 'triton' is missing here"),
        ("default_variant: plain", "default_variant: fancy", ":6:18: there is no variant 'fancy'"),
        ("m: 4, n: 2880", "m: 0, n: 2880", r":17:9: shapes\.0\.m is 0: input should be greater than"),
        ("m: 4, n: 2880", "m: four, n: 2880", r":17:9: shapes\.0\.m is 'four': input should be a valid integer"),
        ("n: 2880", "n: 2890", ":17:15: n is 2890, and must be a multiple of 64"),
        ("k: 512", "k: 500", ":17:24: k is 500, and must be a multiple of 64"),
        ("{m: 16, n: 2112, k: 7168}", "{m: 4, n: 2880, k: 512}", ":18:5: the shape 4x2880x512 is listed twice"),
        ("- {BLOCK_SIZE_M: 32}", "- {max_k: 512}", ":21:5: the last rule must fit every shape"),
        ("- {max_m: 16}", "- {BLOCK_SIZE_M: 16}", ":21:5: no shape reaches this rule"),
        ("  BLOCK_SIZE_M: 16", "\tBLOCK_SIZE_M: 16", ":8:1: a tab, which YAML does not allow here"),
        ("defaults:", "defaults: [", ":9:15: is no valid YAML"),
        ("task: toy-mm", "task: toy-mm\ntask: other", ":4:1: is no valid YAML"),
        ("tile, toy_gemm", "tiles, toy_gemm", ":26:47: there is no fragment 'tiles'"),
    ],
)
def test_mistakes(project_folder: Path, old: str, new: str, message: str) -> None:
    edit(project_folder, old, new)
    with pytest.raises(UsageError, match=r"configs\.yaml" + message):
        load_project(project_folder).variants  # noqa: B018


def test_a_file_that_is_no_text(project_folder: Path) -> None:
    (project_folder / "configs.yaml").write_bytes(b"gpu: \xff")
    with pytest.raises(UsageError, match=r"configs\.yaml: is not UTF-8 \(byte 5\)"):
        load_project(project_folder)


def test_an_empty_file(project_folder: Path) -> None:
    (project_folder / "configs.yaml").write_text("")
    with pytest.raises(UsageError, match=r"configs\.yaml:1:1: a mapping of keys to values is needed here"):
        load_project(project_folder)


@pytest.mark.parametrize("text", ["16,2112,7168", "16x2112x7168", " 16, 2112, 7168 "])
def test_shapes_as_text(text: str) -> None:
    assert parse_shape(text) == Shape(16, 2112, 7168)


@pytest.mark.parametrize("text", ["16,2112", "a,b,c", "0,64,64", "16,2112,-1", ""])
def test_no_shapes(text: str) -> None:
    with pytest.raises(UsageError, match="is no shape"):
        parse_shape(text)

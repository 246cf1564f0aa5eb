"""The best configs in configs.yaml: what changes there, and what does not."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from mxsub.submit.errors import MxsubError, UsageError
from mxsub.submit.new_project import create_project
from mxsub.submit.project import load_project
from mxsub.submit.shapes import Shape, parse_shape
from mxsub.submit.sweep.outcome import SweepOutcome
from mxsub.submit.sweep.writing import write_best
from tests.sweep.measured import A, B, Ended, outcome

BASE = Ended({}, {A: (10.0, 0.01), B: (20.0, 0.01)})
BETTER = {A: (9.0, 0.01), B: (18.0, 0.01)}
BOTH = {A: {"num_warps": 8, "cache_modifier": ""}, B: {"NUM_KSPLIT": 14}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_project(tmp_path / "project")
    return tmp_path / "project"


def swept(folder: Path, candidates: dict[str, dict[str, int | str | bool]] = BOTH) -> SweepOutcome:
    return outcome(folder, [BASE, Ended(candidates, BETTER)])


def changed_lines(old: str, new: str) -> Sequence[str]:
    """Those of the new text that the old one does not have; each old line has to be in the new text, in order."""
    rest = iter(new.splitlines())
    added = []
    for line in old.splitlines():
        for found in rest:
            if found == line:
                break
            added.append(found)
    return added + list(rest)


def one_variant(folder: Path) -> str:
    """Leaves the project one variant; returns its configs.yaml."""
    path = folder / "configs.yaml"
    text = path.read_text()
    path.write_text(text[: text.index("\n  runtime:")])
    return path.read_text()


def test_a_variants_own_shapes_where_there_are_several(folder: Path) -> None:
    path = folder / "configs.yaml"
    old, before = path.read_text(), load_project(folder)
    written = write_best(folder, swept(folder))
    after = load_project(folder)
    assert changed_lines(old, path.read_text()) == [
        "    shapes:",
        '      - {m: 4, n: 2880, k: 512, num_warps: 8, cache_modifier: ""}',
        "      - {m: 16, n: 2112, k: 7168, NUM_KSPLIT: 14}",
    ]
    assert after.variant("runtime").listed == before.variant("runtime").listed
    for entry in before.variant("constexpr").listed:
        expected = {**entry.config, **BOTH.get(str(entry.shape), {})}
        assert after.variant("constexpr").config(entry.shape) == expected
    assert [line for line in written.diff if line.startswith("-")] == [f"--- {path}"]
    assert written.sentence == f"{path}: written: {A}: num_warps 8, cache_modifier ''; {B}: NUM_KSPLIT 14"


def test_an_own_entry_that_is_there(folder: Path) -> None:
    path = folder / "configs.yaml"
    text = path.read_text().replace("default_variant: constexpr", "default_variant: runtime")
    path.write_text(text)
    write_best(folder, swept(folder, {A: {"BLOCK_SIZE_K": 128}, B: {"NUM_KSPLIT": 14}}))
    new = path.read_text()
    assert new == text.replace(
        "      - {m: 4, n: 2880, k: 512, BLOCK_SIZE_K: 256}  # with 512 this generation spills\n",
        "      - {m: 4, n: 2880, k: 512, BLOCK_SIZE_K: 128}  # with 512 this generation spills\n"
        "      - {m: 16, n: 2112, k: 7168, NUM_KSPLIT: 14}\n",
    )


def test_the_projects_shapes_where_there_is_one_variant(folder: Path) -> None:
    old = one_variant(folder)
    write_best(folder, swept(folder, {A: {"num_warps": 8}, B: {"NUM_KSPLIT": 14}}))
    assert (folder / "configs.yaml").read_text() == old.replace(
        "{m: 4, n: 2880, k: 512, BLOCK_SIZE_M: 8, BLOCK_SIZE_N: 32, BLOCK_SIZE_K: 512}",
        "{m: 4, n: 2880, k: 512, BLOCK_SIZE_M: 8, BLOCK_SIZE_N: 32, BLOCK_SIZE_K: 512, num_warps: 8}",
    ).replace(
        "k: 7168, BLOCK_SIZE_M: 8, NUM_KSPLIT: 7}\n  - {m: 32", "k: 7168, BLOCK_SIZE_M: 8, NUM_KSPLIT: 14}\n  - {m: 32"
    )


def test_other_layouts_stay(folder: Path) -> None:
    """Lists that are not indented, quotes of both kinds, long lines, CR LF."""
    text = one_variant(folder)
    text = "\n".join(line[2:] if line.startswith("  - ") else line for line in text.splitlines()) + "\n"
    text = text.replace("fragments:\n      - ", "fragments:\n    - ").replace("\n      - ", "\n    - ")
    text = text.replace('cache_modifier: ".cg"', f"cache_modifier: '.cg'  # {'long ' * 40}end")
    path = folder / "configs.yaml"
    path.write_bytes(text.replace("\n", "\r\n").encode())
    write_best(folder, swept(folder, {A: {"num_warps": 8}}))
    expected = text.replace("BLOCK_SIZE_K: 512}", "BLOCK_SIZE_K: 512, num_warps: 8}")
    assert path.read_bytes().decode() == expected.replace("\n", "\r\n")


def test_a_config_that_has_changed_is_left_alone(folder: Path) -> None:
    found = swept(folder)
    path = folder / "configs.yaml"
    text = path.read_text().replace(
        "k: 7168, BLOCK_SIZE_M: 8, NUM_KSPLIT: 7}", "k: 7168, BLOCK_SIZE_M: 8, NUM_KSPLIT: 4}"
    )
    path.write_text(text)
    with pytest.raises(MxsubError) as error:
        write_best(folder, found)
    assert error.value.message == (
        f"{path}:37:60: NUM_KSPLIT of {B} was 7 when the sweep began and is 4; nothing was written"
    )
    assert path.read_text() == text


def test_a_shape_that_changed_and_has_no_better_config_is_no_matter(folder: Path) -> None:
    found = swept(folder, {A: {"num_warps": 8}})
    path = folder / "configs.yaml"
    path.write_text(path.read_text().replace("k: 7168, BLOCK_SIZE_M: 8, NUM_KSPLIT: 7}", "k: 7168, NUM_KSPLIT: 4}"))
    write_best(folder, found)
    variant = load_project(folder).variant()
    assert variant.config(parse_shape(A))["num_warps"] == 8
    assert variant.config(Shape(16, 2112, 7168))["NUM_KSPLIT"] == 4


def test_a_shape_that_is_gone(folder: Path) -> None:
    found = swept(folder, {B: {"NUM_KSPLIT": 14}})
    path = folder / "configs.yaml"
    text = path.read_text().replace("  - {m: 16, n: 2112, k: 7168, BLOCK_SIZE_M: 8, NUM_KSPLIT: 7}\n", "")
    path.write_text(text)
    with pytest.raises(UsageError, match=f"the shape {B} is not listed any more"):
        write_best(folder, found)
    assert path.read_text() == text


def test_writing_twice_changes_nothing(folder: Path) -> None:
    found = swept(folder)
    write_best(folder, found)
    text = (folder / "configs.yaml").read_text()
    again = write_best(folder, found)
    assert (again.diff, (folder / "configs.yaml").read_text()) == ((), text)
    assert "configs.yaml: has them already: " in again.sentence


def test_nothing_is_better(folder: Path) -> None:
    old = (folder / "configs.yaml").read_bytes()
    found = outcome(folder, [BASE, Ended(BOTH, {A: (9.99, 0.01), B: (20.5, 0.01)})])
    assert "unchanged: no candidate is faster" in write_best(folder, found).sentence
    assert (folder / "configs.yaml").read_bytes() == old


def test_a_link_and_a_mode_stay(folder: Path, tmp_path: Path) -> None:
    path, target = folder / "configs.yaml", tmp_path / "shared.yaml"
    path.rename(target)
    target.chmod(0o640)
    path.symlink_to(target)
    write_best(folder, swept(folder))
    assert path.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert load_project(folder).variant().config(parse_shape(B))["NUM_KSPLIT"] == 14
    assert sorted(one.name for one in tmp_path.iterdir()) == ["project", "shared.yaml"]

"""Which submissions a sweep takes, and what it refuses to try."""

from pathlib import Path

import pytest

from mxsub.submit.config_table import configs_in
from mxsub.submit.errors import UsageError
from mxsub.submit.gpus import gpu_named
from mxsub.submit.new_project import create_project
from mxsub.submit.project import Project, Variant, load_project
from mxsub.submit.shapes import Shape
from mxsub.submit.sweep.knobs import Proposal, grid, knobs_of, listed_in
from mxsub.submit.sweep.planning import Plan, chosen_shapes, make_plan, timed_shapes

SMALL, LONG, LAST = Shape(4, 2880, 512), Shape(16, 2112, 7168), Shape(256, 3072, 1536)
TIMED = [SMALL, LONG, Shape(32, 4096, 512), Shape(32, 2880, 512), Shape(64, 7168, 2048), LAST]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("sweep") / "project"
    create_project(folder)
    return load_project(folder)


@pytest.fixture
def variant(project: Project) -> Variant:
    return project.variant()


def planned(project: Project, *words: str, shapes: tuple[Shape, ...] = (SMALL, LONG), name: str | None = None) -> Plan:
    variant = project.variant(name)
    return make_plan(project, variant, project.gpu, shapes, grid(words, variant), " ".join(words))


def test_a_grid_is_every_combination(variant: Variant) -> None:
    values = [proposal.values for proposal in grid(["num_warps=2,8", "cache_modifier=,.ca"], variant)]
    assert values == [
        {"num_warps": 2, "cache_modifier": ""}, {"num_warps": 2, "cache_modifier": ".ca"},
        {"num_warps": 8, "cache_modifier": ""}, {"num_warps": 8, "cache_modifier": ".ca"},
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["constexpr", "runtime"])
def test_both_generations_have_the_knobs_of_their_fragments(project: Project, name: str) -> None:
    knobs = knobs_of(project.variant(name))
    assert knobs["BLOCK_SIZE_M"] == [8, 16, 32, 64, 128, 256]
    assert (knobs["NUM_KSPLIT"][0], knobs["NUM_KSPLIT"][-1]) == (1, 56)
    assert knobs["QUANTIZE"] == ["hardware", "software"]
    assert knobs["num_stages"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("words", "sentence", "hint"),
    [
        (["num_warp=2"], "variant 'constexpr' has no knob 'num_warp'", "Its knobs: BLOCK_SIZE_K, BLOCK_SIZE_M, "),
        (["num_warps"], "'num_warps' is no KNOB=V1,V2", "Knobs of 'constexpr': BLOCK_SIZE_K, "),
        (["num_warps=2,3"], "num_warps=3 is not allowed", "Allowed: 2, 4, 8."),
        (["num_warps="], "num_warps= is not allowed", "Allowed: 2, 4, 8."),
        (["cache_modifier=cg"], "cache_modifier=cg is not allowed", "Allowed: '', .ca, .cg."),
        (["num_warps=2", "num_warps=8"], "num_warps is given twice", "Give all its values at once"),
        (
            ["NUM_KSPLIT=1,2,3,4,5,6,7,8,10,12,14,16", "waves_per_eu=0,1,2,3,4", "BLOCK_SIZE_N=32,64,128,256"],
            "that makes 240 configs for each shape, and a sweep has at most 200", "Sweep fewer knobs at once, ",
        ),
    ],
)  # fmt: skip
def test_what_no_grid_can_be_made_of(variant: Variant, words: list[str], sentence: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        grid(words, variant)
    assert error.value.message == sentence
    assert error.value.hint.startswith(hint)


@pytest.mark.parametrize("name", ["constexpr", "runtime"])
def test_the_i_th_submission_has_the_i_th_candidate_of_every_shape(project: Project, name: str) -> None:
    plan = planned(project, "num_warps=2,4,8", "NUM_KSPLIT=1,7", name=name)
    assert [dict(step.candidates) for step in plan.steps] == [
        {},
        {SMALL: {"num_warps": 2}, LONG: {"num_warps": 2, "NUM_KSPLIT": 1}},
        {SMALL: {"num_warps": 8}, LONG: {"num_warps": 2}},
        {LONG: {"NUM_KSPLIT": 1}},
        {LONG: {"num_warps": 8, "NUM_KSPLIT": 1}},
        {LONG: {"num_warps": 8}},
    ]
    assert len({step.submission.sha256 for step in plan.steps}) == 6
    tables = [configs_in(step.submission.text) for step in plan.steps]
    for step, table in zip(plan.steps, tables, strict=True):
        for shape in TIMED:
            expected = {**project.variant(name).config(shape), **step.candidates.get(shape, {})}
            found = dict(table[str(shape)])
            assert {knob: found[knob] for knob in ("num_warps", "NUM_KSPLIT", "BLOCK_SIZE_M")} == {
                knob: expected[knob] for knob in ("num_warps", "NUM_KSPLIT", "BLOCK_SIZE_M")
            }


def test_candidates_that_cannot_be_built_are_left_out_with_the_reason(project: Project) -> None:
    plan = planned(project, "NUM_KSPLIT=1,4,56", "BLOCK_SIZE_M=8,256")
    reasons = {(left.shape, *left.changes.items()): left.why for left in plan.left_out}
    assert reasons[str(SMALL), ("NUM_KSPLIT", 4)] == (
        "NUM_KSPLIT 4 leaves 3 splits without work: K 512 in parts of whole BLOCK_SIZE_K 512 makes 1"
    )
    assert reasons[str(SMALL), ("BLOCK_SIZE_M", 256)].startswith("BLOCK_SIZE_M * BLOCK_SIZE_K <= 8192 * num_warps does")
    assert all("configs.yaml" not in why for why in reasons.values())
    tried = [values for step in plan.steps for shape, values in step.candidates.items() if shape == LONG]
    assert tried == [{"NUM_KSPLIT": 1}, {"NUM_KSPLIT": 4}]
    assert SMALL not in {shape for step in plan.steps for shape in step.candidates}


def test_nothing_that_is_left_to_try(project: Project) -> None:
    with pytest.raises(UsageError, match="no candidate is left to try: all of them are the configs as they are"):
        planned(project, "num_warps=4")
    with pytest.raises(UsageError, match="no candidate is left to try: 4x2880x512: NUM_KSPLIT 56 leaves 55 splits"):
        planned(project, "NUM_KSPLIT=56", shapes=(SMALL,))


def test_a_knob_that_the_gpu_lacks(project: Project, variant: Variant) -> None:
    proposals = [Proposal({"waves_per_eu": 0}), Proposal({"num_warps": 8, "QUANTIZE": "software"})]
    plan = make_plan(project, variant, gpu_named("H200"), (SMALL,), proposals, "")
    assert [(left.shape, left.why) for left in plan.left_out] == [(str(SMALL), "changes nothing on H200")]
    assert [dict(step.candidates) for step in plan.steps] == [{}, {SMALL: {"num_warps": 8, "QUANTIZE": "software"}}]


def test_the_shapes_are_those_that_the_benchmark_times(project: Project, variant: Variant) -> None:
    timed = timed_shapes(project, variant)
    assert timed == TIMED
    assert chosen_shapes((), timed) == tuple(TIMED)
    assert chosen_shapes(("16,2112,7168", "4x2880x512", "4,2880,512"), timed) == (LONG, SMALL)
    # Of the tests, not of the benchmark.
    with pytest.raises(UsageError, match="--shape 8x2112x7168 is none that a sweep can time"):
        chosen_shapes(("8,2112,7168",), timed)
    with pytest.raises(UsageError, match="'8,2112' is no shape"):
        chosen_shapes(("8,2112",), timed)


def test_a_file_of_configs(tmp_path: Path, project: Project, variant: Variant) -> None:
    path = tmp_path / "tries.yaml"
    path.write_text(
        "- {num_warps: 8}\n"
        "- {num_warps: 2, cache_modifier: '', shapes: [16x2112x7168, '4,2880,512']}\n"
        "- shapes: [16x2112x7168]  # a block entry\n"
        "  NUM_KSPLIT: 14\n"
        "- {num_warps: 8}\n"
    )
    proposals = listed_in(path, variant, TIMED)
    assert [(proposal.values, proposal.shapes) for proposal in proposals] == [
        ({"num_warps": 8}, None),
        ({"num_warps": 2, "cache_modifier": ""}, {LONG, SMALL}),
        ({"NUM_KSPLIT": 14}, {LONG}),
        ({"num_warps": 8}, None),
    ]
    plan = make_plan(project, variant, project.gpu, (LAST, LONG), proposals, "")
    assert [dict(step.candidates) for step in plan.steps] == [
        {},
        {LAST: {"num_warps": 8}, LONG: {"num_warps": 8}},
        {LONG: {"num_warps": 2, "cache_modifier": ""}},
        {LONG: {"NUM_KSPLIT": 14}},
    ]


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("num_warps: 8\n", "1:1", "a list is needed here"),
        ("[]\n", "1:1", "1 to 200 configs are needed here, and there are 0"),
        ("- 8\n", "1:3", "a config is needed here"),
        ("- {shapes: [4x2880x512]}\n", "1:3", "a config is needed here"),
        ("- {num_warps: 8}\n- {num_warp: 8}\n", "2:4", "variant 'constexpr' has no knob 'num_warp'"),
        ("- {num_warps: 3}\n", "1:15", "num_warps is 3, which is not allowed"),
        ("- {num_warps: true}\n", "1:15", "num_warps is True, which is not allowed"),
        ("- {num_warps: '8'}\n", "1:15", "num_warps is '8', which is not allowed"),
        ("- {num_warps: 8, shapes: 4x2880x512}\n", "1:26", "a list of shapes is needed here"),
        ("- {num_warps: 8, shapes: [4x2880]}\n", "1:27", "'4x2880' is no shape"),
        ("- {num_warps: 8, shapes: [4x2880x512, 8x2112x7168]}\n", "1:39", "the shape 8x2112x7168 is none that a sweep"),
        ("- {num_warps: 8\n", "2:1", "is no valid YAML"),
    ],
)
def test_a_file_that_does_not_fit(tmp_path: Path, variant: Variant, text: str, place: str, sentence: str) -> None:
    path = tmp_path / "tries.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        listed_in(path, variant, TIMED)
    assert error.value.message.startswith(f"{path}:{place}: {sentence}")


def test_a_file_that_is_not_there(tmp_path: Path, variant: Variant) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        listed_in(tmp_path / "none.yaml", variant, TIMED)

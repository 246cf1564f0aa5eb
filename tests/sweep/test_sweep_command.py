"""`mxsub sweep` as a contestant types it, against the fake service."""

import json
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from mxsub.submit.config_table import configs_in
from mxsub.submit.history.codec import now
from mxsub.submit.history.sweeps import SweepRecord
from mxsub.submit.project import load_project
from mxsub.submit.shapes import parse_shape
from tests.contestant import POLL, Contestant
from tests.fake_kernelbot import FakeKernelBot
from tests.posting_desk import BOARD, GPU
from tests.sweep.measured import A, B

# Three submissions: the baseline, num_warps 2 and num_warps 8.
RUN = ("sweep", "run", "num_warps=2,8", "--shape", A, "--shape", B, "--force", *POLL)
RESUME = ("sweep", "resume", *POLL)


def sweeps(user: Contestant) -> list[SweepRecord]:
    with user.history() as history:
        return history.sweeps.latest()


def shown(user: Contestant, *arguments: object) -> Any:
    return json.loads(user.run("sweep", *arguments, "--json").stdout)


def us(bot: FakeKernelBot, position: int, shape: str) -> float:
    """The time that the fake's runner gave a shape."""
    lines = bot.rows[position].runs[0].evaluation.result
    m, n, k = shape.split("x")
    (key,) = (
        key for key, value in lines.items() if key.endswith(".spec") and value.startswith(f"k: {k}; m: {m}; n: {n}")
    )
    return float(lines[key.replace(".spec", ".mean")]) / 1e3


def test_a_sweep_from_its_plan_to_the_written_configs(ada: Contestant, bot: FakeKernelBot) -> None:
    done = ada.run(*RUN, "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert done.stderr == "--force: without `mxsub test --mode benchmark` of 3 of 3 texts\n"
    assert [row.mode for row in bot.rows] == ["benchmark"] * 3
    tables = [configs_in(row.code) for row in bot.rows]
    assert [(table[A]["num_warps"], table[B]["num_warps"]) for table in tables] == [(4, 4), (2, 2), (8, 8)]
    assert {table["32x4096x512"]["num_warps"] for table in tables} == {4}
    assert (told["state"], told["done"], told["of"]) == ("finished", 3, 3)
    projected = 1.0
    for shape in told["shapes"]:
        times = [us(bot, position, shape["shape"]) for position in range(3)]
        assert shape["baseline"]["mean"] == pytest.approx(times[0])
        assert [one["time"]["mean"] for one in shape["candidates"]] == pytest.approx(times[1:])
        assert [one["remote_id"] for one in shape["candidates"]] == [bot.rows[1].id, bot.rows[2].id]
        # The fake's texts differ by far more than its runs' errors.
        fastest = times.index(min(times))
        assert shape["best"] == (None, {"num_warps": 2}, {"num_warps": 8})[fastest]
        projected *= min(times) / times[0]
    assert told["projected_geometric_mean"] / told["baseline_geometric_mean"] == pytest.approx(projected ** (1 / 6))
    assert shown(ada, "show") == told

    text = (ada.project / "configs.yaml").read_text()
    written = shown(ada, "write")
    best = {shape["shape"]: shape["best"] for shape in told["shapes"] if shape["best"]}
    assert written["changes"] == best
    variant = load_project(ada.project).variant()
    for shape, values in best.items():
        assert values.items() <= variant.config(parse_shape(shape)).items()
    assert written["written"] == bool(best)
    assert {line for line in text.splitlines() if "#" in line} <= set(
        (ada.project / "configs.yaml").read_text().splitlines()
    )


def test_what_a_person_reads(ada: Contestant, bot: FakeKernelBot) -> None:
    done = ada.run(*RUN)
    assert "submission 1 of 3: the baseline" in done.stderr
    assert "submission 3 of 3: num_warps 8 for 2 shapes" in done.stderr
    assert f"\n{A}\n" in done.stdout
    assert f"{us(bot, 1, A):.3f}" in done.stdout
    label = sweeps(ada)[0].label
    assert f"sweep {label}: finished, 3 of 3 submissions have a verdict" in done.stdout
    assert "projected geometric mean" in done.stdout or "no candidate is better" in done.stdout
    assert f"{label}  " in ada.run("sweep", "list").stdout


def test_texts_that_have_not_passed_here_are_refused(ada: Contestant, bot: FakeKernelBot) -> None:
    arguments = [word for word in RUN if word != "--force"]
    done = ada.run(*arguments)
    assert done.exit_code == 1
    assert done.stderr == (
        "error: 3 of 3 texts have not passed `mxsub test --mode benchmark` here, and nothing was sent\n"
        "`--test` runs it for each of them first; `--force` goes without.\n"
    )
    assert (bot.rows, sweeps(ada)) == ([], [])
    plan = shown(ada, *(word for word in arguments[1:] if word not in POLL), "--dry-run")
    with ada.history() as history:
        for step in plan["submissions"]:
            history.runs.record(
                step["sha256"], started=now(), task=BOARD, mode="benchmark", whole=True, gpu=GPU, virtual=True,
                triton="3.6.0", outcome="passed", geometric_mean=None, detail={},
            )  # fmt: skip
    done = ada.run(*arguments)
    assert (done.exit_code, len(bot.rows)) == (0, 3)
    assert "without" not in done.stderr


def test_a_dry_run_sends_and_records_nothing(ada: Contestant, bot: FakeKernelBot) -> None:
    ada.yaml.unlink()
    arguments = ("sweep", "run", "NUM_KSPLIT=1,4", "--shape", A, "--shape", B, "--dry-run")
    done = ada.run(*arguments)
    assert done.exit_code == 0
    assert "3 submissions of variant constexpr to amd-mxfp4-mm on MI355X" in done.stdout
    assert f"{A}: NUM_KSPLIT 4: NUM_KSPLIT 4 leaves 3 splits without work" in done.stdout
    told = json.loads(ada.run(*arguments, "--json").stdout)
    assert [step["candidates"] for step in told["submissions"]] == [
        {}, {B: {"NUM_KSPLIT": 1}}, {B: {"NUM_KSPLIT": 4}},
    ]  # fmt: skip
    assert (told["untested"], [left["shape"] for left in told["left_out"]]) == (3, [A])
    assert not bot.requests
    assert not (ada.project / ".mxsub").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("num_warp=2",), "variant 'constexpr' has no knob 'num_warp'\nIts knobs: BLOCK_SIZE_K, "),
        (("num_warps=3",), "num_warps=3 is not allowed\nAllowed: 2, 4, 8."),
        ((), "a sweep tries either KNOB=V1,V2 ... or --configs FILE"),
        (("num_warps=2", "--configs", "tries.yaml"), "a sweep tries either KNOB=V1,V2 ... or --configs FILE"),
        (("--configs", "tries.yaml"), "tries.yaml: cannot be read"),
        (("num_warps=2", "--shape", "8,2112,7168"), "--shape 8x2112x7168 is none that a sweep can time"),
        (("num_warps=2", "--variant", "none"), "there is no variant 'none'"),
        (("num_warps=2", "--gpu", "none"), "unknown GPU 'none'"),
        (("num_warps=2", "--test", "--force"), "--test runs what --force goes without"),
        (("num_warps=4",), "no candidate is left to try"),
    ],
)
def test_usage(ada: Contestant, bot: FakeKernelBot, arguments: tuple[str, ...], sentence: str) -> None:
    done = ada.run("sweep", "run", *arguments)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert not bot.requests


def test_another_variant(ada: Contestant, bot: FakeKernelBot) -> None:
    done = ada.run("sweep", "run", "NUM_KSPLIT=14", "--variant", "runtime", "--shape", B, "--force", *POLL)
    assert done.exit_code == 0
    assert [configs_in(row.code)[B]["NUM_KSPLIT"] for row in bot.rows] == [7, 14]
    assert all(row.file_name.startswith("runtime-") for row in bot.rows)


def test_a_rate_limit_is_waited_out(tmp_path: Path) -> None:
    with FakeKernelBot(run_seconds=0.05, rate_limits={"test": 2}, hour_seconds=2.0) as bot:
        ada = Contestant(tmp_path, bot)
        started = time.monotonic()
        done = ada.run(*RUN)
        assert done.exit_code == 0
        assert "Rate limit exceeded: 2/2 test submissions per hour" in done.stderr
        assert "for a place" in done.stderr
        assert len(bot.rows) == 3
        created = [row.created.timestamp() for row in bot.rows]
        assert created[2] - created[0] >= 2.0
        assert time.monotonic() - started < 15
        assert [record.verdict for record in ada.records()] == ["passed"] * 3


def test_a_limit_and_going_on(ada: Contestant, bot: FakeKernelBot) -> None:
    assert ada.run(*RUN, "--limit", "1").exit_code == 0
    assert len(bot.rows) == 1
    assert shown(ada, "show")["state"] == "open"
    again = ada.run(*RUN)
    label = sweeps(ada)[0].label
    assert again.exit_code == 2
    assert f"the sweep {label} of the same texts is not finished" in again.stderr
    assert ada.run(*RESUME, label[:4], "--limit", "1").exit_code == 0
    assert len(bot.rows) == 2
    assert ada.run(*RESUME).exit_code == 0
    assert len(bot.rows) == 3
    assert ada.run(*RESUME).exit_code == 0
    assert len(bot.rows) == 3
    assert shown(ada, "show")["state"] == "finished"
    assert ada.run(*RUN, "--limit", "1").exit_code == 0
    assert (len(sweeps(ada)), len(bot.rows)) == (2, 4)


def test_stopped_from_another_terminal(tmp_path: Path) -> None:
    with FakeKernelBot(run_seconds=2.0, heartbeat_seconds=0.1) as bot:
        ada = Contestant(tmp_path, bot)
        process = ada.start(*RUN)
        while not bot.rows:
            assert process.poll() is None
            time.sleep(0.01)
        stopped = ada.run("sweep", "stop")
        assert stopped.stdout.endswith(": stopped; 0 of 3 submissions have a verdict and one is under way\n")
        out, told = process.communicate(timeout=30)
        assert (process.returncode, len(bot.rows)) == (0, 1), told
        assert "stopped, 1 of 3 submissions have a verdict" in out
    assert [one["state"] for one in shown(ada, "list")] == ["stopped"]
    assert shown(ada, "stop")["state"] == "stopped"


def test_resume_goes_on_with_one_that_was_stopped(ada: Contestant, bot: FakeKernelBot) -> None:
    ada.run(*RUN, "--limit", "1")
    ada.run("sweep", "stop")
    assert ada.run(*RESUME).exit_code == 0
    assert (len(bot.rows), shown(ada, "show")["state"]) == (3, "finished")
    assert "finished; 3 of 3 submissions have a verdict" in ada.run("sweep", "stop").stdout


def test_a_candidate_that_fails_on_the_service(ada: Contestant, bot: FakeKernelBot) -> None:
    ada.run(*RUN, "--limit", "1")
    bot.set_fault("failed-tests")
    done = ada.run(*RESUME)
    assert done.exit_code == 1
    assert "failed: Number of mismatched elements: 7" in done.stdout
    assert f"not counted: its submission failed at {A}" in done.stdout
    told = shown(ada, "show")
    for shape in told["shapes"]:
        one = {candidate["changes"]["num_warps"]: candidate for candidate in shape["candidates"]}
        failed, measured = one[2], one[8]
        assert (failed["state"], failed["time"], failed["change"]) == ("failed", None, None)
        assert measured["state"] == "measured"
    assert all(shape["best"] != {"num_warps": 2} for shape in told["shapes"])
    assert told["submissions"][1]["failed_shapes"] == {A: "Number of mismatched elements: 7"}


def test_nothing_more_is_sent_where_the_baseline_fails(ada: Contestant, bot: FakeKernelBot) -> None:
    bot.set_fault("failed-tests")
    done = ada.run(*RUN)
    assert (done.exit_code, len(bot.rows)) == (1, 1)
    assert f"the baseline: failed at {A}: " in done.stdout
    assert "nothing can be compared" in done.stdout
    assert ada.run(*RESUME).exit_code == 1
    assert len(bot.rows) == 1
    assert "unchanged: no candidate" in ada.run("sweep", "write").stdout


def test_what_the_service_lost_or_refused_may_be_made_again(ada: Contestant, bot: FakeKernelBot) -> None:
    ada.run(*RUN, "--limit", "1")
    bot.set_fault("restart")
    done = ada.run(*RESUME, "--limit", "1")
    assert done.exit_code == 1
    assert "--again` makes again what the service refused, lost or did not run" in done.stdout
    bot.set_fault("not-accepting")
    refused = ada.run(*RESUME)
    assert refused.exit_code == 4
    label = sweeps(ada)[0].label
    assert f"Nothing is lost: `mxsub sweep resume {label}` goes on." in refused.stderr
    assert ada.run(*RESUME).exit_code == 1
    assert len(bot.rows) == 2
    assert ada.run(*RESUME, "--again").exit_code == 0
    assert (len(bot.rows), shown(ada, "show")["state"]) == (4, "finished")
    assert sorted(str(record.verdict) for record in ada.records()) == ["lost", "passed", "passed", "passed", "refused"]


def test_the_service_is_away(ada: Contestant, bot: FakeKernelBot) -> None:
    bot.stop()
    done = ada.run(*RUN)
    assert done.exit_code == 4
    assert done.stderr.count("goes on") == 1
    bot.start()
    assert ada.run(*RESUME).exit_code == 0
    assert len(bot.rows) == 3


def test_an_answer_that_is_lost_makes_no_second_submission(ada: Contestant, bot: FakeKernelBot) -> None:
    bot.set_fault("cut-after-accept", 2)
    assert ada.run(*RUN).exit_code == 0
    assert len({row.code for row in bot.rows}) == len(bot.rows) == 3


def test_a_sweep_goes_on_at_its_own_service_only(ada: Contestant, bot: FakeKernelBot) -> None:
    ada.run(*RUN, "--limit", "1")
    with FakeKernelBot() as other:
        done = ada.run(*RESUME, "--api-url", other.url)
        assert done.exit_code == 2
        assert f"was begun at {bot.url}, and this is {other.url}" in done.stderr
        assert not other.requests


def test_a_name_that_no_sweep_has(ada: Contestant) -> None:
    done = ada.run("sweep", "show")
    assert (done.exit_code, "there is no sweep in the history" in done.stderr) == (2, True)
    assert "there is no sweep in the history" in ada.run("sweep", "list").stdout
    assert shown(ada, "list") == []
    ada.run(*RUN, "--limit", "1")
    done = ada.run("sweep", "write", "none")
    label = sweeps(ada)[0].label
    assert done.stderr == f"error: there is no sweep 'none' in the history\nThe latest: {label}.\n"


def test_a_history_that_tells_no_id(ada: Contestant) -> None:
    ada.run(*RUN)
    kept = b"".join(content for path, content in ada.kept().items() if path != str(ada.yaml))
    assert ada.cli_id.encode() not in kept


# An evaluator without torch: it says that 14 splits of K are wrong.
EVAL = """\
    import os
    import sys

    wrong = "NUM_KSPLIT=14" in open("submission.py").read()
    results = os.fdopen(int(os.environ["POPCORN_FD"]), "w", buffering=1)
    lines = open(sys.argv[2]).read().splitlines()
    print(f"benchmark-count: {len(lines)}", file=results)
    for number, line in enumerate(lines):
        key = f"benchmark.{number}"
        print(f"{key}.spec: {line}", file=results)
        if wrong and "7168" in line:
            print(f"{key}.status: fail", file=results)
            print(f"{key}.error: mismatch of 7 elements", file=results)
        else:
            for name in ("runs", "mean", "std", "err", "best", "worst"):
                print(f"{key}.{name}: 3", file=results)
    failed = wrong and any("7168" in line for line in lines)
    print(f"check: {'fail' if failed else 'pass'}", file=results)
    sys.exit(112 if failed else 0)
"""
TASK_YML = """\
    lang: py
    files:
      - {name: submission.py, source: "@SUBMISSION@"}
      - {name: eval.py, source: eval.py}
    config: {main: eval.py}
    benchmarks:
      - {m: 4, n: 2880, k: 512, seed: 1}
      - {m: 16, n: 2112, k: 7168, seed: 2}
    ranking_by: geom
"""


def test_local_runs_first_and_what_fails_them_is_left_out(ada: Contestant, bot: FakeKernelBot) -> None:
    task = ada.project / "tasks" / BOARD
    task.mkdir(parents=True)
    (task / "eval.py").write_text(dedent(EVAL))
    (task / "task.yml").write_text(dedent(TASK_YML))
    (ada.project / "tries.yaml").write_text(f"- {{NUM_KSPLIT: 14, shapes: [{B}]}}\n- {{num_warps: 8, shapes: [{A}]}}\n")
    done = ada.run("sweep", "run", "--configs", str(ada.project / "tries.yaml"), "--test", "--json", *POLL)
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["left_out"] == [
        {"shape": B, "changes": {"NUM_KSPLIT": 14}, "why": "does not pass `mxsub test` here: mismatch of 7 elements"}
    ]
    assert [step["candidates"] for step in told["submissions"]] == [{}, {A: {"num_warps": 8}}]
    assert len(bot.rows) == 2
    with ada.history() as history:
        outcomes = [(run.mode, run.outcome) for run in reversed(history.runs.latest())]
    assert outcomes == [("benchmark", "passed"), ("benchmark", "failed"), ("benchmark", "passed")]

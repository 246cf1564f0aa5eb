"""What is counted of instructions whose figures can be told by hand."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mxsub.virtual.tracing import Tracing
from tests.inspect.conftest import Counter

COPY = "global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v2, s[6:7] sc0 nt"


def counts_of(counted: Tracing) -> dict[str, Any]:
    counts: dict[str, Any] = counted.notes()["counts"]
    json.dumps(counts)  # it goes into the launch log
    return counts


def argument(counts: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in counts["traffic"]["arguments"] if entry["argument"] == name)


def kinds(counts: dict[str, Any]) -> list[str]:
    return [finding["kind"] for finding in counts["findings"]]


def test_a_copy(counter: Counter) -> None:
    counts = counts_of(counter.run(COPY))
    assert argument(counts, "source") == {
        "argument": "source", "verb": "reads", "tensor_bytes": 256, "asked_bytes": 256, "line_bytes": 256,
        "distinct_launch_bytes": 256, "distinct_dies_bytes": 256, "distinct_workgroups_bytes": 256,
        "cache_modifiers": {"": 256},
    }  # fmt: skip
    assert argument(counts, "out")["verb"] == "writes"
    assert argument(counts, "out")["cache_modifiers"] == {"sc0 nt": 256}
    assert argument(counts, "kernel arguments")["asked_bytes"] == 16  # once a wave, not a lane
    work = counts["work"]
    assert work["executed"] == work["static"]
    assert work["executed"] == {
        "scalar load": 1, "vector": 1, "branch and sync": 3, "global load": 1, "global store": 1,
    }  # fmt: skip
    assert counts["roofline"]["memory_us"] == pytest.approx((256 + 256 + 128) / 8e12 * 1e6)
    assert counts["roofline"]["bound_by"] == "memory"
    assert counts["resources"]["scratch_bytes"] == 16


def test_workgroups_that_read_the_same(counter: Counter) -> None:
    """Nine workgroups of two waves: dies 0 to 7 and 0 again. They all read what the first one does."""
    counts = counts_of(counter.run(COPY, words=128, waves=2, grid=(9, 1, 1)))
    source = argument(counts, "source")
    assert source["asked_bytes"] == 9 * 2 * 256
    assert source["distinct_launch_bytes"] == 512
    assert source["distinct_dies_bytes"] == 8 * 512
    assert source["distinct_workgroups_bytes"] == 9 * 512
    assert counts["work"]["executed"]["global load"] == 18
    assert (counts["workgroups"], counts["workgroups_counted"], counts["waves_per_workgroup"]) == (9, 9, 2)
    assert counts["spread"]["units_used"] == 9


def test_a_sample_is_scaled(counter: Counter) -> None:
    counts = counts_of(counter.run(COPY, waves=1, grid=(100, 1, 1), sample=10))
    assert counts["workgroups"] == 100
    assert 10 <= counts["workgroups_counted"] < 20
    assert counts["work"]["executed"]["global load"] == 100
    assert argument(counts, "source")["asked_bytes"] == 100 * 256


def test_lines_far_apart(counter: Counter) -> None:
    """Every lane has a line to itself: 32 times the lines that its bytes fill."""
    far = COPY.replace("v1", "v5")
    counts = counts_of(counter.run(f"v_lshlrev_b32_e32 v5, 7, v0\n{far}", words=64 * 32))
    assert argument(counts, "source")["line_bytes"] == 64 * 128
    assert argument(counts, "source")["asked_bytes"] == 256
    assert kinds(counts).count("uncoalesced") == 2
    assert "32.0 times the cache lines" in counts["findings"][-1]["sentence"]


def test_lanes_off(counter: Counter) -> None:
    counts = counts_of(
        counter.run(f"s_mov_b64 exec, 0xffff\n{COPY}\nv_add_f32_e32 v3, v2, v2\nv_add_f32_e32 v3, v2, v2")
    )
    assert argument(counts, "source")["asked_bytes"] == 64
    assert counts["traffic"]["memory_lanes_on_share"] == 0.25
    assert counts["work"]["vector_lanes_on_share"] == pytest.approx((64 + 16 + 16) / 192, abs=1e-4)
    assert counts["work"]["vector_flops"] == 32
    assert kinds(counts).count("lanes off") == 2


def test_no_lane_at_all(counter: Counter) -> None:
    counts = counts_of(counter.run(f"s_mov_b64 exec, 0\n{COPY}"))
    assert [entry["argument"] for entry in counts["traffic"]["arguments"]] == ["kernel arguments"]
    assert counts["work"]["executed"]["global store"] == 1


def test_a_loop_is_executed_more_often_than_it_stands_there(counter: Counter) -> None:
    body = "v_fma_f32 v3, v1, v1, v1\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 again"
    work = counts_of(counter.run(f"s_mov_b32 s8, 5\nagain:\n{body}", waves=2, words=128))["work"]
    assert work["static"]["vector"] == 2
    assert work["executed"]["vector"] == 2 * (1 + 5)
    assert work["vector_flops"] == 2 * 5 * 64 * 2


def test_products(counter: Counter) -> None:
    """MFMA works on all lanes, whatever EXEC says."""
    zeros = "\n".join(f"v_mov_b32_e32 v{k}, 0" for k in range(2, 30))
    text = (
        f"{zeros}\ns_mov_b64 exec, 1\n"
        "v_mfma_f32_16x16x32_bf16 v[2:5], v[6:9], v[10:13], v[2:5]\n"
        "v_mfma_f32_16x16x128_f8f6f4 v[2:5], v[6:9], v[10:13], v[2:5] cbsz:4 blgp:4"
    )
    counts = counts_of(counter.run(text))
    assert counts["work"]["matrix_flops"] == {"bf16": 16384, "fp4": 65536}
    roofline = counts["roofline"]
    assert roofline["matrix_us"] == pytest.approx((16384 / 2.5e15 + 65536 / 10.1e15) * 1e6)
    assert roofline["flops_per_distinct_byte"] == pytest.approx((16384 + 65536) / 128)


def test_conversions_and_unpacking(counter: Counter) -> None:
    text = (
        "v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 0x3f800000\n"
        "v_cvt_scalef32_pk_fp4_f32 v2, v3, v3, v3\nv_cvt_scalef32_pk_bf16_fp4 v4, v2, v3"
    )
    work = counts_of(counter.run(text, waves=2, words=128))["work"]
    assert work["converted_values"] == {"fp4": 2 * 64 * 2}
    assert work["unpacked_values"] == {"fp4": 2 * 64 * 2}


def test_lds(counter: Counter) -> None:
    """Writes without a conflict, reads of which each lane wants bank 0."""
    text = (
        "v_lshlrev_b32_e32 v3, 8, v0\n" + "\n".join(f"ds_write_b32 v1, v0 offset:{256 * k}" for k in range(64))
        + "\ns_waitcnt lgkmcnt(0)\nds_read_b32 v4, v3\ns_waitcnt lgkmcnt(0)"
    )  # fmt: skip
    counts = counts_of(counter.run(text, lds_bytes=1 << 14))
    assert counts["traffic"]["lds"] == {
        "read_bytes": 256, "written_bytes": 64 * 256, "cycles": 64 * 2 + 64, "conflicts": 63,
    }  # fmt: skip
    assert "bank conflicts" in kinds(counts)
    assert counts["resources"]["lds_bytes"] == 1 << 14


def test_scratch(counter: Counter) -> None:
    text = "scratch_store_dword off, v1, off offset:4\nscratch_load_dword v2, off, off offset:4\ns_waitcnt vmcnt(0)"
    counts = counts_of(counter.run(text))
    assert counts["traffic"]["scratch"] == {"read_bytes": 256, "written_bytes": 256}
    assert "keeps 16 bytes a lane in scratch: 512 bytes" in counts["findings"][0]["sentence"]


def test_an_atomic_writes(counter: Counter) -> None:
    counts = counts_of(counter.run("global_atomic_add v1, v1, s[6:7]"))
    assert argument(counts, "out")["verb"] == "writes"
    assert counts["work"]["executed"]["global atomic"] == 1


def test_every_key_is_documented(counter: Counter) -> None:
    notes = counter.run(COPY).notes()
    text = (Path(__file__).parents[2] / "docs" / "inspect.md").read_text()
    named = set(re.findall(r"[\w.]+", text))
    words = {part for name in named for part in name.split(".")}
    counts, missing = notes["counts"], []
    for key, value in [*counts.items(), *notes["timing"].items()]:
        missing += [key] if key not in words else []
        own = value[0] if isinstance(value, list) and value else value
        if isinstance(own, dict) and not key.endswith("_share"):
            missing += [f"{key}.{inner}" for inner in own if inner not in words]
    missing += [key for key in counts["traffic"]["arguments"][0] if key not in words]
    # Sums, and what says nothing but what it is.
    expected = {"traffic." + f"{verb}_{what}_bytes" for verb in ("read", "written") for what in ("asked", "distinct")}
    assert set(missing) <= {*expected, "spread.workgroups", "argument", "verb", "tensor_bytes"}


def test_counting_changes_nothing(counter: Counter) -> None:
    """The watched launch computes what the unwatched one does."""
    from tests.bench import Bench

    text = "v_add_u32_e32 v3, v2, v2"
    plain = Bench().run(text, waves=2, grid=(3, 1, 1))
    assert np.array_equal(plain, Bench().run(text, waves=2, grid=(3, 1, 1), watchers=[Tracing()]))

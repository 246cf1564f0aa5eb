"""Sources from other lanes (DPP): on opcodes of each kind, with lanes off, rows and banks masked."""

import numpy as np
import pytest

from tests.instructions.expectations import expected
from tests.instructions.vector_bench import VectorBench
from tests.instructions.word_comparison import canonical

# control -> the lane that a lane reads, or None where there is none; as AMD's manual lists them
CONTROLS = {
    "quad_perm:[1,2,0,3]": lambda lane: lane & 60 | (1, 2, 0, 3)[lane & 3],
    "row_shl:3": lambda lane: lane + 3 if lane % 16 < 13 else None,
    "row_shr:1": lambda lane: lane - 1 if lane % 16 else None,
    "row_ror:5": lambda lane: lane & 48 | lane - 5 & 15,
    "row_mirror": lambda lane: lane & 48 | 15 - lane % 16,
    "row_half_mirror": lambda lane: lane & 56 | 7 - lane % 8,
    "row_newbcast:6": lambda lane: lane & 48 | 6,
    "row_bcast:15": lambda lane: (lane & 48) - 1 if lane >= 16 else None,
    "row_bcast:31": lambda lane: 31 if lane >= 32 else None,
    "wave_shl:1": lambda lane: lane + 1 if lane < 63 else None,
    "wave_rol:1": lambda lane: lane + 1 & 63,
    "wave_shr:1": lambda lane: lane - 1 if lane else None,
    "wave_ror:1": lambda lane: lane - 1 & 63,
}
# opcode -> the type by which NaNs are told
OPCODES = {
    "v_mov_b32": "",
    "v_cvt_f32_i32": "f32",
    "v_add_f32": "f32",
    "v_max_i32": "",
    "v_fmac_f32": "f32",
    "v_sub_u16": "",
    "v_add_f16": "f16",
    "v_add_co_u32": "",
    "v_dot4c_i32_i8": "",
}


@pytest.mark.parametrize("opcode", OPCODES)
@pytest.mark.parametrize("control", CONTROLS)
def test_dpp(control, opcode, bench, random):
    for bound in ("", " bound_ctrl:1"):
        draws = VectorBench(random, 1)
        first, *others = draws.sources(opcode)
        old = draws.operands.of("f32" if opcode == "v_fmac_f32" else "u32")
        active = draws.operands.active()
        rows, banks = (int(x) for x in random.choice([15, 15, 10, 7], 2))
        text = f"""v_cmp_ne_u32_e64 s[46:47], 0, v12
v_mov_b32_e32 v20, v13
s_mov_b64 exec, s[46:47]
{opcode}_dpp v20, {"vcc, " if "_co_" in opcode else ""}v10{", v11" if others else ""} {control} \
row_mask:{rows:#x} bank_mask:{banks:#x}{bound}
s_mov_b64 exec, -1
v_cndmask_b32_e64 v21, 0, 1, vcc"""
        second = others[0] if others else first
        got = bench.compute(text, first, second, active.astype(np.uint32), old, results=2)
        want, carries = old.copy(), np.zeros(64, np.uint32)
        for lane in np.flatnonzero(active):
            source = CONTROLS[control](int(lane))
            readable = source is not None and active[source]
            if not (rows >> lane // 16 & 1 and banks >> lane % 16 // 4 & 1) or not (readable or bound):
                continue
            read = int(first[source, 0]) if readable else 0
            sources = [read, int(second[lane, 0])][: 1 + len(others)]
            state = expected(opcode, *sources, laneId=int(lane), D0=int(old[lane, 0]))
            narrow = opcode in ("v_sub_u16", "v_add_f16")
            want[lane] = state.names["D0"] & (0xFFFF if narrow else 0xFFFFFFFF)
            carries[lane] = state.names.get("VCC", 0) >> int(lane) & 1
        kind = OPCODES[opcode]
        np.testing.assert_array_equal(canonical(got[:, :1], kind), canonical(want, kind))
        if "_co_" in opcode:
            np.testing.assert_array_equal(got[:, 1], carries)

"""An interpreter of AMD's pseudo-code for the CDNA instructions, as tinygrad publishes it in machine-readable form.

It is independent of mxsub: what an instruction does here follows from AMD's text alone, on exact numbers.

    state = run_lane("v_add_f32", 0x3F800000, 0x40000000)     # sources' bits, in order
    state.names["D0"]                                         # 0x40400000

    state = run_lane("v_mad_u64_u32", a, b, c)                # state.names["D0"] has 64 bits, ["D1"] the carry
    state = run_lane("s_add_u32", a, b)                       # state.names["SCC"]
    state = run_lane("v_addc_co_u32", a, b, VCC=mask, laneId=5)
    state = run_lane("v_fmac_f32", a, b, D0=accumulator)      # what the destination held before
    state = run_lane("v_cvt_scalef32_pk_fp4_f32", x, y, scale, OPSEL=8, D0=old)

Instructions across lanes and memory instructions get a whole state:

    state = State(names={"ADDR": 16, "DATA": 7, "OFFSET0": 4}, functions={"CalcDsAddr": lambda *values: ...})
    state.memory.write(20, 4, 1)                              # address, bytes, number
    run("ds_add_rtn_u32", state)                              # state.names["RETURN_DATA"], state.memory.read(20, 4)
    state = State(names={"SRC0": 3, "EXEC": 0xF0}, vgpr={(lane, 3): word, ...})
    run("v_readfirstlane_b32", state)

Names in capitals are looked up in `State.names`, VGPR[lane][register] in `State.vgpr`, SGPR[n] in `State.sgpr`, MEM[a]
and LDS[a] in `State.memory`; `State.functions` has functions of values (`Value.integer`, `.bits`, `.real`) for what the
text calls but no document defines. DESCRIBED has the opcodes whose text is pseudo-code: that of MFMA, s_waitcnt,
s_sleep and ds_swizzle is prose.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from tinygrad.runtime.autogen.amd.cdna.str_pcode import PCODE

from tests.pseudocode import functions
from tests.pseudocode.frame import Frame
from tests.pseudocode.grammar import PseudoCodeError, parse
from tests.pseudocode.state import Memory, State
from tests.pseudocode.statements import block
from tests.pseudocode.values import Value, of_integer, type_named

__all__ = ["DESCRIBED", "TEXTS", "Memory", "PseudoCodeError", "State", "Value", "of_integer", "run", "run_lane"]


def _texts() -> dict[str, str]:
    """opcode, in small letters and without its encoding -> text. Where encodings differ, the short one's is taken."""
    texts: dict[str, str] = {}
    for key, text in PCODE.items():
        name = key.name.lower().removesuffix("_e32").removesuffix("_e64")
        texts.setdefault(name, text)
    return texts


TEXTS = _texts()


def _is_described(name: str) -> bool:
    try:
        parse(TEXTS[name])
    except PseudoCodeError:
        return False
    return True


@cache
def _program(name: str) -> Callable[[Frame], None]:
    if name not in TEXTS:
        raise PseudoCodeError(f"there is no text for {name}")
    return block(parse(TEXTS[name]))


@cache
def _function(name: str) -> Callable[..., Any] | None:
    return functions.FUNCTIONS.get(name) or functions.conversion(name)


def _call(frame: Frame, name: str, values: list[Value]) -> Any:
    state = frame.state
    if name in state.functions:
        return state.functions[name](*values)
    function = _function(name)
    if function is not None:
        return function(*values, state)
    if name not in TEXTS:
        raise PseudoCodeError(f"there is no function {name}")
    inner = State(dict(state.names), state.vgpr, state.sgpr, state.memory, state.functions, state.rounding)
    inner.names.update({f"S{k}": value.bits for k, value in enumerate(values)}, D0=0)
    run(name, inner)
    type_ = type_named(name.rpartition("_")[2])
    if type_ is None or type_[1] < 16:  # v_sad_u8 and its like give words
        type_ = ("b", 32)
    return of_integer(type_, inner.names["D0"])


def run(name: str, state: State) -> None:
    """Run an opcode (small letters, no encoding suffix) on a state. Raises PseudoCodeError."""
    _program(name)(Frame(state, _call))


def run_lane(name: str, *sources: int, **names: int) -> State:
    """Run one lane of an opcode with the bits of its sources; gives the state after it."""
    before = {f"S{k}": bits for k, bits in enumerate(sources)} | {"D0": 0, "VDST": 0, "SRC0": 1} | names
    lane, old = before.get("laneId", 0), before["D0"]
    before["D"] = old  # as v_bitop3 calls it
    state = State(before, vgpr={(lane, 0): old, (lane, 1): before.get("S0", 0)})
    run(name, state)
    for written in (state.vgpr[lane, 0], state.names["D"]):  # as VGPR[laneId][VDST], or as D
        if written != old:
            state.names["D0"] = written
    return state


DESCRIBED = frozenset(name for name in TEXTS if _is_described(name))

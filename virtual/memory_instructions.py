"""All memory instructions: which there are, which of them are emulated, and why the others are not."""

import re
from collections.abc import Callable
from typing import Any

from mxsub.virtual import atomics, lanes, lds_atomics, lds_instructions, scalar_memory, vector_memory
from mxsub.virtual.assembly import Instruction
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.waves import Waves

Step = Callable[[Waves], Any]

BINDERS: dict[str, Callable[[Instruction], Step]] = {
    **vector_memory.BINDERS,
    **atomics.BINDERS,
    **lds_instructions.BINDERS,
    **lds_atomics.BINDERS,
    **lanes.LDS_BINDERS,
    **scalar_memory.BINDERS,
}
# Caches and ordering: in lockstep everything is seen at once.
WITHOUT_EFFECT = {"buffer_wbl2", "buffer_inv", "ds_nop"}
OPCODES = BINDERS.keys() | WITHOUT_EFFECT

# What gfx950 has, and LLVM makes of no kernel: the end of an opcode's name -> why it is refused.
_REFUSED = {
    r"t?buffer_(load|store)_format_\w+": "typed buffers, which only graphics uses",
    r"ds_(append|consume)": "counters in LDS, which no compiler makes of Triton code",
    r"ds_condxchg32_rtn_b64": "conditional exchanges, which no compiler makes",
    r"ds_gws_\w+": "global wave synchronization, which needs a driver's set-up",
    r"s_(buffer_)?atomic_\w+": "scalar atomics, which no compiler makes",
    r"s_scratch_(load|store)_\w+": "scalar scratch, which no compiler makes for gfx950",
    r"s_atc_probe(_buffer)?": "address translation probes, which no compiler makes",
    r"s_dcache_discard(_x2)?": "throwing away what is in a cache, which no compiler makes",
}
_MODIFIERS = {
    "ds": {"offset", "offset0", "offset1"},
    "s": {"offset", "glc"},
    "buffer": {"offset", "offen", "idxen", "sc0", "sc1", "nt", "lds"},
    "global": {"offset", "sc0", "sc1", "nt"},
    "flat": {"offset", "sc0", "sc1", "nt"},
    "scratch": {"offset", "sc0", "sc1", "nt"},
}


def refusal(opcode: str) -> str | None:
    """Why an opcode that gfx950 has is not emulated; None of all others."""
    return next((why for pattern, why in _REFUSED.items() if re.fullmatch(pattern, opcode)), None)


def is_known(opcode: str) -> bool:
    """Is it the opcode of a memory instruction, if only of one that is refused with a reason?"""
    return opcode in OPCODES or refusal(opcode) is not None


def touches_memory_atomically(opcode: str) -> bool:
    """Is it an atomic on global memory? Kernels with them may wait for other workgroups."""
    return opcode in atomics.BINDERS


def bind(instruction: Instruction) -> Step | None:
    """A function that runs the instruction, or None for one without effect. Raises UnsupportedForm."""
    opcode = instruction.opcode
    if opcode in WITHOUT_EFFECT:
        return None
    if why := refusal(opcode):
        raise UnsupportedForm(why)
    unknown = instruction.modifiers.keys() - _MODIFIERS[opcode.partition("_")[0]]
    if unknown:
        raise UnsupportedForm(f"the modifier {min(unknown)}")
    return BINDERS[opcode](instruction)

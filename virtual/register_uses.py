"""Which registers an instruction reads and writes, by its operands and by what it does without saying so."""

import re
from dataclasses import dataclass

from mxsub.virtual import scalar, vector
from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.registers import EXEC, M0, SCC, VCC, VECTOR_REGISTERS

# Registers in one numbering: the vector registers (accumulation registers among them), then the scalar ones.
SCALAR = VECTOR_REGISTERS
_EXEC, _VCC, _SCC, _M0 = (SCALAR + register for register in (EXEC, VCC, SCC, M0))

_BOTH = {"v_swap_b32", "v_permlane16_swap_b32", "v_permlane32_swap_b32"}
_BRANCH_READS = {"scc": (_SCC,), "vcc": (_VCC, _VCC + 1), "exe": (_EXEC, _EXEC + 1)}
_STORE = re.compile(r"(?:global|flat|scratch|buffer)_store|ds_write|s_store|s_dcache|buffer_(?:inv|wb|gl)")
_ATOMIC = re.compile(r"(?:global|flat|buffer)_atomic")
_TO_LDS = re.compile(r"_lds(?:_|$)")
_NO_RESULT = re.compile(
    r"s_(?:waitcnt|nop|barrier|endpgm|branch|sleep|setprio|set|icache|trap|sendmsg|code|ttrace|inc)"
)


@dataclass(frozen=True)
class Uses:
    """reads, writes: registers, vector ones by their number, scalar ones from SCALAR on. keeps: does something of what
    the written registers held stay, where all lanes are on?"""

    reads: frozenset[int]
    writes: frozenset[int]
    keeps: bool


def registers(operand: Operand) -> tuple[int, ...]:
    """The registers of an operand."""
    if not operand.is_register:
        return ()
    first = operand.register + (SCALAR if operand.kind == "scalar" else 0)
    return tuple(range(first, first + operand.count))


def name(register: int) -> str:
    """As the assembly text has it: v5, a5, s5, vcc_lo."""
    if register >= SCALAR:
        special = {_VCC: "vcc_lo", _VCC + 1: "vcc_hi", _EXEC: "exec_lo", _EXEC + 1: "exec_hi", _M0: "m0", _SCC: "scc"}
        return special.get(register, f"s{register - SCALAR}")
    return f"v{register}" if register < VECTOR_REGISTERS // 2 else f"a{register - VECTOR_REGISTERS // 2}"


def is_load_to_lds(instruction: Instruction) -> bool:
    """Does it move data from global memory to LDS, past the registers?"""
    return "lds" in instruction.modifiers or (
        "load" in instruction.opcode and _TO_LDS.search(instruction.opcode) is not None
    )


def uses(instruction: Instruction) -> Uses:
    """What an instruction reads and writes. EXEC, which every vector instruction heeds, counts where it is named."""
    operands, opcode = instruction.operands, instruction.opcode
    results = _results(instruction)
    reads = {register for operand in operands[results:] for register in registers(operand)}
    writes = {register for operand in operands[:results] for register in registers(operand)}
    if opcode.startswith("v_div_fmas"):
        reads |= {_VCC, _VCC + 1}
    elif opcode.startswith("v_cmpx"):
        writes |= {_EXEC, _EXEC + 1}
    elif opcode.startswith("s_cbranch_"):
        reads |= set(_BRANCH_READS.get(opcode[10:13], ()))
    elif "saveexec" in opcode or "wrexec" in opcode:
        reads |= {_EXEC, _EXEC + 1}
        writes |= {_EXEC, _EXEC + 1, _SCC}
    elif opcode in scalar.OPERATIONS:
        operation = scalar.OPERATIONS[opcode]
        if operation.scc != scalar.KEPT:
            writes.add(_SCC)
        if "scc" in operation.sources:
            reads.add(_SCC)
    elif is_load_to_lds(instruction):
        reads.add(_M0)
    return Uses(frozenset(reads), frozenset(writes), _keeps_part(instruction))


def _results(instruction: Instruction) -> int:
    """How many of the operands, the first ones, are results."""
    opcode = instruction.opcode
    if opcode in vector.OPERATIONS:
        return len(vector.OPERATIONS[opcode].results)
    if opcode in scalar.OPERATIONS:
        return 1 if scalar.OPERATIONS[opcode].result else 0
    if opcode in _BOTH:
        return 2
    if opcode == "s_call_b64":
        return 1
    if opcode.startswith("s_c") or _NO_RESULT.match(opcode) or _STORE.match(opcode) or is_load_to_lds(instruction):
        return 0
    if _ATOMIC.match(opcode):
        return 1 if {"sc0", "glc"} & instruction.modifiers.keys() else 0
    if opcode.startswith("ds_"):
        reading = "read" in opcode or "rtn" in opcode or opcode.endswith(("swizzle_b32", "permute_b32"))
        return 1 if reading or "consume" in opcode or "append" in opcode else 0
    return 1 if instruction.operands else 0


def _keeps_part(instruction: Instruction) -> bool:
    """Does the result keep something of what its register held?"""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    operation = vector.OPERATIONS.get(opcode)
    if operation is not None and ("old" in operation.sources or operation.results[0].endswith("+")):
        return True
    if opcode in scalar.OPERATIONS and "old" in scalar.OPERATIONS[opcode].sources:
        return True
    if opcode in _BOTH or opcode == "v_writelane_b32" or opcode.startswith("v_smfmac"):
        return True
    if _ATOMIC.match(opcode):
        return opcode.startswith("buffer")  # the result takes the place of the data
    return (
        "_d16" in opcode
        or "dpp" in instruction.encoding
        or modifiers.get("dst_unused") == "UNUSED_PRESERVE"
        or bool(instruction.bit("op_sel", 3))
    )

"""Where the code of a kernel goes on after each instruction."""

from mxsub.virtual.assembly import Instruction


def successors(code: list[Instruction], labels: dict[str, int], pc: int) -> tuple[int, ...]:
    """The instructions that may follow one, by number. A call by address may be of anything that has a label, and a
    return comes behind any call."""
    instruction = code[pc]
    if instruction.opcode in ("s_endpgm", "s_trap"):
        return ()
    if instruction.opcode == "s_call_b64":
        return (labels[instruction.operands[1].name],)
    if instruction.opcode == "s_swappc_b64":
        return tuple(sorted({number for number in labels.values() if number < len(code)}))
    if instruction.opcode == "s_setpc_b64":
        calls = ("s_call_b64", "s_swappc_b64")
        return tuple(number + 1 for number, other in enumerate(code[:-1]) if other.opcode in calls)
    following = (pc + 1,) if pc + 1 < len(code) else ()
    if instruction.opcode == "s_branch":
        return (labels[instruction.operands[0].name],)
    if instruction.opcode.startswith("s_cbranch"):
        return (*following, labels[instruction.operands[0].name])
    return following

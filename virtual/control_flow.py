"""Where the code of a kernel goes on after each instruction."""

from mxsub.virtual.assembly import Instruction


def successors(code: list[Instruction], labels: dict[str, int], pc: int) -> tuple[int, ...]:
    """The instructions that may follow one, by number."""
    instruction = code[pc]
    if instruction.opcode == "s_endpgm":
        return ()
    following = (pc + 1,) if pc + 1 < len(code) else ()
    if instruction.opcode == "s_branch":
        return (labels[instruction.operands[0].name],)
    if instruction.opcode.startswith("s_cbranch"):
        return (*following, labels[instruction.operands[0].name])
    return following

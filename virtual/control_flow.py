"""Where the code of a kernel goes on after each instruction."""

import re

from mxsub.virtual.assembly import Instruction

# A branch that is too far for s_branch is s_getpc, the distance between two labels added in halves, and s_setpc. The
# halves are written `(.LBB0_4-.Lpost_getpc0)&4294967295` and `(.LBB0_4-.Lpost_getpc0)>>32`.
DISTANCE = re.compile(r"\((\.\w+)-(\.\w+)\)(&4294967295|>>32)$")


def successors(code: list[Instruction], labels: dict[str, int], pc: int) -> tuple[int, ...]:
    """The instructions that may follow one, by number. A call by address may be of anything that has a label, and a
    return comes behind any call; a jump right behind the sum of a distance is a far branch."""
    instruction = code[pc]
    if instruction.opcode in ("s_endpgm", "s_trap"):
        return ()
    if instruction.opcode == "s_call_b64":
        return (labels[instruction.operands[1].name],)
    if instruction.opcode == "s_swappc_b64":
        return tuple(sorted({number for number in labels.values() if number < len(code)}))
    if instruction.opcode == "s_setpc_b64":
        distance = DISTANCE.match(code[pc - 1].operands[-1].name) if pc and code[pc - 1].operands else None
        if distance:
            return (labels[distance[1]],)
        calls = ("s_call_b64", "s_swappc_b64")
        return tuple(number + 1 for number, other in enumerate(code[:-1]) if other.opcode in calls)
    following = (pc + 1,) if pc + 1 < len(code) else ()
    if instruction.opcode == "s_branch":
        return (labels[instruction.operands[0].name],)
    if instruction.opcode.startswith("s_cbranch"):
        return (*following, labels[instruction.operands[0].name])
    return following

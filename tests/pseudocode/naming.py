"""What a node of the tree names: a register, a bank of them, memory, a special number."""

from typing import Any

from tests.pseudocode import tree
from tests.pseudocode.frame import is_architectural
from tests.pseudocode.grammar import PseudoCodeError
from tests.pseudocode.values import type_named

BANKS = ("SGPR", "TTMP", "HW_REGISTERS")
MEMORIES = ("MEM", "LDS")


def dotted_name(node: tree.Member) -> str:
    if not isinstance(node.base, tree.Name):
        raise PseudoCodeError(f"no type is called {node.name}")
    return f"{node.base.name}.{node.name}"


def bank_name(node: Any) -> str:
    """'MEM' for MEM[...], 'VGPR' for VGPR[...][...], and so on; '' for what is no bank."""
    base = node.base
    if isinstance(base, tree.Name) and base.name in (*MEMORIES, *BANKS):
        return base.name
    if isinstance(base, tree.Index) and isinstance(base.base, tree.Name) and base.base.name == "VGPR":
        return "VGPR"
    return ""


def what_is_sliced(base: Any) -> Any:
    """What a slice is taken of: `S0.u32[63 : 32]` means the register, whose upper half is another one."""
    if isinstance(base, tree.Member) and isinstance(base.base, tree.Name) and is_architectural(base.base.name):
        return base if type_named(base.name) is None else base.base
    return base


def is_signed_zero(node: Any) -> bool:
    """Is it +0.0 or -0.0? Without a sign, 0.0 is as good as both."""
    return (
        isinstance(node, tree.Unary)
        and isinstance(node.argument, tree.Number)
        and node.argument.value.is_float
        and not node.argument.value
    )


def base_name(node: Any) -> str:
    while isinstance(node, tree.Member):
        node = node.base
    return node.name if isinstance(node, tree.Name) else ""

"""From the assembly text that LLVM prints to instructions with parsed operands."""

import re
from dataclasses import dataclass, field
from typing import Any

from mxsub.virtual.faults import UnsupportedInstruction
from mxsub.virtual.registers import AGPR, SPECIAL_NAMES, TTMP
from mxsub.virtual.source_positions import SourcePositions

_REGISTER = re.compile(r"(v|s|a|ttmp)(?:(\d+)|\[(\d+):(\d+)\])$")
_REGISTER_FILES = {"v": ("vector", 0), "a": ("vector", AGPR), "s": ("scalar", 0), "ttmp": ("scalar", TTMP)}
_MODIFIED = re.compile(r"(neg|abs|sext)\((.*)\)$")
_MNEMONIC = re.compile(r"[a-z][a-z0-9]*_\w+$")
_INTEGER = re.compile(r"-?(?:0x[0-9a-f]+|\d+)$", re.IGNORECASE)
_REAL = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?$", re.IGNORECASE)
_LABEL = re.compile(r"""([.\w$]+|"[^"]*"):$""")
_DIRECTIVE = re.compile(r"\.amdhsa_(\w+) (\d+)$")
_COMMENT = re.compile(r";|//")
_COMMAS_OUTSIDE_BRACKETS = re.compile(r",(?![^\[(]*[\])])")
_ENCODINGS = ("_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa")


@dataclass(frozen=True)
class Operand:
    """One operand.

    kind: 'vector' (accumulation registers too), 'scalar', 'integer', 'real' or 'name' (a label, `off`, ...).
    register, count: the first register, and how many. constant: of an integer or real one. name: of a named one.
    negate, absolute, sign_extend: source modifiers.
    """

    kind: str
    register: int = -1
    count: int = 1
    constant: int | float = 0
    name: str = ""
    negate: bool = False
    absolute: bool = False
    sign_extend: bool = False

    @property
    def is_register(self) -> bool:
        return self.kind in ("vector", "scalar")

    @property
    def is_constant(self) -> bool:
        return self.kind in ("integer", "real")


@dataclass
class Instruction:
    """One instruction.

    opcode: the mnemonic without its encoding suffix. modifiers: `offset:16` and the like, as a number, a list of
    numbers, a text, or True. source: index into the listing's positions.
    """

    opcode: str
    encoding: str
    operands: list[Operand]
    modifiers: dict[str, Any]
    text: str
    source: str

    def bit(self, modifier: str, position: int, default: int = 0) -> int:
        """One number of a modifier that is a list, such as op_sel:[0,1]."""
        values = self.modifiers.get(modifier)
        return int(values[position]) if isinstance(values, list) and position < len(values) else default


@dataclass
class Listing:
    """The code of one kernel.

    labels: label -> index into code. directives: the .amdhsa_* settings of the kernel descriptor.
    """

    name: str
    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    directives: dict[str, int] = field(default_factory=dict)


def integer(value: int) -> Operand:
    """A constant operand."""
    return Operand("integer", constant=value)


def scalar(register: int, count: int = 1) -> Operand:
    """A scalar register as an operand."""
    return Operand("scalar", register, count)


def parse_operand(text: str) -> Operand:
    """One operand as LLVM prints it: `v[2:5]`, `-|v3|`, `0x10`, `vcc`, `off`."""
    if _INTEGER.match(text):
        return integer(int(text, 0))
    if _REAL.match(text):
        return Operand("real", constant=float(text))
    negate = absolute = sign_extend = False
    while True:
        if text.startswith("-"):
            negate, text = not negate, text[1:]
        elif len(text) > 2 and text[0] == text[-1] == "|":
            absolute, text = True, text[1:-1]
        elif match := _MODIFIED.match(text):
            negate ^= match[1] == "neg"
            absolute |= match[1] == "abs"
            sign_extend |= match[1] == "sext"
            text = match[2]
        else:
            break
    if _INTEGER.match(text):  # neg(0)
        return Operand("integer", -1, 1, int(text, 0), "", negate, absolute, sign_extend)
    if match := _REGISTER.match(text):
        kind, base = _REGISTER_FILES[match[1]]
        first = int(match[2] or match[3])
        count = int(match[4]) - first + 1 if match[4] else 1
        return Operand(kind, base + first, count, 0, "", negate, absolute, sign_extend)
    if text in SPECIAL_NAMES:
        first, count = SPECIAL_NAMES[text]
        return Operand("scalar", first, count, 0, "", negate, absolute, sign_extend)
    return Operand("name", name=text)


def parse_instruction(text: str, source: str = "") -> Instruction:
    """One instruction, blanks normalized and comments gone."""
    opcode, _, rest = text.partition(" ")
    encoding = next((e for e in _ENCODINGS if opcode.endswith(e)), "")
    operands = [part.strip() for part in _COMMAS_OUTSIDE_BRACKETS.split(rest) if part.strip()]
    modifiers: dict[str, Any] = {}
    if operands:  # modifiers follow the last operand, parted by blanks
        last, *words = operands[-1].split(" ")
        if ":" in last and "[" not in last.partition(":")[0]:  # there is no operand at all, only modifiers
            words.insert(0, last)
            operands.pop()
        else:
            operands[-1] = last
        for word in words:
            name, colon, value = word.partition(":")
            modifiers[name] = _modifier(value) if colon else True
    parsed = [parse_operand(operand) for operand in operands]
    return Instruction(opcode.removesuffix(encoding), encoding, parsed, modifiers, text, source)


def _modifier(text: str) -> Any:
    if text.startswith("["):
        parts = text[1:-1].split(",")
        return [int(number, 0) for number in parts] if all(map(_INTEGER.match, parts)) else text
    return int(text, 0) if _INTEGER.match(text) else text


def parse(text: str) -> Listing:
    """The code of the one kernel in an assembly text for gfx950.

    Raises UnsupportedInstruction when it is for another processor or does not hold exactly one kernel.
    """
    if "gfx950" not in text[:400]:
        raise UnsupportedInstruction("was compiled for another processor than gfx950")
    names = re.findall(r"^\s*\.amdhsa_kernel (\S+)", text, re.MULTILINE)
    if len(names) != 1:
        raise UnsupportedInstruction(f"came as an assembly text with {len(names)} kernels instead of one")
    listing, positions = Listing(names[0]), SourcePositions()
    for raw in text.splitlines():
        if positions.read(raw):
            continue
        line = " ".join(_COMMENT.split(raw, maxsplit=1)[0].split())
        if match := _LABEL.match(line):
            listing.labels[match[1]] = len(listing.code)
        elif _MNEMONIC.match(line.partition(" ")[0]):
            listing.code.append(parse_instruction(line, positions.current))
        elif match := _DIRECTIVE.match(line):
            listing.directives[match[1]] = int(match[2])
    return listing

"""A reader of what llvm-objdump prints of a gfx950 code object. It shares nothing with virtual/assembly.py."""

import re
from dataclasses import dataclass, field

# `  s_branch 56    // 00000000161C: BF820038 <dequantize+0x100>`; the last part is of branches only.
LINE = re.compile(r"^\s+(\S.*?)\s*// ([0-9A-F]{12}):((?: [0-9A-F]{8})+)(?: <(\S+)\+0x([0-9a-f]+)>)?$")
SYMBOL = re.compile(r"^([0-9a-f]{16}) <(.+)>:$")
INTEGER = re.compile(r"^-?(0x[0-9a-f]+|\d+)$")
REAL = re.compile(r"^-?\d+\.\d+(e[+-]?\d+)?$")
REGISTERS = re.compile(r"^(v|a|s|ttmp)(?:(\d+)|\[(\d+):(\d+)\])$")


@dataclass
class Disassembled:
    """One instruction; the mnemonic has its encoding's suffix. target: the address that a branch goes to."""

    address: int
    mnemonic: str
    operands: list[tuple]
    modifiers: dict[str, object] = field(default_factory=dict)
    target: int | None = None
    text: str = ""


def operand(text):
    """`v[2:3]` -> ("v", 2, 2, signs); `0x10` -> ("number", 16); `-1.0` -> ("real", -1.0); all else ("name", text).

    signs: what is around a register: "-", "|", "sext", sorted."""
    signs = []
    while True:
        if text.startswith("-") and not INTEGER.match(text) and not REAL.match(text):
            signs.append("-")
            text = text[1:]
        elif text.startswith("|") and text.endswith("|"):
            signs.append("|")
            text = text[1:-1]
        elif text.startswith("sext(") and text.endswith(")"):
            signs.append("sext")
            text = text[5:-1]
        else:
            break
    if match := REGISTERS.match(text):
        file, single, first, last = match.groups()
        number = int(single or first)
        return file, number, (int(last) - number + 1 if last else 1), tuple(sorted(signs))
    if INTEGER.match(text):
        return "number", int(text, 0)
    if REAL.match(text):
        return "real", float(text)
    return ("name", text, tuple(sorted(signs))) if signs else ("name", text)


def parted(text, separator):
    """Split at a separator outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        if letter == separator and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def instruction(text):
    """(mnemonic, operands, modifiers): commas part the operands; modifiers follow the last one, each behind a blank."""
    mnemonic, _, rest = text.partition(" ")
    *operands, last = parted(rest, ",") or [""]
    words = parted(last, " ")
    if words and not (":" in words[0] and "[" not in words[0].partition(":")[0]):
        operands.append(words.pop(0))
    modifiers = {}
    for word in words:
        name, colon, value = word.partition(":")
        modifiers[name] = modifier(value) if colon else True
    return mnemonic, [operand(text) for text in operands], modifiers


def modifier(text):
    if text.startswith("[") and all(INTEGER.match(part.strip()) for part in text[1:-1].split(",")):
        return [int(part, 0) for part in text[1:-1].split(",")]
    return int(text, 0) if INTEGER.match(text) else text


def read(text):
    """The instructions of the one function in llvm-objdump's output. Raises ValueError where it cannot read a line."""
    starts = {}
    found = []
    for line in text.splitlines():
        if match := SYMBOL.match(line):
            starts[match[2]] = int(match[1], 16)
        elif match := LINE.match(line):
            words, address, _, symbol, offset = match.groups()
            target = starts[symbol] + int(offset, 16) if symbol else None
            found.append(Disassembled(int(address, 16), *instruction(" ".join(words.split())), target, words))
        elif line.startswith("\t"):
            raise ValueError(f"cannot read {line!r}")
    return found

"""The code that the emulator runs, decoded from the assembly text, is the code in the object that Triton made of it.

LLVM's disassembler reads the object; an independent reader of what it prints compares instruction by instruction.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mxsub.virtual.assembly import parse
from tests.decoding import llvm
from tests.decoding.disassembly import read
from tests.workloads.triton_versions import VERSIONS, environment_of

ROOT = Path(__file__).parents[2]
SPECIAL = {102: "flat_scratch", 106: "vcc", 124: "m0", 126: "exec", 253: "src_scc"}


def registers_of(operand):
    """An operand of assembly.py as disassembly.operand gives it."""
    signs = ("-",) * operand.negate + ("sext",) * operand.sign_extend + ("|",) * operand.absolute
    if operand.kind == "integer":
        return "number", operand.constant
    if operand.kind == "real":
        return "real", operand.constant
    if operand.kind == "name":
        return "name", operand.name
    if operand.kind == "vector":
        return ("v", operand.register, operand.count, signs) if operand.register < 256 else (
            "a", operand.register - 256, operand.count, signs)  # fmt: skip
    low = operand.register & ~1 if operand.register not in SPECIAL else operand.register
    if low in SPECIAL:
        part = "" if operand.count == 2 or low in (124, 253) else ("_lo", "_hi")[operand.register - low]
        return ("name", SPECIAL[low] + part, signs) if signs else ("name", SPECIAL[low] + part)
    return "s", operand.register, operand.count, signs


def differences(assembly, disassembled):
    """What is not the same, each in one line."""
    listing = parse(assembly)
    at = {}  # from an index into the listing to the address in the object
    found, place = [], 0
    for index, instruction in enumerate(listing.code):
        while (
            disassembled[place].mnemonic == "s_nop"
            and instruction.opcode + instruction.encoding != "s_nop"
            and index in listing.labels.values()
        ):  # between a branch and what is aligned behind it
            place += 1
        other = disassembled[place]
        place += 1
        at[index] = other.address
        if other.mnemonic != instruction.opcode + instruction.encoding:
            found.append(f"{instruction.text} / {other.text}")
            break
        if instruction.opcode == "s_waitcnt":
            same = instruction.text.split() == other.text.split()
        elif other.target is not None:
            same = instruction.operands[0].name in listing.labels
        else:
            operands = [registers_of(operand) for operand in instruction.operands]
            same = operands == other.operands and instruction.modifiers == other.modifiers
        if not same:
            found.append(f"{instruction.text} / {other.text}")
    rest = {other.mnemonic for other in disassembled[place:]}
    if rest - {"s_nop", "s_code_end"}:
        found.append(f"more in the object: {sorted(rest)}")
    for index, instruction in enumerate(listing.code):
        other = next((o for o in disassembled if o.address == at.get(index)), None)
        if other is not None and other.target is not None:
            wanted = at.get(listing.labels[instruction.operands[0].name])
            if wanted != other.target:
                found.append(f"{instruction.text} goes to {wanted}, in the object to {other.target}")
    return found


def compiled(folder, version):
    """The kernels' (name, assembly, code object's path)."""
    environment = {**os.environ, **environment_of(version)}
    command = [sys.executable, "-m", "tests.decoding.compiling", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [(path.stem, path.read_text(), path.with_suffix(".hsaco")) for path in sorted(folder.glob("*.s"))]


@pytest.mark.slow
@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_text_and_object_have_the_same_code(tmp_path, version):
    kernels = compiled(tmp_path, version)
    assert len({name.partition("-")[2] for name, _, _ in kernels}) >= 15
    met = set()
    for name, assembly, path in kernels:
        shown = llvm.run("llvm-objdump", "-d", "--mcpu=gfx950", str(path))
        assert shown.returncode == 0, shown.stderr
        disassembled = read(shown.stdout)
        met |= {other.mnemonic for other in disassembled}
        assert differences(assembly, disassembled) == [], name
    assert {"s_endpgm", "s_cbranch_scc1", "ds_read_b128", "v_mov_b32_dpp"} <= met
    assert len(met) > 150

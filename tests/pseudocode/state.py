"""What a piece of pseudo-code reads and writes outside itself."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.pseudocode import reals
from tests.pseudocode.values import Value

# Bits of the names that are not 32 bits wide.
WIDTHS = {
    "SCC": 1,
    "VCC": 64,
    "EXEC": 64,
    "PC": 64,
    "OPSEL": 4,
    "OPSEL_HI": 3,
    "SIMM16": 16,
    "INST.OMOD": 2,
    "INST.ABS": 3,
    "INST.NEG": 3,
    "SDWA_SRC0_SEL": 3,
    "WAVE_MODE.IEEE": 1,
}
_CONSTANTS = {"BYTE0": 0, "BYTE1": 1, "BYTE2": 2, "BYTE3": 3, "WORD0": 4, "WORD1": 5, "WAVE_MODE.IEEE": 1}


class Memory:
    """Bytes by their address. What was never written is 0."""

    def __init__(self) -> None:
        self.bytes: dict[int, int] = {}

    def read(self, address: int, size: int) -> int:
        return int.from_bytes(bytes(self.bytes.get(address + k, 0) for k in range(size)), "little")

    def write(self, address: int, size: int, number: int) -> None:
        for k, byte in enumerate(number.to_bytes(size, "little")):
            self.bytes[address + k] = byte


@dataclass
class State:
    """The registers and memory of one lane, or of a wave for what works across lanes.

    names: what is written in capital letters (S0, D0, VCC, EXEC, SCC, OPSEL, ADDR, DATA, OFFSET, RETURN_DATA, ...) and
    laneId, as bits of any number; those that are missing are 0. vgpr: (lane, register) -> bits. sgpr: register -> bits.
    memory: behind MEM and LDS. functions: that only the caller can know, such as CalcDsAddr; they take and give values.
    rounding: the mode that conversions and arithmetic go by.
    """

    names: dict[str, int] = field(default_factory=dict)
    vgpr: dict[tuple[int, int], int] = field(default_factory=dict)
    sgpr: dict[int, int] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    rounding: str = reals.NEAREST_EVEN

    def value(self, name: str) -> Value:
        """A name as a value of bits, at least as many as the name has."""
        bits = self.names.get(name)
        if bits is None:
            bits = _CONSTANTS.get(name, 0)
        return Value(("b", max(WIDTHS.get(name, 32), bits.bit_length())), bits)

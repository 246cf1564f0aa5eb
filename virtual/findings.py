"""What a launch did that ran here, and that hardware may do otherwise."""

from collections.abc import Callable
from dataclasses import asdict, dataclass

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.waves import Waves


@dataclass(frozen=True)
class Finding:
    """One fault at one instruction.

    sanitizer: the one that found it (memory, init, race, sync or exec). sentence: what happened the first time, and
    what it can do on the hardware. source: the submission's line; instruction: its text. place: workgroup, wave and
    perhaps lane of the first time. count: how many waves did it.
    """

    sanitizer: str
    sentence: str
    source: str
    instruction: str
    place: str
    count: int

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Places:
    """What messages call the place of an instruction and of a wave.

    code: the program's. workgroup: from a workgroup's number within its batch to its name.
    """

    code: list[Instruction]
    workgroup: Callable[[int], str]
    waves_per_workgroup: int

    def instruction(self, pc: int) -> str:
        """`submission.py:61:18: global_load_dword ...`"""
        instruction = self.code[min(pc, len(self.code) - 1)]
        return f"{instruction.source or 'an unknown line'}: {instruction.text}"

    def who(self, waves: Waves, row: int, lane: int | None = None) -> str:
        """`workgroup 3, wave 0, lane 5`; row: which of the waves."""
        row = min(row, waves.count - 1)  # row 0 stands for all where all do the same
        group, wave = self.workgroup(int(waves.workgroup[row])), waves.wave[row] % self.waves_per_workgroup
        return f"workgroup {group}, wave {wave}" + ("" if lane is None else f", lane {lane}")


class Findings:
    """The findings of a launch: of each kind one per instruction, with its count."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, int], Finding] = {}

    def add(
        self,
        places: Places,
        waves: Waves,
        sanitizer: str,
        sentence: str,
        *,
        row: int = 0,
        lane: int | None = None,
        count: int = 1,
        kind: str = "",
        pc: int | None = None,
    ) -> None:
        """Take down what the waves do at their instruction.

        row, lane: who did it. count: how many waves. kind: what makes it the same finding again; the sentence where
        that has nothing in it that changes from time to time. pc: an instruction of before.
        """
        pc = waves.pc if pc is None else pc
        key = (sanitizer, kind or sentence, pc)
        if key in self._found:
            old = self._found[key]
            self._found[key] = Finding(**{**asdict(old), "count": old.count + count})
            return
        instruction = places.code[pc]
        place = places.who(waves, row, lane)
        self._found[key] = Finding(sanitizer, sentence, instruction.source, instruction.text, place, count)

    def found(self) -> list[Finding]:
        """In the order of the code."""
        return [self._found[key] for key in sorted(self._found, key=lambda key: (key[2], key[0], key[1]))]

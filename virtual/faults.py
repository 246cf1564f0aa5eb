"""What can go wrong on the virtual GPU.

    EmulationError                a RuntimeError: the base of everything that a launch or a decode raises
    ├── UnsupportedInstruction    the kernel needs something that the emulator lacks; raised before anything runs
    ├── LaunchError               the launch asks for what the device does not have
    ├── IllegalAccess             a memory access out of bounds, to what is read-only, or of what was never written
    └── EndlessLoop               waves that do not come to an end, or wait at barriers that the others never reach

Every message is one line that begins with a verb, to be read after "kernel NAME".
`Violation` and `UnsupportedForm` never leave the emulator: the machine turns them into the above.
"""


class EmulationError(RuntimeError):
    """A kernel did, or needs, something that the virtual GPU does not allow."""


class UnsupportedInstruction(EmulationError):
    """The kernel uses instructions, or forms of them, that are not emulated. Lists all of them.

    problems: an opcode, or the text of an instruction whose form is not known with what is wrong about it in brackets.
    """

    def __init__(self, message: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


class LaunchError(EmulationError):
    """The launch asks for what the device does not have, such as too much LDS."""


class IllegalAccess(EmulationError):
    """A memory access that the hardware would punish, or let through with a wrong result."""


class EndlessLoop(EmulationError):
    """Waves that do not come to an end."""


class UnsupportedForm(Exception):
    """Raised while an instruction is decoded: the opcode is known, this form of it is not."""


class Violation(Exception):
    """Raised while an instruction runs; the machine adds the place in the program, the workgroup and the wave.

    row: which of the waves that ran the instruction did it. lane: which lane, if it was one. address: where, if so.
    """

    def __init__(self, what: str, row: int, lane: int | None, address: int | None) -> None:
        super().__init__(what)
        self.what = what
        self.row = row
        self.lane = lane
        self.address = address

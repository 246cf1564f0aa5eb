"""The virtual clock: deterministic, and no measure of time on the hardware."""


class Clock:
    """Counts 1 ns for every wave instruction that a kernel executes; work in torch operations takes none.

    ns: the time since the process started.
    """

    def __init__(self) -> None:
        self.ns = 0


CLOCK = Clock()

"""Programs and their launches on the virtual MI355X: the public face of the emulator."""

import functools
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual import matrix, memory_instructions, scalar, vector
from mxsub.virtual.assembly import Instruction, parse
from mxsub.virtual.banked_memory import BankedMemory
from mxsub.virtual.faults import LaunchError, UnsupportedForm, UnsupportedInstruction
from mxsub.virtual.findings import Finding, Findings, Places
from mxsub.virtual.memory import Buffer, GlobalMemory
from mxsub.virtual.metadata import parse_metadata
from mxsub.virtual.mode import check_mode, initial_mode
from mxsub.virtual.registers import EXEC, MODE, TIME
from mxsub.virtual.sampling import sampled_workgroups
from mxsub.virtual.scheduler import PATIENCE, PATIENCE_WITH_LOCKS, Batch
from mxsub.virtual.watching import Launched, Watcher, watched
from mxsub.virtual.waves import LANE, LANES, Shared, Waves

Array = npt.NDArray[Any]
U32 = np.uint32

LDS_LIMIT = 160 * 1024
WAVES_LIMIT = 16

# Of a batch of workgroups, which run together: enough for numpy to be efficient and for waves to have tiles in common,
# few enough for memory (a register of them all has 256 KiB).
_BATCH_WAVES = 1024
# Kernels with atomics may have workgroups that wait for one another, so as many as possible run together.
_BATCH_WAVES_WITH_ATOMICS = 2048

# The first of these that an opcode begins with says its class.
_CLASSES = (
    ("v_mfma", "matrix"),
    ("v_smfmac", "matrix"),
    ("v_", "vector"),
    ("ds_", "lds"),
    ("s_load", "scalar load"),
    ("s_buffer_load", "scalar load"),
    ("s_", "scalar"),
    ("scratch_", "scratch"),
    ("", "global"),
)


def instruction_class(opcode: str) -> str:
    """matrix, vector, lds, scalar load, scalar, scratch or global."""
    return next(label for prefix, label in _CLASSES if opcode.startswith(prefix))


def is_known(opcode: str) -> bool:
    """Does the emulator know the opcode (given without its encoding suffix)?"""
    return (
        opcode in vector.OPCODES
        or opcode in scalar.OPCODES
        or matrix.is_known(opcode)
        or memory_instructions.is_known(opcode)
    )


def _bind(instruction: Instruction, labels: dict[str, int], number: int) -> Callable[[Waves], Any] | None:
    opcode = instruction.opcode
    if matrix.is_known(opcode):
        return matrix.bind(instruction)
    if opcode.startswith("v_"):
        return vector.bind(instruction)
    if opcode in scalar.OPCODES:
        return scalar.bind(instruction, labels, number)
    return memory_instructions.bind(instruction)


class Program:
    """A kernel for gfx950, decoded and ready to run.

    name: as in the submission. arguments: of the kernel-argument segment, in order (see metadata.Argument).
    code: the instructions. labels: label -> number of an instruction. The sizes are bytes; lds_size is what was
    compiled in, without the launch's own part.
    workgroup_size: the most work-items. *_count and *_spill_count: registers of a lane (vector) or wave (scalar).
    """

    def __init__(self, asm: str) -> None:
        """Decode amdgcn assembly text.

        Raises UnsupportedInstruction, which names all instructions that the emulator does not know.
        """
        listing, metadata = parse(asm), parse_metadata(asm)
        self.name = listing.name
        self.code = listing.code
        self.labels = listing.labels
        self.directives = listing.directives
        check_mode(self.directives)
        self.arguments = metadata.arguments
        numbers = metadata.numbers
        self.kernarg_size = numbers.get("kernarg_segment_size", 0)
        self.lds_size = numbers.get("group_segment_fixed_size", 0)
        self.scratch_size = numbers.get("private_segment_fixed_size", 0)
        self.workgroup_size = numbers.get("max_flat_workgroup_size", LANES)
        self.vgpr_count = numbers.get("vgpr_count", 0)
        self.agpr_count = numbers.get("agpr_count", 0)
        self.sgpr_count = numbers.get("sgpr_count", 0)
        self.vgpr_spill_count = numbers.get("vgpr_spill_count", 0)
        self.sgpr_spill_count = numbers.get("sgpr_spill_count", 0)
        self.steps = self._bound(listing.labels)
        self.entry = self._entry(listing.labels)
        self.has_atomics = any(memory_instructions.touches_memory_atomically(i.opcode) for i in self.code)

    def _bound(self, labels: dict[str, int]) -> list[Callable[[Waves], Any] | None]:
        steps: list[Callable[[Waves], Any] | None] = []
        unknown: Counter[str] = Counter()
        first_at: dict[str, str] = {}
        for number, instruction in enumerate(self.code):
            problem = ""
            if not is_known(instruction.opcode):
                problem = instruction.opcode
            else:
                try:
                    steps.append(_bind(instruction, labels, number))
                except UnsupportedForm as form:
                    problem = f"{instruction.text} [{form}]"
                except (KeyError, ValueError, IndexError, TypeError, AssertionError):
                    problem = f"{instruction.text} [operands]"
            if problem:
                unknown[problem] += 1
                first_at.setdefault(problem, instruction.source)
        if unknown:
            listed = ", ".join(
                f"{problem} ({count}x{f', first at {first_at[problem]}' if first_at[problem] else ''})"
                for problem, count in sorted(unknown.items())
            )
            message = f"uses instructions that the emulator does not know: {listed}"
            raise UnsupportedInstruction(message, tuple(sorted(unknown)))
        return steps

    def _entry(self, labels: dict[str, int]) -> int:
        """Where waves start: behind the loads of arguments that the hardware has preloaded, where it does that."""
        first = labels.get(self.name, 0)  # functions that the kernel calls come before it
        if self.directives.get("user_sgpr_kernarg_preload_length"):
            for instruction in self.code[first:]:
                if instruction.opcode == "s_branch":
                    return labels[instruction.operands[0].name]
                if not instruction.opcode.startswith(("s_load", "s_waitcnt")):
                    break
        return first


@dataclass
class LaunchReport:
    """What a launch did.

    waves: how many ran. wave_instructions: class -> instructions, each counted once for every wave that ran it.
    visits: how many waves ran each instruction of the program. seconds: of the host. findings: what ran here, and may
    well go wrong on the hardware.
    """

    waves: int = 0
    wave_instructions: Counter[str] = field(default_factory=Counter)
    visits: list[int] = field(default_factory=list)
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)


def launch(
    program: Program,
    grid: tuple[int, int, int],
    kernarg: bytes,
    memory: GlobalMemory,
    *,
    waves_per_workgroup: int | None = None,
    lds_bytes: int = 0,
    instruction_limit: int = 2_000_000,
    watchers: Sequence[Watcher] = (),
    sample: int | None = None,
) -> LaunchReport:
    """Run a grid of workgroups to the end.

    kernarg: the kernel-argument segment, with device addresses of `memory`. waves_per_workgroup: None is as many as
    compiled for. lds_bytes: that each workgroup gets. instruction_limit: for one batch of workgroups, against endless
    loops. watchers: who sees it. sample: run only about so many workgroups (see sampling.py).
    Raises LaunchError, IllegalAccess, EndlessLoop.
    """
    waves = waves_per_workgroup or max(1, program.workgroup_size // LANES)
    lds_bytes = max(lds_bytes, program.lds_size)
    _check(program, grid, kernarg, waves, lds_bytes)
    numbers = sampled_workgroups(grid, sample)
    total = len(numbers)
    report, start = LaunchReport(waves=total * waves), time.perf_counter()
    report.visits = visits = [0] * len(program.code)
    findings, steps = Findings(), program.steps
    if watchers:
        launched = Launched(program, grid, waves, lds_bytes, sample is not None)
        for watcher in watchers:
            watcher.begin(launched)
        steps = watched(steps, watchers)
    patience = PATIENCE_WITH_LOCKS if any("cmpswap" in i.opcode for i in program.code) else PATIENCE
    together = max(1, (_BATCH_WAVES_WITH_ATOMICS if program.has_atomics else _BATCH_WAVES) // waves)
    # Some lanes may read past the arguments with a wide load, as on the hardware.
    segment = np.frombuffer(kernarg.ljust(program.kernarg_size, b"\0"), np.uint8)
    arguments = memory.map("the kernel arguments", segment, writable=False)
    try:
        with np.errstate(all="ignore"):
            for first in range(0, total, together):
                batch = numbers[first : first + together]
                lanes = len(batch) * waves * LANES if program.scratch_size else 0
                places = Places(program.code, _names(grid, batch), waves)
                shared = Shared(
                    memory,
                    BankedMemory("LDS", len(batch), lds_bytes),
                    BankedMemory("scratch", lanes, program.scratch_size),
                    functools.partial(findings.add, places),
                    watchers,
                )
                everyone = _first_waves(program, shared, batch, waves, grid, arguments)
                for watcher in watchers:
                    watcher.begin_batch(everyone, batch, places)
                Batch(steps, places, len(batch), visits, instruction_limit, watchers, patience).run(everyone)
        for watcher in watchers:
            watcher.end()
    finally:
        memory.unmap(arguments)
    for count, instruction in zip(visits, program.code, strict=True):
        if count:
            report.wave_instructions[instruction_class(instruction.opcode)] += count
    report.findings = findings.found()
    report.seconds = time.perf_counter() - start
    return report


def _check(program: Program, grid: tuple[int, int, int], kernarg: bytes, waves: int, lds_bytes: int) -> None:
    if lds_bytes > LDS_LIMIT:
        raise LaunchError(f"needs {lds_bytes:,} bytes of LDS a workgroup; an MI355X has {LDS_LIMIT:,}")
    if waves > WAVES_LIMIT:
        raise LaunchError(f"needs {waves} waves a workgroup; an MI355X allows {WAVES_LIMIT}")
    if min(grid) < 0 or max(grid) >= 1 << 31:
        raise LaunchError(f"was launched on a grid of {grid}")
    if len(kernarg) > program.kernarg_size:
        raise LaunchError(f"takes {program.kernarg_size} bytes of arguments, not {len(kernarg)}")


def _names(grid: tuple[int, int, int], batch: Array) -> Callable[[int], str]:
    """What messages call the workgroups of a batch: a number, or coordinates where the grid has several dimensions."""

    def name(index: int) -> str:
        number = int(batch[index])
        if grid[1] == grid[2] == 1:
            return str(number)
        return str((number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])))

    return name


def _first_waves(
    program: Program, shared: Shared, numbers: Array, waves: int, grid: tuple[int, int, int], arguments: Buffer
) -> Waves:
    """Waves in the state in which the hardware starts them.

    LLVM's "User Guide for AMDGPU Backend": user registers in the order of the descriptor's bits, then the preloaded
    arguments, then the workgroup's coordinates; v0 packs the work-item's (x in bits 0:9, y 10:19, z 20:29; Triton's
    workgroups have one dimension).
    """
    flags, count = program.directives, len(numbers) * waves
    group = Waves(shared, np.arange(count), np.repeat(np.arange(len(numbers)), waves))
    group.pc = program.entry
    at = 2 * (flags.get("user_sgpr_dispatch_ptr", 0) + flags.get("user_sgpr_queue_ptr", 0))
    if flags.get("user_sgpr_kernarg_segment_ptr"):
        group.s[at] = np.full((1, 1), arguments.base & 0xFFFFFFFF, U32)
        group.s[at + 1] = np.full((1, 1), arguments.base >> 32, U32)
        at += 2
    at += 2 * flags.get("user_sgpr_dispatch_id", 0) + flags.get("user_sgpr_private_segment_size", 0)
    length, skipped = (flags.get(f"user_sgpr_kernarg_preload_{what}", 0) for what in ("length", "offset"))
    words = np.zeros(length + skipped + len(arguments.data) // 4 + 1, U32)
    words.view(np.uint8)[: len(arguments.data)] = arguments.data
    for k in range(length):
        group.s[at + k] = words[skipped + k].reshape(1, 1)
    at = flags.get("user_sgpr_count", at + length)
    coordinates = numbers % grid[0], numbers // grid[0] % grid[1], numbers // (grid[0] * grid[1])
    for axis, ids in zip("xyz", coordinates, strict=True):
        if flags.get(f"system_sgpr_workgroup_id_{axis}", axis == "x"):
            group.s[at] = np.repeat(ids, waves).astype(U32)[:, None]
            at += 1
    group.s[MODE], group.s[TIME] = (np.full((1, 1), value, U32) for value in (initial_mode(flags), 0))
    group.s[EXEC] = group.s[EXEC + 1] = np.full((1, 1), 0xFFFFFFFF, U32)
    group.v[0] = ((group.wave % waves * LANES)[:, None] + LANE).astype(U32)
    return group

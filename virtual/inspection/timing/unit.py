"""One compute unit simulated: waves issue in order, share units, and wait for counters as the code says.

Each SIMD issues at most one instruction a turn of four cycles to each of its units (vector, matrix, scalar); all four
share the unit's path to LDS and its path to memory. A load's data is there when the path has served it and the latency
of the level that has its lines is over; loads of a wave come back in order. No more than so many bytes are under way to
L1, a page touched first is translated first, and workgroups start one after another. Nothing else is modelled: see
docs/time-model.md for what that leaves out.
"""

import heapq
from collections import defaultdict, deque
from dataclasses import dataclass, field

from mxsub.virtual.inspection.architecture import LINE_BYTES, PAGE_BYTES, SIMDS
from mxsub.virtual.inspection.timing.costs import Cost
from mxsub.virtual.inspection.timing.figures import Figures
from mxsub.virtual.inspection.timing.trace import Reach, WaveTrace, WorkgroupTrace

# Of LDS instructions that only move values between lanes: 64 words at 128 bytes a cycle.
CROSSBAR_CYCLES = 2


@dataclass(frozen=True)
class Memory:
    """What the levels beyond L1 give one unit, in cycles and bytes a cycle.

    cold_rate: of lines that a workgroup has not had yet. cold_latency: theirs, of the workgroups that start first;
    later_latency: of those after them, whose lines others may have brought.
    """

    cold_rate: float
    cold_latency: float
    later_latency: float


@dataclass
class Simulated:
    """cycles: until the last wave has ended and its stores have landed. lived: cycles of all waves. waits: what for ->
    cycles of all waves. kept: unit -> cycles that it was kept, of LDS and memory by the whole unit, of the others by
    all SIMDs."""

    cycles: float = 0.0
    lived: float = 0.0
    waits: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    kept: dict[str, float] = field(default_factory=lambda: defaultdict(float))


class _Wave:
    __slots__ = ("born", "later", "lgkm", "position", "simd", "trace", "vm", "workgroup")

    def __init__(self, trace: WaveTrace, simd: int, workgroup: int, later: bool, born: float) -> None:
        self.trace, self.simd, self.workgroup, self.later, self.born = trace, simd, workgroup, later, born
        self.position = 0
        self.vm: deque[float] = deque()
        self.lgkm: deque[float] = deque()


class Unit:
    """Runs `workgroups` copies of a traced workgroup, `together` of them at a time.

    dispatch: cycles from the launch until every unit of the die has been given a workgroup, and then another one each.
    """

    def __init__(
        self, trace: WorkgroupTrace, costs: list[Cost], figures: Figures, memory: Memory, dispatch: float = 0.0
    ) -> None:
        self._trace, self._costs, self._figures, self._memory = trace, costs, figures, memory
        self._dispatch = dispatch

    def run(self, workgroups: int, together: int) -> Simulated:
        self._result = Simulated()
        self._simd_free = [dict.fromkeys(("vector", "matrix", "scalar"), 0.0) for _ in range(SIMDS)]
        self._lds_free = self._memory_free = self._l2_free = self._cold_free = 0.0
        self._arrivals: dict[tuple[int, int], float] = {}  # (workgroup, line) -> when L1 has it
        self._translated: dict[int, float] = {}  # page -> when its translation is there
        self._under_way: list[tuple[float, int]] = []  # a heap: when lines will be there, how many bytes they are
        self._bytes_under_way = 0
        self._alive = [len(self._trace.waves)] * workgroups
        self._parked: dict[int, list[tuple[float, _Wave]]] = {}
        self._left, self._together, self._started = workgroups, together, 0
        self._ready: list[tuple[float, int, _Wave]] = []
        self._order = 0
        for number in range(min(workgroups, together)):
            self._start((number + 1) * self._dispatch)
        while self._ready:
            time, _, wave = heapq.heappop(self._ready)
            self._step(time, wave)
        return self._result

    def _start(self, time: float) -> None:
        """One more workgroup, if any is left."""
        if not self._left:
            return
        number, count = self._started, len(self._trace.waves)
        self._started += 1
        self._left -= 1
        for index, trace in enumerate(self._trace.waves):
            simd = (number * count + index) % SIMDS
            self._push(time, _Wave(trace, simd, number, number >= self._together, time))

    def _push(self, time: float, wave: _Wave) -> None:
        self._order += 1
        heapq.heappush(self._ready, (time, self._order, wave))

    def _step(self, time: float, wave: _Wave) -> None:
        """Issue the wave's next instruction, which could be at `time` at the earliest."""
        position, issue = wave.position, self._figures.issue
        pcs = wave.trace.pcs
        if position >= len(pcs):
            self._end(time, wave)
            return
        cost = self._costs[pcs[position]]
        wave.position += 1
        unit = cost.unit
        if unit in ("vector", "matrix", "scalar"):
            self._push(self._issue(time, wave, cost), wave)
        elif unit == "LDS":
            self._push(self._lds(time, wave, wave.trace.reaches.get(position)), wave)
        elif unit == "memory":
            self._push(self._access(time, wave, wave.trace.reaches.get(position), cost), wave)
        elif unit == "scalar load":
            self._push(self._scalar_load(time, wave, wave.trace.reaches.get(position)), wave)
        elif unit == "wait":
            self._push(self._wait(time, wave, cost) + issue, wave)
        elif unit == "barrier":
            self._barrier(time + issue, wave)
        elif unit == "branch":
            taken = position + 1 < len(pcs) and pcs[position + 1] != pcs[position] + 1
            self._push(time + (self._figures.taken_branch if taken else issue), wave)
        elif unit == "end":
            self._end(time, wave)
        else:
            self._push(time + cost.cycles, wave)

    def _issue(self, time: float, wave: _Wave, cost: Cost) -> float:
        free, issue = self._simd_free[wave.simd], self._figures.issue
        port = "scalar" if cost.unit == "scalar" else "vector"
        start = max(time, free[port])
        if cost.unit == "matrix":
            start = max(start, free["matrix"])
            free["matrix"] = start + cost.cycles
            free["vector"] = start + issue
        else:
            free[port] = start + cost.cycles
        self._result.kept[cost.unit] += cost.cycles
        self._result.waits[f"{cost.unit} unit"] += start - time
        return start + (issue if cost.unit == "matrix" else cost.cycles)

    def _lds(self, time: float, wave: _Wave, reach: Reach | None) -> float:
        cycles = reach.cycles if reach is not None and reach.cycles else CROSSBAR_CYCLES
        start = max(time, self._lds_free)
        self._lds_free = start + cycles
        self._result.kept["LDS"] += cycles
        self._result.waits["LDS unit"] += start - time
        wave.lgkm.append(self._lds_free + self._figures.lds_latency)
        return start + self._figures.issue

    def _access(self, time: float, wave: _Wave, reach: Reach | None, cost: Cost) -> float:
        """A load or store: through the addresses, L1 and, for lines that are not there, L2 and what is behind it."""
        figures = self._figures
        start = max(time, self._memory_free)
        if reach is None:  # no lane was on, or all were masked by their address
            wave.vm.append(max(start, wave.vm[-1] if wave.vm else 0.0))
            return start + figures.issue
        wanted = 0 if cost.stores else (len(self._cold(wave, reach)) + reach.again) * LINE_BYTES
        start = self._room(start, wanted)
        kept = max(64 / figures.address_rate, len(reach.lines), reach.bytes / figures.l1_rate)
        self._memory_free = start + kept
        self._result.kept["memory"] += kept
        self._result.waits["memory unit"] += start - time
        if cost.stores:
            self._l2_free = max(self._l2_free, start) + len(reach.lines) * LINE_BYTES / figures.l2_rate
            done = max(self._memory_free, self._l2_free, self._translation(start, wave, reach)) + figures.l2_latency
        else:
            done = max(self._memory_free + figures.l1_latency, self._arrival(start, wave, reach))
        if wanted:
            heapq.heappush(self._under_way, (done, wanted))
            self._bytes_under_way += wanted
        wave.vm.append(max(done, wave.vm[-1] if wave.vm else 0.0))
        return start + figures.issue

    def _cold(self, wave: _Wave, reach: Reach) -> list[tuple[int, int]]:
        """The lines that the workgroup has not asked for yet."""
        keys = ((wave.workgroup, line) for line in reach.lines)
        return [key for key in keys if key not in self._arrivals]

    def _room(self, start: float, wanted: int) -> float:
        """When L1 has room for so many bytes that it lacks: as soon as enough of those under way have come."""
        most = self._figures.under_way - wanted
        while self._under_way and (self._under_way[0][0] <= start or (wanted and self._bytes_under_way > most)):
            there, size = heapq.heappop(self._under_way)
            self._bytes_under_way -= size
            start = max(start, there)
        return start

    def _translation(self, start: float, wave: _Wave, reach: Reach) -> float:
        """When the addresses are translated: by the time that later workgroups start, all pages have been touched."""
        if wave.later:
            return start
        pages = {line // (PAGE_BYTES // LINE_BYTES) for line in reach.lines}
        walked = start + self._figures.page_walk
        return max([start, *(self._translated.setdefault(page, walked) for page in pages)])

    def _arrival(self, start: float, wave: _Wave, reach: Reach) -> float:
        """When all lines of a load are in L1: lines that are cold are fetched, others may be on their way already."""
        figures, memory, arrivals = self._figures, self._memory, self._arrivals
        cold = self._cold(wave, reach)
        done = max((arrivals.get((wave.workgroup, line), 0.0) for line in reach.lines), default=0.0)
        if cold:
            self._cold_free = max(self._cold_free, start) + len(cold) * LINE_BYTES / memory.cold_rate
            translated = self._translation(start, wave, reach)
            latency = memory.later_latency if wave.later else memory.cold_latency
            there = max(self._cold_free, translated) + latency
            arrivals.update(dict.fromkeys(cold, there))
            done = max(done, there)
        if reach.again or cold:
            self._l2_free = max(self._l2_free, start) + (reach.again + len(cold)) * LINE_BYTES / figures.l2_rate
            done = max(done, self._l2_free + figures.l2_latency)
        return done

    def _scalar_load(self, time: float, wave: _Wave, reach: Reach | None) -> float:
        done = time + self._figures.scalar_latency
        if reach is not None:
            done = max(done, self._arrival(time, wave, reach))
        wave.lgkm.append(done)
        return time + self._figures.issue

    def _wait(self, time: float, wave: _Wave, cost: Cost) -> float:
        """Until no more operations are under way than the counters allow."""
        ready = time
        for queue, allowed, what in ((wave.vm, cost.vmcnt, "memory"), (wave.lgkm, cost.lgkmcnt, "LDS or scalars")):
            if allowed is None:
                continue
            done = ready
            while len(queue) > allowed:
                done = max(done, queue.popleft())
            self._result.waits[what] += done - ready
            ready = done
        return ready

    def _barrier(self, time: float, wave: _Wave) -> None:
        parked = self._parked.setdefault(wave.workgroup, [])
        parked.append((time, wave))
        if len(parked) == self._alive[wave.workgroup]:
            self._release(wave.workgroup, time)

    def _release(self, workgroup: int, last: float) -> None:
        """last: when the last wave came to the barrier, or ended."""
        parked = self._parked.pop(workgroup)
        going = max(last, *(time for time, _ in parked)) + self._figures.barrier
        for time, wave in parked:
            self._result.waits["barrier"] += going - time
            self._push(going, wave)

    def _end(self, time: float, wave: _Wave) -> None:
        self._result.cycles = max(self._result.cycles, time, *wave.vm, *wave.lgkm)
        self._result.lived += time - wave.born
        self._alive[wave.workgroup] -= 1
        if not self._alive[wave.workgroup]:
            self._start(time)
        elif len(self._parked.get(wave.workgroup, [])) == self._alive[wave.workgroup]:
            self._release(wave.workgroup, time)

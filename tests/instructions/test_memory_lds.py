"""Every instruction on LDS against AMD's pseudo-code, and by formulas of our own where that says nothing."""

import re

import numpy as np
import pytest

from mxsub.virtual import lds_atomics, lds_instructions
from tests.instructions.memory_bench import (
    bytes_of,
    described_on_lds,
    kind_of,
    memory_of,
    number,
    offsets_in,
    on,
    run_on_lds,
    same,
    values,
    words_of,
)
from tests.pseudocode import DESCRIBED

LDS_BYTES = 8192
TRANSPOSING = sorted(name for name in lds_instructions.BINDERS if "_tr_" in name)
BY_LANE = sorted(name for name in lds_instructions.BINDERS if "addtid" in name)
OPCODES = sorted((lds_instructions.BINDERS.keys() | lds_atomics.BINDERS.keys()) - {*TRANSPOSING, *BY_LANE})
ADDRESS, DATA, DATA2, OLD = 8, 10, 16, 20


def size_of(opcode):
    """Bytes at one place."""
    bits = int(re.search(r"(?:b|u|i|f)(8|16|32|64|96|128)(?:_d16(?:_hi)?)?$", opcode)[1])
    return 4 if opcode.endswith(("pk_add_f16", "pk_add_bf16", "rtn_f16", "rtn_bf16")) else bits // 8


def form_of(opcode):
    """How many data operands it has, of how many registers, and how many registers get a result."""
    words = max(1, size_of(opcode) // 4)
    two_places = "2_" in opcode or "2st64" in opcode
    if opcode.startswith("ds_read"):
        return 0, 0, words * (1 + two_places)
    two_data = two_places or re.match(r"ds_(cmpst|mskor|wrap)_", opcode)
    return (2 if two_data else 1), words, words * (1 + two_places) if "_rtn" in opcode else 0


def instruction_of(random, opcode):
    """An instruction text with random offsets, and the number of bytes from the address on that it can reach."""
    data, words, results = form_of(opcode)
    size = size_of(opcode)
    operands = [f"v[{OLD}:{OLD + results - 1}]"] if results > 1 else [f"v{OLD}"] if results else []
    operands.append(f"v{ADDRESS}")
    for first in (DATA, DATA2)[:data]:
        operands.append(f"v[{first}:{first + words - 1}]" if words > 1 else f"v{first}")
    if "2st64" in opcode:
        offsets, unit = random.permutation(6)[:2], 64 * size
        modifiers = f"offset0:{offsets[0]} offset1:{offsets[1]}"
    elif "2_" in opcode:
        offsets, unit = random.permutation(8)[:2], size
        modifiers = f"offset0:{offsets[0]} offset1:{offsets[1]}"
    else:
        offsets, unit = [int(random.integers(16)) * 16], 1
        modifiers = f"offset:{offsets[0]}"
    return f"{opcode} {', '.join(operands)} {modifiers}", int(max(offsets)) * unit + size


def without_negative_zeros(opcode, words):
    """Of zeros the manual says more than the pseudo-code; see below."""
    match = re.match(r"ds_(?:min|max)_(?:rtn_)?f(32|64)$", opcode)
    if match:
        numbers = words.view(f"u{int(match[1]) // 8}")
        numbers[numbers == 1 << int(match[1]) - 1] = 0
    return words


@pytest.mark.parametrize("opcode", OPCODES)
def test_as_described(bench, random, opcode):
    """Lanes reach places of their own, in no order; some lanes are off."""
    assert opcode in DESCRIBED
    kind = kind_of(opcode)
    data, words, results = form_of(opcode)
    instruction, reach = instruction_of(random, opcode)
    apart = size_of(opcode) if "2st64" in opcode else 64 if "2_" in opcode else 16
    addresses = random.permutation(64) * apart
    assert addresses.max() + reach <= LDS_BYTES
    if size_of(opcode) < 4:
        addresses += random.integers(0, 4 // size_of(opcode), 64) * size_of(opcode)
    image = without_negative_zeros(opcode, values(random, kind, LDS_BYTES // 4)).view(np.uint8)
    columns = {ADDRESS: addresses.astype(np.uint32), OLD: values(random, "bits", 64 * max(results, 1)).reshape(64, -1)}
    for first in (DATA, DATA2)[:data]:
        columns[first] = without_negative_zeros(opcode, values(random, kind, 64 * words)).reshape(64, words)
    if opcode.startswith("ds_cmpst"):  # every second lane expects what is there
        offset = offsets_in(instruction)["offset"]
        for lane in range(0, 64, 2):
            place = addresses[lane] + offset
            columns[DATA][lane] = image[place : place + 4 * words].view(np.uint32)
    mask = number(random.integers(0, 2**32, 2)) | 1
    got, after = run_on_lds(bench, instruction, image, columns, (OLD, columns[OLD].shape[1]), mask)
    memory, want = memory_of(image), np.array(columns[OLD])
    for lane in range(64):
        if on(mask, lane):
            names = {"DATA": number(columns[DATA][lane]) if data else 0, "RETURN_DATA": number(columns[OLD][lane])}
            if data == 2:
                names["DATA2"] = number(columns[DATA2][lane])
            found = described_on_lds(opcode, memory, int(addresses[lane]), offsets_in(instruction), **names)
            if results:
                want[lane] = words_of(found["RETURN_DATA"], results)
    assert same(got, want, kind if results else "bits")
    assert same(after.view(np.uint32), bytes_of(memory, LDS_BYTES).view(np.uint32), kind)


@pytest.mark.parametrize("opcode", BY_LANE)
def test_places_by_lane(bench, random, opcode):
    """AMD's pseudo-code, in which M0 takes part."""
    image = values(random, "bits", LDS_BYTES // 4).view(np.uint8)
    data = values(random, "bits", 64)
    mask, m0, offset = number(random.integers(0, 2**32, 2)), 0x5_0410, 0x124
    got, after = run_on_lds(bench, f"{opcode} v{DATA} offset:{offset}", image, {DATA: data}, (DATA, 1), mask, m0)
    memory, want = memory_of(image), np.array(data)
    for lane in range(64):
        if on(mask, lane):
            names = {"M0": m0, "laneId": lane, "laneID": lane, "DATA0": int(data[lane]), "RETURN_DATA": 0}
            found = described_on_lds(opcode, memory, 0, {"offset": offset}, **names)
            if "read" in opcode:
                want[lane] = found["RETURN_DATA"]
    np.testing.assert_array_equal(got[:, 0], want)
    np.testing.assert_array_equal(after, bytes_of(memory, LDS_BYTES))


@pytest.mark.parametrize("opcode", TRANSPOSING)
def test_transposing(bench, random, opcode):
    """A formula of our own (the manual has no pseudo-code): 16 lanes hold, lane after lane, the rows of a matrix of 16
    columns; lane i gets column i, low bits first."""
    bits = int(re.search(r"_tr_b(\d+)$", opcode)[1])
    words = 3 if bits == 6 else 2
    image = values(random, "bits", LDS_BYTES // 4).view(np.uint8)
    addresses = random.permutation(LDS_BYTES // 16)[:64] * 16
    instruction = f"{opcode} v[{OLD}:{OLD + words - 1}], v{ADDRESS} offset:0"
    got, _ = run_on_lds(bench, instruction, image, {ADDRESS: addresses}, (OLD, words))
    per_lane = 32 * words // bits
    for first in range(0, 64, 16):
        held = []
        for address in addresses[first : first + 16]:
            joined = int.from_bytes(image[address : address + 4 * words].tobytes(), "little")
            held += [joined >> bits * k & (1 << bits) - 1 for k in range(per_lane)]
        rows = np.array(held).reshape(per_lane, 16)
        for lane in range(16):
            column = sum(int(element) << bits * k for k, element in enumerate(rows[:, lane]))
            assert number(got[first + lane]) == column


SMALLEST_LAST = [0xFF800000, 0xC0000000, 0x80000001, 0x80000000, 0x00000000, 0x00000001, 0x40000000, 0x7F800000]


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("verb", ["min", "max"])
def test_zeros_and_quiet_nans(bench, verb, width):
    """A formula of our own, from the manual's section 9.2.3: -0 is less than 0; a quiet NaN is the last choice."""
    order = np.array(SMALLEST_LAST, np.uint32).view(np.float32)
    pairs = [(a, b) for a in range(8) for b in range(8)]
    numbers = order if width == 32 else order.astype(np.float64)
    words = width // 32
    old = np.array([numbers[a] for a, _ in pairs])
    data = np.array([numbers[b] for _, b in pairs])
    pick = max if verb == "max" else min
    want = np.array([numbers[pick(a, b)] for a, b in pairs])
    addresses = np.arange(64) * 4 * words
    image = np.concatenate([old, np.zeros(LDS_BYTES // (4 * words) - 64, old.dtype)]).view(np.uint8)
    held = f"v[{DATA}:{DATA + 1}]" if words == 2 else f"v{DATA}"
    columns = {ADDRESS: addresses, DATA: data.view(np.uint32).reshape(64, words)}
    _, after = run_on_lds(bench, f"ds_{verb}_f{width} v{ADDRESS}, {held}", image, columns, (DATA, 1))
    np.testing.assert_array_equal(after.view(f"u{4 * words}")[:64], want.view(f"u{4 * words}"))
    # A quiet NaN on either side gives the other; a signalling one gives itself, made quiet.
    quiet, signalling = (0x7FC00001, 0xFF800001) if width == 32 else (0x7FF8000000000001, 0xFFF0000000000001)
    bits = np.dtype(f"u{4 * words}")
    one = int(numbers[6:7].view(bits)[0])
    made_quiet = signalling | 1 << (22 if width == 32 else 51)
    cases = [(quiet, one, one), (one, quiet, one), (signalling, one, made_quiet), (one, signalling, made_quiet)]
    old, data, want = (np.resize(np.array(column, bits), 64) for column in zip(*cases, strict=True))
    image = np.concatenate([old, np.zeros(LDS_BYTES // (4 * words) - 64, bits)]).view(np.uint8)
    columns[DATA] = data.view(np.uint32).reshape(64, words)
    _, after = run_on_lds(bench, f"ds_{verb}_f{width} v{ADDRESS}, {held}", image, columns, (DATA, 1))
    np.testing.assert_array_equal(after.view(bits)[:64], want)

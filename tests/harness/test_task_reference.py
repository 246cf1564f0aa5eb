"""The shipped reference against independent, element by element versions of what it computes."""

import importlib
import math
import random
import struct
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from mxsub.submit.harness.task import SHIPPED

torch = pytest.importorskip("torch")
GRID = (0, 0.5, 1, 1.5, 2, 3, 4, 6)
NAMES = ("task", "utils", "reference")


@pytest.fixture(scope="module")
def reference() -> Iterator[ModuleType]:
    """reference.py as the evaluator imports it, but making its inputs on the CPU."""
    folder = str(SHIPPED / "amd-mxfp4-mm")
    sys.path.insert(0, folder)
    module = importlib.import_module("reference")
    module.DEVICE = "cpu"
    yield module
    sys.path.remove(folder)
    for name in NAMES:
        sys.modules.pop(name, None)


def bf16(patterns: list[int]) -> "torch.Tensor":
    signed = [pattern - 0x10000 if pattern & 0x8000 else pattern for pattern in patterns]
    return torch.tensor(signed, dtype=torch.int16).view(torch.bfloat16)


def quantized_block(patterns: list[int]) -> tuple[list[int], int]:
    """Codes and exponent byte of a block of bf16 patterns, by the contract's words."""
    amax = max(min(pattern & 0x7FFF, 0x7F80) for pattern in patterns) << 16
    exponent = max(((amax + 0x200000) >> 23) - 2, 0)
    codes = []
    for pattern in patterns:
        magnitude = min(pattern & 0x7FFF, 0x7F80)
        value = math.ldexp(struct.unpack("<f", struct.pack("<I", magnitude << 16))[0], 127 - exponent)
        nearest = min(range(8), key=lambda code: (abs(GRID[code] - value), code & 1)) if value < 6 else 7
        codes.append(nearest | (pattern >> 15) << 3)
    return codes, exponent


@pytest.mark.slow
def test_quantization_of_every_bf16_pattern(reference: ModuleType) -> None:
    generator = random.Random(7)
    blocks = [[pattern, *(generator.randrange(0x10000) for _ in range(2)), *[0] * 29] for pattern in range(0x10000)]
    # So that every pattern is the largest of its block once, whatever the random ones are.
    blocks += [[pattern, *[0] * 31] for pattern in range(0x10000)]
    codes, scales = reference.quantize(bf16([p for block in blocks for p in block]).view(-1, 32))
    heads = [quantized_block(block[:3]) for block in blocks]
    assert codes[:, :3].tolist() == [head[0] for head in heads]
    assert scales[:, 0].tolist() == [head[1] for head in heads]
    assert int(codes[:, 3:].max()) == 0


@pytest.mark.parametrize(
    ("value", "code", "scale"),
    [
        (0.0, 0, 0),
        (-0.0, 8, 0),
        (1.0, 6, 125),  # 4 * 2 ** -2
        (-1.0, 14, 125),
        (6.0, 7, 127),
        (7.0, 6, 128),  # rounds up to the next power of two: 3.5 is a tie, and 4 has the even code
        (math.inf, 7, 253),
        (-math.nan, 7, 253),
        (2.0**-133, 0, 0),  # the least bf16: 2 ** -6 of the least scale
        (2.0**-127, 2, 0),
    ],
)
def test_known_values(reference: ModuleType, value: float, code: int, scale: int) -> None:
    block = torch.zeros(1, 32, dtype=torch.bfloat16)
    block[0, 5] = value
    codes, scales = reference.quantize(block)
    assert (int(codes[0, 5]), int(scales[0, 0])) == (code, scale)


def test_dequantize_is_exact_for_every_scale(reference: ModuleType) -> None:
    scales = torch.arange(254, dtype=torch.uint8).view(-1, 1)
    codes = torch.arange(16, dtype=torch.uint8).repeat(254, 2)
    values = reference.dequantize(codes, scales)
    for scale in range(254):
        # 4 and 6 times 2 ** 126 are beyond f32.
        want = [math.ldexp(GRID[code], scale - 127) for code in range(8)]
        want = [value if value < 2.0**128 else math.inf for value in want]
        assert values[scale, :8].tolist() == want
        assert values[scale, 8:16].tolist() == [-value for value in want]
    assert math.copysign(1, float(values[0, 8])) == -1


def test_two_codes_a_byte(reference: ModuleType) -> None:
    assert reference.pack(torch.tensor([[1, 2, 15, 8]], dtype=torch.uint8)).tolist() == [[0x21, 0x8F]]


@pytest.mark.parametrize(("n", "k"), [(64, 64), (320, 448), (48, 128)])
def test_weights_in_tile_order(reference: ModuleType, n: int, k: int) -> None:
    packed = torch.randint(0, 256, (n, k // 2), dtype=torch.uint8)
    shuffled = reference.shuffle_weights(packed).flatten()
    for row in range(n):
        for column in range(0, k // 2, 7):
            tile, half, byte = column // 32, column // 16 % 2, column % 16
            place = ((((row // 16) * (k // 64) + tile) * 2 + half) * 16 + row % 16) * 16 + byte
            assert shuffled[place] == packed[row, column]
    back = shuffled.view(n // 16, k // 64, 2, 16, 16).permute(0, 3, 1, 2, 4).reshape(n, k // 2)
    assert torch.equal(back, packed)


@pytest.mark.parametrize(("n", "k"), [(64, 64), (320, 448), (2112, 7168)])
def test_scales_in_chunks_with_hostile_padding(reference: ModuleType, n: int, k: int) -> None:
    rows, columns = -(-n // 256) * 256, -(-k // 256) * 8
    scales = torch.randint(0, 254, (n, k // 32), dtype=torch.uint8)
    pad = torch.full((rows, columns), 255, dtype=torch.uint8)
    shuffled = reference.shuffle_scales(scales, pad)
    assert shuffled.shape == (rows, columns)
    flat = shuffled.flatten().tolist()
    for row in range(0, rows, 13):
        for column in range(columns):
            chunk = (row // 32) * (columns // 8) + column // 8
            place = chunk * 256 + (((column % 4) * 16 + row % 16) * 2 + column // 4 % 2) * 2 + row // 16 % 2
            want = int(scales[row, column]) if row < n and column < k // 32 else 255
            assert flat[place] == want
    assert int((shuffled == 255).sum()) == rows * columns - scales.numel()


def test_inputs(reference: ModuleType) -> None:
    a, b, b_q, b_shuffle, b_scale = data = reference.generate_input(m=3, n=320, k=448, seed=9)
    assert [tuple(tensor.shape) for tensor in data] == [(3, 448), (320, 448), (320, 224), (320, 224), (512, 16)]
    assert (a.dtype, b.dtype) == (torch.bfloat16, torch.bfloat16)
    assert (b_q.dtype, b_shuffle.dtype, b_scale.dtype) == (
        torch.float4_e2m1fn_x2,
        torch.float4_e2m1fn_x2,
        torch.float8_e8m0fnu,
    )
    packed = b_q.view(torch.uint8)
    codes = torch.stack((packed & 15, packed >> 4), -1).view(320, 448)
    expected, scales = reference.quantize(b)
    assert torch.equal(codes, expected)
    assert torch.equal(b_shuffle.view(torch.uint8), reference.shuffle_weights(packed))
    unshuffled = b_scale.view(torch.uint8).view(16, 2, 4, 16, 2, 2).permute(0, 5, 3, 1, 4, 2).reshape(512, 16)
    assert torch.equal(unshuffled[:320, :14], scales)
    assert {0, 127, 255} <= set(unshuffled[320:].flatten().tolist())


def test_a_seed_gives_the_same_inputs_again(reference: ModuleType) -> None:
    first, again, other = (reference.generate_input(m=2, n=64, k=64, seed=seed) for seed in (1, 1, 2))
    assert all(torch.equal(x.view(torch.uint8), y.view(torch.uint8)) for x, y in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])


@pytest.mark.parametrize(("m", "n", "k"), [(1, 64, 64), (17, 320, 448), (4, 2880, 512)])
def test_the_product(reference: ModuleType, m: int, n: int, k: int) -> None:
    data = reference.generate_input(m=m, n=n, k=k, seed=m)
    got = reference.ref_kernel(data)
    a, b = (reference.dequantize(*reference.quantize(x)).double() for x in data[:2])
    assert (got.dtype, tuple(got.shape)) == (torch.bfloat16, (m, n))
    # Half a unit in the last place of bf16, and the f32 sum's own error.
    assert torch.allclose(got.double(), a @ b.T, rtol=2**-8 * 1.01, atol=1e-5)
    passed, message = reference.check_implementation(data, got)
    assert passed
    assert message == f"Maximum error: 0.0; bit-equal: {m * n}/{m * n}; error over tolerance: 0.000"


def test_the_tolerance(reference: ModuleType) -> None:
    want = torch.tensor([[0.0, 100.0, -2.0, 1.0]], dtype=torch.float64)
    compare = reference.compare
    assert compare(want + torch.tensor([[0.0099, 1.0, -0.029, 0.0]]), want) == (
        True,
        "Maximum error: 1.0; bit-equal: 1/4; error over tolerance: 0.990",
    )
    assert compare(want + torch.tensor([[0.0101, 1.02, -0.031, 0.0]]), want)[1].splitlines() == [
        "Number of mismatched elements: 3 of 4 (75.00 %)",
        "ERROR at (0, 0): 0.010099999606609344 0.0",
        "ERROR at (0, 1): 101.0199966430664 100.0",
        "ERROR at (0, 2): -2.0309998989105225 -2.0",
    ]


@pytest.mark.parametrize(
    ("got", "want", "right"),
    [
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (1e38, math.inf, False),
        (math.inf, 1e38, False),
        (math.nan, math.nan, True),
        (math.nan, 0.0, False),
        (0.0, math.nan, False),
        (-0.0, 0.0, True),
    ],
)
def test_nan_and_infinity(reference: ModuleType, got: float, want: float, right: bool) -> None:
    passed, message = reference.compare(torch.tensor([[got, 1.0]]), torch.tensor([[want, 1.0]]))
    assert passed is right
    if right:
        equal = 1 if got == 0 else 2  # -0 is right, but not the same bits
        assert message == f"Maximum error: 0.0; bit-equal: {equal}/2; error over tolerance: 0.000"
    else:
        assert message.startswith("Number of mismatched elements: 1 of 2 (50.00 %)\nERROR at (0, 0): ")


def test_what_is_no_result(reference: ModuleType) -> None:
    want = torch.zeros(2, 3, dtype=torch.bfloat16)
    assert reference.compare(torch.zeros(3, 2), want) == (False, "SIZE MISMATCH: (3, 2), wanted (2, 3)")
    assert reference.compare(None, want) == (False, "custom_kernel gave no tensor but NoneType")
    lines = reference.compare(want + 1, want)[1].splitlines()
    assert (lines[0], len(lines)) == ("Number of mismatched elements: 6 of 6 (100.00 %)", 6)

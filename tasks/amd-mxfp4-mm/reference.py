"""Inputs, the expected result, and the check, in plain torch.

MXFP4: blocks of 32 values along k share an E8M0 scale 2 ** (byte - 127); a value is an e2m1 code times its scale.
"""

from functools import cache

import torch
from utils import compare

from task import input_t, output_t

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
FP4X2 = getattr(torch, "float4_e2m1fn_x2", torch.uint8)
DEVICE = "cuda"
E8M0 = getattr(torch, "float8_e8m0fnu", torch.uint8)


def power_of_two(exponent: torch.Tensor) -> torch.Tensor:
    """2 ** (exponent - 127) as f32, of int32 exponents 0 to 254; put together from bits, since pow is not exact."""
    # 2 ** -127 is subnormal.
    return torch.where(exponent == 0, 0x400000, exponent << 23).view(torch.float32)


@cache
def codes_of_bf16(device: torch.device) -> torch.Tensor:
    """The e2m1 code that each of the 65536 bf16 values is rounded to: the nearest, of two the even one, at most 6."""
    bits = torch.arange(0x10000, dtype=torch.int32, device=device)
    magnitude = ((bits & 0x7FFF) << 16).view(torch.float32)
    code = (bits >> 12) & 8
    for number, middle in enumerate((0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)):
        code += (magnitude >= middle) if number % 2 else (magnitude > middle)
    return code.to(torch.uint8)


def quantize(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """bf16 (rows, k) to e2m1 codes (rows, k), one a byte, and scale bytes (rows, k // 32), both uint8.

    The scale's exponent is that of the largest magnitude's bits + 0x200000, less 2, and at least 0; NaN counts as
    infinity there. Values over their scale are rounded to the nearest of E2M1, a tie to the even code, and
    saturate at 6; NaN becomes 6 with its sign.
    """
    bits = x.contiguous().view(torch.int16).view(x.shape[0], -1, 32)
    # NaN becomes infinity with its sign.
    magnitude = (bits & 0x7FFF).clamp_(max=0x7F80)
    value = (magnitude | (bits & -0x8000)).view(torch.bfloat16)
    # bf16 bits are the upper half of f32 bits: 0x200000 is 0x20 here.
    exponent = (((magnitude.amax(-1, keepdim=True) + 0x20) >> 7) - 2).clamp_(min=0).int()
    # bf16 has the range of f32, so all that a product with a power of two loses is bits of what is rounded to 0.
    scaled = value * power_of_two(254 - exponent).bfloat16()
    # index_select is several times as fast as indexing on a CPU.
    codes = codes_of_bf16(x.device).index_select(0, (scaled.view(torch.int16).int() & 0xFFFF).flatten())
    return codes.view(x.shape), exponent.squeeze(-1).to(torch.uint8)


def dequantize(codes: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """e2m1 codes (rows, k), one a byte, and scale bytes (rows, k // 32) to f32 (rows, k)."""
    values = torch.tensor(E2M1, device=codes.device).index_select(0, codes.flatten().int())
    return (values.view(codes.shape[0], -1, 32) * power_of_two(scales.int()).unsqueeze(-1)).view(codes.shape)


def pack(codes: torch.Tensor) -> torch.Tensor:
    """Two codes a byte, the even k in the low half: (rows, k // 2)."""
    return codes[:, 0::2] | (codes[:, 1::2] << 4)


def shuffle_weights(packed: torch.Tensor) -> torch.Tensor:
    """Packed weights (n, k // 2) in tiles of 16 rows by 32 bytes."""
    n, width = packed.shape
    tiles = packed.view(n // 16, 16, width // 32, 2, 16).permute(0, 2, 3, 1, 4)
    return tiles.contiguous().view(n, width)


def shuffle_scales(scales: torch.Tensor, pad: torch.Tensor) -> torch.Tensor:
    """Scale bytes (n, k // 32), padded by those of `pad` (pad(n, 256), pad(k // 32, 8)), in chunks of 256 bytes."""
    padded = pad.clone()
    padded[: scales.shape[0], : scales.shape[1]] = scales
    rows, columns = padded.shape
    chunks = padded.view(rows // 32, 2, 16, columns // 8, 2, 4).permute(0, 3, 5, 2, 4, 1)
    return chunks.contiguous().view(rows, columns)


def generate_input(m: int, n: int, k: int, seed: int) -> input_t:
    """(A, B, B_q, B_shuffle, B_scale_sh) of a seed, on the GPU. The bytes that pad the scales are random."""
    generator = torch.Generator(device=DEVICE)
    generator.manual_seed(seed)
    a = torch.randn((m, k), dtype=torch.bfloat16, device=DEVICE, generator=generator)
    b = torch.randn((n, k), dtype=torch.bfloat16, device=DEVICE, generator=generator)
    padded = (-(-n // 256) * 256, -(-k // 256) * 8)
    pad = torch.randint(0, 256, padded, dtype=torch.uint8, device=DEVICE, generator=generator)
    codes, scales = quantize(b)
    packed = pack(codes)
    return (
        a,
        b,
        packed.view(FP4X2),
        shuffle_weights(packed).view(FP4X2),
        shuffle_scales(scales, pad).view(E8M0),
    )


def ref_kernel(data: input_t) -> output_t:
    """The product of the dequantized A and B, summed in f32, rounded once to bf16."""
    a, b = data[:2]
    # Each factor is 1 or 1.5 times a power of two, which even TF32 and bf16 hold, so whatever precision is set, the
    # products are exact and only the order of the f32 sum differs from device to device.
    return (dequantize(*quantize(a)) @ dequantize(*quantize(b)).T).to(torch.bfloat16)


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    """Whether a result is right for its input, and what there is to say about it."""
    return compare(output, ref_kernel(data))

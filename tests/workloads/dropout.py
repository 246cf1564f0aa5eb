"""Dropout whose mask comes out of a seed, by Philox: nothing but the seed is kept. And Philox's words themselves."""

import numpy as np
import torch
import triton
import triton.language as tl

from tests.workloads.workload import Workload


@triton.jit
def drop(x_ptr, out_ptr, length, probability, seed, block: tl.constexpr):
    places = tl.program_id(0) * block + tl.arange(0, block)
    within = places < length
    x = tl.load(x_ptr + places, mask=within)
    kept = tl.rand(seed, places) > probability
    tl.store(out_ptr + places, tl.where(kept, x / (1 - probability), 0.0), mask=within)


@triton.jit
def random_words(out_ptr, length, seed, block: tl.constexpr):
    """Rows 0 to 3: the four words of Philox for each counter. Row 4: normal numbers, as bits."""
    places = tl.program_id(0) * block + tl.arange(0, block)
    within = places < length
    first, second, third, fourth = tl.randint4x(seed, places)
    tl.store(out_ptr + places, first.to(tl.int32, bitcast=True), mask=within)
    tl.store(out_ptr + length + places, second.to(tl.int32, bitcast=True), mask=within)
    tl.store(out_ptr + 2 * length + places, third.to(tl.int32, bitcast=True), mask=within)
    tl.store(out_ptr + 3 * length + places, fourth.to(tl.int32, bitcast=True), mask=within)


@triton.jit
def random_normal(out_ptr, length, seed, block: tl.constexpr):
    places = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out_ptr + places, tl.randn(seed, places), mask=places < length)


def philox(seed: int, counters: np.ndarray) -> np.ndarray:
    """Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011).

    counters: the first word of each counter, the others being zero. -> uint64 (4, counters), of 32 bits each.
    """
    mask = np.uint64(0xFFFFFFFF)
    words = [counters.astype(np.uint64), *(np.zeros(len(counters), np.uint64) for _ in range(3))]
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        low, high = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [
            high >> np.uint64(32) ^ words[1] ^ np.uint64(key[0]), high & mask,
            low >> np.uint64(32) ^ words[3] ^ np.uint64(key[1]), low & mask,
        ]  # fmt: skip
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return np.stack(words)


def uniform(words: np.ndarray) -> np.ndarray:
    """Words to [0, 1) as Triton's documentation of uint_to_uniform_float has it: by magnitude, then scaled in f32."""
    signed = words.astype(np.uint32).view(np.int32)
    return np.where(signed < 0, -(signed + 1), signed).astype(np.float32) * np.float32(4.6566127342e-10)


def inputs(generator, length, probability, seed):
    return (torch.randn(length, generator=generator),)


def run(tensors, config, length, probability, seed):
    (x,) = tensors
    out, normal = torch.full_like(x, float("nan")), torch.full_like(x, float("nan"))
    words = torch.zeros(4, length, dtype=torch.int32, device="cuda")
    grid = (triton.cdiv(length, config["block"]),)
    drop[grid](x, out, length, probability, seed, **config)
    random_words[grid](words, length, seed, **config)
    random_normal[grid](normal, length, seed, **config)
    return out, words, normal


def reference(tensors, length, probability, seed):
    words = philox(seed, np.arange(length))
    kept = torch.from_numpy(uniform(words[0])) > probability
    # Box and Muller, of the first two words.
    first, second = (uniform(row).astype(np.float64) for row in words[:2])
    normal = np.sqrt(-2 * np.log(np.maximum(first, 1e-7))) * np.cos(2 * np.pi * second)
    signed = torch.from_numpy(words.astype(np.uint32).view(np.int32).copy())
    return torch.where(kept, tensors[0].double() / (1 - probability), 0), signed, torch.from_numpy(normal)


WORKLOAD = Workload(
    name="dropout",
    sizes=(
        {"length": 10, "probability": 0.5, "seed": 123},
        {"length": 4099, "probability": 0.1, "seed": 512},
        {"length": 1000, "probability": 0.75, "seed": 0x1234567890ABCDEF},
    ),
    config={"block": 1024, "num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    tolerance={torch.float32: (1e-5, 2e-6)},
    variants=({"block": 128, "num_warps": 1},),
    space={"block": (64, 128, 256, 512, 1024, 2048), "num_warps": (1, 2, 4, 8), "waves_per_eu": (0, 1, 2)},
)

"""Undoes, in registers, the order in which weights and their scales are stored.

Weights lie in tiles of 16 rows by 64 columns, a tile as [2 halves of k, 16 rows, 16 bytes]. Scales lie in chunks of
256 bytes for 32 rows by 8 blocks of k, a chunk as [k % 4, row % 16, k // 4, row // 16].
"""

import triton
import triton.language as tl

FRAGMENT = {
    "role": "device",
    "generation": "any",
    "requires": ["BLOCK_SIZE_K is 128, or a multiple of 256", "BLOCK_SIZE_N is a multiple of 32"],
}


@triton.jit
def unshuffle_weights(tile, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):
    """As stored, (BLOCK_SIZE_N // 16, BLOCK_SIZE_K * 8) bytes, to (BLOCK_SIZE_K // 2, BLOCK_SIZE_N)."""
    tile = tile.reshape(1, BLOCK_SIZE_N // 16, BLOCK_SIZE_K // 64, 2, 16, 16).permute(0, 1, 4, 2, 3, 5)
    return tile.reshape(BLOCK_SIZE_N, BLOCK_SIZE_K // 2).trans(1, 0)


@triton.jit
def scale_offsets(k, BLOCK_SIZE_K: tl.constexpr):
    """Where the scales of BLOCK_SIZE_K columns from k on lie in a row of chunks.

    BLOCK_SIZE_K 128 takes one half of each chunk, in pairs of bytes.
    """
    i = tl.arange(0, BLOCK_SIZE_K)
    if BLOCK_SIZE_K < 256:
        return k // 256 * 256 + k % 256 // 64 + i // 2 * 4 + i % 2
    return k + i


@triton.jit
def scale_columns(BLOCK_SIZE_K: tl.constexpr):
    """For each byte of scale_offsets: the block of 32 columns, within the tile, that it scales."""
    i = tl.arange(0, BLOCK_SIZE_K)
    if BLOCK_SIZE_K < 256:
        return i // 32
    return i // 256 * 8 + i // 2 % 2 * 4 + i // 64 % 4


@triton.jit
def unshuffle_scales(tile, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):
    """As stored, (BLOCK_SIZE_N // 32, BLOCK_SIZE_K) bytes, to (BLOCK_SIZE_N, BLOCK_SIZE_K // 32)."""
    if BLOCK_SIZE_K < 256:
        tile = tile.reshape(BLOCK_SIZE_N // 32, 4, 16, 2).permute(0, 3, 2, 1)
    else:
        tile = tile.reshape(BLOCK_SIZE_N // 32, BLOCK_SIZE_K // 256, 4, 16, 2, 2, 1)
        tile = tile.permute(0, 5, 3, 1, 4, 2, 6)
    return tile.reshape(BLOCK_SIZE_N, BLOCK_SIZE_K // 32)

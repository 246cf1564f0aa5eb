"""What the evaluator needs of the device: comparing results, and emptying the caches before a timed call."""

import sys
from functools import cache

import torch

FLUSH_BYTES = 64 * 10**9
TOLERANCE = 1e-2
SHOWN = 5


def compare(got: torch.Tensor, want: torch.Tensor) -> tuple[bool, str]:
    """Whether |got - want| <= 0.01 + 0.01 * |want| in every element, NaN and infinities equal, and a message.

    The message of a match gives the maximum error, how many elements are equal to the last bit, and the largest
    share of its tolerance that an element's error takes; that of a mismatch how many and the first few.
    """
    if not isinstance(got, torch.Tensor):
        return False, f"custom_kernel gave no tensor but {type(got).__name__}"
    if got.shape != want.shape:
        return False, f"SIZE MISMATCH: {tuple(got.shape)}, wanted {tuple(want.shape)}"
    g, w = got.float(), want.float()
    special = ~torch.isfinite(w)
    same = (g == w) | (torch.isnan(g) & torch.isnan(w))
    error = torch.where(same, 0.0, (g - w).abs())
    ratio = error / (TOLERANCE + TOLERANCE * torch.where(special, 0.0, w).abs())
    bad = ~same & (special | ~torch.isfinite(g) | (ratio > 1))
    count = int(bad.sum())
    if count:
        places = bad.nonzero()[:SHOWN].tolist()
        lines = [f"ERROR at {tuple(place)}: {g[tuple(place)].item()} {w[tuple(place)].item()}" for place in places]
        share = 100 * count / bad.numel()
        return False, "\n".join([f"Number of mismatched elements: {count} of {bad.numel()} ({share:.2f} %)", *lines])
    equal = int((same & (torch.signbit(g) == torch.signbit(w)) | torch.isnan(g) & torch.isnan(w)).sum())
    return True, (
        f"Maximum error: {error.max().item()}; bit-equal: {equal}/{same.numel()}; "
        f"error over tolerance: {ratio.max().item():.3f}"
    )


@cache
def flush_buffer() -> torch.Tensor:
    """64 GB of f32 on the current device, or half of its free memory where that is less, which stderr then says."""
    free, _ = torch.cuda.mem_get_info()
    size = min(FLUSH_BYTES, free // 2)
    if size < FLUSH_BYTES:
        print(f"caches are flushed by {size / 1e9:.1f} GB, not {FLUSH_BYTES / 1e9:.0f}", file=sys.stderr)
    return torch.empty(size // 4, dtype=torch.float32, device="cuda")


def flush_caches() -> None:
    """Queues a random fill of the flush buffer, which takes milliseconds and leaves nothing else in the caches."""
    flush_buffer().normal_()

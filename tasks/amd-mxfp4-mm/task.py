"""The types of the problem: what custom_kernel takes and gives."""

import torch

# A bf16 (m, k); B bf16 (n, k); B_q and B_shuffle fp4x2 (n, k // 2); B_scale_sh E8M0 (pad(n, 256), pad(k // 32, 8)).
input_t = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
# bf16 (m, n)
output_t = torch.Tensor

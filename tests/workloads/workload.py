"""What a workload is, and the list of them.

A workload's file has the kernel, what launches it, and a reference on the CPU which shares nothing with the kernel. The
same launches serve the tests, which run them, and the coverage sweep, which only compiles them in many configs.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

Size = dict[str, Any]
Config = dict[str, Any]
Tensors = tuple[torch.Tensor, ...]

NAMES = (
    "vector_add",
    "softmax",
    "matmul",
    "matmul_mixed_fp8",
    "layer_norm",
    "layer_norm_backward",
    "attention",
    "dropout",
    "grouped_gemm",
    "block_scaled_matmul",
    "elementwise",
    "reductions",
    "atomics",
    "quantize_rows",
)


@dataclass(frozen=True, eq=False)
class Workload:
    """A kernel, or some that belong together.

    sizes: keyword arguments of `inputs`, `run` and `reference`, one dict a problem.
    config: tile sizes and launch options of the tests. variants: other ones, as changes to it, for the tests too.
    space: {key of config: the values that a sweep takes}.
    inputs: size, generator -> tensors on the CPU. run: inputs on the GPU, config, size -> results.
    reference: inputs on the CPU, size -> what the results shall be, in any dtype.
    tolerance: {dtype of a result: (relative, absolute) error allowed}; one that is not there must be equal.
    """

    name: str
    sizes: tuple[Size, ...]
    config: Config
    inputs: Callable[..., Tensors]
    run: Callable[..., Tensors]
    reference: Callable[..., Tensors]
    tolerance: Mapping[torch.dtype, tuple[float, float]] = field(default_factory=dict)
    variants: tuple[Config, ...] = ()
    space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


def load(name: str) -> Workload:
    """The workload of one of NAMES; its file is imported, so the GPU must be there before."""
    workload: Workload = importlib.import_module(f"tests.workloads.{name}").WORKLOAD
    assert workload.name == name
    return workload


def check(workload: Workload, size: Size, config: Config | None = None) -> None:
    """Run a workload at one size on the GPU. Raises AssertionError where its results are not the reference's."""
    inputs = workload.inputs(torch.Generator().manual_seed(1), **size)
    results = workload.run([tensor.to("cuda") for tensor in inputs], {**workload.config, **(config or {})}, **size)
    wanted = workload.reference(inputs, **size)
    assert len(results) == len(wanted)
    for result, want in zip(results, wanted, strict=True):
        relative, absolute = workload.tolerance.get(result.dtype, (0.0, 0.0))
        torch.testing.assert_close(result.cpu().double(), want.double(), rtol=relative, atol=absolute, equal_nan=True)

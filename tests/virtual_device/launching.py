"""All ways to launch a kernel, on the virtual device."""

import os

import run_checks
import torch
import toy_kernels as kernels
import triton
from run_checks import raises
from triton.runtime.jit import MockTensor
from triton.tools.tensor_descriptor import TensorDescriptor

N = 1000
BLOCK = 256


def inputs():
    return torch.randn(N, device="cuda"), torch.randn(N, device="cuda"), torch.zeros(N, device="cuda")


def check(launch):
    x, y, out = inputs()
    launch(x, y, out)
    torch.testing.assert_close(out, x + 2.5 * y)
    assert out.any()


def warm():
    pointer = MockTensor(torch.float32)
    return kernels.scaled_sum.warmup(pointer, pointer, pointer, N, 2.5, BLOCK=BLOCK, grid=(4,))


def check_jit():
    check(lambda x, y, out: kernels.scaled_sum[(4,)](x, y, out, N, 2.5, BLOCK=BLOCK))


def check_grid_from_a_function():
    grid = lambda meta: (triton.cdiv(N, meta["BLOCK"]),)  # noqa: E731
    check(lambda x, y, out: kernels.scaled_sum[grid](x, y, out, N, 2.5, 128, num_warps=2))


def check_compiled_by_warmup():
    kernel = warm()
    check(lambda x, y, out: kernel[(4, 1, 1)](x, y, out, N, 2.5, BLOCK))
    assert kernel.n_regs > 0
    assert kernel.n_spills == 0


def check_warmup_with_dtypes():
    kernel = kernels.scaled_sum.warmup(*[torch.float32] * 3, N, 2.5, BLOCK=BLOCK, grid=(4,))
    check(lambda x, y, out: kernel[(4, 1, 1)](x, y, out, N, 2.5, BLOCK))


def check_launcher_called_directly():
    kernel = warm()
    run, function, packed = kernel.run, kernel.function, kernel.packed_metadata
    active = triton.runtime.driver.active
    queue = active.get_current_stream(active.get_current_device())
    check(lambda x, y, out: run(4, 1, 1, queue, function, packed, None, None, None, x, y, out, N, 2.5, BLOCK))
    check(lambda x, *rest: run(4, 1, 1, queue, function, packed, None, None, None, x.data_ptr(), *rest, N, 2.5, BLOCK))
    with raises(TypeError, "kernel takes 6 arguments, constexprs included (5 given)"):
        run(4, 1, 1, queue, function, packed, None, None, None, *inputs(), N, 2.5)


def check_empty_grid_does_nothing():
    x, y, out = inputs()
    warm()[(0, 1, 1)](x, y, out, N, 2.5, BLOCK)
    assert not out.any()


def check_autotune_by_the_virtual_clock():
    grid = lambda meta: (triton.cdiv(N, meta["BLOCK"]),)  # noqa: E731
    check(lambda x, y, out: kernels.tuned[grid](x, y, out, N, 2.5))
    timings = {config.kwargs["BLOCK"]: time[0] for config, time in kernels.tuned.configs_timings.items()}
    assert timings[64] != timings[1024]
    assert kernels.tuned.best_config.kwargs["BLOCK"] == min(timings, key=timings.get)


def check_heuristics():
    check(lambda x, y, out: kernels.guessed[lambda meta: (triton.cdiv(N, meta["BLOCK"]),)](x, y, out, N, 2.5))


def check_launch_hooks_run():
    calls = []
    enter, leave = lambda data: calls.append(data.get()["name"]), lambda data: calls.append("left")
    triton.knobs.runtime.launch_enter_hook.add(enter)
    triton.knobs.runtime.launch_exit_hook.add(leave)
    try:
        check_jit()
    finally:
        triton.knobs.runtime.launch_enter_hook.remove(enter)
        triton.knobs.runtime.launch_exit_hook.remove(leave)
    assert calls == ["scaled_sum", "left"]


def check_tuple_and_all_widths():
    out, x = torch.zeros(1, device="cuda"), torch.full((1,), 0.5, device="cuda")
    kernels.all_widths[(1,)](
        out, True, 3, -300, -70000, 2**31 + 5, -(2**40), 1.5, 0.25, -1.75, 2.125, 1, None, (7, x), 5
    )
    want = 1 + 3 - 300 - 70000 + 2**31 + 5 - 2**40 + 1.5 + 0.25 - 1.75 + 2.125 + 1 + 7 + 0.5 + 5
    assert out.item() == torch.tensor(want).item()


def check_tensor_descriptor():
    x, out = torch.randn(64, 64, device="cuda"), torch.empty(16, 16, device="cuda")
    kernels.described[(1,)](TensorDescriptor.from_tensor(x, [16, 16]), out, 16)
    assert torch.equal(out, x[16:32, :16])


def check_pointers_stored_in_a_tensor():
    sources = [torch.randn(128, device="cuda") for _ in range(3)]
    pointers = torch.tensor([s.data_ptr() for s in sources], dtype=torch.int64, device="cuda")
    out = torch.empty(3, 128, device="cuda")
    kernels.from_pointers[(3,)](pointers, out, 128)
    assert torch.equal(out, torch.stack(sources))
    del sources
    with raises(RuntimeError, "virtual MI355X: kernel from_pointers"):
        kernels.from_pointers[(3,)](pointers, out, 128)


def check_compiled_as_on_the_runner():
    """The default target and specialization give buffer operations; the environment turns them off."""
    kernel = kernels.scaled_sum[(4,)](*inputs(), N, 2.5, BLOCK=512)
    target = kernel.metadata.target
    assert (target.backend, target.arch, target.warp_size) == ("hip", "gfx950", 64)
    assert "tt.pointer_range = 32" in kernel.asm["ttir"]
    assert "tt.divisibility = 16" in kernel.asm["ttir"]
    assert "buffer_load" in kernel.asm["amdgcn"]
    assert "global_load" not in kernel.asm["amdgcn"]
    os.environ["AMDGCN_USE_BUFFER_OPS"] = "0"
    try:
        x, y, out = inputs()
        plain = kernels.scaled_sum[(2,)](x, y, out, N, 2.5, BLOCK=512, num_warps=2)
    finally:
        del os.environ["AMDGCN_USE_BUFFER_OPS"]
    assert "buffer_load" not in plain.asm["amdgcn"]
    assert "global_load" in plain.asm["amdgcn"]
    torch.testing.assert_close(out, x + 2.5 * y)


def check_specialization_by_alignment():
    x, y, out = inputs()
    kernel = kernels.scaled_sum[(1,)](x[1:], y, out, 100, 2.5, BLOCK=BLOCK)
    assert kernel.asm["ttir"].count("tt.divisibility = 16") == 2
    torch.testing.assert_close(out[:100], x[1:101] + 2.5 * y[:100])


def check_active_driver_can_be_reset():
    triton.runtime.driver.reset_active()
    check_jit()


def check_events_count_wave_instructions():
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    kernel, args = warm(), (*inputs(), N, 2.5, BLOCK)
    times = []
    for grid in ((1, 1, 1), (1, 1, 1), (4, 1, 1)):
        start.record()
        kernel[grid](*args)
        torch.randn(1000, device="cuda")
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    assert times[0] == times[1] > 0
    assert times[2] > 3 * times[0]
    assert round(times[0] * 1e6) == times[0] * 1e6 or abs(round(times[0] * 1e6) - times[0] * 1e6) < 1e-6
    assert triton.testing.do_bench(lambda: kernel[(4, 1, 1)](*args)) == times[2]


def check_mxfp4_gemm():
    m, n, k = 16, 64, 512
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], device="cuda")
    generator = torch.Generator(device="cuda").manual_seed(7)
    packed, scales, wide = [], [], []
    for rows in (m, n):
        codes = torch.randint(0, 16, (rows, k), device="cuda", generator=generator)
        exponents = torch.randint(124, 131, (rows, k // 32), device="cuda", generator=generator)
        packed.append((codes[:, 0::2] | codes[:, 1::2] << 4).to(torch.uint8))
        scales.append(exponents.to(torch.uint8))
        wide.append(values[codes].double() * torch.exp2(exponents - 127.0).double().repeat_interleave(32, 1))
    out = torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
    kernels.mxfp4_gemm[(2,)](
        packed[0], scales[0], packed[1], scales[1], out, K=k, N=n, BM=16, BN=32, BK=256, num_warps=4
    )
    assert torch.equal(out, (wide[0] @ wide[1].T).to(torch.bfloat16))


if __name__ == "__main__":
    run_checks.main(globals())

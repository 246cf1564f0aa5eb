"""What runs here is what the JIT on the runner compiles: the same specialization, options and environment.

The oracle is Triton's compiler called ahead of time, with the specialization and options spelt out and without a
driver: the machine code must be the same text.
"""

import contextlib
import os
import re

import run_checks
import torch
import triton
import triton.language as tl
from run_checks import raises
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import MockTensor

ALIGNED, NEAR = ["tt.divisibility", 16], ["tt.pointer_range", 32]
TENSOR = [ALIGNED, NEAR]
BLOCK = 1024


@triton.jit
def strided_copy(x, out, n, stride, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + i * stride, tl.load(x + i * stride, i < n), i < n)


@triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["stride"])
def unspecialized_copy(x, out, n, stride, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + i * stride, tl.load(x + i * stride, i < n), i < n)


@triton.jit
def converted(x, out, n: tl.int64, scale, other, kind: tl.constexpr, block: tl.constexpr = BLOCK):
    i = tl.arange(0, block)
    value = tl.load(x + i, i < n).to(kind) * scale
    if other is not None:
        value += tl.load(other + i, i < n)
    tl.store(out + i, value, i < n)


@triton.jit
def product(a, b, c, n: tl.constexpr):
    i, j = tl.arange(0, n)[:, None], tl.arange(0, n)[None, :]
    total = tl.zeros((n, n), tl.float32)
    for k in range(0, 4 * n, n):
        total = tl.dot(tl.load(a + i * 4 * n + k + j), tl.load(b + (k + i) * n + j), total)
    tl.store(c + i * n + j, total)


@triton.jit
def counted(out, grown: tl.constexpr):
    tl.atomic_add(out + tl.program_id(0), grown)


@triton.jit
def numbers_of_programs(out):
    place = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0) + tl.program_id(0)
    tl.store(out + place, tl.num_programs(0) * 100 + tl.num_programs(1) * 10 + tl.num_programs(2))


@triton.jit(noinline=True)
def grown(x, times):
    for i in range(times):
        x = x * 3 + i
    return x


@triton.jit
def calls(x, out, times):
    i = tl.program_id(0)
    tl.store(out + i, grown(grown(tl.load(x + i), times), 2))


def ahead_of_time(function, types, attributes=None, constants=None, **options):
    """The machine code that the compiler makes of a kernel with these types, attributes and constants, all by name."""
    places = {(function.arg_names.index(name),): value for name, value in (attributes or {}).items()}
    signature = types | dict.fromkeys(constants or {}, "constexpr")
    source = ASTSource(function, {name: signature[name] for name in function.arg_names}, constants or {}, places)
    return triton.compile(source, target=GPUTarget("hip", "gfx950", 64), options=options).asm["amdgcn"]


def runs(kernel):
    """The machine code that a launch of a compiled kernel executes here."""
    kernel._init_handles()
    return triton.runtime.driver.active.utils.kernels[kernel.function].assembly


@contextlib.contextmanager
def environment(**variables):
    """Variables that a submission sets before it compiles anything."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


def tensors(count, length=1000, dtype=torch.float32):
    return [torch.ones(length, dtype=dtype, device="cuda") for _ in range(count)]


COPY = {"x": "*fp32", "out": "*fp32", "n": "i32", "stride": "i32"}
POINTERS = {"x": TENSOR, "out": TENSOR}


def check_integers():
    """1 is a constant, multiples of 16 are known as such, what needs 64 bits has them."""
    x, out = tensors(2)

    def of(n, stride, aligned=(), constants=(), types=()):
        attributes = POINTERS | {name: [ALIGNED] for name in aligned}
        code = ahead_of_time(strided_copy, COPY | dict(types), attributes, {"block": BLOCK} | dict(constants))
        assert runs(strided_copy.warmup(x, out, n, stride, BLOCK, grid=(1,))) == code, (n, stride)
        return code

    plain, one = of(3, 5), of(3, 1, constants={"stride": 1})
    multiple = of(48, 1, ["n"], {"stride": 1})
    assert len({plain, one, multiple, of(1, 5, constants={"n": 1})}) == 4
    of(3, 32, ["stride"])
    wide = of(2**31 + 1, 5, types={"n": "i64"})
    assert wide == of(-(2**31) - 1, 5, types={"n": "i64"}) != plain
    of(-(2**31), 5, ["n"])
    of(2**31, 2**40, ["n", "stride"], types={"n": "i64", "stride": "i64"})
    of(2**63, 5, ["n"], types={"n": "u64"})


def check_a_launch_uses_the_specialized_kernel():
    x, out = tensors(2)
    plain, constant = (strided_copy[(1,)](x, out, 100, stride, BLOCK) for stride in (3, 1))
    assert runs(plain) == ahead_of_time(strided_copy, COPY, POINTERS, {"block": BLOCK})
    assert runs(constant) == ahead_of_time(strided_copy, COPY, POINTERS, {"block": BLOCK, "stride": 1})
    assert strided_copy[(1,)](x, out, 101, 5, BLOCK) is plain


def check_do_not_specialize():
    x, out = tensors(2)
    kernel = unspecialized_copy.warmup(x, out, 1, 32, BLOCK, grid=(1,))
    assert runs(kernel) == ahead_of_time(unspecialized_copy, COPY, POINTERS, {"block": BLOCK})
    assert unspecialized_copy.warmup(x, out, 16, 48, BLOCK, grid=(1,)) is kernel
    constant = unspecialized_copy.warmup(x, out, 16, 1, BLOCK, grid=(1,))  # alignment alone was excluded
    assert runs(constant) == ahead_of_time(unspecialized_copy, COPY, POINTERS, {"block": BLOCK, "stride": 1})


def check_alignment_of_pointers():
    """By the address of the first element, as its storage begins at a multiple of 16."""
    x, out = tensors(2)
    for shift, attributes in ((0, TENSOR), (1, [NEAR]), (2, [NEAR]), (4, TENSOR), (6, [NEAR])):
        kernel = strided_copy.warmup(x[shift:], out, 3, 5, BLOCK, grid=(1,))
        expected = ahead_of_time(strided_copy, COPY, {"x": attributes, "out": TENSOR}, {"block": BLOCK})
        assert runs(kernel) == expected, shift


def check_range_of_pointers():
    """Buffer operations for storages of less than 2 GiB, however little of the storage a view shows."""
    _, out = tensors(2)

    def of(x):
        return runs(strided_copy.warmup(x, out, 3, 5, BLOCK, grid=(1,)))

    near = ahead_of_time(strided_copy, COPY, POINTERS, {"block": BLOCK})
    far = ahead_of_time(strided_copy, COPY, {"x": [ALIGNED], "out": TENSOR}, {"block": BLOCK})
    assert "global_load" in far
    assert "global_load" not in near
    floats = 2**29  # 2 GiB
    assert of(torch.empty(floats - 1, device="cuda")) == near
    assert of(torch.empty(floats, device="cuda")) == far
    assert of(torch.empty(3, floats, device="cuda")[1, :100]) == far
    for length, expected in ((2**31 - 1, TENSOR), (2**31, [ALIGNED])):
        code = ahead_of_time(strided_copy, COPY | {"x": "*u8"}, POINTERS | {"x": expected}, {"block": BLOCK})
        assert of(torch.empty(length, dtype=torch.uint8, device="cuda")) == code
    assert torch.empty(5, 2**30, device="cuda").untyped_storage().nbytes() == 20 * 2**30
    with raises(RuntimeError, "too large to be given to a kernel"):
        strided_copy[(1,)](torch.empty(floats, device="cuda"), out, 3, 5, BLOCK)


def check_addresses_instead_of_tensors():
    """A number is an integer argument, and a tensor seen as another dtype keeps what is known of its storage."""
    x, out = tensors(2)
    reinterpreted = triton.reinterpret(x, tl.int32)
    kernel = strided_copy.warmup(reinterpreted, out, 3, 5, BLOCK, grid=(1,))
    # A wrapper is no torch.Tensor: nothing is known of its range.
    expected = ahead_of_time(strided_copy, COPY | {"x": "*i32"}, {"x": [ALIGNED], "out": TENSOR}, {"block": BLOCK})
    assert runs(kernel) == expected


def check_mock_tensors_compile_the_same_kernel():
    mock = MockTensor(torch.float32)
    kernel = strided_copy.warmup(mock, mock, 3, 5, BLOCK, grid=(1,))
    assert runs(kernel) == ahead_of_time(strided_copy, COPY, POINTERS, {"block": BLOCK})
    assert strided_copy.warmup(torch.float32, torch.float32, 3, 5, BLOCK, grid=(1,)) is kernel
    assert strided_copy[(1,)](*tensors(2), 3, 5, BLOCK) is kernel


def check_types_and_constants():
    """An annotated type wins, None and a missing constexpr are constants, a dtype may be one, floats are f32."""
    x, out, other = tensors(3)
    types = {"x": "*fp32", "out": "*fp32", "n": "i64", "scale": "fp32"}
    kernel = converted[(1,)](x, out, 100, 2.5, None, tl.bfloat16)
    constants = {"other": None, "kind": tl.bfloat16, "block": BLOCK}
    assert runs(kernel) == ahead_of_time(converted, types, POINTERS, constants)
    assert out[:100].eq(2.5).all()
    kernel = converted[(1,)](x, out, 96, 3.0, other, tl.float32, block=128)
    constants = {"kind": tl.float32, "block": 128}
    attributes = POINTERS | {"other": TENSOR, "n": [ALIGNED]}
    assert runs(kernel) == ahead_of_time(converted, types | {"other": "*fp32"}, attributes, constants)
    assert out[:96].eq(4.0).all()
    flag = converted.warmup(x, out, 100, True, None, tl.float32, grid=(1,))
    constants = {"other": None, "kind": tl.float32, "block": BLOCK}
    assert runs(flag) == ahead_of_time(converted, types | {"scale": "u1"}, POINTERS, constants)


def multiplied(**options):
    """The machine code of a product of 64 x 256 and 256 x 64 halves, by the JIT; the same as ahead of time."""
    product.device_caches.clear()  # they do not look at the environment
    a, b = (torch.ones(64 * 256, dtype=torch.float16, device="cuda") for _ in range(2))
    c = torch.empty(64, 64, device="cuda")
    kernel = product[(1,)](a, b, c, 64, **options)
    assert c.eq(256).all()
    attributes = {name: list(TENSOR) for name in "abc"}
    if os.environ.get("AMDGCN_USE_BUFFER_OPS") == "0":
        attributes = {name: [ALIGNED] for name in "abc"}
    expected = ahead_of_time(product, {"a": "*fp16", "b": "*fp16", "c": "*fp32"}, attributes, {"n": 64}, **options)
    assert runs(kernel) == expected
    return expected


def count(pattern, code):
    return len(re.findall(rf"^\s+{pattern}", code, re.MULTILINE))


def check_options_of_a_launch():
    """num_warps, num_stages, waves_per_eu, the shape of MFMA: each is in the machine code."""
    plain = multiplied()
    assert ".max_flat_workgroup_size: 256" in plain
    assert ".max_flat_workgroup_size: 128" in multiplied(num_warps=2)
    assert count("v_mfma_f32_16x16x32_f16", multiplied(matrix_instr_nonkdim=16)) > 0
    assert count("v_mfma_f32_32x32x16_f16", multiplied(matrix_instr_nonkdim=32)) > 0
    assert multiplied(num_stages=1) != plain
    # With four waves to a SIMD a wave has 128 of its 512 registers.
    narrow = multiplied(num_warps=1, waves_per_eu=4)
    assert (
        int(re.search(r"\.vgpr_count: +(\d+)", narrow)[1])
        <= 128
        < int(re.search(r"\.vgpr_count: +(\d+)", multiplied(num_warps=1, waves_per_eu=1))[1])
    )
    multiplied(schedule_hint="attention")
    assert "v_fma" not in multiplied(enable_fp_fusion=False)


def check_variables_that_the_compiler_reads():
    plain = multiplied()
    assert count("buffer_load", plain) > 0
    assert count("global_", plain) == 0
    with environment(AMDGCN_USE_BUFFER_OPS="0"):
        code = multiplied()
        assert count("buffer_", code) == 0
        assert count("global_load", code) > 0
    with environment(TRITON_HIP_USE_ASYNC_COPY="1"):
        code = multiplied()
        assert count(r"(?:buffer|global)_load.* lds|global_load_lds", code) > 0
    with environment(TRITON_HIP_USE_ASYNC_COPY="1", TRITON_HIP_USE_BLOCK_PINGPONG="0"):
        assert count(r"(?:buffer|global)_load.* lds|global_load_lds", multiplied()) > 0
    with environment(TRITON_HIP_USE_IN_THREAD_TRANSPOSE="1"):
        assert multiplied() != plain
    with environment(TRITON_DISABLE_LINE_INFO="1"):
        code = multiplied()
        assert "\t.loc\t" in plain
        assert "\t.loc\t" not in code
    with environment(TRITON_STORE_BINARY_ONLY="1", TRITON_ALWAYS_COMPILE="1"):
        assert multiplied() == plain  # its text is kept here all the same
    assert multiplied() == plain


def check_variables_of_floating_point():
    x, out, other = tensors(3)

    def of():
        converted.device_caches.clear()
        return runs(converted.warmup(x, out, 100, 2.5, other, tl.float32, grid=(1,)))

    fused = r"v_(?:pk_)?fma"
    assert count(fused, of()) > 0
    with environment(TRITON_DEFAULT_FP_FUSION="0"):
        assert count(fused, of()) == 0
    packed = count(r"v_pk_", multiplied())
    with environment(AMDGCN_SCALARIZE_PACKED_FOPS="1"):
        assert count(r"v_pk_", multiplied()) <= packed


def check_buffer_atomics():
    out = torch.zeros(64, device="cuda")

    def of():
        counted.device_caches.clear()
        out.zero_()
        kernel = counted[(64,)](out, 1.5)
        assert out.eq(1.5).all()
        return runs(kernel)

    assert count("(?:buffer|global)_atomic", of()) > 0
    with environment(AMDGCN_USE_BUFFER_ATOMICS="0"):
        assert count("buffer_atomic", of()) == 0


def check_autotune_runs_what_it_chose():
    configs = [triton.Config({"block": block}, num_warps=warps) for block, warps in ((64, 1), (1024, 8), (256, 2))]
    tuned = triton.autotune(configs, key=["n"])(strided_copy)
    x, out = tensors(2)
    launched = []
    triton.knobs.runtime.launch_enter_hook.add(lambda data: launched.append(data.get()["function"]))
    try:
        kernel = tuned[lambda meta: (triton.cdiv(1000, meta["block"]),)](x, out, 1000, 1)
        assert len(launched) == len(configs) + 1
        best = tuned.best_config
        tuned[lambda meta: (triton.cdiv(1000, meta["block"]),)](x, out, 1000, 1)
        assert launched[-1] == launched[-2] == kernel.function
        assert len(launched) == len(configs) + 2
    finally:
        triton.knobs.runtime.launch_enter_hook.calls.clear()
    expected = ahead_of_time(
        strided_copy, COPY, POINTERS, {"block": best.kwargs["block"], "stride": 1}, num_warps=best.num_warps,
        num_stages=best.num_stages,
    )  # fmt: skip
    assert runs(kernel) == expected
    assert best.num_stages == 3  # a Config's own default, not the 2 of a launch
    assert torch.equal(out, x)


def check_heuristics_are_constants():
    guessed = triton.heuristics({"block": lambda args: triton.next_power_of_2(args["n"])})(strided_copy)
    x, out = tensors(2)
    kernel = guessed[(1,)](x, out, 100, 3)
    assert runs(kernel) == ahead_of_time(strided_copy, COPY, POINTERS, {"block": 128})
    kernel = guessed[(1,)](x, out, 300, 3)
    assert runs(kernel) == ahead_of_time(strided_copy, COPY, POINTERS, {"block": 512})


def check_functions_that_are_not_inlined():
    x, out = (torch.arange(8, dtype=torch.int32, device="cuda") for _ in range(2))
    kernel = calls[(8,)](x, out, 4)
    types = {"x": "*i32", "out": "*i32", "times": "i32"}
    assert runs(kernel) == ahead_of_time(calls, types, POINTERS)
    assert "s_swappc_b64" in runs(kernel)
    want = x.cpu()
    for times in (4, 2):
        for i in range(times):
            want = want * 3 + i
    assert torch.equal(out.cpu(), want)


def check_numbers_of_programs():
    out = torch.zeros(24, dtype=torch.int32, device="cuda")
    numbers_of_programs[(4, 3, 2)](out)
    assert out.eq(432).all()


def check_what_the_driver_tells_of_the_device():
    active = triton.runtime.driver.active
    assert active.get_current_target() == GPUTarget("hip", "gfx950", 64)
    facts = active.utils.get_device_properties(0)
    assert facts["arch"] == "gfx950:sramecc+:xnack-"
    assert (facts["max_shared_mem"], facts["warpSize"], facts["multiprocessor_count"]) == (163840, 64, 256)
    assert facts["max_threads_per_sm"] == 2048
    assert active.get_active_torch_device() == torch.device("cuda", 0)
    assert active.get_device_interface() is torch.cuda
    with environment(TRITON_OVERRIDE_ARCH="gfx942"):
        assert active.get_current_target().arch == "gfx942"


def check_what_a_compiled_kernel_tells_of_itself():
    """n_regs, n_spills and n_max_threads are what HIP says: spills are the dwords of scratch of a lane."""
    kernel = strided_copy[(1,)](*tensors(2), 3, 5, BLOCK, num_warps=2)
    code = runs(kernel)
    assert kernel.n_regs == int(re.search(r"\.vgpr_count: +(\d+)", code)[1]) > 0
    assert (kernel.n_spills, kernel.n_max_threads) == (0, 128)
    a, b = (torch.ones(64 * 256, dtype=torch.float16, device="cuda") for _ in range(2))
    spilling = product[(1,)](a, b, torch.empty(64, 64, device="cuda"), 64, num_warps=1, waves_per_eu=8)
    scratch = int(re.search(r"\.private_segment_fixed_size: +(\d+)", runs(spilling))[1])
    assert spilling.n_spills == scratch // 4 > 0


if __name__ == "__main__":
    run_checks.main(globals())

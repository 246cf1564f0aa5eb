"""torch as it looks on the virtual device."""

import copy
import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import run_checks
import torch
from run_checks import raises

CUDA = torch.device("cuda", 0)


def sample():
    generator = torch.Generator(device="cuda").manual_seed(1)
    return torch.randn((4, 8), dtype=torch.bfloat16, device="cuda", generator=generator)


def check_what_is_on_the_device():
    a = sample()
    on_device = {
        "factory": a,
        "sum": a + 1,
        "slice": a[1:],
        "view": a.view(torch.int16),
        "fp4": a.view(torch.uint8).view(torch.float4_e2m1fn_x2),
        "e8m0": a.view(torch.uint8).view(torch.float8_e8m0fnu),
        "clone": a.clone(),
        "like": torch.empty_like(a),
        "contiguous": a.T.contiguous(),
        "cat": torch.cat([a, a]),
        "to dtype": a.to(torch.float32),
        "device object": torch.zeros(3, device=CUDA),
        "ordinal": torch.zeros(3, device=0),
        "index": torch.arange(3, device="cuda:0"),
        "cuda()": torch.ones(2).cuda(),
        "to string": torch.ones(2).to("cuda"),
        "to tensor": torch.ones(2).to(a),
        "to keywords": torch.ones(2).to(device="cuda", dtype=torch.float16),
        "tensor": torch.tensor([1], device="cuda"),
        "new_empty": a.new_empty(3),
        "unbind": a.unbind()[0],
        "topk": torch.topk(a.float(), 2).values,
        "module": torch.nn.Linear(2, 2).to("cuda").weight,
        "parameter": torch.nn.Parameter(a.float()),
        "built there": torch.nn.Linear(2, 2, device="cuda").weight,
        "detached": a.detach(),
        "deep copy": copy.deepcopy([a])[0],
        "as_tensor": torch.as_tensor([1.0], device="cuda"),
        "where": torch.where(a > 0, a, a),
        "mask": a[a > 0],
        "fp8": a.to(torch.float8_e4m3fn),
        "scalar of the CPU": a * torch.tensor(2.0),
        "full": torch.full((2,), 1.0, device=a.device),
        "custom operator": double(a),
        "from_numpy": torch.from_numpy(np.ones(3)).cuda(),
        "vmap": torch.vmap(lambda row: row * 2)(a),
    }
    for name, tensor in on_device.items():
        assert tensor.is_cuda, name
        assert tensor.device == CUDA, name
        assert not tensor.is_cpu, name
        assert tensor.get_device() == 0, name


@torch.library.custom_op("mxsub_test::double", mutates_args=(), device_types="cuda")
def double(q: torch.Tensor) -> torch.Tensor:
    return q * 2


def check_what_is_on_the_cpu():
    a = sample()
    for tensor in (
        torch.ones(2),
        a.cpu(),
        a.to("cpu"),
        torch.empty_like(a, device="cpu"),
        torch.zeros(2, device="cpu"),
    ):
        assert not tensor.is_cuda
        assert tensor.device.type == "cpu"
    host = torch.zeros(4, 8, dtype=torch.bfloat16)
    assert host.copy_(a) is host
    assert not host.is_cuda
    assert torch.equal(host, a.cpu())
    host[0] = a[1]
    assert not host.expand_as(a).is_cuda
    assert not host.is_cuda


def check_moves_copy():
    a = sample()
    a.cpu().zero_()
    assert a.abs().sum() > 0
    host = torch.ones(3)
    there = host.cuda()
    shared = torch.as_tensor(host, device="cuda")
    there.zero_()
    shared.zero_()
    assert host.tolist() == [1, 1, 1]
    assert not host.is_cuda
    array = np.ones(3)
    torch.as_tensor(array, device="cuda").zero_()
    assert array.tolist() == [1, 1, 1]
    assert a.to("cuda") is a
    assert a.cuda() is a


def check_in_place_and_out_stay_there():
    a, out = sample().float(), torch.empty(4, 8, device="cuda")
    a += 1
    a.mul_(2)
    torch.add(a, 1, out=out)
    assert a.is_cuda
    assert out.is_cuda
    assert torch.equal(out, a + 1)
    a.copy_(torch.zeros(4, 8))
    assert not a.any()
    a[0] = torch.ones(8)
    assert a.sum().item() == 8


def check_results_are_plain_python():
    a = torch.arange(6, device="cuda").reshape(2, 3)
    assert a.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert a[1, 2].item() == 5
    assert bool((a >= 0).all())
    assert (~(a > 2) & (a != 1) | (a == 5)).tolist() == [[True, False, True], [False, False, True]]
    assert repr(a[0]) == "tensor([0, 1, 2], device='cuda:0')"
    assert f"{a[0, 0]}" == "0"
    assert a.type() == "torch.cuda.LongTensor"
    torch.testing.assert_close(a, a.clone())
    with raises(AssertionError, "device"):
        torch.testing.assert_close(a, a.cpu())
    assert torch.allclose(a.float(), a.float() + 1e-9)
    with raises(TypeError, "can't convert cuda:0 device type tensor to numpy"):
        a.numpy()
    with raises(TypeError, "can't convert cuda:0 device type tensor to numpy"):
        np.asarray(a)


def check_devices_do_not_mix():
    here, there = torch.ones(3), torch.ones(3, device="cuda")
    sentence = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    for operation in (
        lambda: here + there,
        lambda: there.mul_(here),
        lambda: torch.cat([there, here]),
        lambda: torch.equal(there, here),
        lambda: there @ here,
        lambda: torch.where(there > 0, here, there),
        lambda: here + there[0],
    ):
        with raises(RuntimeError, sentence):
            operation()
    with raises(RuntimeError, "indices should be either on cpu or on the same device as the indexed tensor (cpu)"):
        here[torch.tensor([0, 1], device="cuda")]
    assert there[torch.tensor([0, 1])].is_cuda
    with raises(RuntimeError, "Expected a 'cuda' device type for generator but found 'cpu'"):
        torch.randn(3, device="cuda", generator=torch.Generator())
    with raises(RuntimeError, "HIP error: invalid device ordinal"):
        torch.ones(3, device="cuda:1")


def check_default_device():
    with torch.device("cuda"):
        assert torch.empty(2).is_cuda
        assert torch.tensor([1.0]).is_cuda
    torch.set_default_device("cuda")
    assert torch.ones(3).is_cuda
    torch.set_default_device(None)
    assert not torch.ones(3).is_cuda


def check_addresses():
    a = sample()
    address = a.data_ptr()
    assert address % 512 == 0
    assert a[1:].data_ptr() == address + 16
    assert a.view(torch.uint8).data_ptr() == address
    assert a.clone().data_ptr() != address
    assert a.data_ptr() == address
    assert torch.empty(0, device="cuda").data_ptr() == 0
    seen = {address}
    for _ in range(50):
        other = torch.empty(64, device="cuda")
        assert other.data_ptr() not in seen
        assert all(abs(other.data_ptr() - x) > 1 << 32 for x in seen)
        seen.add(other.data_ptr())
    b = torch.empty(4, device="cuda")
    assert b.data_ptr() == b.data_ptr()
    host = torch.ones(3)
    assert host.data_ptr() == host.untyped_storage().data_ptr()


def check_dead_storages_leave_the_memory():
    from mxsub.virtual.device_memory import DEVICE_MEMORY

    gc.collect()
    DEVICE_MEMORY.free_dead()
    before = len(DEVICE_MEMORY._live)
    tensors = [torch.empty(10, device="cuda") for _ in range(5)]
    addresses = [t.data_ptr() for t in tensors]
    view = tensors[0][3:]
    assert len(DEVICE_MEMORY._live) == before + 5
    del tensors
    gc.collect()
    DEVICE_MEMORY.free_dead()
    assert len(DEVICE_MEMORY._live) == before + 1
    assert view.data_ptr() == addresses[0] + 12


def check_flush_tensors_are_free():
    flush = torch.randn((16000, 1024, 1024), device="cuda")
    assert flush.shape == (16000, 1024, 1024)
    assert flush.untyped_storage().nbytes() == 16000 << 22
    assert flush.data_ptr() % 16 == 0
    assert torch.empty(1 << 34, dtype=torch.uint8, device="cuda").fill_(3)[5].item() == 3
    assert flush.normal_().is_cuda
    assert torch.empty(4, 4, device="cuda").fill_(2).sum().item() == 32


def check_generators():
    generator = torch.Generator(device="cuda")
    assert generator.device == CUDA
    assert isinstance(torch.default_generator, torch.Generator)
    assert isinstance(generator, torch.Generator)
    draws = []
    for _ in range(2):
        generator.manual_seed(5)
        x = torch.empty(8, device="cuda")
        draws.append(
            [
                torch.randn(8, device="cuda", generator=generator).tolist(),
                x.uniform_(-1, 1, generator=generator).tolist(),
                x.normal_(0, 2, generator=generator).tolist(),
                x.random_(0, 9, generator=generator).tolist(),
                torch.randint(0, 9, (8,), device="cuda", generator=generator).tolist(),
            ]
        )
    assert draws[0] == draws[1]
    torch.manual_seed(3)
    first = torch.randn(4, device="cuda")
    torch.cuda.manual_seed(3)
    assert torch.equal(first, torch.randn(4, device="cuda"))


def check_what_torch_cuda_says():
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 1
    assert "MI355X" in torch.cuda.get_device_name(0)
    properties = torch.cuda.get_device_properties("cuda")
    assert properties.gcnArchName.split(":")[0] == "gfx950"
    assert properties.total_memory == 288 << 30
    assert properties.multi_processor_count == 256
    assert torch.version.hip.startswith("7.1")
    assert torch.version.cuda is None
    with torch.cuda.device(0), torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda.current_stream().synchronize()
    assert torch.cuda.current_stream().cuda_stream == 0
    start = torch.cuda.Event(enable_timing=True)
    start.record()
    assert start.query()
    with raises(RuntimeError, "Both events must be recorded"):
        start.elapsed_time(torch.cuda.Event(enable_timing=True))


def check_graphs_and_compiled_functions_are_refused():
    with raises(RuntimeError, "virtual MI355X: graphs are not emulated; launch the kernels directly"):
        torch.cuda.CUDAGraph()

    @torch.compile(fullgraph=True)
    def doubled(x):
        return x * 2

    with raises(RuntimeError, "virtual MI355X: torch.compile is not emulated"):
        doubled(torch.ones(3, device="cuda"))


def check_profiler_runs():
    a = sample()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        a + a
    assert "aten::add" in profile.key_averages().table(sort_by="self_cuda_time_total", row_limit=20)


def check_threads_have_the_device_too():
    class Mine(threading.Thread):
        def run(self):
            self.result = torch.ones(2, device="cuda").is_cuda

    thread = Mine()
    thread.start()
    thread.join()
    assert thread.result
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: torch.ones(2, device="cuda") + 1).result().is_cuda


def check_gradients_are_there():
    linear = torch.nn.Linear(3, 2, device="cuda")
    linear(torch.ones(4, 3, device="cuda")).sum().backward()
    assert linear.weight.grad.is_cuda
    assert linear.weight.grad.tolist() == [[4, 4, 4]] * 2


if __name__ == "__main__":
    run_checks.main(globals())

"""What the virtual device says of itself."""

NAME = "AMD Instinct MI355X (virtual)"
ARCH = "gfx950"
FULL_ARCH = f"{ARCH}:sramecc+:xnack-"
CAPABILITY = (9, 5)
HIP_VERSION = "7.1.0"

WARP_SIZE = 64
MAX_THREADS = 1024  # per workgroup
MAX_THREADS_PER_UNIT = 2048
COMPUTE_UNITS = 256
LDS_BYTES = 160 << 10  # per compute unit, and per workgroup
MEMORY_BYTES = 288 << 30
CLOCK_KHZ = 2_400_000

# What Triton's AMD driver answers to get_device_properties().
TRITON_PROPERTIES = {
    "max_shared_mem": LDS_BYTES,
    "max_num_regs": 65536,
    "multiprocessor_count": COMPUTE_UNITS,
    "sm_clock_rate": CLOCK_KHZ,
    "mem_clock_rate": 2_000_000,
    "mem_bus_width": 8192,
    "arch": FULL_ARCH,
    "warpSize": WARP_SIZE,
    "max_threads_per_sm": MAX_THREADS_PER_UNIT,
    "cooperativeLaunch": 1,  # since Triton 3.7
}

# The attributes of torch.cuda.get_device_properties().
TORCH_PROPERTIES = {
    "name": NAME,
    "gcnArchName": FULL_ARCH,
    "major": CAPABILITY[0],
    "minor": CAPABILITY[1],
    "total_memory": MEMORY_BYTES,
    "multi_processor_count": COMPUTE_UNITS,
    "warp_size": WARP_SIZE,
    "max_threads_per_block": MAX_THREADS,
    "max_threads_per_multi_processor": MAX_THREADS_PER_UNIT,
    "shared_memory_per_block": LDS_BYTES,
    "shared_memory_per_multiprocessor": LDS_BYTES,
    "regs_per_multiprocessor": 131072,
    "L2_cache_size": 4 << 20,
    "clock_rate": CLOCK_KHZ,
    "is_integrated": 0,
    "is_multi_gpu_board": 0,
}

# Larger tensors, such as the ones that flush caches, get no memory.
LARGEST_TENSOR_BYTES = 1 << 30

"""Runs a few instructions on the emulator, around them the least that makes a kernel."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.machine import LaunchReport, Program, launch
from mxsub.virtual.memory import GlobalMemory

Words = npt.NDArray[np.uint32]

_HEADER = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n\t.file\t1 "/home/me" "submission.py"\n'
_FOOTER = """
\t.amdhsa_kernel kernel
\t\t.amdhsa_user_sgpr_count 2
\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1
\t\t.amdhsa_system_sgpr_workgroup_id_x 1
\t\t.amdhsa_system_sgpr_workgroup_id_y 1
\t\t.amdhsa_system_sgpr_workgroup_id_z 1
\t.end_amdhsa_kernel
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .offset:         8
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 0
    .kernarg_segment_size: 16
    .max_flat_workgroup_size: 64
    .private_segment_fixed_size: {scratch}
    .vgpr_count:     64
...
\t.end_amdgpu_metadata
"""
# Leaves: s[4:5] the address of the input, s[6:7] of the output, v0 the lane, v1 = 4 * v0, v2 = input[v0].
_BEFORE = """s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
global_load_dword v2, v1, s[4:5]
"""
_AFTER = "\nglobal_store_dword v1, v3, s[6:7]\ns_endpgm\n"


class Bench:
    """Runs instruction sequences on one workgroup or more, with an input and an output buffer.

    report: of the last launch. scratch_bytes: of a lane.
    """

    report: LaunchReport
    scratch_bytes = 16

    def program(self, text: str) -> Program:
        """A kernel of these instructions alone."""
        lines = (line if line.endswith(":") else "\t" + line for line in text.strip().splitlines())
        return Program(_HEADER + "\n".join(lines) + _FOOTER.replace("{scratch}", str(self.scratch_bytes)))

    def bare(self, text: str, data: npt.NDArray[Any], out: npt.NDArray[Any], waves: int = 1, **options: Any) -> Words:
        """Run the instructions alone, s[0:1] pointing to the addresses of both buffers; gives the output as uint32."""
        memory = GlobalMemory()
        source = memory.map("source", np.array(data, copy=True).reshape(-1).view(np.uint8))
        target = memory.map("out (int32 [64])", out.reshape(-1).view(np.uint8))
        kernarg = np.array([source.base, target.base], np.uint64).tobytes()
        grid = options.pop("grid", (1, 1, 1))
        program = self.program(text)
        self.report = launch(program, grid, kernarg, memory, waves_per_workgroup=waves, **options)
        return out.reshape(-1).view(np.uint32)

    def run(self, text: str, data: npt.NDArray[Any] | None = None, waves: int = 1, **options: Any) -> Words:
        """Run instructions that take the lane's input word in v2 and leave its output word in v3."""
        words = np.arange(64 * waves, dtype=np.uint32) if data is None else np.asarray(data).view(np.uint32)
        out = np.zeros(64 * waves, np.uint32)
        return self.bare(_BEFORE + text + _AFTER, words, out, waves, **options)

    def compute(
        self, text: str, *sources: npt.NDArray[Any], results: int = 1, at: int = 20, waves: int = 1, **options: Any
    ) -> Words:
        """Run instructions on several words a lane: sources (lanes,) or (lanes, n), with 64 lanes a wave, land in v10,
        v11, ...; gives (lanes, results) of v20, v21, ..., or of those from `at` on."""
        lanes = 64 * waves
        columns = [np.asarray(s).reshape(lanes, -1).view(np.uint32) for s in sources]
        data = np.concatenate(columns, axis=1) if columns else np.zeros((lanes, 1), np.uint32)
        count = data.shape[1]
        loads = "\n".join(f"global_load_dword v{10 + k}, v4, s[4:5] offset:{4 * k}" for k in range(count))
        stores = "\n".join(f"global_store_dword v5, v{at + k}, s[6:7] offset:{4 * k}" for k in range(results))
        whole = (
            f"s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_mul_u32_u24_e32 v4, {4 * count}, v0\n"
            f"v_mul_u32_u24_e32 v5, {4 * results}, v0\n{loads}\n{text}\n{stores}\ns_endpgm"
        )
        out = np.zeros((lanes, results), np.uint32)
        return self.bare(whole, data, out, waves, **options).reshape(lanes, results)

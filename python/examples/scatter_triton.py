"""scatter_triton.py - a Triton kernel that calls a device function around arc.cuh, as bitcode.
SPDX-License-Identifier: Apache-2.0

Triton links LLVM bitcode, which clang makes of CUDA C; for sm_90, clang 16 or newer.
`CLANG=clang-19 python scatter_triton.py` names another one than `clang`. Without a GPU it only
compiles the kernel."""
import os
import pathlib
import subprocess
import tempfile

import common
import need

torch, triton = need.module("torch"), need.module("triton")
import triton.language as tl  # noqa: E402
from triton.language import core  # noqa: E402

SOURCE = r"""
#include "arc.cuh"

/* __cvta: of an integer no compiler knows that it is an address in global memory. */
extern "C" __device__ int arc_add_row3(long long rows, int key, float x, float y, float z) {
  const float g[3] = {x, y, z};
  arc_target_f32 target =
      arc_target_f32_rows((float *)__cvta_global_to_generic(rows), 3 /* stride */, 3 /* width */);
  arc_add_f32(target, key, g, key >= 0);
  return 0;
}
"""
folder = tempfile.TemporaryDirectory()
BITCODE = os.path.join(folder.name, "arc.bc")


def compile_bitcode(architecture):
    clang = [os.environ.get("CLANG", "clang"), "-x", "cuda", "--cuda-device-only",
             f"--cuda-gpu-arch={architecture}", "-Wno-unknown-cuda-version"]
    source = pathlib.Path(folder.name, "arc_add_row3.cu")
    source.write_text(SOURCE)
    # clang 19 includes this file, which CUDA 13 no longer has.
    pathlib.Path(folder.name, "texture_fetch_functions.h").touch()
    try:
        empty = subprocess.run([*clang, "-nocudainc", "-fsyntax-only", os.devnull], text=True,
                               stderr=subprocess.PIPE, check=False)
    except FileNotFoundError as error:
        need.skip(error)
    if "unsupported CUDA gpu architecture" in empty.stderr:
        need.skip(f"{clang[0]} does not know {architecture}")
    # Triton flushes denormals, and refuses to link what does not.
    subprocess.run([*clang, "-fgpu-flush-denormals-to-zero", "-O3", "-emit-llvm", "-c", source,
                    f"-I{folder.name}", f"-I{common.include_path()}", "-o", BITCODE], check=True)


@core.extern
def add_row3(rows, key, x, y, z, _semantic=None):
    i64, i32, f32 = core.dtype("int64"), core.dtype("int32"), core.dtype("fp32")
    return core.extern_elementwise("arc", BITCODE, [rows, key, x, y, z],
                                   {(i64, i32, f32, f32, f32): ("arc_add_row3", i32)},
                                   is_pure=False, _semantic=_semantic)


@triton.jit
def scatter(rows, keys, values, updates, BLOCK: tl.constexpr):
    update = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys + update, mask=update < updates, other=-1)
    x = tl.load(values + 3 * update, mask=update < updates, other=0.0)
    y = tl.load(values + 3 * update + 1, mask=update < updates, other=0.0)
    z = tl.load(values + 3 * update + 2, mask=update < updates, other=0.0)
    add_row3(rows.to(tl.int64), key, x, y, z)


if not torch.cuda.is_available():
    compile_bitcode("sm_90")
    source = triton.compiler.ASTSource(scatter, {
        "rows": "*fp32", "keys": "*i32", "values": "*fp32", "updates": "i32",
        "BLOCK": "constexpr"}, {"BLOCK": common.THREADS})
    triton.compile(source, target=triton.backends.compiler.GPUTarget("cuda", 90, 32), options={
        "num_warps": common.THREADS // 32, "extern_libs": {"arc": BITCODE}})
    need.skip("PyTorch sees no CUDA device; Triton has compiled the kernel for sm_90")
compile_bitcode("sm_%d%d" % torch.cuda.get_device_capability())
rows = torch.zeros(common.ROWS, common.WIDTH, device="cuda")
# A block holds one update a thread or more: of fewer, Triton would make copies, and add them too.
scatter[(common.BLOCKS,)](rows, torch.from_numpy(common.KEYS).cuda(),
                          torch.from_numpy(common.VALUES).cuda(), common.UPDATES,
                          BLOCK=common.THREADS, num_warps=common.THREADS // 32,
                          extern_libs={"arc": BITCODE})
common.check("scatter_triton", rows.cpu().numpy())

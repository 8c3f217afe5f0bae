/* purity_prelude.h - just enough of CUDA's names for a C compiler to read arc.cuh.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing of it runs: purity.cmake only asks the compiler which functions arc.cuh declares.
 */
#define bool _Bool
#define true 1
#define false 0
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__

struct purity_dim {
  unsigned x, y, z;
};
extern struct purity_dim threadIdx, blockIdx, blockDim, gridDim;

#define __match_any_sync(mask, value) ((unsigned)(value) & (mask))
#define __ballot_sync(mask, predicate) ((predicate) ? (mask) : 0u)
#define __any_sync(mask, predicate) ((mask) && (predicate))
#define __all_sync(mask, predicate) ((mask) && (predicate))
#define __shfl_sync(mask, value, lane) ((void)(mask), (void)(lane), (value))
#define __shfl_xor_sync(mask, value, lane) ((void)(mask), (void)(lane), (value))
#define __shfl_down_sync(mask, value, lane) ((void)(mask), (void)(lane), (value))
#define __shfl_up_sync(mask, value, lane) ((void)(mask), (void)(lane), (value))
#define __activemask() 1u
#define __syncwarp(mask) ((void)(mask))
#define __trap() ((void)0)
#define SIMT_CHECK_FAILED(message) ((void)(message))

int __popc(unsigned x);
int __popcll(unsigned long long x);
int __ffs(int x);
int __clz(int x);
unsigned __brev(unsigned x);
float __uint_as_float(unsigned x);
unsigned __float_as_uint(float x);
float __int_as_float(int x);
int __float_as_int(float x);
float atomicAdd(float *address, float value);
int __isGlobal(const void *address);
void simt_red_add_v2_f32(float *a, float x, float y);
void simt_red_add_v4_f32(float *a, float x, float y, float z, float w);

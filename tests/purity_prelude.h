/* purity_prelude.h - just enough of CUDA's names for a C compiler to read arc's headers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing of it runs: purity.py only asks the compiler which functions they declare.
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
#define __match_all_sync(mask, value, all) ((void)(value), *(all) = 1, (mask))
#define __ballot_sync(mask, predicate) ((predicate) ? (mask) : 0u)
#define __any_sync(mask, predicate) ((mask) && (predicate))
#define __all_sync(mask, predicate) ((mask) && (predicate))
#define __shfl_sync(mask, value, lane) ((void)(mask), (void)(lane), (value))
#define __shfl_xor_sync(mask, value, lane) ((void)(mask), (void)(lane), (value))
#define __shfl_down_sync(mask, value, lane) ((void)(mask), (void)(lane), (value))
#define __shfl_up_sync(mask, value, lane) ((void)(mask), (void)(lane), (value))
#define __activemask() 1u
#define atomicAdd(address, value) (*(address) += (value)) /* of any type */
#define atomicCAS(address, expected, value) ((void)(expected), (void)(value), *(address))
#define atomicExch(address, value) ((void)(value), *(address))
#define atomicOr(address, value) (*(address) |= (value)) /* of any type */
#define __syncwarp(mask) ((void)(mask))
#define __syncthreads() ((void)0)
#define __trap() ((void)0)
#define SIMT_CHECK_FAILED(message) ((void)(message))

int __popc(unsigned x);
unsigned __umulhi(unsigned a, unsigned b);
int __popcll(unsigned long long x);
int __ffs(int x);
int __clz(int x);
unsigned __reduce_add_sync(unsigned mask, unsigned value);
unsigned __brev(unsigned x);
float __uint_as_float(unsigned x);
unsigned __float_as_uint(float x);
float __int_as_float(int x);
int __float_as_int(float x);
double __longlong_as_double(long long x);
long long __double_as_longlong(double x);
long long __float2ll_rn(float x);
float __fadd_rn(float x, float y);
unsigned __byte_perm(unsigned x, unsigned y, unsigned selector);
int __isGlobal(const void *address);
unsigned short simt_cvt_rn_f16_f32(float x);
float simt_cvt_f32_f16(unsigned short half);
void simt_red_add_f32(void *address, const unsigned *words, int count);
void simt_red_add_f16x2(void *address, const unsigned *words, int count);
void simt_red_add_bf16x2(void *address, const unsigned *words, int count);

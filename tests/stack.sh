#!/bin/sh
# stack.sh - arc adds neither a stack frame nor a spill: not with a literal width up to 128 (64 where
# a value takes two words) on any path, nor with a width known at run time only, where the values lie
# in memory. SPDX-License-Identifier: Apache-2.0
#
#   stack.sh <repository> <scratch folder>          some widths on auto, every form of call, a
#                                                   renderer and patterns.cu; other architectures:
#                                                   fat.sh
#   stack.sh <repository> <scratch folder> --all    every width 1..128, keyed and uniform, every path,
#                                                   and types
#
# Reads the assembler's report (-Xptxas -v). Every kernel that was written must appear in it, and a
# warning is an error. NVCC names the compiler. Exit code 77: there is none.
set -u
root=$1 work=$2/stack
nvcc=${NVCC:-nvcc}
paths="ATOMIC SERIALIZED BUTTERFLY TRANSPOSED TREE AUTO"
spotless=' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'
command -v "$nvcc" >/dev/null || {
  echo "skipped: no nvcc"
  exit 77
}

# What the kernels share. FROM: value k of a thread, in the caller's memory.
prelude() {
  cat <<'END'
#define ARC_MAX_PIECES 4
#define ARC_TABLES 1
#include "arc.cuh"
#include "arc/index_add.cuh"
#include "arc/table.cuh"
#include "arc/hot.cuh"
#include "arc/papers.cuh"
#include "arc/sums.cuh"
#define FROM(k) from[(k) * 1024 + threadIdx.x]
#define KERNEL(name, path_, promises_, ...)                                                   \
  extern "C" __global__ void name(float *sums, int stride, int width, float *const *pointers, \
                                  const float *from, const int *keys, unsigned mask) {        \
    int key = keys[threadIdx.x];                                                              \
    bool active = key >= 0;                                                                   \
    arc_options o = arc_options_default();                                                    \
    o.path = path_;                                                                           \
    o.promises |= promises_;                                                                  \
    (void)width, (void)pointers, (void)mask, (void)active;                                    \
    __VA_ARGS__                                                                               \
  }
#define LITERAL(name, path, promises, n, ...)                             \
  KERNEL(name, path, promises, float values[n];                           \
         for (int k = 0; k < n; ++k) values[k] = FROM(k);                 \
         arc_target_f32 target = arc_target_f32_rows(sums, stride, n); (void)target; __VA_ARGS__)
typedef float f32;
typedef double f64;
typedef long long i64;
#define TO_f64(n) arc_target_f64_rows((f64 *)sums, stride, n)
#define TO_i64(n) arc_target_i64_rows((i64 *)sums, stride, n)
#define TO_f32(n) arc_target_f32_rows(sums, stride, n)
#define TO_f32_to_f64(n) arc_target_f32_to_f64_rows((f64 *)sums, stride, n)
#define TO_f16(n) arc_target_f16_rows(sums, stride, n)
#define TO_bf16(n) arc_target_bf16_rows(sums, stride, n)
#define TO_fixed(n) arc_target_fixed_rows((i64 *)sums, stride, n, 20)
#define TYPED(name, path, promises, n, T, S, exact_)                                   \
  KERNEL(name, path, promises, T values[n];                                            \
         for (int k = 0; k < n; ++k) values[k] = ((const T *)from)[k * 1024 + threadIdx.x]; \
         arc_target_##S target = TO_##S(n); o.exact = exact_;                          \
         arc_add_with_##S(target, key, values, active, o);)
#define ADD arc_add_with_f32(target, key, values, active, o);
#define MASKED o.lane_mask = mask; ADD
#define DIVERGENT o.lane_mask = ARC_LANES_HERE; if (active) ADD
#define THRESHOLD o.threshold = width; ADD
#define POINTERS(n) arc_add_pointers_with_f32(pointers + threadIdx.x * n, n, key, values, active, o);
#define IN_MEMORY                                                        \
  const float *values = from + threadIdx.x * (unsigned)width;            \
  arc_target_f32 target = arc_target_f32_rows(sums, stride, width);      \
  ADD
/* Rows in memory, of type T or, with FROM_TYPE, of another one; S: suffix of the target. */
#define ROWS(n, T, FROM_TYPE, S)                                                 \
  const T *values = (const T *)(const void *)from;                               \
  arc_index_add_##S rows = arc_index_add_begin_##S##FROM_TYPE(TO_##S(n), values, n);   \
  for (int row = (int)threadIdx.x; row < stride; row += 32)                      \
    arc_index_add_rows_##S(&rows, keys[row], row, active);                           \
  arc_index_add_end_##S(&rows);
#define ROWS_DYNAMIC                                                             \
  arc_target_f32 target = arc_target_f32_dynamic(sums, stride, width);           \
  arc_index_add_f32 rows = arc_index_add_begin_f32(target, from, width);               \
  arc_index_add_rows_f32(&rows, key, (int)threadIdx.x, active);                      \
  arc_index_add_end_f32(&rows);
/* Sums that are halved, hot rows, four pieces and one that may be missing. */
#define SUMS(n)                                                                  \
  arc_sum_f32 sum = arc_sum_begin_with_f32(target, key, values, active, o);      \
  while (arc_sum_next_f32(&sum)) sum.value *= 0.5f, arc_sum_add_f32(&sum);
#define HOT(n)                                                                   \
  __shared__ float shared[ARC_HOT_SUMS(4, n, 128)];                              \
  arc_hot_f32 hot = arc_hot_begin_f32(target, shared, 0, 4);                     \
  arc_hot_add_with_f32(&hot, key, values, active, o);                            \
  arc_hot_end_f32(&hot, true);
#define HOT_HERE(n)                                                              \
  __shared__ float shared[ARC_HOT_SUMS(4, n, 128)];                              \
  arc_hot_f32 hot = arc_hot_begin_f32(target, shared, 0, 4);                     \
  o.lane_mask = ARC_LANES_HERE;                                                  \
  if (active) arc_hot_add_with_f32(&hot, key, values, true, o);                  \
  arc_hot_end_f32(&hot, false);
#define TABLE(n)                                                                 \
  __shared__ __align__(16) char shared[ARC_TABLE_BYTES(4, 8, n, 128)];           \
  arc_table_f32 table = arc_table_begin_f32(target, shared, 8);                  \
  arc_table_add_f32(&table, key, values, active);                                \
  arc_table_end_f32(&table);
#define TABLE_OF_ROWS                                                            \
  __shared__ __align__(16) char shared[ARC_TABLE_BYTES(2, 8, 64, 128)];          \
  arc_target_f16 target = arc_target_f16_rows(sums, 64, 64);                     \
  arc_table_f16 table = arc_table_begin_f16(target, shared, 8);                  \
  arc_index_add_f16 rows = arc_index_add_begin_f16_from_f16(target, from, 64);         \
  arc_table_index_add_f16(&table, &rows, key, (int)threadIdx.x, active);        \
  arc_table_end_f16(&table);
#define MISSING                                                                  \
  const arc_piece_f32 pieces[] = {{sums, 3, 3}, {pointers[0], 4, 4}, {pointers[1], 2, 2}}; \
  float values[9];                                                               \
  for (int k = 0; k < 9; ++k) values[k] = FROM(k);                               \
  arc_target_f32 target = arc_target_f32_pieces(pieces, 3);                      \
  ADD
#define ATOMRED if (active) arc_atomred_f32(sums + key, FROM(0));
/* A width known at run time only: the values lie in memory. */
#define DYNAMIC(...)                                                             \
  const float *values = from + threadIdx.x * (unsigned)width;                    \
  arc_target_f32 target = arc_target_f32_dynamic(sums, stride, width);           \
  __VA_ARGS__
#define HOT_DYNAMIC                                                              \
  extern __shared__ float shared[];                                              \
  arc_hot_f32 hot = arc_hot_begin_f32(target, shared, 0, 4);                     \
  arc_hot_add_with_f32(&hot, key, values, active, o);                            \
  arc_hot_end_f32(&hot, true);
END
}

# literal <path> <widths>
literal() {
  for n in $2; do
    echo "LITERAL(keyed_$1_$n, ARC_PATH_$1, 0, $n, ADD)"
    echo "LITERAL(uniform_$1_$n, ARC_PATH_$1, ARC_PROMISE_ONE_KEY, $n, ADD)"
  done
}

# types <path> <widths> : of the values, suffix, exact
types() {
  for type in f64,f64,false i64,i64,false f32,f32_to_f64,false f32,f16,false f32,bf16,false \
    f32,fixed,false f32,fixed,true; do
    name=$1_$(echo $type | tr , _)
    for n in $2; do
      echo "TYPED(keyed_${name}_$n, ARC_PATH_$1, 0, $n, $type)"
      echo "TYPED(uniform_${name}_$n, ARC_PATH_$1, ARC_PROMISE_ONE_KEY, $n, $type)"
    done
  done
}

# forms <path> <width>
forms() {
  echo "LITERAL(masked_$1_$2, ARC_PATH_$1, 0, $2, MASKED)"
  echo "LITERAL(divergent_$1_$2, ARC_PATH_$1, 0, $2, DIVERGENT)"
  echo "LITERAL(threshold_$1_$2, ARC_PATH_$1, ARC_PROMISE_ONE_KEY, $2, THRESHOLD)"
  echo "LITERAL(pointers_$1_$2, ARC_PATH_$1, 0, $2, POINTERS($2))"
}

# run_time <path>
run_time() {
  echo "KERNEL(in_memory_$1, ARC_PATH_$1, 0, IN_MEMORY)"
  echo "KERNEL(dynamic_$1, ARC_PATH_$1, 0, DYNAMIC(ADD))"
  echo "KERNEL(dynamic_uniform_$1, ARC_PATH_$1, ARC_PROMISE_ONE_KEY, DYNAMIC(ADD))"
  echo "KERNEL(dynamic_masked_$1, ARC_PATH_$1, 0, DYNAMIC(MASKED))"
}

# rows <widths> : of floats, and some types
rows() {
  for n in $1; do echo "KERNEL(rows_$n, ARC_PATH_AUTO, 0, ROWS($n, f32, , f32))"; done
  echo "KERNEL(rows_fixed_33, ARC_PATH_AUTO, 0, ROWS(33, f32, , fixed))"
  echo "KERNEL(rows_f16_64, ARC_PATH_AUTO, 0, ROWS(64, f32, _from_f16, f16))"
  echo "KERNEL(rows_dynamic, ARC_PATH_AUTO, 0, ROWS_DYNAMIC)"
  echo "KERNEL(rows_f64_9, ARC_PATH_AUTO, 0, ROWS(9, f64, , f64))"
}

# others <widths>
others() {
  for n in $1; do
    for promises in 0 ARC_PROMISE_ONE_KEY; do
      echo "LITERAL(sums_${n}_$promises, ARC_PATH_AUTO, $promises, $n, SUMS($n))"
      echo "LITERAL(hot_${n}_$promises, ARC_PATH_AUTO, $promises, $n, HOT($n))"
    done
    echo "LITERAL(hot_here_$n, ARC_PATH_AUTO, 0, $n, HOT_HERE($n))"
    echo "LITERAL(table_$n, ARC_PATH_AUTO, 0, $n, TABLE($n))"
  done
  echo "KERNEL(sums_dynamic, ARC_PATH_AUTO, 0, DYNAMIC(SUMS(0)))"
  echo "KERNEL(hot_dynamic, ARC_PATH_AUTO, 0, DYNAMIC(HOT_DYNAMIC))"
  echo "KERNEL(table_of_rows, ARC_PATH_AUTO, 0, TABLE_OF_ROWS)"
  echo "KERNEL(missing, ARC_PATH_AUTO, 0, MISSING)"
  echo "KERNEL(atomred, ARC_PATH_AUTO, 0, ATOMRED)"
}

# assemble <name> <architecture, or all> <how many> : the kernels come from stdin
assemble() {
  { prelude && cat; } >"$work/$1.cu"
  "$nvcc" -std=c++17 -arch="$2" -fatbin -Xptxas -v -Wno-deprecated-gpu-targets -Werror all-warnings \
    -I"$root" -o "$work/$1.fatbin" "$work/$1.cu" >"$work/$1.txt" 2>&1
  status=$?
  wanted=$(($(grep -c '^LITERAL\|^KERNEL\|^TYPED\|// KERNEL$' "$work/$1.cu") * $3))
  clean=$(grep -c "$spotless" "$work/$1.txt")
  if [ $status -eq 0 ] && [ "$clean" -eq "$wanted" ] && [ "$wanted" -gt 0 ]; then
    echo "$1: $clean kernels, registers only"
    return
  fi
  echo "$1: FAILED: nvcc $status, $wanted kernels wanted, $clean without stack frame and spill"
  grep -A2 'Compiling entry' "$work/$1.txt" | grep -e Compiling -e 'bytes stack' | paste - - |
    grep -v "$spotless" | head -n 10
  grep -i -e error -e warning "$work/$1.txt" | head -n 10
  : >"$work/failed"
}

# The kernel of a renderer: its target lies in a struct, and loops are around the call.
renderer() {
  echo '#include "examples/gaussians/render/backward.cuh"'
  for way in ADD_AUTO ADD_BUTTERFLY ADD_SERIALIZED; do
    echo "template __global__ void backward<$way, SUMS_ROWS, 2>(backward_arguments); // KERNEL"
  done
}

# Of examples/patterns.cu, only the kernel whose width is known at run time has an array in memory.
patterns() {
  "$nvcc" -std=c++17 -arch=sm_90 -cubin -Xptxas -v -Werror all-warnings -I"$root" \
    -o "$work/patterns.cubin" "$root/examples/patterns.cu" >"$work/patterns.txt" 2>&1
  status=$?
  grep -A2 'Compiling entry' "$work/patterns.txt" | grep -e Compiling -e 'bytes stack' | paste - - |
    grep -v "$spotless" >"$work/patterns_in_memory.txt"
  if [ $status -eq 0 ] && [ "$(grep -c 7dynamic "$work/patterns_in_memory.txt")" -eq 1 ] &&
    [ "$(grep -c . "$work/patterns_in_memory.txt")" -eq 1 ]; then
    echo "patterns: only dynamic has an array in memory"
  else
    echo "patterns: FAILED: nvcc $status; in memory, where only dynamic may be:"
    cat "$work/patterns_in_memory.txt"
    grep -i -e error -e warning "$work/patterns.txt" | head -n 10
    : >"$work/failed"
  fi
}

# The scope is that of all atomics of a call, the compare-and-swaps of half sums too, and of what a form
# adds at its end: by the policy, or by an option.
scope() {
  { prelude && echo '__global__ void scope(void *rows, const float *values, int key) {
  arc_options o = arc_options_default();
#ifdef SCOPE
  o.scope = SCOPE;
#endif
  arc_add_with_bf16(arc_target_bf16_rows(rows, 9, 9), key, values, true, o);
  arc_add_with_f32(arc_target_f32_rows((float *)rows, 9, 9), key, values, true, o);
  arc_add_with_f64(arc_target_f64_rows((f64 *)rows, 9, 9), key, (f64 *)values, true, o);
}
__global__ void scope_of_forms(float *rows, const float *values, int key, int calls) {
  __shared__ float sums[ARC_HOT_SUMS(4, 9, 128)];
  __shared__ __align__(16) char shared[ARC_TABLE_BYTES(4, 8, 9, 128)];
  arc_options o = arc_options_default();
#ifdef SCOPE
  o.scope = SCOPE;
#endif
  arc_target_f32 t = arc_target_f32_rows(rows, 9, 9);
  arc_hot_f32 hot = arc_hot_begin_f32(t, sums, 0, 4);
  arc_index_add_f32 gather = arc_index_add_begin_f32(t, values, 9);
  arc_table_f32 table = arc_table_begin_f32(t, shared, 8);
  for (int i = 0; i < calls; ++i) {
    arc_hot_add_with_f32(&hot, key, values, true, o);
    arc_index_add_rows_with_f32(&gather, key, i, true, o);
    arc_table_add_with_f32(&table, key, values, true, o);
  }
  arc_hot_end_with_f32(&hot, true, o);
  arc_index_add_end_f32(&gather);
  arc_table_end_f32(&table);
}'; } >"$work/scope.cu"
  for define in ARC_SCOPE=ARC_SCOPE_SYSTEM SCOPE=ARC_SCOPE_SYSTEM ARC_SCOPE=ARC_SCOPE_DEVICE \
    SCOPE=ARC_SCOPE_DEVICE; do
    "$nvcc" -std=c++17 -arch=sm_80 -ptx -D$define -I"$root" -o "$work/scope.ptx" "$work/scope.cu"
    grep -E '[[:space:]](red|atom)\.' "$work/scope.ptx" | grep -v '\.shared\.' >"$work/scope.txt"
    atomics=$(grep -c . "$work/scope.txt")
    systems=$(grep -c '\.sys\.' "$work/scope.txt")
    wanted=$atomics
    [ "${define%_SYSTEM}" != "$define" ] || wanted=0
    if [ "$atomics" -gt 1 ] && [ "$systems" -eq "$wanted" ]; then
      echo "scope: $define: $atomics atomics, $systems of the system"
    else
      echo "scope: FAILED: $define: $systems of $atomics atomics have system scope"
      : >"$work/failed"
    fi
  done
}

# lacks <name> <what> <pattern> : in the PTX of the kernels that come from stdin
lacks() {
  cat >"$work/$1.cu"
  if "$nvcc" -std=c++17 -arch=sm_90 -ptx -I"$root" -o "$work/$1.ptx" "$work/$1.cu" &&
    ! grep -q -E "$3" "$work/$1.ptx"; then
    echo "$1: no $2"
  else
    echo "$1: FAILED: nvcc fails, or there is a $2"
    : >"$work/failed"
  fi
}

mkdir -p "$work"
rm -f "$work/failed" # a variable would not come out of a pipe
if [ "${3:-}" = --all ]; then
  for path in $paths; do literal "$path" "$(seq 1 128)" | assemble "$path" sm_90 1; done
  for path in $paths; do run_time "$path" | assemble "run_time_$path" sm_90 1; done
  rows "$(seq 1 128) width" | assemble rows sm_90 1
  others "1 2 3 4 8 9 10 16 20 32 33 40 64" | assemble others sm_90 1
  for path in $paths; do types "$path" "9 35 64" | assemble "types_$path" sm_90 1; done
else
  literal AUTO "1 9 32 33 70 127 128" | assemble widths sm_90 1
  { forms AUTO 10 && run_time AUTO; } | assemble forms sm_90 1
  rows "1 9 64 width" | assemble rows sm_90 1
  others "9" | assemble others sm_90 1
  renderer | assemble renderer sm_90 1
  patterns
  scope
  # Nothing is checked where ARC_CHECK is 0, not in GPU programs that include the CPU warp either.
  { echo '#include "simt/simt.cuh"' && prelude && run_time AUTO; } |
    lacks unchecked 'report or trap' '__assertfail|vprintf|[[:space:]]trap'
  # Of a literal width all divisions are done by the compiler.
  { prelude && literal AUTO "1 4 9 16 33"; } | lacks undivided division '[[:space:]]div\.'
fi
[ ! -e "$work/failed" ]

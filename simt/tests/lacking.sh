# lacking.sh COMPILER ROOT FOLDER - what simt lacks ends in one error that names it; and README's
# line to compile a program takes objects. SPDX-License-Identifier: Apache-2.0
compiler=$1 root=$2 work=$3/lacking failed=0
mkdir -p "$work" && cd "$work" || exit 1
fail() { echo "failed: $*"; failed=1; }

# one 'WORDS OF THE ERROR' 'DECLARATION' 'STATEMENT'
one() {
  printf '#include "simt/simt.cuh"\n%s\nint main() { float *p; cudaStream_t s; %s }\n' "$2" "$3" \
    >one.cu
  "$compiler" -std=c++17 -I"$root" -fsyntax-only -x c++ one.cu 2>errors && fail "compiles: $2 $3"
  [ "$(grep -c '^one.cu.* error: ' errors)" = 1 ] && grep -q "error: .*simt has no $1" errors ||
    fail "not one line with '$1': $(cat errors)"
}
one '__managed__: write' '__device__ __managed__ int x;' ''
one 'cudaMallocManaged: write' '' 'if (cudaMallocManaged((void **)&p, 4) != cudaSuccess) return 1;'
one 'cudaMallocHost: write' '' 'cudaMallocHost(&p, sizeof(float));'
one 'cudaStreamCreate: write' '' 'cudaStreamCreate(&s);'
one 'cudaStreamCreateWithFlags: write' '' 'cudaStreamCreateWithFlags(&s, 1);'
one 'cudaStreamDestroy: write' '' 'cudaStreamDestroy(s);'
one '__half of cuda_fp16.h' '__device__ void f(__half *x);' ''
one '__float2half of cuda_fp16.h' '' 'unsigned short h = __float2half(1.0f);'
one '__half2float of cuda_fp16.h' '' '*p = __half2float(0);'

printf '#define __CUDA_FP16_H__\n#include "simt/simt.cuh"\n' >before.cu
"$compiler" -std=c++17 -I"$root" -fsyntax-only -x c++ before.cu 2>errors
[ "$(grep -c 'error: ' errors)" = 1 ] && grep -q 'must come before cuda_fp16.h' errors ||
  fail "not one line: $(cat errors)"

line=$(sed -n 's/^g++ \(-std=.*program.cu.*\) -o program$/\1/p' "$root/simt/README.md")
[ -n "$line" ] || fail "no line to compile a program in simt/README.md"
printf '#include "simt/simt.cuh"\nint main() { return 0; }\n' >program.cu
"$compiler" -std=c++17 -I"$root" -c "$root/simt/simt.cpp" -o simt.o || fail "simt.cpp"
"$compiler" -I"$root" $(echo "$line" | sed 's|simt/simt.cpp|simt.o|') -o program && ./program ||
  fail "with an object: $line"
exit $failed

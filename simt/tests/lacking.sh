# lacking.sh COMPILER ROOT FOLDER - what simt lacks ends in one error that names it; and README's
# line to compile a program takes objects. SPDX-License-Identifier: Apache-2.0
compiler=$1 root=$2 work=$3/lacking failed=0
mkdir -p "$work" && cd "$work" || exit 1
fail() { echo "failed: $*"; failed=1; }

# A line each: what the error says simt lacks, and a function that uses it, in a file of all.
cat >uses <<'END'
__managed__: write|__device__ __managed__ int x;
cudaMallocManaged: write|bool f1(float *p) { return cudaMallocManaged(&p, 4) != cudaSuccess; }
cudaMallocHost: write|void f2(float *p) { cudaMallocHost(&p, sizeof(float)); }
cudaStreamCreate: write|void f3(cudaStream_t s) { cudaStreamCreate(&s); }
cudaStreamCreateWithFlags: write|void f4(cudaStream_t s) { cudaStreamCreateWithFlags(&s, 1); }
cudaStreamDestroy: write|void f5(cudaStream_t s) { cudaStreamDestroy(s); }
__half of cuda_fp16.h|__device__ void f6(__half *x);
__float2half of cuda_fp16.h|unsigned short f7() { return __float2half(1.0f); }
__half2float of cuda_fp16.h|float f8() { return __half2float(0); }
END
{ echo '#include "simt/simt.cuh"' && cut -d '|' -f 2 uses; } >uses.cu
"$compiler" -std=c++17 -I"$root" -fsyntax-only -x c++ uses.cu 2>errors && fail "uses.cu compiles"
line=1
while IFS='|' read -r words use; do
  line=$((line + 1))
  [ "$(grep -c "^uses.cu:$line:.* error: " errors)" = 1 ] &&
    grep -q "^uses.cu:$line:.*error: .*simt has no $words" errors ||
    fail "not one line with '$words' for '$use': $(cat errors)"
done <uses

# ends WORDS OPTION...: before.cu ends in one error with these words.
ends() {
  words=$1 && shift
  "$compiler" "$@" -I"$root" -fsyntax-only -x c++ before.cu 2>errors
  [ "$(grep -c 'error: ' errors)" = 1 ] && grep -q "$words" errors ||
    fail "not one line with '$words': $(cat errors)"
}
echo '#include "simt/simt.cuh"' >before.cu
ends 'must come before cuda_fp16.h' -std=c++17 -D__CUDA_FP16_H__
ends 'needs -std=c++11' -std=c++98
ends 'must come before arc/drop_in.cuh' -std=c++17 -include arc/drop_in.cuh
echo 'void add(int key, SIMT_CALLER); void kernel() { add(1, true); }' >>before.cu
ends leave_out_this_argument -std=c++17

line=$(sed -n 's/^g++ \(-std=.*program.cu.*\) -o program$/\1/p' "$root/simt/README.md")
[ -n "$line" ] || fail "no line to compile a program in simt/README.md"
printf '#include "simt/simt.cuh"\nint main() { return 0; }\n' >program.cu
"$compiler" -std=c++17 -I"$root" -c "$root/simt/simt.cpp" -o simt.o || fail "simt.cpp"
"$compiler" -I"$root" $(echo "$line" | sed 's|simt/simt.cpp|simt.o|') -o program && ./program ||
  fail "with an object: $line"
exit $failed

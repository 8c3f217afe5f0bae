/* test_drop_in_uses.cu - in which places an atomicAdd of arc/drop_in.cuh may stand, with the value
 * and the type that it has without; with ARC_PROFILE 1, too. SPDX-License-Identifier: Apache-2.0
 */
#include "simt/simt.cuh"

#if defined(__CUDACC__)
struct early {
  int x, y;
};
static __device__ void atomicAdd(early *p, early v) { p->x += v.x, p->y += v.y; }
#endif
#define ARC_MAX_PIECES 8
#include "arc/drop_in.cuh" /* above all else, as by -include */
#undef ARC_MAX_PIECES      /* which check.cuh sets */

#include "check.cuh"

#include <type_traits>

/* ---- lanes of one warp that add to shared or local memory, and others that add to global memory */

template <class T>
static __global__ void to_spaces(T *in_global, T *olds, unsigned elsewhere, bool local, bool used) {
  SIMT_DYNAMIC_SHARED(unsigned long long, memory);
  const int lane = (int)threadIdx.x;
  T own = 0, *shared = (T *)memory, *other = local ? &own : shared;
  T *p = elsewhere >> lane & 1 ? other : in_global;
  if (lane == 0) *shared = 0;
  __syncwarp();
  if (used)
    olds[lane] = atomicAdd(p, (T)(lane + 1));
  else
    atomicAdd(p, (T)(lane + 1));
  __syncwarp();
  olds[32 + lane] = own;
  if (lane == 0) in_global[1] = *shared;
}

template <class T>
static void spaces(void) {
  struct check_random r;
  if (!check_begin("address spaces", &r)) return;
  const unsigned masks[] = {0u, 1u, 0x80000000u, 0x55555555u, 0xffffu, 0xfffffffeu, 0xffffffffu};
  for (unsigned mask : masks)
    for (int form = SIMT_ON_CPU ? 2 : 0; form < 4; ++form) { /* the CPU warp refuses local memory */
      const bool used = form % 2, local = form < 2;
      T must[2] = {0, 0};
      for (int lane = 0; lane < 32; ++lane) must[mask >> lane & 1] += (T)(lane + 1);
      const test_memory<T> sums(2), olds(64);
      SIMT_LAUNCH(to_spaces<T>, dim3(1), dim3(32), 8, 0, sums.at, olds.at, mask, local, used);
      std::vector<T> got = sums.read(), old = olds.read();
      for (int lane = 0; lane < 32; ++lane) got[1] += old[32 + lane];
      for (int i = 0; i < 2; ++i)
        CHECK(got[i] == must[i], "%s in %x, used %d: sum %d is %g and must be %g",
              local ? "local" : "shared", mask, used, i, (double)got[i], (double)must[i]);
      for (int a = 0; used && !local && a < 32; ++a)
        for (int b = 0; b < a; ++b)
          CHECK(old[a] != old[b] || ((mask >> a ^ mask >> b) & 1), "lanes %d and %d found %g", a, b,
                (double)old[a]);
      check.compared += 2;
    }
}

/* ---- both arms of ?: */

template <class T, class U, class = void>
struct meet : std::false_type {};
template <class T, class U>
struct meet<T, U,
            decltype(void(true ? atomicAdd((T *)0, T()) : std::declval<U>()),
                     void(true ? std::declval<U>() : atomicAdd((T *)0, T())))> : std::true_type {};

template <class T, class U>
static __global__ void to_arms(T *cell, int *wrong, bool yes) {
  const T old = *cell;
  const U other = (U)-1;
  const auto sum = yes ? atomicAdd(cell, 1) : other;
  const auto mirrored = yes ? other : atomicAdd(cell, 1);
  static_assert(std::is_same<decltype(sum), const decltype(true ? T() : U())>::value &&
                    std::is_same<decltype(sum), decltype(mirrored)>::value,
                "the type is the one without the flag");
  *wrong += !(sum == (yes ? (U)old : other)) + !(mirrored == (yes ? other : (U)old));
  *wrong += *cell != (T)(old + 1);
}

template <class T, class U>
static void arm(T first) {
  constexpr bool right = std::is_same<decltype(true ? T() : U()), U>::value;
  CHECK((meet<T, U>::value == right), "sizes %d, %d: compiles %d", (int)sizeof(T), (int)sizeof(U),
        !right);
  if constexpr (right)
    for (bool yes : {false, true}) {
      const test_memory<T> cell(&first, 1);
      const test_memory<int> wrong(1);
      SIMT_LAUNCH((to_arms<T, U>), dim3(1), dim3(1), 0, 0, cell.at, wrong.at, yes);
      CHECK(wrong.read()[0] == 0, "sizes %d, %d: the value", (int)sizeof(T), (int)sizeof(U));
    }
  check.compared += 1;
}

enum small_enum : unsigned char { SMALL };
enum any_enum { ANY = -1 };
struct converts {
  __host__ __device__ operator short() const { return 7; }
};

/* What is no number, and another result, has no say in the type; a class is an error that says why.
   Two results of one type are one. */
template <class Is, class Must>
static constexpr bool right(void) {
  return std::is_same<Is, Must>::value || std::is_class<Is>::value;
}
template <class T, class U>
static constexpr bool is_right(void) {
  typedef decltype(true ? T() : (T)0 + std::declval<U>()) must;
  return right<decltype(true ? atomicAdd((T *)0, T()) : std::declval<U>()), must>() &&
         right<decltype(true ? std::declval<U>() : atomicAdd((T *)0, T())), must>() &&
         (std::is_same<T, float>::value || std::is_same<must, float>::value ||
          !std::is_class<decltype(true ? atomicAdd((T *)0, T()) : std::declval<U>())>::value);
}
template <class T, class U>
static constexpr bool are_right(void) {
  typedef decltype(true ? atomicAdd((T *)0, T()) : atomicAdd((U *)0, U())) result;
  return right<result, decltype(true ? T() : U())>();
}

template <class T>
static void arms(T first) {
  struct check_random r;
  if (!check_begin("both arms", &r)) return;
  arm<T, bool>(first), arm<T, char>(first), arm<T, signed char>(first);
  arm<T, unsigned char>(first), arm<T, short>(first), arm<T, unsigned short>(first);
  arm<T, int>(first), arm<T, unsigned>(first), arm<T, long>(first), arm<T, unsigned long>(first);
  arm<T, long long>(first), arm<T, unsigned long long>(first);
  arm<T, float>(first), arm<T, double>(first), arm<T, wchar_t>(first), arm<T, char16_t>(first);
  static_assert(is_right<T, small_enum>() && is_right<T, any_enum>() && is_right<T, converts>(),
                "enums and objects");
  static_assert(are_right<T, int>() && are_right<T, unsigned>() &&
                    are_right<T, unsigned long long>() && are_right<T, float>() &&
                    are_right<T, double>(),
                "two results");
}

/* ---- what CUDA's own atomicAdd takes */

enum class count_of : unsigned { NONE, ONE };
enum plain_count { NO, YES };
template <class T>
struct points {
  T *at;
  __device__ operator T *() const { return at; }
};
struct holds {
  __device__ operator short() const { return 3; }
};
template <class T>
static __device__ T next(T *p) {
  return atomicAdd(p, 1);
}
template <class T>
static __device__ bool is_one(T x) {
  return x == 1;
}
struct taker {
  int value;
};
template <class T, class = void>
struct is_added : std::false_type {};
template <class T>
struct is_added<T, decltype(void(atomicAdd((T *)0, T())))> : std::true_type {};
static_assert(is_added<float>::value && is_added<unsigned>::value && !is_added<short>::value &&
                  !is_added<long>::value && !is_added<holds>::value,
              "a program may ask which types it can add");
#if defined(__CUDACC__)
template <class T>
static __device__ T apply(T (*op)(T *, T), T *p, T v) {
  return op(p, v);
}
template <class T, T (*OP)(T *, T)>
static __device__ T apply_literal(T *p, T v) {
  return OP(p, v);
}
struct own {
  int x, y;
};
static __device__ void atomicAdd(own *p, own v) { p->x += v.x, p->y += v.y; }
template <class T>
static __device__ T atomicAdd(T *p, char *) {
  return *p += 100;
}
#endif

template <class T>
static __global__ void to_uses(T *cell, int *count, int *wrong) {
  const points<T> object = {cell};
  atomicAdd(cell, {1});                    /* 1 */
  atomicAdd(cell, atomicAdd(count, 1));    /* 0 */
  atomicAdd(count, atomicAdd(cell, T(1))); /* 1 more */
  atomicAdd(cell, atomicAdd(cell, {}));    /* doubled */
  atomicAdd(object, 1);
  atomicAdd(object, holds());
  (atomicAdd)(object, (short)2), ::atomicAdd(cell, true);
  *wrong += *cell != 11 || *count != 2;
  *wrong += static_cast<count_of>(atomicAdd(count, 1)) != (count_of)2;
  *wrong += (plain_count)atomicAdd(count, -2) != (plain_count)3;
  *wrong += count_of(atomicAdd(count, 0)) != count_of::ONE;
  *wrong += !is_one<int>(atomicAdd(count, 0)) || next(cell) != 11;
  switch (atomicAdd(count, 0)) {
    case 1:
      break;
    default:
      *wrong += 1;
  }
  const taker taken = {atomicAdd(count, 0)};
  const int &bound = atomicAdd(count, 0), list[2] = {atomicAdd(count, 0), 1};
  *wrong +=
      taken.value + bound + list[0] != 3 || !atomicAdd(count, 0) || -atomicAdd(count, 0) != -1;
  auto unused = atomicAdd(cell, 1); /* adds when it dies: below, it has not yet */
  *wrong += *cell != 12;
  [&] { return atomicAdd(cell, 1); }();
  *wrong += *cell != 13 || [&]() -> T { return atomicAdd(cell, 1); }() != 13;
#if defined(__CUDACC__)
  *wrong += apply(atomicAdd, cell, T(1)) != 14;
  *wrong += apply_literal<T, atomicAdd>(cell, T(1)) != 15;
  T (*pointer)(T *, T) = &atomicAdd;
  *wrong += pointer(cell, T(-2)) != 16;
  early first = {1, 2};
  void (*of_early)(early *, early) = atomicAdd;
  atomicAdd(&first, {3, 4}), atomicAdd(&first, early{1, 1}), of_early(&first, {1, 0});
  *wrong += first.x != 6 || first.y != 7;
  own mine = {1, 2};
  atomicAdd(&mine, {3, 4}), atomicAdd(&mine, own{1, 1});
  *wrong += mine.x != 5 || mine.y != 7 || atomicAdd(&mine.x, (char *)0) != 105;
#endif
  (void)unused;
}

template <class T>
static void uses(void) {
  struct check_random r;
  if (!check_begin("uses", &r)) return;
  const test_memory<T> cell(1);
  const test_memory<int> count(1), wrong(1);
  SIMT_LAUNCH(to_uses<T>, dim3(1), dim3(1), 0, 0, cell.at, count.at, wrong.at);
  CHECK(wrong.read()[0] == 0, "%d uses are wrong", wrong.read()[0]);
  CHECK(cell.read()[0] == 15, "the sum is %g and must be 15", (double)cell.read()[0]);
  check.compared += 1;
}

template <class T>
static void all(T first) {
  uses<T>();
  spaces<T>();
  arms<T>(first);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  all<int>(-5);
  all<unsigned>(0x90000000u);
  all<unsigned long long>(1ull << 63);
  all<float>(-2.5f);
  all<double>(0.1);
  return check_finish();
}

/* check.cuh - what the tests of arc share: assertions, reproducible cases, device memory, oracle.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A test fills a check_case (who calls, who is active, with which keys), gives it a memory layout
 * and a kernel, and check_run() does the rest: it draws the values, poisons every inactive lane,
 * fills the memory around the rows with a sentinel, launches, and compares every float of the
 * arena with a sum in double precision. Everything is drawn from the seed and the case number, so
 * that one failing case can be repeated alone:  <program> --seed S --case K
 *
 * Contents: >>options  >>random  >>cases  >>patterns  >>layout  >>values  >>run  >>kernels
 */
#ifndef ARC_TESTS_CHECK_CUH
#define ARC_TESTS_CHECK_CUH

#include "simt/simt.cuh"

#if SIMT_ON_CPU
#define ARC_MAX_PIECES 8
#else /* eight known at run time take nvcc a quarter of a minute a kernel */
#define ARC_MAX_PIECES 4
#endif
#ifdef CHECK_FORM /* one to include in front of arc.cuh */
#include CHECK_FORM
#endif
#include "arc.cuh"
#include "arc/index_add.cuh"
#include "arc/hot.cuh"
#include "arc/sums.cuh"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utility>
#include <vector>

/* What every call of a test promises. */
#ifndef CHECK_INACTIVE_ZERO
#define CHECK_INACTIVE_ZERO 0
#endif
#ifndef CHECK_WARP_ACTIVE
#define CHECK_WARP_ACTIVE 0
#endif
#ifndef CHECK_ALIGNED
#define CHECK_ALIGNED 0
#endif
#define CHECK_PROMISES                                  \
  (ARC_PROMISE_INACTIVE_IS_ZERO * CHECK_INACTIVE_ZERO + \
   ARC_PROMISE_WARP_IS_ACTIVE * CHECK_WARP_ACTIVE + ARC_PROMISE_ALIGNED_16 * CHECK_ALIGNED)

enum {
  CHECK_MAX_PIECES = ARC_MAX_PIECES,
  CHECK_MAX_WIDTH = 256,
  CHECK_SKIPPED = 77, /* the exit code that ctest takes for "skipped" */
  CHECK_MAX_PRINTED = 12
};

/* >>options ---------------------------------------------------------------------------------- */

struct check_state {
  const char *program;
  const char *section; /* what the current case is about */
  unsigned long long seed;
  long only;  /* the one case to run, or -1 */
  long cases; /* how many random cases, or -1 for the test's own default */
  int stop;   /* at the first failure */
  long number, ran, failed_cases, failures;
  unsigned long long compared; /* floats compared with the oracle */
  int case_failed, expect_report, reports;
  char last_report[4096];
};

static struct check_state check = {"", "", 1, -1, -1, 0, -1, 0, 0, 0, 0, 0, 0, 0, {0}};

static inline void check_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline void check_fail(const char *file, int line, const char *format, ...) {
  check.failures += 1;
  if (!check.case_failed) check.failed_cases += 1;
  if (check.failed_cases <= CHECK_MAX_PRINTED && check.failures <= 4 * CHECK_MAX_PRINTED) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s:%d: FAILED (%s): ", file, line, check.section);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    if (!check.case_failed)
      fprintf(stderr, "reproduce: %s --seed %llu --case %ld\n", check.program, check.seed,
              check.number);
  }
  check.case_failed = 1;
  if (check.stop) exit(1);
}

#define CHECK(condition, ...)                                      \
  do {                                                             \
    if (!(condition)) check_fail(__FILE__, __LINE__, __VA_ARGS__); \
  } while (0)

#define CHECK_CUDA(call)                                                                     \
  do {                                                                                       \
    const cudaError_t status_ = (call);                                                      \
    if (status_ != cudaSuccess) {                                                            \
      check_fail(__FILE__, __LINE__, "%s: %s", #call, cudaGetErrorString(status_));          \
      if (!SIMT_ON_CPU) exit(1); /* an error of the device stays: nothing after it counts */ \
    }                                                                                        \
  } while (0)

#include "../bench/common/device_count.h"
#include "../bench/common/random.h"
#include "../bench/common/test_memory.h"

#if SIMT_ON_CPU
static inline void check_on_report(const char *text, void *user) {
  (void)user;
  check.reports += 1;
  snprintf(check.last_report, sizeof check.last_report, "%s", text);
  if (!check.expect_report) check_fail(__FILE__, __LINE__, "the CPU warp reports:\n%s", text);
}
#endif

static inline void check_usage(FILE *out) {
  fprintf(out,
          "usage: %s [--seed S] [--cases N] [--case K] [--stop]\n"
          "  --seed S    draws everything (default 1)\n"
          "  --cases N   how many random cases, where the test draws them\n"
          "  --case K    runs case K alone\n"
          "  --stop      ends at the first failure\n",
          check.program);
}

static inline void check_main(int argc, char **argv) {
  check.program = argv[0];
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "--help")) {
      check_usage(stdout);
      exit(0);
    }
    if (!strcmp(argv[i], "--stop")) {
      check.stop = 1;
      continue;
    }
    char *end = NULL;
    const unsigned long long number = i + 1 < argc ? strtoull(argv[i + 1], &end, 0) : 0;
    const int good = end && end != argv[i + 1] && !*end;
    if (good && !strcmp(argv[i], "--seed"))
      check.seed = number;
    else if (good && !strcmp(argv[i], "--cases"))
      check.cases = (long)number;
    else if (good && !strcmp(argv[i], "--case"))
      check.only = (long)number;
    else {
      fprintf(stderr, "%s: bad option '%s'\n", argv[0], argv[i]);
      check_usage(stderr);
      exit(2);
    }
    i += 1;
  }
  if (device_count() == 0) {
    printf("skipped: no CUDA device\n");
    exit(CHECK_SKIPPED);
  }
#if SIMT_ON_CPU
  simt_set_report(check_on_report, NULL);
#endif
}

static inline int check_finish(void) {
  printf("%s: %ld cases, %llu floats compared, %ld cases failed (seed %llu)\n", check.program,
         check.ran, check.compared, check.failed_cases, check.seed);
  if (check.ran == 0) printf("no case was run: that is a failure\n");
  return check.failures || check.ran == 0 ? 1 : 0;
}

/* >>random: a counter hashed by splitmix64, so that any case can be drawn alone ---------------- */

struct check_random {
  unsigned long long state;
};

static inline unsigned check_bits(struct check_random *r) {
  r->state += 1;
  return (unsigned)(splitmix64(r->state * 0x2545f4914f6cdd1dull, 0) >> 32);
}

static inline int check_below(struct check_random *r, int bound) {
  return (int)(((unsigned long long)check_bits(r) * (unsigned)bound) >> 32);
}

static inline int check_between(struct check_random *r, int low, int high) {
  return low + check_below(r, high - low + 1);
}

/* >>cases ------------------------------------------------------------------------------------ */

/* Opens the next case: false if another one was asked for. `random` is the case's own stream. */
static inline int check_begin(const char *section, struct check_random *random) {
  check.number += 1;
  check.section = section;
  check.case_failed = 0;
  random->state = splitmix64(check.seed, 0) ^ splitmix64((unsigned long long)check.number << 20, 0);
  if (check.only >= 0 && check.only != check.number) return 0;
  check.ran += 1;
#if SIMT_ON_CPU
  simt_seed(random->state);
#endif
  return 1;
}

struct check_plan { /* the kernel's argument */
  arc_piece_f32 pieces[CHECK_MAX_PIECES];
  int piece_count; /* rows are one piece */
  int width, threshold, path, updates, warps_per_block;
  const unsigned *alive;   /* [warps]: the lanes that do not return at once */
  const unsigned *calling; /* [updates][warps]: the lanes that call (first side of a branch) */
  const unsigned *active;  /* [updates][warps] */
  const int *keys;         /* [updates][threads] */
  const float *values;     /* [updates][threads][width] */
  float *const *pointers;  /* [updates][threads][width], for the pointer form */
  int *modified;           /* how many lanes found their values changed */
};

struct check_case {
  struct check_plan plan;
  struct check_random random;
  int block, grid, threads, warps;
  int exact;        /* whole numbers, whose sums are exact in any order */
  int key_count;    /* rows of the layout */
  long key_low;     /* the key of row 0 */
  long base_shift;  /* floats between the arena's start and piece 0: the base's alignment */
  int scattered;    /* pointer form: every parameter anywhere in the arena */
  int uniform;      /* one key per warp, promised */
  unsigned missing; /* bit p: piece p has no base */
  /* piece p's row r begins at arena[piece_begin[p] + r * stride] */
  size_t piece_begin[CHECK_MAX_PIECES];
  size_t arena_size;
  std::vector<size_t> cells; /* scattered: [row][width] -> arena */
  std::vector<unsigned> alive, calling, active;
  std::vector<int> rows; /* [updates][threads]: the row per lane adds to; keys follow from it */
  std::vector<float> arena, values;
  float *device_arena;
};

static inline unsigned check_lanes_of_warp(const struct check_case *c, int warp) {
  const int warps_per_block = (c->block + 31) / 32;
  const int lanes = c->block - warp % warps_per_block * 32;
  return lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
}

/* Nobody is active yet. */
static inline void check_case_init(struct check_case *c, struct check_random random, int width,
                                   int grid, int block, int updates) {
  *c = check_case();
  c->random = random;
  c->block = block;
  c->grid = grid;
  c->plan.width = width;
  c->plan.updates = updates;
  c->plan.warps_per_block = (block + 31) / 32;
  c->plan.path = ARC_PATH_AUTO;
  c->plan.threshold = ARC_BALANCE_THRESHOLD;
  c->warps = grid * c->plan.warps_per_block;
  c->threads = c->warps * 32; /* lanes beyond the block keep their place, unused */
  c->exact = 1;
  c->key_count = 1;
  c->active.resize((size_t)c->warps * updates);
  c->rows.resize((size_t)c->threads * updates);
  for (int w = 0; w < c->warps; ++w) c->alive.push_back(check_lanes_of_warp(c, w));
  for (int i = 0; i < c->warps * updates; ++i) c->calling.push_back(c->alive[i % c->warps]);
}

/* Opens the next case: false if another one was asked for. */
static inline bool check_open(struct check_case *c, const char *section, int width, int grid,
                              int block, int updates) {
  struct check_random random;
  if (!check_begin(section, &random)) return false;
  check_case_init(c, random, width, grid, block, updates);
  return true;
}

/* >>patterns: who is active, and with which keys --------------------------------------------- */

enum { SHAPE_PREFIX, SHAPE_SUFFIX, SHAPE_SCATTERED, SHAPE_STRIDED, SHAPE_RANDOM, SHAPE_COUNT };

/* `count` lanes of a warp; a single lane at SHAPE_SUFFIX is lane 31. */
static inline unsigned check_mask(int shape, int count, struct check_random *random) {
  int order[32];
  for (int i = 0; i < 32; ++i) {
    const int reversed = (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | (i & 16) >> 4;
    order[i] = shape == SHAPE_SUFFIX      ? 31 - i
               : shape == SHAPE_SCATTERED ? reversed
               : shape == SHAPE_STRIDED   ? (i * 5 + 3) & 31
                                          : i;
  }
  if (shape == SHAPE_RANDOM)
    for (int i = 31; i > 0; --i) std::swap(order[i], order[check_below(random, i + 1)]);
  unsigned mask = 0;
  for (int i = 0; i < count; ++i) mask |= 1u << order[i];
  return mask;
}

/* In any shape; of any count if that is negative, and then often all. */
static inline unsigned check_any_mask(int count, struct check_random *random) {
  if (count < 0) count = check_below(random, 3) ? check_below(random, 33) : 32;
  return check_mask(check_below(random, SHAPE_COUNT), count, random);
}

enum { KEYS_CONTIGUOUS, KEYS_INTERLEAVED, KEYS_RANDOM, KEYS_PATTERN_COUNT };

/* Rows of one warp's lanes: `groups` different ones, from row `first` on. */
static inline void check_rows(struct check_case *c, int update, int warp, int pattern, int groups,
                              int first) {
  int *rows = &c->rows[(size_t)update * c->threads + warp * 32];
  for (int lane = 0; lane < 32; ++lane) {
    const int group = pattern == KEYS_CONTIGUOUS    ? lane * groups / 32
                      : pattern == KEYS_INTERLEAVED ? lane % groups
                                                    : check_below(&c->random, groups);
    rows[lane] = (first + group) % c->key_count;
  }
}

/* Every count of active lanes in every shape: 33 * SHAPE_COUNT warps, for each update. */
static inline void check_fill_shapes(struct check_case *c) {
  for (int u = 0; u < c->plan.updates; ++u)
    for (int w = 0; w < c->warps; ++w)
      c->active[u * c->warps + w] = check_mask(w % SHAPE_COUNT, w / SHAPE_COUNT % 33, &c->random);
}

/* The groupings of a warp that the keyed tests go through. */
struct check_grouping {
  int groups, pattern;
};

static const struct check_grouping check_groupings[] = {
    {1, KEYS_CONTIGUOUS},   {2, KEYS_CONTIGUOUS},  {2, KEYS_INTERLEAVED}, {3, KEYS_RANDOM},
    {4, KEYS_CONTIGUOUS},   {5, KEYS_INTERLEAVED}, {8, KEYS_INTERLEAVED}, {8, KEYS_RANDOM},
    {16, KEYS_INTERLEAVED}, {16, KEYS_CONTIGUOUS}, {31, KEYS_RANDOM},     {32, KEYS_INTERLEAVED},
    {1000, KEYS_RANDOM}};

enum { CHECK_GROUPINGS = sizeof check_groupings / sizeof check_groupings[0] };

static inline void check_fill_rows(struct check_case *c, int update, int warp, int grouping) {
  const struct check_grouping *g = &check_groupings[grouping % CHECK_GROUPINGS];
  check_rows(c, update, warp, g->pattern, g->groups, check_below(&c->random, c->key_count));
}

/* Every warp of every update: check_any_mask(count) of the lanes alive, one key or any grouping. */
static inline void check_fill(struct check_case *c, int count, int one_key) {
  for (int u = 0; u < c->plan.updates; ++u)
    for (int w = 0; w < c->warps; ++w) {
      c->active[u * c->warps + w] = check_any_mask(count, &c->random) & c->alive[w];
      check_fill_rows(c, u, w, one_key ? 0 : check_below(&c->random, CHECK_GROUPINGS));
    }
}

/* Behind it: any lanes are on the first side of a branch; shrinking: in an update only lanes are
   active that were in the one before, but for a quarter of them. */
static inline void check_fill_branches(struct check_case *c, bool shrinking) {
  for (unsigned &side : c->calling) side = check_bits(&c->random);
  for (size_t i = c->warps; shrinking && i < c->active.size(); ++i)
    c->active[i] = c->active[i - c->warps] & (check_bits(&c->random) | check_bits(&c->random));
}

/* >>layout: where the rows lie ----------------------------------------------------------------- */

/* One array of rows. `shift` floats move the base off its 16-byte alignment. */
static inline void check_layout_rows(struct check_case *c, int keys, int stride, int shift) {
  c->key_count = keys;
  c->plan.piece_count = 1;
  c->plan.pieces[0].stride = stride;
  c->plan.pieces[0].width = c->plan.width;
  c->piece_begin[0] = (size_t)(16 + shift);
  c->arena_size = c->piece_begin[0] + (size_t)(keys - 1) * stride + c->plan.width + 19;
}

/* Pieces of these widths, which sum to the case's; each padded and shifted differently. */
static inline void check_layout_these_pieces(struct check_case *c, int keys, int count,
                                             const int *widths) {
  struct check_random *r = &c->random;
  size_t at = 16;
  c->key_count = keys;
  c->plan.piece_count = count;
  for (int p = 0; p < count; ++p) {
    const int pad = check_below(r, 3) ? check_below(r, 6) : (4 - widths[p] % 4) % 4;
    at += check_below(r, 2) ? (4 - at % 4) % 4 : (size_t)check_below(r, 8);
    c->plan.pieces[p].width = widths[p];
    c->plan.pieces[p].stride = widths[p] + pad;
    c->piece_begin[p] = at;
    at += (size_t)(keys - 1) * (widths[p] + pad) + widths[p] + 3;
  }
  c->arena_size = at + 17;
}

/* `count` pieces of random widths, or as many as there are parameters. */
static inline void check_layout_pieces(struct check_case *c, int keys, int count) {
  int widths[CHECK_MAX_PIECES], left = c->plan.width;
  if (count > left) count = left;
  for (int p = 0; p < count; ++p) {
    const int others = count - 1 - p;
    widths[p] = others ? check_between(&c->random, 1, left - others) : left;
    left -= widths[p];
  }
  check_layout_these_pieces(c, keys, count, widths);
}

/* Every parameter of every key somewhere else: what only the pointer form can express. */
static inline void check_layout_scattered(struct check_case *c, int keys) {
  const int width = c->plan.width;
  const size_t count = (size_t)keys * width;
  c->key_count = keys;
  c->scattered = 1;
  c->arena_size = 2 * count + 32;
  for (size_t i = 0; i < count; ++i) c->cells.push_back(16 + 2 * i + (i & 1));
  for (size_t i = count - 1; i > 0; --i)
    std::swap(c->cells[i], c->cells[(size_t)check_below(&c->random, (int)i + 1)]);
}

static inline int check_piece_of(const struct check_case *c, int parameter) {
  int piece = 0;
  for (; piece < c->plan.piece_count - 1 && parameter >= c->plan.pieces[piece].width; ++piece)
    parameter -= c->plan.pieces[piece].width;
  return piece;
}

/* The arena's float that holds a parameter of a row. */
static inline size_t check_cell(const struct check_case *c, int row, int parameter) {
  if (c->scattered) return c->cells[(size_t)row * c->plan.width + parameter];
  const int piece = check_piece_of(c, parameter);
  for (int p = 0; p < piece; ++p) parameter -= c->plan.pieces[p].width;
  return c->piece_begin[piece] + (size_t)row * c->plan.pieces[piece].stride + (size_t)parameter;
}

/* >>values ------------------------------------------------------------------------------------- */

/* What an inactive lane holds, by turns; a header that reads any of it is found out. */
static inline float check_garbage_value(unsigned bits) {
  if (CHECK_INACTIVE_ZERO) return 0.0f;
  return bits % 4 == 0 ? INFINITY : bits % 4 == 1 ? 1.0e30f : simt_poison_f32();
}

static inline int check_garbage_key(const struct check_case *c, int row, unsigned bits) {
  const int neighbours = (int)(c->key_low + row), kind = (int)(bits % 6);
  return c->uniform || kind == 0 ? neighbours
         : kind == 1             ? (int)bits
         : kind == 2             ? (bits & 64 ? 0x7fffffff : (int)0x80000000u)
                                 : simt_poison_key();
}

static inline int check_is_active(const struct check_case *c, int update, int thread) {
  const int warp = thread / 32;
  const unsigned lanes = c->active[update * c->warps + warp] & c->alive[warp];
  return lanes >> (thread & 31) & 1;
}

/* The most lanes that add to one row, over the whole launch. */
static inline int check_largest_row(const struct check_case *c) {
  std::vector<int> count((size_t)c->key_count);
  int most = 1;
  for (int u = 0; u < c->plan.updates; ++u)
    for (int t = 0; t < c->threads; ++t)
      if (check_is_active(c, u, t)) {
        const int n = ++count[c->rows[(size_t)u * c->threads + t]];
        if (n > most) most = n;
      }
  return most;
}

/* No two lanes, keys or parameters share a value, but for chance. */
static inline float check_value(struct check_random *r, int exact, int terms) {
  const unsigned bits = check_bits(r);
  const float sign = bits & 1 ? -1.0f : 1.0f;
  if (exact) {
    const unsigned most = (1u << 23) / (unsigned)(terms + 1);
    return sign * (float)(1 + (bits >> 1) % most);
  }
  return sign * ldexpf(1.0f + (float)(bits >> 9) * 0x1p-23f, (int)(bits >> 1 & 7) - 4);
}

/* The number that the bits of a half or bfloat16 are; infinity is NaN, too. */
static inline double check_half(unsigned bits, bool is_bf16) {
  const int drop = is_bf16 ? 7 : 10, most = is_bf16 ? 255 : 31, exponent = bits >> drop & most;
  const int fraction = (int)(bits & ((1u << drop) - 1)) + (exponent ? 1 << drop : 0);
  const double size = ldexp(fraction, (exponent ? exponent : 1) - most / 2 - drop);
  return exponent == most ? NAN : bits >> 15 ? -size : size;
}

/* The bits of such a number that it holds and that is not subnormal, or NaN. */
static inline unsigned short check_half_bits(double number, bool is_bf16) {
  const float x = (float)number;
  unsigned bits;
  memcpy(&bits, &x, sizeof bits);
  if (is_bf16) return (unsigned short)(bits >> 16);
  const unsigned size = (bits >> 13 & 0x3ffffu) - (112u << 10);
  return (unsigned short)((bits >> 16 & 0x8000u) | (isnan(x) ? 0x7e00u : x == 0 ? 0u : size));
}

/* >>run ---------------------------------------------------------------------------------------- */

struct check_sum {
  double sum, magnitude;
  int terms;
};

/* CHECK_WARP_ACTIVE: in a warp that would call without an active lane, one becomes active. */
static inline void check_keep_promise(struct check_case *c) {
  for (int i = 0; CHECK_WARP_ACTIVE && i < c->warps * c->plan.updates; ++i) {
    const unsigned alive = c->alive[i % c->warps];
    if ((c->active[i] & alive) == 0) c->active[i] |= alive & (0u - alive);
  }
}

/* The values of all lanes; a caller may overwrite some before check_run(). */
static inline void check_draw_values(struct check_case *c) {
  check_keep_promise(c);
  const int terms = check_largest_row(c), width = c->plan.width;
  const size_t calls = (size_t)c->plan.updates * c->threads;
  c->values.reserve(calls * width);
  for (size_t i = 0; i < calls; ++i) {
    const int active = check_is_active(c, (int)(i / c->threads), (int)(i % c->threads));
    const unsigned garbage = check_bits(&c->random);
    for (int k = 0; k < width; ++k)
      c->values.push_back(active ? check_value(&c->random, c->exact, terms)
                                 : check_garbage_value(garbage + (unsigned)k));
  }
}

/* The oracle: what every float of the arena must hold afterwards. The sentinel around the rows is
   -0: adding anything but -0 to it, zero included, changes its bits. */
static inline std::vector<check_sum> check_oracle(struct check_case *c) {
  std::vector<check_sum> sums(c->arena_size);
  const int width = c->plan.width;
  c->arena.assign(c->arena_size, -0.0f);
  for (int u = 0; u < c->plan.updates; ++u)
    for (int t = 0; t < c->threads; ++t) {
      const size_t call = (size_t)u * c->threads + t;
      if (!check_is_active(c, u, t)) continue;
      for (int k = 0; k < width; ++k) {
        if (c->missing >> check_piece_of(c, k) & 1) continue;
        const size_t cell = check_cell(c, c->rows[call], k);
        const double value = c->values[call * width + k];
        struct check_sum *s = &sums[cell];
        if (s->terms == 0) {
          c->arena[cell] = (float)(1 + cell % 1021);
          s->sum = s->magnitude = c->arena[cell];
          s->terms = 1;
        }
        s->sum += value;
        s->magnitude += fabs(value);
        s->terms += 1;
      }
    }
  return sums;
}

/* Any order of `terms` float additions stays within terms * 2^-24 of the sum of magnitudes; whole
   numbers below 2^24 add exactly. Float atomics in global memory flush denormals. */
static inline double check_bound(const struct check_sum *s) {
  return s->terms * (0x1p-24 * s->magnitude + 2 * 0x1p-126);
}

static inline int check_agrees(double got, const struct check_sum *s, int exact) {
  if (isnan(s->sum)) return isnan(got);
  if (isinf(s->sum)) return got == s->sum;
  return fabs(got - s->sum) <= (exact ? 0.0 : check_bound(s));
}

static inline void check_compare(const struct check_case *c, const std::vector<check_sum> &sums,
                                 const std::vector<float> &got) {
  for (size_t i = 0; i < c->arena_size; ++i) {
    if (sums[i].terms) {
      CHECK(check_agrees(got[i], &sums[i], c->exact),
            "width %d path %d threshold %d: float %zu is %.9g, must be %.17g (%d terms)",
            c->plan.width, c->plan.path, c->plan.threshold, i, got[i], sums[i].sum,
            sums[i].terms - 1);
    } else {
      CHECK(got[i] == 0.0f && signbit(got[i]),
            "width %d path %d threshold %d: float %zu, no target of this case, became %.9g",
            c->plan.width, c->plan.path, c->plan.threshold, i, got[i]);
    }
  }
  check.compared += c->arena_size;
}

/* The base that puts row 0 of the piece where the arena holds it, though its key is key_low. */
static inline float *check_base(const struct check_case *c, int piece) {
  const long long begin = (long long)c->piece_begin[piece];
  const long long skipped = (long long)c->key_low * c->plan.pieces[piece].stride;
  return (float *)((uintptr_t)c->device_arena + (uintptr_t)((begin - skipped) * 4));
}

static inline std::vector<int> check_draw_keys(struct check_case *c) {
  const size_t calls = (size_t)c->plan.updates * c->threads;
  std::vector<int> keys(calls);
  for (size_t i = 0; i < calls; ++i) {
    const int active = check_is_active(c, (int)(i / c->threads), (int)(i % c->threads));
    const unsigned garbage = check_bits(&c->random);
    keys[i] = active ? (int)(c->key_low + c->rows[i]) : check_garbage_key(c, c->rows[i], garbage);
  }
  return keys;
}

static inline std::vector<float *> check_draw_pointers(struct check_case *c) {
  const size_t calls = (size_t)c->plan.updates * c->threads;
  const int width = c->plan.width;
  std::vector<float *> pointers(calls * width);
  for (size_t i = 0; i < calls; ++i) {
    const int active = check_is_active(c, (int)(i / c->threads), (int)(i % c->threads));
    for (int k = 0; k < width; ++k)
      pointers[i * width + k] =
          active ? c->device_arena + check_cell(c, c->rows[i], k) : simt_poison_pointer();
  }
  return pointers;
}

/* How arc is called, X(FORM, form). Masked: two masks at one call, the plan's calling lanes and the
   other alive ones. Pieces: keyed, a target of run-time pieces; of all others it is one of rows. */
/* clang-format off */
#define CHECK_EACH_FORM(X)                                                        \
  X(KEYED, keyed) X(UNIFORM, uniform) X(MASKED, masked) X(DIVERGENT, divergent)   \
  X(PIECES, pieces) X(POINTERS, pointers) X(POINTERS_MASKED, pointers_masked)     \
  X(POINTERS_DIVERGENT, pointers_divergent)
/* clang-format on */
#define CHECK_NUMBER(FORM, form) CHECK_##FORM,
enum check_form { CHECK_EACH_FORM(CHECK_NUMBER) CHECK_FORMS };

/* The kernels at widths known at run time only, on the plan's path, that all tests share, of
   kernels.cu. */
typedef void check_launcher(const struct check_plan *plan, int grid, int block);
typedef check_launcher *check_launch;
#define CHECK_DECLARED(FORM, form) check_launcher check_launch_##form;
CHECK_EACH_FORM(CHECK_DECLARED)
#define CHECK_LAUNCH(FORM, form) check_launch_##form,
inline const check_launch check_launches[] = {CHECK_EACH_FORM(CHECK_LAUNCH)};

/* Runs the case once and checks everything that can be seen from outside. */
static inline void check_run_form(struct check_case *c, check_launch launch, int with_pointers) {
  if (launch == check_launch_uniform) c->uniform = 1;
  if (c->values.empty()) check_draw_values(c);
  struct check_plan *plan = &c->plan;
  const std::vector<check_sum> sums = check_oracle(c);
  const std::vector<int> no_lane_modified(1);
  const test_memory<float> arena(c->arena), values(c->values);
  const test_memory<unsigned> alive(c->alive), calling(c->calling), active(c->active);
  const test_memory<int> keys(check_draw_keys(c)), modified(no_lane_modified);
  c->device_arena = arena.at;
  for (int p = 0; p < plan->piece_count; ++p)
    plan->pieces[p].base = c->missing >> p & 1 ? NULL : check_base(c, p);
  if (plan->piece_count == 0) plan->pieces[0].base = arena.at; /* of the target that nobody uses */
  const std::vector<float *> its_pointers(with_pointers ? check_draw_pointers(c)
                                                        : std::vector<float *>());
  const test_memory<float *> pointers(its_pointers);
  plan->alive = alive.at;
  plan->calling = calling.at;
  plan->active = active.at;
  plan->keys = keys.at;
  plan->values = values.at;
  plan->modified = modified.at;
  plan->pointers = with_pointers ? pointers.at : NULL;
  const int reports = check.reports;
  launch(plan, c->grid, c->block);
  const cudaError_t launched = cudaGetLastError(), ended = cudaDeviceSynchronize();
  if (check.reports != reports) return;
  CHECK_CUDA(launched);
  CHECK_CUDA(ended);
  const int lanes = modified.read()[0];
  CHECK(lanes == 0, "path %d: %d lanes found their values modified", plan->path, lanes);
  check_compare(c, sums, arena.read());
  CHECK(!with_pointers || pointers.read() == its_pointers, "the caller's pointers were modified");
}

/* Of sums that must be the same bits everywhere. */
static inline unsigned long long check_digest(const std::vector<long long> &words) {
  unsigned long long digest = 0xcbf29ce484222325ull;
  for (long long word : words) digest = (digest ^ (unsigned long long)word) * 0x100000001b3ull;
  return digest;
}

static inline void check_run(struct check_case *c, check_launch launch) {
  check_run_form(c, launch, 0);
}

/* >>kernels ------------------------------------------------------------------------------------ */

static __device__ __forceinline__ int check_lane(void) { return (int)(threadIdx.x & 31); }

static __device__ __forceinline__ int check_warp(const struct check_plan *plan) {
  return (int)blockIdx.x * plan->warps_per_block + (int)(threadIdx.x >> 5);
}

static __device__ __forceinline__ int check_warps(const struct check_plan *plan) {
  return (int)gridDim.x * plan->warps_per_block;
}

static __device__ __forceinline__ bool check_alive(const struct check_plan *plan) {
  return plan->alive[check_warp(plan)] >> check_lane() & 1;
}

static __device__ __forceinline__ unsigned check_calling(const struct check_plan *plan,
                                                         int update) {
  return plan->calling[update * check_warps(plan) + check_warp(plan)];
}

static __device__ __forceinline__ bool check_active(const struct check_plan *plan, int update) {
  return plan->active[update * check_warps(plan) + check_warp(plan)] >> check_lane() & 1;
}

static __device__ __forceinline__ long long check_call_index(const struct check_plan *plan,
                                                             int update) {
  const long long warp = (long long)update * check_warps(plan) + check_warp(plan);
  return warp * 32 + check_lane();
}

static __device__ __forceinline__ void check_load(const struct check_plan *plan, int update,
                                                  int width, float *values) {
  const float *from = plan->values + check_call_index(plan, update) * width;
  for (int k = 0; k < width; ++k) values[k] = from[k];
}

/* The caller's values must come back bit for bit, an inactive lane's too. */
static __device__ __forceinline__ void check_unmodified(const struct check_plan *plan, int update,
                                                        int width, const float *values) {
  const float *from = plan->values + check_call_index(plan, update) * width;
  int changed = 0;
  for (int k = 0; k < width; ++k) changed |= __float_as_int(from[k]) != __float_as_int(values[k]);
  if (changed) atomicAdd(plan->modified, 1);
}

struct check_call {
  int key;
  const float *values;
  bool active;
  unsigned mask;
  int threshold;
};

/* By the short name, on the path and threshold of the macros. form is a literal. */
static __device__ __forceinline__ void check_add_short(int form, const arc_target_f32 &target,
                                                       const struct check_call &c) {
  if (form == CHECK_UNIFORM)
    arc_add_uniform_f32(target, c.key, c.values, c.active);
  else if (form == CHECK_MASKED)
    arc_add_masked_f32(target, c.key, c.values, c.active, c.mask);
  else if (form == CHECK_DIVERGENT)
    arc_add_divergent_f32(target, c.key, c.values);
  else
    arc_add_f32(target, c.key, c.values, c.active);
}

/* By the general form, on a literal path. */
static __device__ __forceinline__ void check_add_path(int form, int path,
                                                      const arc_target_f32 &target,
                                                      const struct check_call &c) {
  arc_options o = arc_options_default();
  o.path = path;
  o.threshold = c.threshold;
  o.promises = CHECK_PROMISES;
  if (form == CHECK_UNIFORM) o.promises |= ARC_PROMISE_ONE_KEY;
  if (form == CHECK_MASKED) o.lane_mask = c.mask;
  if (form == CHECK_DIVERGENT) o.lane_mask = ARC_LANES_HERE;
  arc_add_with_f32(target, c.key, c.values, c.active, o);
}

static __device__ __forceinline__ void check_add(int form, int path, const arc_target_f32 &target,
                                                 const struct check_call &c) {
  if (form == CHECK_DIVERGENT && !c.active) return;
  if (path == 0 && CHECK_PROMISES == 0 && c.threshold == ARC_BALANCE_THRESHOLD)
    check_add_short(form, target, c);
  else
    check_add_path(form, path == 0 ? ARC_PATH : path, target, c);
}

/* This lane's call of an update, as the plan has it. */
static __device__ __forceinline__ struct check_call check_call_of(const struct check_plan *plan,
                                                                  int update, const float *values) {
  const long long call = check_call_index(plan, update);
  const unsigned alive = plan->alive[check_warp(plan)];
  const unsigned side = check_calling(plan, update) & alive;
  struct check_call c;
  c.key = plan->keys[call];
  c.values = values;
  c.active = check_active(plan, update);
  c.mask = side >> check_lane() & 1 ? side : alive & ~side;
  c.threshold = plan->threshold;
  return c;
}

/* The same, but of every other inactive lane the values are null. */
static __device__ __forceinline__ struct check_call check_null_call(const struct check_plan *plan,
                                                                    int update,
                                                                    const float *values) {
  struct check_call c = check_call_of(plan, update, values);
  if (c.active || CHECK_INACTIVE_ZERO || check_lane() % 2) return c;
  c.values = NULL;
  return c;
}

/* What a test's kernel does before update n; test_peer.cu has it wait for the other GPU there. */
#ifndef CHECK_BEFORE_UPDATE
#define CHECK_BEFORE_UPDATE(n) ((void)(n))
#endif

#if SIMT_ON_CPU /* where AddressSanitizer sees what reads behind the values */
#define CHECK_VALUES(capacity, width) float held[capacity], *values = held + (capacity - width)
#else
#define CHECK_VALUES(capacity, width) float values[capacity]
#endif

/* A kernel that makes the plan's calls. The call, which comes last, sees path, plan, update, width,
   values and target. */
#define CHECK_ONE_KERNEL(name, path_, capacity, width_, target_, ...) \
  static __global__ void name(struct check_plan plan) {               \
    enum { path = (path_) };                                          \
    const int width = (width_);                                       \
    CHECK_VALUES(capacity, width);                                    \
    if (!check_alive(&plan)) return;                                  \
    const arc_target_f32 target = (target_);                          \
    for (int update = 0; update < plan.updates; ++update) {           \
      check_load(&plan, update, width, values);                       \
      CHECK_BEFORE_UPDATE(update);                                    \
      __VA_ARGS__;                                                    \
      check_unmodified(&plan, update, width, values);                 \
    }                                                                 \
  }

/* name_launch, for check_run(), of a kernel. */
#define CHECK_LAUNCHER(name, kernel)                                               \
  static void name##_launch(const struct check_plan *plan, int grid, int block) {  \
    SIMT_LAUNCH(kernel, dim3((unsigned)grid), dim3((unsigned)block), 0, 0, *plan); \
  }

/* The kernel of the short name alone, and name_launch. */
#define CHECK_SHORT_KERNEL(name, capacity, width_, target_, ...)    \
  CHECK_ONE_KERNEL(name, 0, capacity, width_, target_, __VA_ARGS__) \
  CHECK_LAUNCHER(name, name)

/* The kernels of all paths, and name_launch, which takes the one the plan names. */
#define CHECK_KERNEL(name, capacity, width_, target_, ...)                                   \
  CHECK_ONE_KERNEL(name##_1, ARC_PATH_ATOMIC, capacity, width_, target_, __VA_ARGS__)        \
  CHECK_ONE_KERNEL(name##_2, ARC_PATH_SERIALIZED, capacity, width_, target_, __VA_ARGS__)    \
  CHECK_ONE_KERNEL(name##_3, ARC_PATH_BUTTERFLY, capacity, width_, target_, __VA_ARGS__)     \
  CHECK_ONE_KERNEL(name##_4, ARC_PATH_TRANSPOSED, capacity, width_, target_, __VA_ARGS__)    \
  CHECK_ONE_KERNEL(name##_5, ARC_PATH_TREE, capacity, width_, target_, __VA_ARGS__)          \
  CHECK_ONE_KERNEL(name##_6, ARC_PATH_AUTO, capacity, width_, target_, __VA_ARGS__)          \
  static void (*const name##_kernels[])(struct check_plan) = {name##_1, name##_2, name##_3,  \
                                                              name##_4, name##_5, name##_6}; \
  CHECK_LAUNCHER(name, name##_kernels[plan->path - ARC_PATH_ATOMIC])

#define CHECK_ROWS arc_target_f32_rows(plan.pieces[0].base, plan.pieces[0].stride, width)
#define CHECK_DYNAMIC arc_target_f32_dynamic(plan.pieces[0].base, plan.pieces[0].stride, width)
#define CHECK_CALL(form) check_add(form, path, target, check_call_of(&plan, update, values))
/* At a width known at run time, where values lie in memory anyway: the CPU warp reports a read
   through null, a GPU ends the launch. */
#define CHECK_CALL_NULL(form) check_add(form, path, target, check_null_call(&plan, update, values))

#endif

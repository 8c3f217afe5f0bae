/* test_wide.cu - wide targets (arc/wide.cuh). SPDX-License-Identifier: Apache-2.0
 *
 * An exact accumulator on the host says what each sum must be, to the last bit. Where a warp adds
 * floats first, values are whole multiples of a power of two of their parameter, few enough bits
 * long that no sum of floats rounds; where each lane adds by itself, any bits. Other builds have
 * other numbers of words, and ARC_CHECK 2. */
#define CHECK_FORM "arc/wide.cuh"
#include "check.cuh"

enum { THREADS = 32 * 12, KEYS = 40, MOST = 33, HOT = 8 };

/* ---- an exact sum: digits of 32 bits, the lowest of 2^-150 ----------------------------------- */

enum { DIGITS = 16, UNIT = -150 };
struct exact {
  __int128 digits[DIGITS];
  bool plus, minus; /* an infinity of this sign; both: NaN */
};

static void exact_add(struct exact *s, long long whole, int log2) { /* whole * 2^log2 */
  const int at = (log2 - UNIT) / 32, shift = (log2 - UNIT) % 32;
  s->digits[at] += (__int128)whole * ((__int128)1 << shift);
}

/* A float, as a wide target has it. */
static void exact_add_float(struct exact *s, float x) {
  const int lowest = ARC__WIDE_FIRST + UNIT, end = ARC__WIDE_END - 127;
  const double unit = ldexp(1.0, lowest);
  s->plus |= isnan(x) || x >= ldexp(1.0, end);
  s->minus |= isnan(x) || x <= -ldexp(1.0, end);
  if (isnan(x) || fabs((double)x) >= ldexp(1.0, end)) return;
  if (fabsf(x) < ldexp(1.0, ARC__WIDE_EXACT - 127)) {
    exact_add(s, (long long)nearbyint((double)x / unit), lowest);
    return;
  }
  int log2;
  const double fraction = frexp((double)x, &log2);
  exact_add(s, (long long)ldexp(fraction, 24), log2 - 24);
}

/* Rounded to `bits` bits, ties to even, none below 2^lowest. */
static double exact_round(const struct exact *from, int bits, int lowest) {
  struct exact s = *from;
  if (s.plus || s.minus) return s.plus && s.minus ? NAN : s.plus ? INFINITY : -INFINITY;
  bool negative = false, rest = false;
  for (int again = 0; again < 2; ++again) {
    for (int i = 0; i + 1 < DIGITS; ++i) {
      const __int128 digit = s.digits[i] & 0xffffffff;
      s.digits[i + 1] += (s.digits[i] - digit) >> 32;
      s.digits[i] = digit;
    }
    if (again == 1 || s.digits[DIGITS - 1] >= 0) break;
    negative = true;
    for (int i = 0; i < DIGITS; ++i) s.digits[i] = -s.digits[i];
  }
  int top = 32 * DIGITS - 1;
  while (top >= 0 && !(s.digits[top / 32] >> top % 32 & 1)) --top;
  if (top < 0) return 0;
  int last = top - bits + 1; /* the place of the last bit that is kept */
  if (last < lowest - UNIT) last = lowest - UNIT;
  unsigned long long kept = 0;
  for (int i = top; i >= last; --i)
    kept = 2 * kept + (unsigned long long)(i >= 0 ? s.digits[i / 32] >> i % 32 & 1 : 0);
  for (int i = 0; i + 1 < last; ++i) rest |= (s.digits[i / 32] >> i % 32 & 1) != 0;
  const bool half = last > 0 && (s.digits[(last - 1) / 32] >> (last - 1) % 32 & 1) != 0;
  if (half && (rest || kept % 2)) kept += 1;
  const double magnitude = ldexp((double)kept, last + UNIT);
  return negative ? -magnitude : magnitude;
}

static bool same(double a, double b) { return isnan(a) ? isnan(b) : a == b; }

/* What a row says of a parameter is what `s` is. */
static void check_sum(const struct exact *s, const long long *row, int width, int i,
                      const char *what) {
  const float f32 = arc_wide_to_f32(row, width, i), must = (float)exact_round(s, 24, -149);
  const double f64 = arc_wide_to_f64(row, width, i), wanted = exact_round(s, 53, -1074);
  CHECK(same(f32, must), "%s: parameter %d of %d is %a, must be %a", what, i, width, f32, must);
  CHECK(same(f64, wanted), "%s: parameter %d of %d is %a, must be %a as a double", what, i, width,
        f64, wanted);
  check.compared += 2;
}

/* Half of the last bit is rounded up by what lies below it, in whichever word. */
static void check_rest(void) {
  long long row[ARC_WIDE_WORDS + 2] = {0};
  const int half = ARC_WIDE_WORDS > 3 ? 16 * (ARC_WIDE_WORDS - 1) + 12 - 53 : 0;
  row[ARC_WIDE_WORDS - 1] = 1 << 12;
  for (int w = 0; w < half / 16; ++w) {
    row[half / 16] = 1ll << half % 16;
    const double even = arc_wide_to_f64(row, 1, 0);
    row[w] += 1;
    CHECK(arc_wide_to_f64(row, 1, 0) > even, "a rest in word %d is lost", w);
    row[w] -= 1;
  }
}

/* After adds alone, infinities are told by 0 and 1, so that many sets of rows can be added up. */
static void check_told(const long long *row, int width, int i) {
  const unsigned char *told = arc__infinities(row, width, i);
  CHECK(told[0] <= 1 && told[1] <= 1, "infinities of parameter %d are told by %d and %d", i,
        told[0], told[1]);
}

/* ---- values and keys -------------------------------------------------------------------------- */

enum { SMALL, ANY }; /* few bits of a parameter's own power of two, some not finite; any bits */

static int keys[THREADS];
static float values[THREADS * MOST];

static float any_float(struct check_random *random) {
  unsigned bits = check_bits(random);
  const int kind = check_below(random, 40);
  float x;
  if (kind < 3) bits &= 0x807fffffu; /* subnormal */
  if (kind == 3) bits &= 0x80000000u;
  if (kind == 4) bits = (bits & 0x80000000u) | 0x7f800000u;
  if (kind == 5 || kind == 6) { /* the least and the largest of a range, and one beyond */
    const unsigned edge = kind == 5 ? ARC__WIDE_EXACT : ARC__WIDE_END;
    bits = (bits & 0x80000000u) | ((edge << 23) - 1u + bits % 2u);
  }
  if (kind > 8) bits = (bits & 0x83ffffffu) + 0x3c000000u; /* of about 1 */
  memcpy(&x, &bits, sizeof x);
  return x;
}

static bool is_active(int thread) { return (keys[thread] ^ thread) % 5 != 0; }

static void draw(int kind, int width, struct check_random *random) {
  static int log2s[KEYS * MOST];
  const int low = ARC__WIDE_FIRST - 127, high = ARC__WIDE_END - 127 - 20;
  for (int i = 0; i < KEYS * MOST; ++i) log2s[i] = low + check_below(random, high - low + 1);
  for (int n = 0; n < THREADS; ++n) {
    keys[n] = (n / 32 % 2 * n / 32 * 7 + check_below(random, 1 + n / 32 % 4)) % KEYS;
    for (int i = 0; i < width; ++i) {
      float *x = &values[n * width + i];
      const int special = check_below(random, 2000);
      *x = ldexpf((float)(check_below(random, 1 << 9) - 256), log2s[keys[n] * MOST + i]);
      if (special < 3) *x = special == 0 ? NAN : special == 1 ? INFINITY : -INFINITY;
      if (kind == ANY) *x = any_float(random);
    }
  }
}

/* ---- every call ------------------------------------------------------------------------------- */

enum { KEYED, MASKED, DIVERGENT, SUMS, ROWS, RENDERER, HOT_ALL, HOT_MASKED, HOT_HERE, FORMS };
static const char *const form_names[FORMS] = {"keyed",    "masked",          "divergent",
                                              "sums",     "rows in memory",  "renderer",
                                              "hot rows", "masked hot rows", "divergent hot rows"};
struct arguments {
  int form, path;
  long long *rows;
  const int *keys;
  const float *values;
};

#define KEYED_ON(PATH)                       \
  if (a.form == KEYED && a.path == (PATH)) { \
    o.path = (PATH);                         \
    arc_add_with_wide(t, key, v, active, o); \
  }
#define OTHER_PATHS             \
  KEYED_ON(ARC_PATH_ATOMIC)     \
  KEYED_ON(ARC_PATH_SERIALIZED) \
  KEYED_ON(ARC_PATH_BUTTERFLY)  \
  KEYED_ON(ARC_PATH_TRANSPOSED) \
  KEYED_ON(ARC_PATH_TREE)
#define ADDS                                                          \
  KEYED_ON(ARC_PATH_AUTO)                                             \
  if (a.form == MASKED) arc_add_masked_wide(t, key, v, active, mask); \
  for (int side = 0; a.form == DIVERGENT && side < 2; ++side)         \
    if (active && (n & 1) == side) arc_add_divergent_wide(t, key, v); \
  if (a.form == SUMS) {                                               \
    arc_sum_wide sum = arc_sum_begin_wide(t, key, v, active);         \
    while (arc_sum_next_wide(&sum)) arc_sum_add_wide(&sum);           \
  }
#define ADD_ROWS(WIDTH)                                                     \
  if (a.form == ROWS) {                                                     \
    arc_index_add_wide rows = arc_index_add_begin_wide(t, a.values, WIDTH); \
    arc_index_add_rows_wide(&rows, key, n, active);                         \
    arc_index_add_end_wide(&rows);                                          \
  }
#define ADD_RENDERER(WIDTH)                                                   \
  for (int k = 0; a.form == RENDERER && k < KEYS; ++k) {                      \
    const bool hit = active && key == k;                                      \
    if (!__any_sync(ARC_LANES_ALL, hit)) continue;                            \
    for (int i = 0; i < WIDTH; ++i) v[i] = hit ? a.values[n * WIDTH + i] : 0; \
    arc_add_renderer_wide(t, k, v, hit);                                      \
  }
#define ADD_HOT                                                                     \
  if (a.form >= HOT_ALL) {                                                          \
    SIMT_DYNAMIC_SHARED(long long, shared);                                         \
    arc_hot_wide hot = arc_hot_begin_wide(t, shared, 0, HOT);                       \
    if (a.form == HOT_ALL) arc_hot_add_wide(&hot, key, v, active);                  \
    o.lane_mask = mask;                                                             \
    if (a.form == HOT_MASKED) arc_hot_add_with_wide(&hot, key, v, active, o);       \
    o.lane_mask = ARC_LANES_HERE;                                                   \
    if (a.form == HOT_HERE && active) arc_hot_add_with_wide(&hot, key, v, true, o); \
    arc_hot_end_wide(&hot);                                                         \
  }

/* TARGET: of WIDTH values. Of CALLS, nvcc takes seconds for each. */
#define KERNEL(NAME, WIDTH, TARGET, CALLS)                          \
  static __global__ void NAME(struct arguments a) {                 \
    const int n = (int)(blockIdx.x * blockDim.x + threadIdx.x);     \
    const int key = a.keys[n];                                      \
    const unsigned mask = n % 32 < 20 ? 0xfffffu : ~0xfffffu;       \
    const bool active = (key ^ n) % 5 != 0;                         \
    float v[WIDTH];                                                 \
    for (int i = 0; i < WIDTH; ++i) v[i] = a.values[n * WIDTH + i]; \
    TARGET;                                                         \
    arc_options o = arc_options_default();                          \
    (void)mask;                                                     \
    CALLS                                                           \
  }
#define ONE_ARRAY(N) arc_target_wide t = arc_target_wide_rows(a.rows, ARC_WIDE_ROW(N), N)
#define PIECES                                                                             \
  const arc_piece_wide pieces[] = {{a.rows, ARC_WIDE_ROW(2), 2},                           \
                                   {a.rows + KEYS * ARC_WIDE_ROW(2), ARC_WIDE_ROW(5), 5}}; \
  arc_target_wide t = arc_target_wide_pieces(pieces, 2)
#define DYNAMIC \
  arc_target_wide t = arc_target_wide_dynamic(a.rows, ARC_WIDE_ROW(9), a.form < FORMS ? 9 : 1)
KERNEL(add_33, 33, ONE_ARRAY(33), ADDS ADD_ROWS(33))
KERNEL(add_pieces, 7, PIECES, ADDS ADD_ROWS(7) ADD_RENDERER(7) ADD_HOT)
#if ARC_WIDE_WORDS == 6 /* how many words changes what each does to a row, not which row */
KERNEL(add_1, 1, ONE_ARRAY(1), ADDS ADD_ROWS(1))
KERNEL(add_3, 3, ONE_ARRAY(3), ADDS)
KERNEL(add_9, 9, ONE_ARRAY(9), ADDS ADD_ROWS(9) ADD_HOT) /* a fourth takes ptxas a minute */
KERNEL(add_9_keyed, 9, ONE_ARRAY(9), OTHER_PATHS KEYED_ON(ARC_PATH_AUTO) ADD_RENDERER(9))
KERNEL(add_dynamic, 9, DYNAMIC, ADDS)
#endif

#define FIRST(forms) ((1u << (forms)) - 1u)
static const struct layout {
  const char *name;
  void (*kernel)(struct arguments a);
  int widths[2]; /* of its pieces */
  unsigned forms;
  bool all_paths = false;
} layouts[] = {
#if ARC_WIDE_WORDS == 6
    {"9 values", add_9, {9, 0}, FIRST(FORMS) & ~(1u << KEYED | 1u << RENDERER)},
    {"9 values", add_9_keyed, {9, 0}, 1u << KEYED | 1u << RENDERER, true},
    {"1 value", add_1, {1, 0}, FIRST(ROWS + 1)},
    {"3 values", add_3, {3, 0}, FIRST(ROWS)},
    {"a dynamic width", add_dynamic, {9, 0}, FIRST(ROWS)},
#endif
    {"33 values", add_33, {33, 0}, FIRST(ROWS + 1)},
    {"2 pieces", add_pieces, {2, 5}, FIRST(FORMS)}};
enum { MOST_WORDS = KEYS * ARC_WIDE_ROW(MOST) };

static int width_of(const struct layout *l) { return l->widths[0] + l->widths[1]; }
static int words_of(const struct layout *l) { /* of a row */
  return ARC_WIDE_ROW(l->widths[0]) + ARC_WIDE_ROW(l->widths[1]);
}

static std::vector<long long> rows;

/* Adds all values by one form, in blocks of so many threads, to rows that are cleared before. */
static void launch(const struct layout *l, int form, int path, int block, unsigned seed) {
  const int hot = form >= HOT_ALL ? ARC_HOT_BYTES(8, HOT, words_of(l), block) / 8 : 0;
  const test_memory<int> device_keys(keys);
  const test_memory<float> device_values(values);
  const test_memory<long long> device_rows(MOST_WORDS);
  const struct arguments a = {form, path, device_rows.at, device_keys.at, device_values.at};
#if SIMT_ON_CPU
  simt_seed(seed);
#else
  (void)seed;
#endif
  SIMT_LAUNCH(l->kernel, dim3(THREADS / block), dim3(block), hot * sizeof(long long), 0, a);
  rows = device_rows.read();
}

/* The row of a key in a piece. */
static const long long *row_of(const struct layout *l, int piece, int key) {
  const int begin = piece ? KEYS * ARC_WIDE_ROW(l->widths[0]) : 0;
  return &rows[(size_t)begin] + key * ARC_WIDE_ROW(l->widths[piece]);
}

static void check_rows(const struct layout *l, const char *what) {
  static struct exact sums[KEYS * MOST];
  memset(sums, 0, sizeof sums);
  for (int n = 0; n < THREADS; ++n)
    for (int i = 0; is_active(n) && i < width_of(l); ++i)
      exact_add_float(&sums[keys[n] * MOST + i], values[n * width_of(l) + i]);
  for (int key = 0; key < KEYS; ++key)
    for (int i = 0; i < width_of(l); ++i) {
      const int piece = i >= l->widths[0], at = piece ? i - l->widths[0] : i;
      check_sum(&sums[key * MOST + i], row_of(l, piece, key), l->widths[piece], at, what);
      check_told(row_of(l, piece, key), l->widths[piece], at);
    }
}

static void run(const struct layout *l, int form, int path, int kind) {
  struct check_random random;
  if (!check_begin(form_names[form], &random)) return;
  char what[120];
  snprintf(what, sizeof what, "%s, %s, path %d", form_names[form], l->name, path);
  draw(kind, width_of(l), &random);
  launch(l, form, path, 96, check_bits(&random));
  check_rows(l, what);
}

static void every_form(void) {
  for (const struct layout &l : layouts)
    for (int form = 0; form < FORMS; ++form) {
      if (!(l.forms >> form & 1u)) continue;
      const int first = form == KEYED && l.all_paths ? ARC_PATH_ATOMIC : ARC_PATH_AUTO;
      const bool alone = form == DIVERGENT || form == HOT_HERE;
      for (int path = first; path <= ARC_PATH_AUTO; ++path)
        run(&l, form, path, alone || path == ARC_PATH_ATOMIC ? ANY : SMALL);
    }
}

/* ---- what repeats ----------------------------------------------------------------------------- */

#if ARC_WIDE_WORDS == 6
/* Any floats near 1: each order of a sum has other bits. The words themselves must be the same in
   each run and block, and in each build of so many words, on the CPU warp and on every GPU. */
static void repeats(int form, int path, unsigned long long must) {
  struct check_random random;
  const struct layout *l = &layouts[form == KEYED];
  if (!check_begin("repeatable", &random)) return;
  random = (struct check_random){2026};
  draw(SMALL, width_of(l), &random);
  for (int i = 0; i < THREADS * width_of(l); ++i)
    values[i] =
        ldexpf((float)check_below(&random, 1 << 24) - 8388608.0f, check_below(&random, 20) - 36);
  for (int i = 0; i < 6; ++i) {
    launch(l, form, path, i % 3 == 0 ? 32 : i % 3 == 1 ? 96 : 192, 1000u + (unsigned)i);
    rows.resize((size_t)KEYS * words_of(l));
    const unsigned long long digest = check_digest(rows);
    CHECK(digest == must, "%s, path %d, run %d: digest 0x%llx, must be 0x%llx", form_names[form],
          path, i, digest, must);
    check.compared += KEYS * (unsigned)width_of(l);
  }
}
#endif

/* ---- words ------------------------------------------------------------------------------------ */

/* What words hold. */
static struct exact exact_of(const long long *row, int width, int i) {
  struct exact s;
  memset(&s, 0, sizeof s);
  for (int w = 0; w < ARC_WIDE_WORDS; ++w)
    exact_add(&s, row[w * width + i], ARC__WIDE_FIRST + UNIT + 16 * w);
  return s;
}

static long long any_word(struct check_random *random) {
  const long long word =
      (long long)((unsigned long long)check_bits(random) << 32 | check_bits(random));
  const int kind = check_below(random, 8);
  return kind == 0   ? 0
         : kind == 1 ? -1
         : kind == 2 ? (kind + word % 2 ? INT64_MAX : INT64_MIN)
         : kind == 3 ? (word & 1) << check_below(random, 63)
                     : word >> check_below(random, 64);
}

static __global__ void read_all(long long *words, float *f32, double *f64) {
  const int i = (int)threadIdx.x;
  f32[i] = arc_wide_to_f32(words, 32, i);
  f64[i] = arc_wide_to_f64(words, 32, i);
  arc_wide_normalise(words, 32, i);
  f32[32 + i] = arc_wide_to_f32(words, 32, i);
  if (i % 2) f32[32 + i] = arc_wide_take_f32(words, 32, i);
  if (i % 2 == 0) f64[i] = arc_wide_take_f64(words, 32, i);
}

/* Any words: read on host and device, carried, taken. */
static void reads(void) {
  struct check_random random;
  static long long row[ARC_WIDE_ROW(32)], carried[ARC_WIDE_ROW(32)];
  if (!check_begin("reading", &random)) return;
  for (int round = 0; round < 300; ++round) {
    struct exact sums[32];
    memset(row, 0, sizeof row);
    for (int i = 0; i < 32 * ARC_WIDE_WORDS; ++i) row[i] = any_word(&random);
    for (int i = 0; i < 32; ++i) {
      unsigned char *infinities = (unsigned char *)(row + 32 * ARC_WIDE_WORDS) + 2 * i;
      const int special = check_below(&random, 12);
      if (special == 0) infinities[0] = (unsigned char)check_below(&random, 256);
      if (special < 2) infinities[1] = (unsigned char)check_below(&random, 256);
      sums[i] = exact_of(row, 32, i);
      sums[i].plus = infinities[0] != 0;
      sums[i].minus = infinities[1] != 0;
      check_sum(&sums[i], row, 32, i, "any words");
    }
    memcpy(carried, row, sizeof row);
    for (int i = 0; i < 32; ++i) {
      arc_wide_normalise(carried, 32, i);
      for (int w = 0; w + 1 < ARC_WIDE_WORDS; ++w)
        CHECK(carried[w * 32 + i] >> 16 == 0, "word %d holds %llx after a carry", w,
              carried[w * 32 + i]);
    }
    const test_memory<long long> device_row(row);
    const test_memory<float> device_f32(64);
    const test_memory<double> device_f64(32);
    SIMT_LAUNCH(read_all, dim3(1), dim3(32), 0, 0, device_row.at, device_f32.at, device_f64.at);
    const std::vector<float> f32 = device_f32.read();
    const std::vector<double> f64 = device_f64.read();
    for (int i = 0; i < 32; ++i) {
      /* a carry may leave the highest word, which then has lost a multiple of 2^64 of its units */
      const bool fits = fabs(exact_round(&sums[i], 53, -1074)) <
                            ldexp(1.0, 63 + ARC__WIDE_FIRST + UNIT + 16 * (ARC_WIDE_WORDS - 1)) ||
                        sums[i].plus || sums[i].minus;
      const float must = (float)exact_round(&sums[i], 24, -149);
      CHECK(same(f32[i], must), "device: %a, must be %a", f32[i], must);
      CHECK(!fits || same(f32[32 + i], must), "carried: %a, must be %a", f32[32 + i], must);
      CHECK(!fits || same(f64[i], exact_round(&sums[i], 53, -1074)), "taken: %a", f64[i]);
    }
    for (long long word : device_row.read())
      CHECK(word == 0, "a word is %llx after all is taken", word);
  }
}

/* 2^26 additions of the largest numbers of two windows, carried each 2^24. The CPU warp makes few of
   them, and then adds what the others would have added. */
static __global__ void add_largest(long long *row, float low, float high, int calls) {
  const arc_target_wide t = arc_target_wide_rows(row, ARC_WIDE_ROW(2), 2);
  arc_options o = arc_options_default();
  const float v[2] = {low, high};
  o.path = ARC_PATH_ATOMIC;
  for (int i = 0; i < calls; ++i) arc_add_with_wide(t, 0, v, true, o);
}

static void carries(void) {
  struct check_random random;
  if (!check_begin("carries", &random)) return;
  std::vector<long long> row(ARC_WIDE_ROW(2));
  const int last = ARC_WIDE_WORDS > 1 ? ARC_WIDE_WORDS - 2 : 0;
  const int end = ARC__WIDE_FIRST + 16 * (last + 1) - 127; /* not of the last word, which is full */
  const float low = ldexpf(16777215.0f, end - 24), high = -low;
  const int all = 1 << 24, blocks = 64, calls = SIMT_ON_CPU ? 1 : all / (blocks * 128);
  struct exact s[2];
  memset(s, 0, sizeof s);
  for (int round = 0; round < (ARC_WIDE_WORDS > 1 ? 4 : 1); ++round) {
    const test_memory<long long> device_row(row);
    SIMT_LAUNCH(add_largest, dim3(blocks), dim3(128), 0, 0, device_row.at, low, high, calls);
    row = device_row.read();
    const long long left = all - blocks * 128 * calls, word = (16777215ll << 15) * left;
    row[2 * last] += word;
    row[2 * last + 1] -= word;
    for (int i = 0; i < 2; ++i) {
      exact_add(&s[i], (i ? -1 : 1) * (16777215ll << 15) * all, ARC__WIDE_FIRST + UNIT + 16 * last);
      check_sum(&s[i], row.data(), 2, i, "carries");
      arc_wide_normalise(row.data(), 2, i);
      check_sum(&s[i], row.data(), 2, i, "carried");
    }
  }
}

/* From how many lanes on a warp of one key is reduced. */
static __global__ void decide(long long *lanes) {
  lanes[0] = arc_target_wide_rows(lanes, ARC_WIDE_ROW(1), 1).any.min_lanes_to_reduce;
  lanes[1] = arc_target_wide_rows(lanes, ARC_WIDE_ROW(3), 3).any.min_lanes_to_reduce;
  lanes[2] = arc_target_wide_dynamic(lanes, ARC_WIDE_ROW(9), 9).any.min_lanes_to_reduce;
}

static void decisions(void) {
  struct check_random random;
  if (!check_begin("decisions", &random)) return;
  const test_memory<long long> device_lanes(3);
  SIMT_LAUNCH(decide, dim3(1), dim3(1), 0, 0, device_lanes.at);
  const std::vector<long long> lanes = device_lanes.read();
  CHECK(lanes[0] == 2 && lanes[1] == 1 && lanes[2] == 1, "reduced from %lld, %lld, %lld lanes on",
        lanes[0], lanes[1], lanes[2]);
}

#if SIMT_ON_CPU
/* What is reported. */
static __global__ void add_one(long long *row, int stride, bool exact) {
  const float v[1] = {1.0f / 65536.0f};
  arc_options o = arc_options_default();
  o.exact = exact;
  arc_add_with_wide(arc_target_wide_rows(row, stride, 1), 0, v, threadIdx.x == 0, o);
}

static void reports(void) {
  struct check_random random;
  static long long row[ARC_WIDE_ROW(1)];
  static const struct {
    const char *what;
    int stride, level;
    bool exact;
    long long word;
  } errors[] = {
      {"nothing", ARC_WIDE_ROW(1), 3, false, 0},
      {"rows overlap", ARC_WIDE_ROW(1) - 1, 1, false, 0},
      {"beyond half its range", ARC_WIDE_ROW(1), 2, false, INT64_MAX / 2},
      {"beyond half its range", ARC_WIDE_ROW(1), 2, false, -(INT64_MAX / 2) - (1ll << 45)},
      {"arc_exact_is_for_fixed_targets", ARC_WIDE_ROW(1), 0, true, 0}};
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; ++i) {
    if (!check_begin("reports", &random)) continue;
    for (int w = 0; w < ARC_WIDE_WORDS; ++w) row[w] = errors[i].word;
    check.expect_report = 1;
    check.reports = 0;
    SIMT_LAUNCH(add_one, dim3(1), dim3(32), 0, 0, row, errors[i].stride, errors[i].exact);
    cudaGetLastError();
    check.expect_report = 0;
    CHECK((check.reports != 0) == (errors[i].level <= ARC_CHECK), "%s: %d reports: %s",
          errors[i].what, check.reports, check.last_report);
    CHECK(!check.reports || strstr(check.last_report, errors[i].what), "%s: the report is %s",
          errors[i].what, check.last_report);
  }
}
#endif

int main(int argc, char **argv) {
  check_main(argc, argv);
  every_form();
  reads();
  carries();
  check_rest();
  decisions();
#if ARC_WIDE_WORDS == 6
  const unsigned long long each = 0xc8e2aaea14842f87ull; /* where each lane adds by itself */
  repeats(KEYED, ARC_PATH_AUTO, 0x7587adcfa1f8f426ull);
  repeats(KEYED, ARC_PATH_ATOMIC, each);
  repeats(MASKED, ARC_PATH_AUTO, 0xa69cc7b8ea2ed9bfull);
  repeats(DIVERGENT, ARC_PATH_AUTO, each);
  repeats(ROWS, ARC_PATH_AUTO, 0x26bf4e49ffefdb21ull);
  repeats(SUMS, ARC_PATH_AUTO, 0xf6342089f17d98fbull);
  repeats(HOT_ALL, ARC_PATH_AUTO, 0x26cda376771edad4ull);
#endif
#if SIMT_ON_CPU
  reports();
#endif
  return check_finish();
}

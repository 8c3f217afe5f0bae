/* test_drop_in.cu - atomicAdd of arc/drop_in.cuh, for each type: results that nobody uses are sums
 * over lanes, all others are atomicAdd's. SPDX-License-Identifier: Apache-2.0
 */
#include "check.cuh"

#include "arc/drop_in.cuh"

#if !SIMT_ON_CPU /* one GPU at a time: sm_80 and newer sum floats in fixed point */
#define SIMT_ARCH 900
#endif
#define LEARNS (ARC_DROP_IN == ARC_DROP_IN_LEARNS && SIMT_ARCH >= 700)
#if LEARNS
#include "printed.cuh"
#endif

#include <string>

enum { UPDATES = 6, BLOCK = 96, GRID = 3, THREADS = BLOCK * GRID, CELLS = 1 << 10 };
enum { UNUSED, MIXED, SHARED, SEEN, WAYS };
enum { ONE, TWO, HALF, SORTED, NEAR, RISING, ROTATED, RANDOM, PATTERNS };
static const char *const pattern_names[PATTERNS] = {"one",  "two",    "half",    "sorted",
                                                    "near", "rising", "rotated", "random"};

#if LEARNS
static __global__ void forget(bool sums) {
  arc__learnt_here.of[threadIdx.x] = arc__statement();
  arc__learnt_here.sums[threadIdx.x % ARC__WORDS] = sums ? ~ARC__DRAWN : 0u;
}
/* What the statements below have learnt, while other lanes ask, and whether the next lanes are
   drawn. */
static __device__ void change(unsigned draw) {
  const int line = (int)(__LINE__ + 10 + draw % 32);
  *(volatile unsigned *)&arc__learnt_here.sums[ARC__WORD_OF(line)] = draw * 2654435761u;
}
#else
static __device__ void change(unsigned) {}
#endif

/* where: a cell, or -1 for a lane that does not add. MIXED: every third update's result is used,
   and added to a cell of its own. SEEN counts lanes that miss their own addition. */
template <class T>
static __global__ void add(T *cells, T *olds, const int *where, const T *values, int way,
                           int *missing) {
  __shared__ T in_block[CELLS];
  const int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = (int)threadIdx.x; i < CELLS; i += (int)blockDim.x) in_block[i] = 0;
  __syncthreads();
  for (int u = 0; u < UPDATES; ++u) {
    const int cell = where[u * THREADS + thread];
    const T value = values[u * THREADS + thread];
    if (LEARNS) change((unsigned)where[(u * THREADS + thread * 7) % (THREADS * UPDATES)] * 37u);
    if (cell < 0) continue;
    if (way == SHARED) {
      atomicAdd(&in_block[cell], value);
    } else if (way == MIXED && u % 3 == 0) {
      T old = atomicAdd(&cells[cell], value);
      olds[u * THREADS + thread] = old;
    } else if (way == MIXED && thread & 1) {
      /* one line: a shared entry of what is learnt */
      if ((int)value % 3) atomicAdd(&cells[cell], 1), atomicAdd(&cells[cell], (int)value % 3 - 1);
      (void)atomicAdd(&cells[cell], (T)(value - (int)value % 3));
    } else {
      atomicAdd(&cells[cell], value);
      if (way == SEEN && *(volatile T *)&cells[cell] < value) atomicAdd(missing, 1);
    }
  }
  __syncthreads();
  for (int i = (int)threadIdx.x; way == SHARED && i < CELLS; i += (int)blockDim.x)
    if (in_block[i] != 0) ::atomicAdd(cells + i, in_block[i]);
}

static int draw_cell(struct check_random *r, int pattern, int lane, int first) {
  return pattern == ONE       ? first
         : pattern == TWO     ? first + 7 * check_below(r, 2)
         : pattern == HALF    ? (check_below(r, 2) ? first : check_below(r, CELLS))
         : pattern == SORTED  ? first + lane / 5
         : pattern == NEAR    ? first + (lane % 3 + 2) * 7 % 5
         : pattern == RISING  ? first + 3 * lane
         : pattern == ROTATED ? first + (lane % 12) * 7 % 12
                              : check_below(r, CELLS);
}

template <class T>
static void sums(const char *type, int way, int pattern, int active) {
  struct check_random r;
  char section[80];
  snprintf(section, sizeof section, "%s, way %d, %s, %d lanes", type, way, pattern_names[pattern],
           active);
  if (!check_begin(section, &r)) return;
  std::vector<int> where(THREADS * UPDATES);
  std::vector<T> values(THREADS * UPDATES), must(CELLS);
  for (int n = 0; n < THREADS * UPDATES; n += 32) {
    const unsigned mask = check_mask(check_below(&r, SHAPE_COUNT), active, &r);
    const int first = check_below(&r, CELLS / 2 - 96);
    for (int lane = 0; lane < 32; ++lane) {
      where[n + lane] = mask >> lane & 1 ? draw_cell(&r, pattern, lane, first) : -1;
      values[n + lane] = (T)(1 + check_below(&r, 5000));
      if (where[n + lane] >= 0) must[where[n + lane]] += values[n + lane];
    }
  }
  const test_memory<T> cells(CELLS), olds(THREADS * UPDATES), device_values(values);
  const test_memory<int> device_where(where), missing(1);
  SIMT_LAUNCH(add<T>, dim3(GRID), dim3(BLOCK), 0, 0, cells.at, olds.at, device_where.at,
              device_values.at, way, missing.at);
  const std::vector<T> got = cells.read(), old = olds.read();
  for (int i = 0; i < CELLS; ++i)
    CHECK(got[i] == must[i], "cell %d is %g and must be %g", i, (double)got[i], (double)must[i]);
  CHECK(missing.read()[0] == 0, "%d lanes miss their own addition", missing.read()[0]);
  /* No two lanes may find the same value before all-positive additions to one cell. */
  for (int n = 0; way == MIXED && n < THREADS; ++n)
    for (int m = 0; m < n; ++m)
      CHECK(where[n] < 0 || where[n] != where[m] || old[n] != old[m],
            "lanes %d and %d both found %g in cell %d", m, n, (double)old[n], where[n]);
  check.compared += CELLS;
}

/* Of six counts of lanes two, in turn: over all types each pattern and way has all of them. */
static int drawn;
template <class T>
static void all(const char *type) {
  static const int counts[] = {1, 17, 7, 25, 8, 32};
  for (int pattern = 0; pattern < PATTERNS; ++pattern)
    for (int way = 0; way < WAYS; ++way)
      for (int i = 0; i < 2; ++i) sums<T>(type, way, pattern, counts[drawn++ % 6]);
}

#if LEARNS
/* Samples of one statement: of `lanes`, over `words` words that are `apart` bytes from each other,
   and how many lanes in turn have one. first: whether blocks share words. */
struct shape {
  const char *name;
  unsigned lanes;
  int words, apart, turn;
  bool share, sums, fast = false; /* fast: atomics do not queue, so a sum gains nothing */
  bool vectors = false;           /* float2 or float4 */
};
static const shape random_words = {"random words", ~0u, 0, 4, 1, false, false};
static const shape one_word = {"one word", ~0u, 1, 4, 1, false, true};
/* A line as samplers get it. */
static __host__ __device__ unsigned line_to_sample(int line, bool fast) {
  return (fast ? 0u : ARC__SLOW) | (unsigned)line << 8 | arc__entry_of(line);
}
static __global__ void sample(unsigned long long memory, int line, shape s, int launch) {
#if SIMT_ON_CPU || defined(__CUDA_ARCH__)
  const unsigned lane = threadIdx.x,
                 x = ((unsigned)launch * gridDim.x + blockIdx.x) * 2654435761u >> 8;
  const unsigned long long own = s.share ? 0 : (unsigned long long)x << 12;
  unsigned word = (lane / (unsigned)s.turn + x) % (unsigned)(s.words + !s.words);
  if (s.words == 0) word = (x + lane * 40503u) * 2654435761u >> 12;
  if (s.lanes >> lane & 1) {
    const unsigned to = (unsigned)((memory + own + word * (unsigned)s.apart) >> 2);
    arc__sample(s.lanes, to, line_to_sample(line, s.fast), s.vectors);
  }
#else
  (void)memory, (void)line, (void)s, (void)launch;
#endif
}

static bool sums_at(const arc__learnt &learnt, int line) {
  return learnt.sums[ARC__WORD_OF(line)] >> arc__entry_of(line) % 32 & 1;
}

static void learns(void) {
  struct check_random r;
  if (!check_begin("what statements learn", &r)) return;
  const shape shapes[] = {random_words,
                          {"words in order", ~0u, 32, 4, 1, false, false},
                          {"pairs", ~0u, 16, 4, 2, false, false},
                          {"one word, one lane", 4u, 1, 4, 1, false, false},
                          {"one word, 11 lanes", 0x7ffu, 1, 4, 1, false, false},
                          {"one word, 20 lanes", 0xfffffu, 1, 4, 1, false, true},
                          one_word,
                          {"one hot word", ~0u, 1, 4, 1, true, true},
                          {"two words far apart", ~0u, 2, 4096, 16, false, true},
                          {"2 hot words", ~0u, 2, 4, 1, true, true},
                          {"8 hot words", ~0u, 8, 4, 1, true, true},
                          {"16 hot words, in pairs", ~0u, 16, 4, 2, true, true},
                          {"32 hot words, by warps", ~0u, 32, 4, 32, true, true},
                          {"one word, fast", ~0u, 1, 4, 1, false, false, true},
                          {"8 words", ~0u, 8, 4096, 4, false, true},
                          {"8 vectors", ~0u, 8, 4096, 4, false, false, false, true},
                          {"8 hot vectors", ~0u, 8, 16, 4, true, true, false, true},
                          {"one vector", ~0u, 1, 4, 1, false, true, false, true}};
  /* On a GPU blocks of one launch meet at an entry, which is a sample of one of them. */
  enum { LAUNCHES = SIMT_ON_CPU ? 30 : 1000 };
  int line = 1000;
  const unsigned long long memory = (1ull << 40) + 4096;
  for (int from : {0, 7, 8})
    for (const shape &to : shapes) {
      if (to.fast && shapes[from].sums) continue; /* sums make memory fast, and stay */
      ++line;
      arc__learnt learnt;
      const arc__statement &s = learnt.of[arc__entry_of(line)];
      int rest = 0; /* as the shape changes */
      for (int launch = 0; launch < LAUNCHES; ++launch) {
        SIMT_LAUNCH(sample, dim3(20), dim3(32), 0, 0, memory, line,
                    launch < LAUNCHES / 5 ? shapes[from] : to, launch);
        if (launch != LAUNCHES / 5 && launch + 1 < LAUNCHES) continue;
        CHECK(!cudaMemcpyFromSymbol(&learnt, arc__learnt_here, sizeof learnt), "it is lost");
        if (launch == LAUNCHES / 5) rest = s.rest;
      }
      const bool sums = sums_at(learnt, line);
      CHECK(sums == to.sums, "%s, then %s: %s, with a score of %d", shapes[from].name, to.name,
            sums ? "sums" : "plain", s.score);
      CHECK(s.line == line && s.taken >= ARC__SAMPLES, "line %d, %u samples", s.line, s.taken);
      CHECK(learnt.sums[ARC__WORD_OF(line)] & ARC__KNOWN, "line %d is not known", line);
      CHECK(to.share || (s.rest > 1 && (rest < 7 || !shapes[from].sums || to.sums)),
            "%s, then %s: a rest of %d, then of %d", shapes[from].name, to.name, rest, s.rest);
      check.compared += 1;
    }
}

/* A sample's fields, from the lowest bits on. */
struct fields {
  unsigned hot, addresses, saved, sectors, lanes, vectors;
};
static unsigned sample_of(const fields &f) {
  return f.hot | f.addresses << 7 | f.saved << 13 | f.sectors << 19 | f.lanes << 25 |
         f.vectors << 31;
}
static const fields pays = {0, 1, 31, 1, 32, 0}, few = {0, 1, 10, 1, 11, 0};
static const fields in_order = {0, 32, 0, 4, 32, 0};

static void gains(void) {
  struct check_random r;
  if (!check_begin("what a sample gains", &r)) return;
  const struct {
    fields sample;
    int gain;
  } must[] = {{pays, 23},
              {few, -2},
              {in_order, -10},
              {{0, 1, 11, 1, 12, 0}, 3},
              {{0, 1, 31, 1, 32, 1}, 7},
              {{0, 2, 30, 2, 32, 1}, -5},
              {{0, 2, 30, 2, 32, 0}, 14},
              {{0, 16, 16, 13, 32, 0}, 11},
              {{0, 32, 0, 32, 32, 0}, -5},
              {{1, 16, 2, 16, 32, 0}, 40}};
  for (const auto &m : must) {
    const int gain = arc__gain(sample_of(m.sample));
    CHECK(gain == m.gain, "%u lanes, %u addresses: %d, and must be %d", m.sample.lanes,
          m.sample.addresses, gain, m.gain);
    check.compared += 1;
  }
}

static __global__ void learn(unsigned sample, unsigned line, int times) {
#if SIMT_ON_CPU || defined(__CUDA_ARCH__)
  for (int i = 0; i < times; ++i) arc__learn(sample, line);
#else
  (void)sample, (void)line, (void)times;
#endif
}
/* Samples one after the other. Memory that is fast counts against sums, until a line sums. A line
   changes its mind at a score of 40. Samples become rarer, less so where they disagree. */
static void decides(void) {
  struct check_random r;
  if (!check_begin("what samples decide", &r)) return;
  enum { PAYS = 500, ORDER = 800 }; /* lines of two words */
  const struct {
    int line, times;
    const fields &sample;
    bool fast;
    int taken, least, most, rest; /* of the score; -1: any */
    bool known, sums;
  } steps[] = {{PAYS, 2, pays, false, 2, 46, 46, 0, false, false},
               {PAYS, 1, pays, true, 3, 41, 41, 0, false, false},
               {PAYS, 29, pays, false, 32, 600, 650, -1, true, true},
               {PAYS, 10, pays, true, 42, 590, 620, -1, true, true},
               {PAYS, 10, few, false, 52, 490, 560, 0, true, true},
               {PAYS, 80, pays, false, 132, 1400, 1700, 5, true, true},
               {PAYS, 4000, pays, false, 4132, 2800, 3000, 5, true, true},
               {PAYS, 256, few, false, -1, 41, 300, -1, true, true},
               {PAYS, 80, few, false, 34, 1, 40, -1, true, false},
               {ORDER, 3, in_order, false, 3, -30, -30, 0, false, false},
               {ORDER, 1, in_order, false, 4, -40, -40, 0, true, false},
               {ORDER, 300, in_order, false, 304, -1280, -1100, 5, true, false},
               {ORDER, 1, pays, false, 305, -1280, -1000, 1, true, false}};
  SIMT_LAUNCH(forget, dim3(1), dim3(ARC__ENTRIES), 0, 0, false);
  for (const auto &step : steps) {
    const int i = (int)(&step - steps);
    SIMT_LAUNCH(learn, dim3(1), dim3(1), 0, 0, sample_of(step.sample),
                line_to_sample(step.line, step.fast), step.times);
    arc__learnt learnt;
    CHECK(!cudaMemcpyFromSymbol(&learnt, arc__learnt_here, sizeof learnt), "it is lost");
    const arc__statement &s = learnt.of[arc__entry_of(step.line)];
    CHECK(step.taken < 0 || (int)s.taken == step.taken, "step %d: %u samples", i, s.taken);
    CHECK(s.score >= step.least && s.score <= step.most, "step %d: a score of %d", i, s.score);
    CHECK(step.rest < 0 || s.rest == step.rest, "step %d: a rest of %d", i, s.rest);
    CHECK(((learnt.sums[ARC__WORD_OF(step.line)] & ARC__KNOWN) != 0u) == step.known, "step %d: %s",
          i, step.known ? "not known" : "known");
    CHECK(sums_at(learnt, step.line) == step.sums, "step %d: %s", i, step.sums ? "plain" : "sums");
    check.compared += 5;
  }
}

/* Samples that are taken at once all count. More warps are drawn while a line has still to learn; what
   another line of the word has learnt stays. */
static void counts(void) {
  struct check_random r;
  if (!check_begin("samples count", &r)) return;
  enum { FIRST = 600 }; /* and the next: two lines of one word */
  const struct {
    int line, blocks; /* at once, then another */
    const shape &of;
    unsigned taken;
    bool known;
  } steps[] = {{FIRST, 19, one_word, 20, false},
               {FIRST, 20, one_word, 41, true},
               {FIRST + 1, 0, random_words, 1, false},
               {FIRST + 1, 80, random_words, 82, true}};
  SIMT_LAUNCH(forget, dim3(1), dim3(ARC__ENTRIES), 0, 0, false);
  for (const auto &step : steps) {
    const int i = (int)(&step - steps);
    for (const int blocks : {step.blocks, 1})
      if (blocks)
        SIMT_LAUNCH(sample, dim3((unsigned)blocks), dim3(32), 0, 0, 1ull << 40, step.line, step.of,
                    i);
    arc__learnt learnt;
    CHECK(!cudaMemcpyFromSymbol(&learnt, arc__learnt_here, sizeof learnt), "it is lost");
    const unsigned taken = learnt.of[arc__entry_of(step.line)].taken;
    CHECK(taken == step.taken, "step %d: %u samples, and must be %u", i, taken, step.taken);
    const bool known = (learnt.sums[ARC__WORD_OF(FIRST)] & ARC__KNOWN) != 0u;
    CHECK(known == step.known, "step %d: known %d", i, known);
    CHECK(sums_at(learnt, FIRST) == (i > 0), "step %d: line %d %s", i, FIRST,
          i > 0 ? "is plain" : "sums");
    check.compared += 3;
  }
}

/* Counts the lanes of drawn warps, and those that read another word than the table's. It uses the
   results of its atomicAdds, so that the flag does not serve them. */
static __global__ void draw(unsigned *counts, unsigned word) {
#if SIMT_ON_CPU || defined(__CUDA_ARCH__)
  const unsigned says = arc__ask(3);
  if (says & ARC__DRAWN) (void)(unsigned)atomicAdd(&counts[0], 1u);
  if ((says & ~(ARC__KNOWN | ARC__DRAWN)) != word) (void)(unsigned)atomicAdd(&counts[1], 1u);
#else
  (void)counts, (void)word;
#endif
}
static __global__ void write(unsigned word) { arc__learnt_here.sums[3] = word; }

static void draws(void) {
  struct check_random r;
  if (!check_begin("which warps are drawn", &r)) return;
  enum { BLOCKS = SIMT_ON_CPU ? 400 : 40000, LANES = BLOCKS * 256 };
  for (const bool known : {false, true})
    for (const unsigned lines : {0u, 0x12340678u, ~(ARC__KNOWN | ARC__DRAWN)}) {
      const test_memory<unsigned> counts(2);
      SIMT_LAUNCH(write, dim3(1), dim3(1), 0, 0, lines | (known ? ARC__KNOWN : 0u));
      SIMT_LAUNCH(draw, dim3(BLOCKS), dim3(256), 0, 0, counts.at, lines);
      const std::vector<unsigned> got = counts.read();
      const double must = LANES / (known ? 4096.0 : 256.0);
      CHECK(got[0] >= must / 4 && got[0] <= must * 4, "%u of %d lanes are drawn and %.0f must be",
            got[0], (int)LANES, must);
      CHECK(got[1] == 0u, "%u lanes read another word than %x", got[1], lines);
      check.compared += 2;
    }
}

/* Two lines share an entry. Their mean gain decides, which is what both together gain. */
static void mixes(void) {
  struct check_random r;
  if (!check_begin("two lines of one entry", &r)) return;
  const shape others[] = {{"one word, 13 lanes", 0x1fffu, 1, 4, 1, false, false}, one_word};
  for (const shape &other : others) {
    SIMT_LAUNCH(forget, dim3(1), dim3(ARC__ENTRIES), 0, 0, false);
    for (int launch = 0; launch < 200; ++launch)
      SIMT_LAUNCH(sample, dim3(1), dim3(32), 0, 0, 1ull << 40,
                  500 + launch % 2 * ARC__LINES * ARC__WORDS, launch % 2 ? other : random_words,
                  launch);
    arc__learnt learnt;
    CHECK(!cudaMemcpyFromSymbol(&learnt, arc__learnt_here, sizeof learnt), "it is lost");
    const bool sums = sums_at(learnt, 500);
    CHECK(sums == other.sums, "%s and %s: %s", random_words.name, other.name,
          sums ? "sums" : "plain");
    check.compared += 1;
  }
}

#if SIMT_ON_CPU /* which counts instructions */
static __global__ void add_at(unsigned *cell, int line) {
  arc__statement *learnt = &arc__learnt_here.of[arc__entry_of(line)];
  learnt->taken = ARC__SAMPLES, learnt->score = 1 << 20; /* so it stays as it is */
  for (int i = 0; i < 64; ++i) {
    __syncwarp();
    arc__drop_in_add(cell, 1u, arc__code_line{line});
  }
}
/* A line that sums does so whatever its number is. */
static void lines(void) {
  struct check_random r;
  if (!check_begin("lines", &r)) return;
  for (const int line : {0, (1 << 23) - 1, 1 << 23, 2147483647}) {
    const test_memory<unsigned> cell(1);
    SIMT_LAUNCH(forget, dim3(1), dim3(ARC__ENTRIES), 0, 0, true);
    simt_counters_reset();
    SIMT_LAUNCH(add_at, dim3(32), dim3(64), 0, 0, cell.at, line);
    const unsigned long long votes = simt_counters_read().votes;
    CHECK(votes < 16 * 4096, "line %d: %llu votes in 4096 calls, so it takes samples", line, votes);
    CHECK(cell.read()[0] == 32 * 64 * 64, "line %d: a sum of %u", line, cell.read()[0]);
    check.compared += 2;
  }
}
#else /* where memory may be slow */
/* Atomics queue here on any GPU: 270 336 lanes add to one cell. */
enum { QUEUE_LINE = __LINE__ + 2 };
static __global__ void queue(float *cell) {
  for (int i = 0; i < 16; ++i) atomicAdd(cell, 1.0f);
}

static void queues(void) {
  struct check_random r;
  if (!check_begin("atomics that queue", &r)) return;
  const test_memory<float> cell(1);
  arc__learnt learnt;
  int launches = 0;
  SIMT_LAUNCH(forget, dim3(1), dim3(ARC__ENTRIES), 0, 0, false);
  do {
    SIMT_LAUNCH(queue, dim3(1056), dim3(256), 0, 0, cell.at);
    CHECK(!cudaMemcpyFromSymbol(&learnt, arc__learnt_here, sizeof learnt), "it is lost");
  } while (++launches < 40 && !sums_at(learnt, QUEUE_LINE));
  const arc__statement &s = learnt.of[arc__entry_of(QUEUE_LINE)];
  CHECK(sums_at(learnt, QUEUE_LINE), "line %d is plain after %d launches, %u samples, score %d",
        s.line, launches, s.taken, s.score);
  check.compared += 1;
}
#endif

/* The first line of `text` with `words`, as far as these. */
static std::string line_of(const std::string &text, const char *words) {
  const size_t end = text.find(words), begin = text.rfind('\n', end) + 1;
  return end == std::string::npos ? "" : text.substr(begin, end - begin);
}

static void prints(void) {
  struct check_random r;
  if (!check_begin("what is printed", &r)) return;
  const shape two = {"", ~0u, 2, 4096, 16, false, true}, one = {"", ~0u, 1, 4, 1, false, true};
  SIMT_LAUNCH(forget, dim3(1), dim3(ARC__ENTRIES), 0, 0, false);
  for (int launch = 0; launch < 40; ++launch)
    SIMT_LAUNCH(sample, dim3(1), dim3(32), 0, 0, 1ull << 40, 2001, two, 0);
  for (int launch = 0; launch < 7; ++launch)
    SIMT_LAUNCH(sample, dim3(1), dim3(32), 0, 0, 1ull << 40, 2002, one, 0);
  int status;
  const std::string text = printed(nullptr, &status), learnt = line_of(text, ":2001\n"),
                    short_of = line_of(text, ":2002\n");
  /* how hot it is depends on which multiprocessors had the launches */
  CHECK(
      learnt.find(" 32.0        2.0    32.0 ") == 0 && learnt.find("  sums  ") != std::string::npos,
      "'%s'", learnt.c_str());
  CHECK(short_of.find("not learnt: 7 of 32 samples") != std::string::npos, "%s", short_of.c_str());
  check.compared += 2;
}
#endif

#if LEARNS && ARC__DROPS_VECTORS /* not on the CPU warp */
/* Lanes add vectors to one cell, or to five in turn. */
template <class V>
static __global__ void add_vectors(float *cells, int cell_count, int calls) {
  for (int call = 0; call < calls; ++call) {
    alignas(16) float values[4] = {1, 2, (float)threadIdx.x, (float)call};
    atomicAdd((V *)cells + threadIdx.x % cell_count, *(V *)values);
  }
}
template <class V>
static void vectors(bool sums, int cell_count) {
  enum { CALLS = 100, LANES = 20, BLOCKS = 40 };
  struct check_random r;
  if (!check_begin("float2 and float4", &r)) return;
  const int width = sizeof(V) / sizeof(float);
  const test_memory<float> cells(width * cell_count);
  SIMT_LAUNCH(forget, dim3(1), dim3(ARC__ENTRIES), 0, 0, sums);
  SIMT_LAUNCH(add_vectors<V>, dim3(BLOCKS), dim3(LANES), 0, 0, cells.at, cell_count, (int)CALLS);
  const std::vector<float> got = cells.read();
  for (int i = 0; i < width * cell_count; ++i) {
    double must = 0;
    for (int lane = i / width; lane < LANES; lane += cell_count)
      must += BLOCKS * CALLS *
              (i % width == 3   ? (CALLS - 1) / 2.0
               : i % width == 2 ? lane
                                : i % width + 1);
    CHECK(fabs(got[i] - must) <= 1e-4 * must, "value %d is %g and must be %g", i, got[i], must);
    check.compared += 1;
  }
}
#endif

/* Addresses whose lower 32 bits are alike are not one address. No memory can be so large on the CPU
   warp: what is asked is which lanes share one. */
static __global__ void far_apart(unsigned *groups) {
  const int lane = (int)threadIdx.x;
  const char *address = (const char *)(((unsigned long long)(1 + lane % 2) << 32) + 4096);
  groups[lane] = arc__sharers(0xffffffffu, lane, address, 8, 17);
}

static void far_addresses(void) {
  struct check_random r;
  if (!check_begin("addresses 4 GiB apart", &r)) return;
  const test_memory<unsigned> groups(32);
  SIMT_LAUNCH(far_apart, dim3(1), dim3(32), 0, 0, groups.at);
  for (unsigned group : groups.read()) CHECK(group == 0u, "group %x must be 0", group);
}

/* One warp adds to one cell that is 0: against the bound of the text, if its lanes are `together`;
   which lanes arrive together at an atomicAdd is drawn on the CPU warp. */
static __global__ void add_floats(float *cells, const float *values, int count, bool together) {
  const int lane = (int)threadIdx.x;
  const unsigned lanes = 0xffffffffu >> (32 - count);
  const float value = values[32 * blockIdx.x + threadIdx.x];
  if (lane >= count) return;
  if (together)
    arc__drop_in_sums(lanes, lanes, lane, &cells[blockIdx.x], value);
  else
    atomicAdd(&cells[blockIdx.x], value);
}

enum { SPREAD, ALIKE, TINY, HUGE_VALUES, CANCELLING, NOT_A_NUMBER, INFINITE, OPPOSITE, KINDS };

static float draw_float(struct check_random *r, int kind, int lane) {
  const float x = ldexpf((float)(check_bits(r) >> 8 | 1u << 23), -23), sign = lane & 1 ? -1 : 1;
  return kind == SPREAD         ? sign * ldexpf(x, check_below(r, 60) - 30)
         : kind == TINY         ? ldexpf(x, -126 + check_below(r, 20))
         : kind == HUGE_VALUES  ? sign * ldexpf(x, 126)
         : kind == CANCELLING   ? sign * (1.0f + ldexpf(x, -20))
         : kind == NOT_A_NUMBER ? (lane == 5 ? NAN : x)
         : kind == INFINITE     ? (lane == 2 ? -INFINITY : x)
         : kind == OPPOSITE     ? (lane == 1   ? -INFINITY
                                   : lane == 3 ? INFINITY
                                               : x)
                                : x;
}

static void floats(int kind, int count, bool together) {
  enum { WARPS = 50 };
  struct check_random r;
  if (!check_begin("bound of floats", &r)) return;
  std::vector<float> values(32 * WARPS);
  for (int n = 0; n < 32 * WARPS; ++n) values[n] = draw_float(&r, kind, n % 32);
  const test_memory<float> cells(WARPS), device_values(values);
  SIMT_LAUNCH(add_floats, dim3(WARPS), dim3(32), 0, 0, cells.at, device_values.at, count, together);
  const std::vector<float> got = cells.read();
  for (int w = 0; w < WARPS; ++w) {
    double sum = 0, largest = 0, all_of = 0;
    for (int lane = 0; lane < count; ++lane) {
      sum += values[32 * w + lane];
      largest = fmax(largest, fabs(values[32 * w + lane]));
      all_of += fabs(values[32 * w + lane]);
    }
    const bool in_fixed_point = together && SIMT_ARCH >= 800;
    double bound = 0x1p-21 * largest + 0x1p-24 * fabs(sum) + 0x1p-122;
    if (!in_fixed_point) bound = 0x1p-20 * all_of + 0x1p-122;
    if (kind == HUGE_VALUES && !in_fixed_point) continue; /* which may overflow on the way */
    if (isnan(sum))
      CHECK(isnan(got[w]), "kind %d, %d lanes: %g must be NaN", kind, count, got[w]);
    else if (isinf((float)sum))
      CHECK(got[w] == (float)sum, "kind %d, %d lanes: %g must be %g", kind, count, got[w], sum);
    else
      CHECK(fabs(got[w] - sum) <= bound, "kind %d, %d lanes: %.9g must be %.9g, +-%g", kind, count,
            got[w], sum, bound);
    check.compared += 1;
  }
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  all<float>("float");
  all<double>("double");
  all<int>("int");
  all<unsigned>("unsigned");
  all<unsigned long long>("unsigned long long");
#if LEARNS
  SIMT_LAUNCH(forget, dim3(1), dim3(ARC__ENTRIES), 0, 0, false);
  learns();
  gains();
  decides();
  counts();
  mixes();
  draws();
#if SIMT_ON_CPU
  lines();
#else
  queues();
#endif
  prints();
#endif
  far_addresses();
#if LEARNS && ARC__DROPS_VECTORS
  for (bool sums : {false, true})
    for (int cell_count : {1, 5})
      vectors<float2>(sums, cell_count), vectors<float4>(sums, cell_count);
#endif
  for (int kind = 0; kind < KINDS; ++kind)
    for (int count : {3, 8, 20, 32})
      for (bool together : {false, true}) floats(kind, count, together);
  return check_finish();
}

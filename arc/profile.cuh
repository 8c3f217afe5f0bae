/* profile.cuh - where arc would help: what each atomicAdd does, and what it would gain. C++.
   EXPERIMENTAL. SPDX-License-Identifier: Apache-2.0

       nvcc -include arc/drop_in.cuh -DARC_PROFILE=1 ...
   Each atomicAdd on global memory counts, if arc/drop_in.cuh would serve it or if its result is
   used. It counts per line: calls of a warp, the lanes that arrive together, and their addresses.
   Each arc_add_... of arc.cuh counts too, by its keys; other forms do not. All of them still add as
   they do without the flag. The first warp calls are looked at, then about one in 1000, which
   stands for the others. Each source file takes 17 MiB of device memory, for 64 lines. Below sm_70
   all addresses count as different.

       ARC_EXPERIMENTAL int arc_profile_print(FILE *out, const char *masks_csv);
   Prints one table of all source files that count. Call it once, on the host, after the kernels; it
   waits for them. Unless masks_csv is null, it also writes the histogram for
   `arc_sweep --workload-file` there. Returns 0. If nothing has run or the CSV cannot be written, it
   prints a line to stderr and returns 1. It reads only the current device. docs/try.md explains the
   columns and says what to do. The line of a call of arc ends with three more figures: how many of
   its calls reduced, the threshold (33: never; the mean, if it changes), and how many more calls
   had no active lane.
   If ARC_PROFILE is 0 and ARC_DROP_IN is ARC_DROP_IN_LEARNS, include this file after drop_in.cuh.
   The same call then prints what the flag has learnt in this run, and writes no masks. */
#ifndef ARC_PROFILE_CUH
#define ARC_PROFILE_CUH
#ifndef ARC_DROP_IN_CUH
#error "arc/profile.cuh: include arc/drop_in.cuh with -DARC_PROFILE=1"
#endif
enum { ARC__PLACES = 64, ARC__COPIES = 16, ARC__NAME = 240, ARC__SLOTS = 256 };
enum { ARC__ALL = 2048, ARC__EACH = 256, ARC__RARELY = 1024 }; /* warp calls that are looked at */
/* Indices into a tally. It begins with the calls at 33 * lanes + addresses; these sums follow.
   Those before NEAR become means over calls. The others count calls looked at in succession. */
enum { ARC__PASSES = 33 * 33, ARC__AGAIN, ARC__REDUCED, ARC__LEAST, ARC__NEAR, ARC__NEXT };
enum { ARC__ADDS = ARC__NEXT + 1, ARC__LOOPS, ARC__PARTED, ARC__EVEN, ARC__SUMS };
enum { ARC__SEEN = 8 };
#if ARC_PROFILE
struct arc__code_line {
  const char *file;
  int line;
  const char *call; /* the call of arc; null: an atomicAdd */
};
#define ARC__HERE \
  { __builtin_FILE(), __builtin_LINE(), 0 }
#define arc__drop_in_result arc__counted_result /* files that do not count have their own type */
struct arc__counted {
  char file[ARC__NAME], call[24];
  int line, width; /* width of an atomicAdd: 0 if its result is used; else from its type */
};
struct arc__counts {
  arc__u64 id[ARC__PLACES], lost;
  arc__counted place[ARC__PLACES];
  /* The distance of each lane's address from its address at the statement before. From bit 57 on:
     the distance of their lines. 0: not known; all ones: it varies. */
  arc__u64 step[ARC__PLACES];
  unsigned loose[ARC__PLACES]; /* bits 2 and 3 of addresses; 1: a lane has another's last one */
  /* Warp calls that were looked at, per multiprocessor; after ARC__ALL of them, per line. */
  unsigned all[ARC__SLOTS], each[ARC__PLACES];
  /* Per multiprocessor and warp. last: each lane's address and line, then block and time. seen: an
     address per place. */
  arc__u64 last[ARC__SLOTS][64][33];
  unsigned seen[ARC__SLOTS][64][ARC__PLACES];
  arc__u64 tally[ARC__COPIES][ARC__PLACES][ARC__SUMS]; /* copies: adds to one address take turns */
};
static __device__ arc__counts arc__counts_here;

/* Returns the place of a line; negative if there are too many lines. */
ARC__FN int arc__count_place(arc__code_line at, int width) {
  arc__counts *c = &arc__counts_here;
  const unsigned line = (unsigned)at.line, kind = at.call ? 2u : width == 0;
  const arc__u64 id = (arc__u64)at.file << 17 | (line & 0x7fffu) << 2 | kind;
  unsigned i = line, k = 0;
  ARC__NO_UNROLL
  while (c->id[i % ARC__PLACES] != 0u && c->id[i % ARC__PLACES] != id && ++k < ARC__PLACES) ++i;
  if (k == ARC__PLACES) atomicAdd(&c->lost, 1ull);
  i %= ARC__PLACES;
  const arc__u64 before = c->id[i] == id ? id : atomicCAS(&c->id[i], 0ull, id);
  if (before == 0u) {
    arc__counted *to = &c->place[i];
    for (k = 0; at.file[k] && k < ARC__NAME - 1; ++k) to->file[k] = at.file[k];
    for (k = 0; at.call && at.call[k]; ++k) to->call[k] = at.call[k];
    to->line = at.line;
    to->width = width;
  }
  return before == 0u || before == id ? (int)i : -1;
}

/* Returns the number of this warp on its multiprocessor, below 64. */
ARC__FN unsigned arc__warp(void) {
  unsigned warp = (unsigned)arc__thread() / 32u;
#if defined(__CUDA_ARCH__)
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
#endif
  return warp % 64u;
}
/* Returns how many calls of its line this call stands for. The first calls are looked at and stand
   for themselves; later ones are chosen by chance and stand for many. 0: the call stands for none,
   but shows which statement follows which. Each warp looks at all its calls in one of 256 spans of
   time; warps take these spans in turn. Negative: the call is not looked at. */
ARC__FN int arc__looks(int line) {
  const unsigned clock = (unsigned)clock64(), warp = arc__warp();
  if (arc__counts_here.each[(unsigned)line % ARC__PLACES] < ARC__EACH) return 1;
  if (clock * 0x9e3779b9u < ~0u / ARC__RARELY) return ARC__RARELY; /* not in step with a loop */
  return ((clock >> 15 ^ warp >> 1) & 255u) == 0u ? 0 : -1;
}
/* Looks at a call of `lanes`, which all call it. Groups of `least` lanes or more are reduced, with
   `least` up to 32. If none is reduced, pass 0 instead of 33: nvcc 13.0 moves a vote on a known
   result to where one lane waits for all. The function is out of line, and the lanes meet at its
   end. So a loop that they leave at several places parts them no further. */
static __device__ inline __attribute__((noinline)) void arc__count(unsigned lanes, arc__u64 address,
                                                                   arc__code_line at, int width,
                                                                   int stands_for, int least,
                                                                   int threshold) {
  arc__counts *c = &arc__counts_here;
  const int lane = arc__lane(), place = arc__count_place(at, width); /* the same for all lanes */
  const unsigned warp = arc__warp(), here = arc__multiprocessor() % ARC__SLOTS;
  if (place >= 0) { /* true for all lanes or for none */
    unsigned same = 1u << lane, sector = same, hits = 0;
#if ARC__ARCH >= 700
    same = __match_any_sync(lanes, address);
    sector = __match_any_sync(lanes, address >> 5);
#endif
    const bool is_first = arc__leads(same, lane);
    const unsigned most = 1 + arc__more_in_sector(lanes, same, sector);
    const unsigned id = (unsigned)(address >> 2);
    ARC__NO_UNROLL
    for (unsigned i = 1; i <= ARC__SEEN; ++i)
      hits += *(volatile unsigned *)&c->seen[here ^ i][warp][place] == id;
    hits = (arc__leads(sector, lane) ? most : 0u) + (is_first ? 0u : hits << 8);
    const unsigned sum = arc__sum_over(lanes, hits, 12);
    arc__u64 *last = c->last[here][warp];
    const arc__u64 now = address + ((arc__u64)at.line << 57), step = now - last[lane];
    const arc__u64 before = __shfl_sync(lanes, last[lane], arc__highest(lanes));
    const bool corners = __any_sync(lanes, step << 7 != 0u && (now - before) << 7 == 0u);
    const bool even = !__any_sync(lanes, step != __shfl_sync(lanes, step, arc__highest(lanes)));
    const bool reduced = least > 0 && __any_sync(lanes, __popc(same) >= least);
    const int addresses = __popc(__ballot_sync(lanes, is_first));
    last[lane] = now;
    if (arc__leads(lanes, lane)) {
      const unsigned span = (unsigned)clock64() >> 15, block = blockIdx.x + gridDim.x * blockIdx.y;
      const bool all = c->all[here] < ARC__ALL, in_turn = all || ((span ^ warp >> 1) & 255u) == 0u;
      const bool follows = in_turn && (all ? last[32] != 0u : (unsigned)last[32] == span);
      const bool inside = follows && last[32] >> 32 == block;
      last[32] = (arc__u64)block << 32 | span;
      if (all)
        atomicAdd(&c->all[here], 1u);
      else if (stands_for == 1)
        atomicAdd(&c->each[(unsigned)at.line % ARC__PLACES], 1u);
      arc__u64 *to = c->tally[here % ARC__COPIES][place], *known = &c->step[place];
      const arc__u64 want = even ? step : ~0ull;
      const arc__u64 was = !follows ? want : *known != 0u ? *known : atomicCAS(known, 0ull, want);
      if (was != 0u && was != want) *known = ~0ull;
      const unsigned loose = ((unsigned)address & 12u) | (follows && even && corners);
      if (loose & ~c->loose[place]) atomicOr(&c->loose[place], loose);
      c->seen[here][warp][place] = id;
      /* adjacent rows say nothing about a loop */
      const bool parted = follows && addresses > 1 && 6 * (int)(sum & 0xffu) > addresses;
      const bool moves = inside && even && step != 0u && (step + (1ull << 56)) >> 57 == 0u;
      const auto add = [to](int to_sum, unsigned x) {
        if (x) atomicAdd(&to[to_sum], (arc__u64)x);
      };
      const unsigned calls = (unsigned)stands_for;
      add(33 * __popc(lanes) + addresses, calls), add(ARC__PASSES, (sum & 0xffu) * calls);
      add(ARC__AGAIN, (sum >> 8) * calls), add(ARC__REDUCED, reduced * calls);
      add(ARC__LEAST, (unsigned)threshold * calls), add(ARC__NEXT, follows);
      const unsigned adds = in_turn ? (unsigned)__popc(lanes) : 0u;
      add(ARC__ADDS, adds), add(ARC__NEAR, c->seen[here][warp ^ 1u][place] == id ? adds : 0u);
      add(ARC__LOOPS, moves && step + 64u <= 128u);
      add(ARC__PARTED, parted), add(ARC__EVEN, parted && moves);
    }
  }
  __syncwarp(lanes);
}
ARC__FN void arc__count_add(const void *p, arc__code_line at, int width) {
  const int stands_for = arc__looks(at.line);
  if (stands_for < 0 || __isShared(p)) return; /* before the lanes, which wait for each other */
  arc__count(arc__lanes_here(), (arc__u64)p, at, width, stands_for, 0, 0);
}
#define arc__count_used(p, at) arc__count_add(p, at, 0)

ARC__FN int arc__count_type(const float *) { return 1; }
ARC__FN int arc__count_type(const double *) { return 2; }
ARC__FN int arc__count_type(const void *) { return 3; } /* no call is predicted for it */
template <class T>
ARC__FN void arc__drop_in_add(T *p, T v, arc__code_line at) {
  arc__count_add(p, at, arc__count_type(p));
  atomicAdd(p, v);
}

/* Counts a call of arc before it adds, with what arc__add will decide. It is a template because
   arc.cuh comes later. */
template <class Call>
ARC__FN Call arc__count_call(Call c, arc__code_line at) {
  c.lanes |= 1u << c.lane; /* the leader counts apart, see arc__make_mask_of_lane */
  Call asked = c;
  if (!at.call) at.call = "arc_add_with";
  asked.present = __ballot_sync(asked.lanes, c.active);
  arc__decide(&asked);
  const bool plain = asked.decision.what == 0; /* ARC__EACH_LANE, which a later file defines */
  const int threshold = c.literal.path == ARC_PATH_ATOMIC ? 33 : asked.decision.min_present;
  const int group = asked.decision.min_group < 2 ? 2 : asked.decision.min_group;
  const int least = plain || threshold > 32 ? 0 : group;
  const int looks = __shfl_sync(asked.lanes, arc__looks(at.line), arc__highest(asked.lanes));
  int place = -1;
  if (c.active && looks >= 0) /* as if each row had 32 bytes of its own */
    arc__count(asked.present, (arc__u64)arc__key_id(c.key) << 5, at, c.width, looks, least,
               threshold);
  else if (asked.present == 0u && arc__leads(asked.lanes, c.lane))
    place = arc__count_place(at, c.width);
  if (place >= 0) atomicAdd(&arc__counts_here.tally[0][place][0], 1ull);
  return c;
}
#ifndef ARC_CUH /* its calls now pass their lines */
#undef ARC__LINE
#undef ARC__LINE_OF
#undef ARC__PASSED
#undef ARC__COUNTED
#define ARC__LINE_OF , arc__code_line arc__at __attribute__((unused))
#define ARC__LINE ARC__LINE_OF = ARC__HERE
#define ARC__PASSED(name) \
  , arc__code_line { arc__at.file, arc__at.line, name }
#define ARC__COUNTED(call) arc__count_call(call, arc__at)
#endif
#endif

#if !defined(__CUDACC_RTC__) && (ARC_PROFILE || ARC_DROP_IN == ARC_DROP_IN_LEARNS)
#include <math.h>
#include <stdio.h>
#include <algorithm>
#include <string>
#include <vector>
/* A statement, with means over its warp calls or over samples of them. */
struct arc__line {
  std::string file, call, does; /* call: the call of arc; empty: an atomicAdd */
  int line, width, sums;        /* sums: whether the flag sums, 0 or 1; -1: predict it */
  int values, pieces, loop;     /* of the predicted call of arc; of a loop */
  double calls, lanes, addresses, passes, again, plain, flag, gain;
  double tally[ARC__SUMS];
  unsigned loose;
  arc__u64 step;
};

/* Predicts costs in passes. A pass is about 0.01 ns of a whole H200, to which the model is fitted.
   The cost of sums depends on the addresses of a warp; that of a call also on its values. The code
   around the adds costs 5. */
static inline void arc__predict(arc__line *l) {
  const double n = l->values, addresses = l->addresses, least = fmin(addresses, l->passes);
  const double hot = 100 * fmin(1, sqrt(l->again / fmax(l->lanes, 1)));
  const double plain = l->passes + 100 * l->again + hot, rest = 5 / n;
  const double sums = (addresses < 1.5 ? 7 : 25) + least + hot;
  const bool is_call = !l->call.empty(), is_row = l->pieces == 1;
  const bool apart = addresses > 0.97 * l->lanes || l->lanes < 6,
             whole = l->call != "arc_add_divergent";
  const int odd = l->loose & 4u || l->values % 2 ? 1 : l->loose & 8u || l->values % 4 ? 2 : 4;
  const int vector = is_row ? odd : 1; /* values of a row that a lane adds per request */
  const double adds = apart             ? n * plain / vector + 2
                      : addresses < 1.5 ? (is_row ? ceil(n / 8) : n) + hot
                                        : (least + hot) * n / vector;
  const double call = fmax(3.5 + 0.6 * addresses + (is_row ? 0.75 : 1.75) * n, adds);
  const bool pays = l->sums < 0 ? l->lanes >= ARC__FEWEST && sums < plain : l->sums > 0;
  l->plain = plain * (is_call ? n : 1) * l->calls;
  const double flagged = pays ? sums : plain + 0.5; /* a load and a compare */
  l->flag = is_call || !l->width ? 1 : (plain + rest) / (flagged + rest);
  l->gain = is_call || l->width % 3 ? (n * plain + 5) / (call + 5) : 1;
  if (!l->does.empty()) return;
  l->does = l->flag >= 1.1 && (n == 1 || l->flag > l->gain)       ? "drop-in"
            : l->gain < 1.1                                       ? "leave it"
            : l->lanes < 8 || (is_call ? !whole : l->lanes <= 24) ? "divergent"
            : addresses < 1.1                                     ? "uniform"
            : is_call                                             ? "add"
                                                                  : "divergent";
}

#if ARC_PROFILE
/* Adds what this source file has counted. Lines of a header may be in several files. */
static inline void arc__read(std::vector<arc__line> *lines) {
  std::vector<arc__counts> table(1);
  const arc__counts *c = &table[0];
  if (cudaMemcpyFromSymbol(&table[0], arc__counts_here, sizeof *c) != cudaSuccess) return;
  if (c->lost)
    fprintf(stderr, "arc: over %d lines in a file, %llu adds lost\n", ARC__PLACES, c->lost);
  for (int place = 0; place < ARC__PLACES; ++place) {
    const arc__counted *at = &c->place[place];
    auto l = std::find_if(lines->begin(), lines->end(), [=](const arc__line &k) {
      return k.file == at->file && k.line == at->line && k.call == at->call && k.width == at->width;
    });
    if (c->id[place] == 0) continue;
    const bool is_new = l == lines->end();
    if (is_new) l = lines->insert(l, arc__line());
    l->file = at->file, l->call = at->call, l->line = at->line, l->width = at->width;
    l->step = is_new || l->step == c->step[place] ? c->step[place] : ~0ull;
    l->sums = -1, l->loose |= c->loose[place];
    for (int copy = 0; copy < ARC__COPIES; ++copy)
      for (int k = 0; k < ARC__SUMS; ++k) l->tally[k] += (double)c->tally[copy][place][k];
  }
}
#else
static inline void arc__read(std::vector<arc__line> *lines) {
  arc__learnt table, *t = &table;
  if (cudaMemcpyFromSymbol(t, arc__learnt_here, sizeof *t) != cudaSuccess) return;
  for (int i = 0; i < ARC__ENTRIES; ++i) {
    const arc__statement *s = &t->of[i];
    const int all = ARC__SAMPLES, samples = s->taken < (unsigned)all ? (int)s->taken : all;
    if (samples == 0) continue;
    arc__line *l = &*lines->insert(lines->end(), arc__line());
    l->file = __BASE_FILE__, l->line = s->line, l->width = 1;
    l->does = t->sums[i / ARC__LINES] >> i % ARC__LINES & 1 ? "sums" : "plain";
    const std::string few = std::to_string(samples) + " of " + std::to_string(all);
    if (samples < all) l->does = "not learnt: " + few + " samples";
    l->sums = l->does[0] == 's', l->calls = samples, l->values = l->pieces = 1;
    double *const mean[] = {&l->again, &l->addresses, &l->passes, &l->passes, &l->lanes};
    for (int k = 0; k < 5 * samples; ++k)
      *mean[k % 5] += arc__field(s->sample[k / 5], k % 5) / (double)samples;
  }
}
#endif

/* Returns how many values a loop adds. After the first, each value has the same distance from the
   one before in all lanes. 1: no loop, or too many values for one. */
static inline int arc__loop(double calls, double moved) {
  const double values = calls / fmax(calls - moved, 1);
  return values > 1.9 && values < 1024 ? (int)(values + 0.5) : 1;
}
/* Computes the means of a line, and how many values a call of arc would have. These are the values
   of a loop, or of lines in a row, if each lane's addresses are as far apart in each call. */
static inline void arc__count_values(arc__line *l, arc__line **first) {
  double *tally = l->tally;
  for (int bin = 1; bin < ARC__PASSES; ++bin) l->calls += tally[bin];
  for (int k = 1; k < ARC__NEAR; ++k) tally[k] /= fmax(l->calls, 1);
  for (int bin = 1; bin < ARC__PASSES; ++bin)
    l->lanes += tally[bin] * (bin / 33), l->addresses += tally[bin] * (bin % 33);
  l->passes = tally[ARC__PASSES], l->again = tally[ARC__AGAIN] / ARC__SEEN;
  const int close = arc__loop(tally[ARC__NEXT], tally[ARC__LOOPS]);
  const int far = arc__loop(tally[ARC__PARTED], tally[ARC__EVEN]);
  l->loop = far > 2 * close ? far : close;
  l->values = l->call.empty() ? l->loop : l->width;
  l->pieces = l->call.empty() && (l->loop != close || l->loose & 1u) ? l->values : 1;
  const arc__u64 down = (l->step + (1ull << 56)) >> 57, apart = l->step - (down << 57) + 64u;
  const arc__line *f = *first;
  const int pieces = f ? f->pieces + (apart > 128u || l->loose & 1u) : 1;
  if (!f || f->file != l->file || l->width != f->width || l->width % 3 == 0 || l->values > 1 ||
      !l->call.empty() || !f->call.empty() ||
      fabs(l[-1].tally[ARC__ADDS] - l->tally[ARC__ADDS]) > 0.25 * l->tally[ARC__ADDS] ||
      l->step == 0 || (int)down != l->line - l[-1].line || (pieces > 8 && l->step != l[-1].step))
    *first = l;
  for (arc__line *k = *first; k < l; ++k) k->pieces = pieces, k->values = (int)(l - *first) + 1;
  if (*first != l) l->pieces = pieces, l->values = l[-1].values, l->loose = f->loose;
}

static inline void arc__print_notes(FILE *out, const arc__line *l) {
  const bool is_call = !l->call.empty();
  if (is_call)
    fprintf(out, ", %s of %d values: %.0f%% reduced, threshold %.0f, %.0f empty", l->call.c_str(),
            l->width, 100 * l->tally[ARC__REDUCED], l->tally[ARC__LEAST], l->tally[0]);
  if (is_call && l->calls > 0 && l->gain < 0.95)
    fprintf(out, ", atomicAdd is faster");
  else if (is_call && l->lanes < 8 && l->call != "arc_add_divergent")
    fprintf(out, ", few lanes: use arc_add_divergent");
  else if (!l->width)
    fprintf(out, ", its result is used");
  else if (!is_call && l->values > 1)
    fprintf(out, ", %s %d %s", l->loop > 1 ? "a loop or helper over about" : "one call of",
            l->values, l->pieces > 1 ? "arrays or corners" : "values");
  if (l->width && l->tally[ARC__NEAR] > 0.25 * fmax(l->tally[ARC__ADDS], 1) &&
      l->addresses > 0.7 * l->lanes)
    fprintf(out, ", put neighbours back into one warp first");
}

/* The readers of a program's files. Each file adds its own before main. Files that
   count have a list of their own. */
typedef void arc__reader(std::vector<arc__line> *);
template <int>
std::vector<arc__reader *> &arc__files(void) {
  static std::vector<arc__reader *> files;
  return files;
}
static const bool arc__listed __attribute__((unused)) =
    (arc__files<ARC_PROFILE>().push_back(arc__read), true);

ARC_EXPERIMENTAL static inline int arc_profile_print(FILE *out, const char *masks_csv) {
  std::vector<arc__line> lines;
  arc__line *first = 0;
  FILE *masks = ARC_PROFILE && masks_csv ? fopen(masks_csv, "w") : 0;
  bool good = !ARC_PROFILE || !masks_csv || masks;
  double plain = 0;
  int place = 0;
  for (const auto read : arc__files<ARC_PROFILE>()) read(&lines);
  if (lines.empty()) fprintf(stderr, "arc: nothing that is counted has run\n");
  std::stable_sort(lines.begin(), lines.end(), [](const arc__line &a, const arc__line &b) {
    return a.file != b.file ? a.file < b.file : a.line < b.line;
  });
  for (arc__line &l : lines)
    if (ARC_PROFILE) arc__count_values(&l, &first);
  for (arc__line &l : lines) arc__predict(&l), plain += l.plain;
  std::stable_sort(lines.begin(), lines.end(),
                   [](const arc__line &a, const arc__line &b) { return a.plain > b.plain; });
  const int columns = ARC_PROFILE ? 9 : 27;
  fprintf(out, "%slanes  addresses  passes    hot   flag   call  %-*s  line\n",
          ARC_PROFILE ? "place  warp calls  share  " : "", columns, ARC_PROFILE ? "fits" : "does");
  if (masks) good &= fprintf(masks, "# arc masks\nplace,lanes,addresses,calls\n") > 0;
  for (const arc__line &l : lines) {
    ++place;
    if (ARC_PROFILE)
      fprintf(out, "%5d %11.0f %5.1f%%  ", place, l.calls, 100 * l.plain / fmax(plain, 1));
    fprintf(out, "%5.1f %10.1f %7.1f %6.1f %6.2f %6.2f  %-*s  %s:%d", l.lanes, l.addresses,
            l.passes, l.again, l.flag, l.gain, columns, l.does.c_str(), l.file.c_str(), l.line);
    arc__print_notes(out, &l);
    fprintf(out, "\n");
    for (int bin = 1; masks && l.width && bin < ARC__PASSES; ++bin)
      if (l.tally[bin] > 0)
        good &= fprintf(masks, "%d,%d,%d,%.0f\n", place, bin / 33, bin % 33,
                        ceil(l.tally[bin] * l.calls - 0.01)) > 0;
  }
  if (masks) good &= !fclose(masks);
  if (!good) fprintf(stderr, "arc: cannot write the masks to %s\n", masks_csv);
  return lines.empty() || !good;
}
#endif
#endif /* ARC_PROFILE_CUH */

/* profile.cuh - where arc would help: what each atomicAdd does, and what it would gain. C++.
   EXPERIMENTAL. SPDX-License-Identifier: Apache-2.0

       nvcc -include arc/drop_in.cuh -DARC_PROFILE=1 ...
   Counts, by line, the warp calls of each atomicAdd on global memory that the flag serves or whose
   result is used, and of each arc_add_... of arc.cuh by its keys. All of them still add as without
   the flag. The first warp calls are looked at, then about one in 1000, which stands for the others.
   A source file takes 18 MiB of device memory, for 64 lines. Below sm_70 all addresses differ.

       ARC_EXPERIMENTAL int arc_profile_print(FILE *out, const char *masks_csv);
   Prints one table of all source files that count; docs/try.md explains it. Call it once, on the
   host, after the kernels; it waits for them and reads the current device. Unless masks_csv is null,
   it also writes the histogram for `arc_sweep --workload-file` there. Returns 0; or 1, after a line
   to stderr, if nothing has run or the CSV cannot be written. If ARC_PROFILE is 0, include this file
   after drop_in.cuh: with ARC_DROP_IN_LEARNS the call prints what the flag has learnt; no masks. */
#ifndef ARC_PROFILE_CUH
#define ARC_PROFILE_CUH
#ifndef ARC_DROP_IN_CUH
#error "arc/profile.cuh: include arc/drop_in.cuh with -DARC_PROFILE=1"
#endif
/* Indices into a tally. It begins with the calls at 33 * lanes + addresses; these sums follow.
   From NEXT on they count calls that are looked at in succession. */
enum { ARC__PASSES = 33 * 33, ARC__AGAIN, ARC__REDUCED, ARC__LEAST };
enum { ARC__NEXT = ARC__LEAST + 1, ARC__NEAR, ARC__PARTED, ARC__EVEN, ARC__CLOSE, ARC__SUMS };
struct arc__counted {
  char file[240], call[24]; /* the call of arc; empty: an atomicAdd */
  int line, width; /* values of a call; else the type; 0: the result is used; -1: shared memory */
};
#if ARC_PROFILE
enum { ARC__PLACES = 64, ARC__SLOTS = 256, ARC__SEEN = 8, ARC__RARELY = 1024, ARC__COPIES = 16 };
struct arc__code_line {
  const char *file;
  int line;
  const char *call; /* as above; null: an atomicAdd */
};
#define ARC__HERE \
  { __builtin_FILE(), __builtin_LINE(), 0 }
#define arc__drop_in_result arc__counted_result /* files that do not count have their own type */
struct arc__counts {
  arc__u64 id[ARC__PLACES], lost;
  arc__counted place[ARC__PLACES];
  unsigned looked[ARC__SLOTS]; /* warp calls that were looked at, per multiprocessor */
  unsigned places, enough;     /* while there are as many places, not all calls are looked at */
  unsigned met[1024];          /* 1: a line of this number has been looked at */
  /* How far each lane's address is from its address at the statement before. From bit 57 on: how
     far their lines are apart. 0: not known; all ones: it varies. */
  arc__u64 step[ARC__PLACES];
  unsigned steps[ARC__PLACES][1024]; /* from a line to itself, by their hashes */
  unsigned loose[ARC__PLACES]; /* bits 2 and 3 of addresses; 1: a lane has another's last one */
  /* Per multiprocessor and warp: each lane's last address and line, then block and turn. */
  arc__u64 last[ARC__SLOTS][64][33];
  unsigned seen[ARC__SLOTS][64][ARC__PLACES];          /* the last address */
  arc__u64 tally[ARC__COPIES][ARC__PLACES][ARC__SUMS]; /* copies: adds to one address take turns */
};
static __device__ arc__counts arc__counts_here;

/* Returns the place of a line, the same in all lanes; negative if there are too many lines. */
ARC__FN int arc__count_place(arc__code_line at, int width) {
  arc__counts *c = &arc__counts_here;
  const unsigned line = (unsigned)at.line, kind = at.call ? 2u : width < 0 ? 3u : width == 0;
  const arc__u64 id = (arc__u64)at.file << 17 | (line & 0x7fffu) << 2 | kind;
  c->met[line % 1024u] = 1u;
  ARC__NO_UNROLL
  for (unsigned i = line; i < line + ARC__PLACES; ++i) {
    const int place = (int)(i % ARC__PLACES);
    const arc__u64 was = c->id[place] != 0u ? c->id[place] : atomicCAS(&c->id[place], 0ull, id);
    if (was == 0u) {
      arc__counted *to = &c->place[place];
      for (int k = 0; at.file[k] && k < (int)sizeof to->file - 1; ++k) to->file[k] = at.file[k];
      for (int k = 0; at.call && at.call[k]; ++k) to->call[k] = at.call[k];
      to->line = at.line, to->width = width;
      atomicAdd(&c->places, 1u);
    }
    if (was == 0u || was == id) return place;
  }
  atomicAdd(&c->lost, 1ull);
  return -1;
}

/* Returns the number of this warp on its multiprocessor, below 64. */
ARC__FN unsigned arc__warp(void) {
  unsigned warp = (unsigned)arc__thread() / 32u;
#if defined(__CUDA_ARCH__)
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
#endif
  return warp % 64u;
}
/* Whether this warp looks at all its calls: each does in one of 256 spans of time. */
ARC__FN bool arc__in_turn(unsigned clock) {
  return ((clock >> 15 ^ arc__warp() >> 1) & 255u) == 0u;
}
/* Returns how many calls of its line this call stands for. The first calls stand for themselves,
   and again some when a line is new; later ones are chosen by chance and stand for many. 0: it
   stands for none, but shows which statement follows which. Negative: it is not looked at. */
ARC__FN int arc__looks(int line) {
  const arc__counts *c = &arc__counts_here;
  if (c->places >= c->enough || !c->met[(unsigned)line % 1024u]) return 1;
  const unsigned clock = (unsigned)clock64(), mixed = clock * 0x9e3779b9u;
  const unsigned chance = (mixed ^ mixed >> 15) * 0x9e3779b9u; /* not in step with a loop */
  if (chance < ~0u / ARC__RARELY) return ARC__RARELY;
  return arc__in_turn(clock) ? 0 : -1;
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
  const int lane = arc__lane(), place = arc__count_place(at, width);
  const unsigned warp = arc__warp(), here = arc__multiprocessor();
  if (place >= 0) { /* true for all lanes or for none */
    unsigned same = 1u << lane, sector = same, hits = 0;
#if ARC__ARCH >= 700
    same = __match_any_sync(lanes, address);
    sector = __match_any_sync(lanes, address >> 5);
#endif
    const bool is_first = arc__leads(same, lane);
    const unsigned most = 1 + arc__more_in_sector(lanes, same, sector),
                   id = (unsigned)(address >> 2);
    ARC__NO_UNROLL
    for (unsigned i = 1; i <= ARC__SEEN; ++i)
      hits += *(volatile unsigned *)&c->seen[here ^ i][warp][place] == id;
    hits = (arc__leads(sector, lane) ? most : 0u) + (is_first ? 0u : hits << 8);
    const unsigned sum = arc__sum_over(lanes, hits, 12), passes = sum & 0xffu;
    arc__u64 *last = c->last[here][warp], *known = &c->step[place];
    const arc__u64 now = address + ((arc__u64)at.line << 57), step = now - last[lane];
    const arc__u64 before = __shfl_sync(lanes, last[lane], arc__highest(lanes));
    const bool corners = __any_sync(lanes, step << 7 != 0u && (now - before) << 7 == 0u);
    const bool even = !__any_sync(lanes, step != __shfl_sync(lanes, step, arc__highest(lanes)));
    const bool reduced = least > 0 && __any_sync(lanes, __popc(same) >= least);
    const unsigned addresses = (unsigned)__popc(__ballot_sync(lanes, is_first));
    last[lane] = now;
    if (arc__leads(lanes, lane)) {
      const unsigned clock = (unsigned)clock64(), block = blockIdx.x + gridDim.x * blockIdx.y;
      const unsigned all = c->places >= c->enough ? c->places + 1u : 0u;
      const unsigned turn = all ? all : arc__in_turn(clock) ? (clock >> 15) + 100u : 0u;
      const bool follows = turn != 0u && (unsigned)last[32] == turn;
      const bool inside = follows && last[32] >> 32 == block;
      last[32] = (arc__u64)block << 32 | turn;
      if (stands_for == 1 && atomicAdd(&c->looked[here], 1u) > 128u * (c->places + 14u))
        c->enough = c->places + 1u;
      const arc__u64 want = even ? step : ~0ull;
      const arc__u64 was = follows && *known != want ? atomicCAS(known, 0ull, want) : 0u;
      if (was != 0u && was != want) *known = ~0ull;
      c->seen[here][warp][place] = id;
      const unsigned words = (unsigned)(step >> 2), hash = words * 0x9e3779b9u >> 22;
      const bool moves = inside && even && step != 0u && (step + (1ull << 56)) >> 57 == 0u;
      const bool starts = !moves && (follows || stands_for == 1); /* a row */
      const unsigned loose = (starts ? (unsigned)address & 12u : 0u) | (follows && even && corners);
      if (loose & ~c->loose[place]) atomicOr(&c->loose[place], loose);
      const bool again = moves && c->steps[place][hash] == words, close = step + 64u <= 128u;
      if (moves) c->steps[place][hash] = words;
      /* adjacent rows tell of no loop */
      const bool parted = follows && addresses > 1 && 6u * passes > addresses;
      const auto add = [=](unsigned to, unsigned x) {
        if (x) atomicAdd(&c->tally[here % ARC__COPIES][place][to], (arc__u64)x);
      };
      const unsigned calls = (unsigned)stands_for;
      add(33u * (unsigned)__popc(lanes) + addresses, calls), add(ARC__PASSES, passes * calls);
      add(ARC__AGAIN, (sum >> 8) * calls), add(ARC__REDUCED, reduced * calls);
      add(ARC__LEAST, (unsigned)threshold * calls), add(ARC__NEXT, follows);
      add(ARC__NEAR, follows && c->seen[here][warp ^ 1u][place] == id), add(ARC__PARTED, parted);
      add(ARC__CLOSE, again && close), add(ARC__EVEN, parted && again);
    }
  }
  __syncwarp(lanes);
}
/* Makes a line known that adds to shared memory. */
static __device__ inline __attribute__((noinline)) void arc__count_shared(arc__code_line at) {
  (void)arc__count_place(at, -1);
}
ARC__FN void arc__count_add(const void *p, arc__code_line at, int width) {
  const int stands_for = arc__looks(at.line);
  if (stands_for < 0) return;
  if (__isShared(p)) { /* before the lanes, which wait for each other */
    if (!arc__counts_here.met[(unsigned)at.line % 1024u]) arc__count_shared(at);
    return;
  }
  arc__count(arc__lanes_here(), (arc__u64)p, at, width, stands_for, 0, 0);
}
#define arc__count_used(p, at) arc__count_add(p, at, 0)

ARC__FN int arc__count_type(const float *) { return 1; }
ARC__FN int arc__count_type(const double *) { return 2; }
ARC__FN int arc__count_type(const void *) { return 3; }
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
  const int threshold = c.literal.path == ARC_PATH_ATOMIC ? 33 : asked.decision.min_present;
  const int group = asked.decision.min_group < 2 ? 2 : asked.decision.min_group;
  const int least = asked.decision.what == 0 || threshold > 32 ? 0 : group; /* 0: ARC__EACH_LANE */
  const int looks = __shfl_sync(asked.lanes, arc__looks(at.line), arc__highest(asked.lanes));
  if (c.active && looks >= 0) /* as if each row had 32 bytes of its own */
    arc__count(asked.present, (arc__u64)arc__key_id(c.key) << 5, at, c.width, looks, least,
               threshold);
  const bool empty = asked.present == 0u && arc__leads(asked.lanes, c.lane);
  const int place = empty ? arc__count_place(at, c.width) : -1;
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
#include <string.h>
#include <map>
#include <string>
#include <vector>
/* A statement, with means over its warp calls or over samples of them. values and pieces are those
   of one call of arc for it. */
struct arc__line {
  arc__counted at;
  std::string does;
  int sums, loop, values, pieces; /* sums: whether the flag does; -1: predict it */
  double calls, lanes, addresses, passes, again, plain, flag, gain, tally[ARC__SUMS];
  unsigned loose;
  arc__u64 step;
};
typedef std::map<std::pair<std::string, int>, arc__line> arc__lines; /* by file and line */

/* Predicts costs in passes. A pass is about 0.01 ns of a whole H200, to which the model is fitted.
   The cost of sums depends on the addresses of a warp; that of a call also on its values. The code
   around the adds costs 5. */
static inline void arc__predict(arc__line *l) {
  const double n = l->values, hot = 100 * fmin(1, sqrt(l->again / fmax(l->lanes, 1)));
  const double plain = l->passes + 100 * l->again + hot, rest = 5 / n;
  const double least = fmin(l->addresses, l->passes) + hot;
  const double sums = (l->addresses < 1.5 ? 7 : 25) + least;
  const bool pays = l->sums < 0 ? l->lanes >= 12 && sums < plain : l->sums > 0;
  const bool is_call = l->at.call[0] != 0, is_row = l->pieces == 1;
  const int odd = l->loose & 4u || l->values % 2 ? 1 : l->loose & 8u || l->values % 4 ? 2 : 4;
  const int vector = is_row ? odd : 1; /* values of a row that a lane adds per request */
  const bool apart = l->addresses > 0.97 * l->lanes || l->lanes < 6;
  const double adds = (apart ? plain : least) * n / vector;
  const double call = fmax(3.5 + 0.6 * l->addresses + (is_row ? 0.75 : 1.75) * n, adds);
  const double flagged = pays ? sums : plain + 0.5; /* a load and a compare */
  l->plain = plain * (is_call ? n : 1) * l->calls;
  l->flag = is_call || l->at.width < 1 ? 1 : (plain + rest) / (flagged + rest);
  l->gain = l->at.width > 0 ? (n * plain + 5) / (call + 5) : 1;
  const bool few = is_call ? l->lanes < 8 || strstr(l->at.call, "divergent") : l->lanes <= 24;
  if (!l->does.empty()) return;
  l->does = l->flag >= 1.1 && (n == 1 || l->flag > l->gain) ? "drop-in"
            : is_call && l->calls > 0 && l->gain < 0.95     ? "atomicAdd"
            : l->gain < 1.1                                 ? "leave it"
            : few                                           ? "divergent"
            : l->addresses < 1.1                            ? "uniform"
            : is_call                                       ? "add"
                                                            : "divergent";
}

#if ARC_PROFILE
/* Adds what this source file has counted. Lines of a header may be in several files. */
static inline void arc__read(arc__lines *lines) {
  std::vector<arc__counts> table(1);
  const arc__counts *c = &table[0];
  if (cudaMemcpyFromSymbol(&table[0], arc__counts_here, sizeof *c) != cudaSuccess) return;
  if (c->lost)
    fprintf(stderr, "arc: over %d lines in a file, %llu adds lost\n", ARC__PLACES, c->lost);
  for (int place = 0; place < ARC__PLACES; ++place) {
    if (c->id[place] == 0) continue;
    const arc__counted *at = &c->place[place];
    arc__line *l = &(*lines)[{at->file, 4 * at->line + (int)(c->id[place] & 3)}];
    l->step = l->sums == 0 || l->step == c->step[place] ? c->step[place] : ~0ull;
    l->at = *at, l->sums = -1, l->loose |= c->loose[place];
    for (int copy = 0; copy < ARC__COPIES; ++copy)
      for (int k = 0; k < ARC__SUMS; ++k) l->tally[k] += (double)c->tally[copy][place][k];
  }
}

/* Computes the means of a line, and how many values a call of arc would have: those of a loop, or of
   lines in a row, if each lane's addresses are as far apart in each call. row: the lines above. */
static inline void arc__count_values(arc__line *l, std::vector<arc__line *> *row) {
  const double *tally = l->tally;
  for (int bin = 1; bin < ARC__PASSES; ++bin) {
    l->calls += tally[bin];
    l->lanes += tally[bin] * (bin / 33), l->addresses += tally[bin] * (bin % 33);
  }
  const double calls = fmax(l->calls, 1);
  l->lanes /= calls, l->addresses /= calls;
  l->passes = tally[ARC__PASSES] / calls, l->again = tally[ARC__AGAIN] / ARC__SEEN / calls;
  const bool is_call = l->at.call[0] != 0, is_loose = l->loose & 1u;
  /* Values of a loop; 1: none, or too many for one. */
  const auto loop = [](double all, double moved) {
    const double values = all / fmax(all - moved, 1);
    return values > 1.9 && values < 1024 ? (int)(values + 0.5) : 1;
  };
  const int close = loop(tally[ARC__NEXT], tally[ARC__CLOSE]);
  const int far = loop(tally[ARC__PARTED], tally[ARC__EVEN]);
  l->loop = far > 2 * close ? far : close;
  l->values = is_call ? l->at.width : l->loop;
  l->pieces = !is_call && (l->loop != close || is_loose) ? l->values : 1;
  const arc__line *above = row->empty() ? l : row->back();
  const arc__u64 down = (l->step + (1ull << 56)) >> 57, apart = l->step - (down << 57) + 64u;
  const int pieces = above->pieces + (apart > 128u || is_loose);
  if (is_call || above->at.call[0] || l->at.width < 1 || l->at.width != above->at.width ||
      l->loop > 1 || above->loop > 1 || (int)down != l->at.line - above->at.line ||
      (pieces > 8 && l->step != above->step) ||
      fabs(above->calls * above->lanes / (calls * l->lanes) - 1) > 0.5)
    row->clear();
  row->push_back(l);
  if (row->size() == 1) return;
  for (arc__line *k : *row) k->pieces = pieces, k->values = (int)row->size();
  l->loose = above->loose;
}
#else
static inline void arc__read(arc__lines *lines) {
  arc__learnt table;
  if (cudaMemcpyFromSymbol(&table, arc__learnt_here, sizeof table) != cudaSuccess) return;
  for (int i = 0; i < ARC__ENTRIES; ++i) {
    const arc__statement *s = &table.of[i];
    const int samples = (int)(s->taken < 32u ? s->taken : 32u);
    if (samples == 0) continue;
    arc__line *l = &(*lines)[{__BASE_FILE__, (int)lines->size()}];
    strncpy(l->at.file, __BASE_FILE__, sizeof l->at.file - 1);
    l->at.line = s->line, l->at.width = 1, l->values = l->pieces = 1;
    l->does = samples < 32 ? "not learnt: " + std::to_string(samples) + " of 32 samples"
              : table.sums[i / ARC__LINES] >> i % ARC__LINES & 1 ? "sums"
                                                                 : "plain";
    l->sums = l->does[0] == 's', l->calls = samples;
    double *const mean[] = {&l->again, &l->addresses, &l->passes, &l->passes, &l->lanes};
    for (int k = 0; k < 5 * samples; ++k)
      *mean[k % 5] += arc__field(s->sample[k / 5], k % 5) / (double)samples;
  }
}
#endif

/* The readers of a program's files, which each file adds before main. Files that count have a list
   of their own. */
template <int>
std::vector<void (*)(arc__lines *)> &arc__files(void) {
  static std::vector<void (*)(arc__lines *)> files;
  return files;
}
static const bool arc__listed __attribute__((unused)) =
    (arc__files<ARC_PROFILE>().push_back(arc__read), true);

static inline void arc__print_notes(FILE *out, const arc__line *l) {
  if (l->at.call[0])
    fprintf(out, ", %s of %d values: %.0f%% reduced, threshold %.0f, %.0f empty", l->at.call,
            l->at.width, 100 * l->tally[ARC__REDUCED] / fmax(l->calls, 1),
            l->tally[ARC__LEAST] / fmax(l->calls, 1), l->tally[0]);
  else if (l->at.width < 1)
    fprintf(out, l->at.width ? ", in shared memory: not served" : ", its result is used");
  else if (l->values > 1)
    fprintf(out, ", %s %d %s", l->loop > 1 ? "a loop or helper over about" : "one call of",
            l->values, l->pieces > 1 ? "arrays or corners" : "values");
  if (l->at.width && l->tally[ARC__NEAR] > 0.25 * fmax(l->tally[ARC__NEXT], 1) &&
      l->addresses > 0.7 * l->lanes)
    fprintf(out, ", put neighbours back into one warp first");
}
ARC_EXPERIMENTAL static inline int arc_profile_print(FILE *out, const char *masks_csv) {
  arc__lines lines;
  std::multimap<double, const arc__line *> costs; /* the highest first */
  FILE *masks = ARC_PROFILE && masks_csv ? fopen(masks_csv, "w") : 0;
  bool good = !ARC_PROFILE || !masks_csv || masks;
  double plain = 0;
  int place = 0;
  for (const auto read : arc__files<ARC_PROFILE>()) read(&lines);
  if (lines.empty()) fprintf(stderr, "arc: nothing that is counted has run\n");
#if ARC_PROFILE
  std::vector<arc__line *> row;
  for (auto &l : lines) arc__count_values(&l.second, &row);
#endif
  for (auto &l : lines) {
    arc__predict(&l.second), plain += l.second.plain;
    costs.insert({-l.second.plain, &l.second});
  }
  const int columns = ARC_PROFILE ? 9 : 27;
  fputs(
      "means of a warp's calls; passes: what plain atomics cost; hot: lanes whose address other\n"
      "multiprocessors use; flag, call: estimated speed-up over plain atomics, below 1: slower\n",
      out);
  fprintf(out, "%slanes  addresses  passes    hot   flag   call  %-*s  line\n",
          ARC_PROFILE ? "place  warp calls  share  " : "", columns, ARC_PROFILE ? "fits" : "does");
  if (masks) good &= fprintf(masks, "# arc masks\nplace,lanes,addresses,calls\n") > 0;
  for (const auto &cost : costs) {
    const arc__line *l = cost.second;
    ++place;
    if (ARC_PROFILE)
      fprintf(out, "%5d %11.0f %5.1f%%  ", place, l->calls, 100 * l->plain / fmax(plain, 1));
    fprintf(out, "%5.1f %10.1f %7.1f %6.1f %6.2f %6.2f  %-*s  %s:%d", l->lanes, l->addresses,
            l->passes, l->again, l->flag, l->gain, columns, l->does.c_str(), l->at.file,
            l->at.line);
    arc__print_notes(out, l);
    fprintf(out, "\n");
    for (int bin = 1; masks && l->at.width && bin < ARC__PASSES; ++bin)
      if (l->tally[bin] > 0)
        good &= fprintf(masks, "%d,%d,%d,%.0f\n", place, bin / 33, bin % 33, l->tally[bin]) > 0;
  }
  if (masks) good &= !fclose(masks);
  if (!good) fprintf(stderr, "arc: cannot write the masks to %s\n", masks_csv);
  return lines.empty() || !good;
}
#endif
#endif /* ARC_PROFILE_CUH */

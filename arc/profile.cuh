/* profile.cuh - where arc would help: what each atomicAdd does, and what it would gain. C++.
   EXPERIMENTAL. SPDX-License-Identifier: Apache-2.0

       nvcc -include arc/drop_in.cuh -DARC_PROFILE=1 ...
   Each atomicAdd that arc/drop_in.cuh would serve counts by line: its warp calls, the lanes that
   arrive together, and their addresses. So does one whose result is used, one of a half or two
   (sm_80 and newer), and each arc_add_... of arc.cuh, by its keys. All of them still add as they do
   without the flag. The first warp calls are looked at, then about one in 1000, which stands for
   the others. A source file takes 17 MiB of device memory, for 64 lines; lines 32768 apart count as
   one. Below sm_70 all addresses count as different.

       ARC_EXPERIMENTAL int arc_profile_print(FILE *out, const char *masks_csv);
   Prints one table of all source files that count; docs/try.md explains it. Call it once, on the
   host, after the kernels; it waits for them and reads the current device. Unless masks_csv is
   null, it also writes the histogram for `arc_sweep --workload-file` there. Returns 0; if a kernel
   failed, nothing has run or the CSV cannot be written, it prints a line to stderr and returns 1.
   If ARC_PROFILE is 0 and ARC_DROP_IN is ARC_DROP_IN_LEARNS, include this file after drop_in.cuh:
   the same call then prints what the flag has learnt in this run, and writes no masks. */
#ifndef ARC_PROFILE_CUH
#define ARC_PROFILE_CUH
#ifndef ARC_DROP_IN_CUH
#error "arc/profile.cuh: include arc/drop_in.cuh with -DARC_PROFILE=1"
#endif
#if ARC_PROFILE && defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#if ARC__ARCH == 0 || ARC__ARCH >= 800
#define ARC__OTHERS(X) X(__half) X(__half2) X(__nv_bfloat16) X(__nv_bfloat162)
#endif
#endif
enum { ARC__PLACES = 64, ARC__NUMBERS = 1024, ARC__COPIES = 16, ARC__SLOTS = 256, ARC__SEEN = 8 };
enum { ARC__ALL = 2048, ARC__EACH = 256, ARC__RARELY = 1024 }; /* warp calls that are looked at */
/* Indices into a tally. It begins with the calls at 33 * lanes + addresses; these sums follow.
   From ADDS on they count lanes or calls that are looked at in succession. */
enum { ARC__PASSES = 33 * 33, ARC__AGAIN, ARC__REDUCED, ARC__ADDS, ARC__NEAR };
enum { ARC__CLOSE = ARC__NEAR + 1, ARC__PARTED, ARC__EVEN, ARC__SUMS };
struct arc__counted {
  arc__u64 id; /* 0: none */
  /* The distance of each lane's address from its address at the statement before. From bit 57 on:
     the distance of their lines. 0: not known; all ones: it varies. */
  arc__u64 step;
  unsigned loose; /* bits 2 and 3 of addresses; 1: a lane has another's last one */
  /* width: values of a call; else the type; 0: the result is used; -1: not global; -2: other */
  int line, width;
  char call[24], file[240]; /* the call of arc; empty: an atomicAdd */
};
#if ARC_PROFILE
struct arc__code_line {
  const char *file;
  int line;
  const char *call; /* as above; null: an atomicAdd */
};
#define ARC__HERE \
  { __builtin_FILE(), __builtin_LINE(), 0 }
#define arc__drop_in_result arc__counted_result /* files that do not count have their own type */
struct arc__counts {
  arc__counted place[ARC__PLACES];
  arc__u64 lost;
  /* Warp calls that were looked at: per multiprocessor, until one of them has ARC__ALL; from then
     on all of them have enough, and calls count per line. */
  unsigned all[ARC__SLOTS], enough, each[ARC__NUMBERS];
  /* Per multiprocessor and warp. last: each lane's address and line, then block and turn. seen: an
     address per place. */
  arc__u64 last[ARC__SLOTS][64][33];
  unsigned seen[ARC__SLOTS][64][ARC__PLACES];
  arc__u64 tally[ARC__COPIES][ARC__PLACES][ARC__SUMS]; /* copies: adds to one address take turns */
};
static __device__ arc__counts arc__counts_here;

/* Returns the place of a line, the same in all lanes; negative if there are too many lines. */
ARC__OUT_OF_LINE int arc__count_place(arc__code_line at, int width) {
  const unsigned line = (unsigned)at.line, kind = at.call ? 2u : width < 0 ? 3u : width == 0;
  const arc__u64 id = (arc__u64)at.file << 17 | (line & 0x7fffu) << 2 | kind;
  ARC__NO_UNROLL
  for (unsigned i = line; i < line + ARC__PLACES; ++i) {
    arc__counted *to = &arc__counts_here.place[i % ARC__PLACES];
    const arc__u64 was = to->id != 0u ? to->id : atomicCAS(&to->id, 0ull, id);
    if (was == 0u) {
      for (int k = 0; at.file[k] && k < (int)sizeof to->file - 1; ++k) to->file[k] = at.file[k];
      for (int k = 0; at.call && at.call[k]; ++k) to->call[k] = at.call[k];
      to->line = at.line, to->width = width;
    }
    if (was == 0u || was == id) return (int)(i % ARC__PLACES);
  }
  atomicAdd(&arc__counts_here.lost, 1ull);
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
/* Returns how many calls of its line this call stands for. The first calls are looked at and stand
   for themselves; later ones are chosen by chance and stand for many. 0: the call stands for none,
   but shows which statement follows which. Negative: it is not looked at. */
ARC__FN int arc__looks(int line) {
  const unsigned clock = (unsigned)clock64();
  const arc__counts *c = &arc__counts_here;
  if (!c->enough || c->each[(unsigned)line % ARC__NUMBERS] < ARC__EACH) return 1;
  const unsigned mixed = clock * 0x9e3779b9u, chance = (mixed ^ mixed >> 15) * 0x9e3779b9u;
  if (chance < ~0u / ARC__RARELY) return ARC__RARELY; /* not in step with a loop */
  return arc__in_turn(clock) ? 0 : -1;
}
/* Looks at a call of `lanes`, which all call it. Groups of `least` lanes or more are reduced, with
   `least` up to 32. If none is reduced, pass 0 instead of 33: nvcc 13.0 moves a vote on a known
   result to where one lane waits for all. The function is out of line, and the lanes meet at its
   end. So a loop that they leave at several places parts them no further. */
ARC__OUT_OF_LINE void arc__count(unsigned lanes, arc__u64 address, arc__code_line at, int width,
                                 int stands_for, int least) {
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
    const unsigned id = (unsigned)(address >> 2);
    ARC__NO_UNROLL
    for (unsigned i = 1; i <= ARC__SEEN; ++i)
      hits += *(volatile unsigned *)&c->seen[here ^ i][warp][place] == id;
    hits = (arc__leads(sector, lane) ? (unsigned)__popc(same) : 0u) + (is_first ? 0u : hits << 8);
    const unsigned sum = arc__sum_over(lanes, hits, 12), passes = sum & 0xffu;
    arc__u64 *last = c->last[here][warp], *known = &c->place[place].step;
    const arc__u64 now = address + ((arc__u64)at.line << 57), step = now - last[lane];
    const arc__u64 before = __shfl_sync(lanes, last[lane], arc__highest(lanes));
    const bool corners = __any_sync(lanes, step << 7 != 0u && (now - before) << 7 == 0u);
    const bool even = !__any_sync(lanes, step != __shfl_sync(lanes, step, arc__highest(lanes)));
    const bool reduced = least > 0 && __any_sync(lanes, __popc(same) >= least);
    const unsigned addresses = (unsigned)__popc(__ballot_sync(lanes, is_first));
    last[lane] = now;
    if (arc__leads(lanes, lane)) {
      const unsigned clock = (unsigned)clock64(), block = blockIdx.x + gridDim.x * blockIdx.y;
      const bool all = !c->enough; /* only then is each call before this one looked at */
      const unsigned turn = all ? 1u : arc__in_turn(clock) ? clock >> 15 | 1u << 31 : 0u;
      const bool follows = turn != 0u && (unsigned)last[32] == turn;
      const bool inside = follows && last[32] >> 32 == block;
      last[32] = (arc__u64)block << 32 | turn;
      if (all && atomicAdd(&c->all[here], 1u) == ARC__ALL) c->enough = 1;
      if (!all && stands_for == 1) atomicAdd(&c->each[(unsigned)at.line % ARC__NUMBERS], 1u);
      const arc__u64 want = even ? step : ~0ull;
      const arc__u64 was = follows && *known != want ? atomicCAS(known, 0ull, want) : 0u;
      if (was != 0u && was != want) *known = ~0ull;
      const unsigned loose = ((unsigned)address & 12u) | (follows && even && corners);
      if (loose & ~c->place[place].loose) atomicOr(&c->place[place].loose, loose);
      c->seen[here][warp][place] = id;
      /* adjacent rows say nothing about a loop */
      const bool parted = follows && addresses > 1 && 6u * passes > addresses;
      const bool moves = inside && even && step != 0u && (step + (1ull << 56)) >> 57 == 0u;
      const auto add = [=](unsigned to, unsigned x) {
        if (x) atomicAdd(&c->tally[here % ARC__COPIES][place][to], (arc__u64)x);
      };
      const unsigned calls = (unsigned)stands_for, all_lanes = (unsigned)__popc(lanes);
      const unsigned adds = all || follows ? all_lanes : 0u;
      add(33u * all_lanes + addresses, calls), add(ARC__PASSES, passes * calls);
      add(ARC__AGAIN, (sum >> 8) * calls), add(ARC__REDUCED, reduced * calls);
      add(ARC__ADDS, adds), add(ARC__NEAR, c->seen[here][warp ^ 1u][place] == id ? adds : 0u);
      add(ARC__CLOSE, moves && step + 64u <= 128u ? adds : 0u), add(ARC__PARTED, parted);
      add(ARC__EVEN, parted && moves);
    }
  }
  __syncwarp(lanes);
}
/* Makes a line known that adds to shared or local memory. */
ARC__FN void arc__count_shared(arc__code_line at) {
  unsigned *each = &arc__counts_here.each[(unsigned)at.line % ARC__NUMBERS];
  if (*each == 0u && atomicAdd(each, 1u) == 0u) (void)arc__count_place(at, -1);
}
ARC__FN void arc__count_add(const void *p, arc__code_line at, int width) {
  if (!__isGlobal(p)) return arc__count_shared(at); /* the others wait for each other */
  const int looks = arc__looks(at.line);
  if (looks >= 0) arc__count(arc__lanes_here(), (arc__u64)p, at, width, looks, 0);
}

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
  const bool plain = asked.decision.what == 0 || c.literal.path == ARC_PATH_ATOMIC ||
                     asked.decision.min_present > 32; /* 0: ARC__EACH_LANE, of a later file */
  const int least = plain ? 0 : asked.decision.min_group < 2 ? 2 : asked.decision.min_group;
  const int looks = __shfl_sync(asked.lanes, arc__looks(at.line), arc__highest(asked.lanes));
  if (c.active && looks >= 0) /* as if each row had 32 bytes of its own */
    arc__count(asked.present, (arc__u64)arc__key_id(c.key) << 5, at, c.width, looks, least);
  return c;
}
#endif

#if !defined(__CUDACC_RTC__) && (ARC_PROFILE || ARC_DROP_IN == ARC_DROP_IN_LEARNS)
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <map>
#include <string>
#include <vector>
/* A statement, with means over its warp calls or over samples of them. */
struct arc__line {
  arc__counted at;
  std::string does;
  int sums, loop, values, pieces; /* sums: whether the flag does; -1: predict it */
  double calls, lanes, addresses, passes, again, plain, flag, gain, tally[ARC__SUMS];
};
typedef std::map<std::pair<std::string, int>, arc__line> arc__lines; /* by file and line */

/* Predicts costs in passes. A pass is about 0.01 ns of a whole H200, to which the model is fitted.
   The cost of sums depends on the addresses of a warp; that of a call also on its values. The code
   around the adds costs 5. */
static inline void arc__predict(arc__line *l) {
  const double n = l->values, hot = 100 * fmin(1, sqrt(l->again / fmax(l->lanes, 1)));
  const double plain = l->passes + 100 * l->again + hot, rest = 5 / n;
  const double least = fmin(l->addresses, l->passes) + hot;
  const double sums = 7 + least; /* the flag decides by arc__gain */
  const bool pays = l->sums < 0 ? l->lanes >= (int)ARC__FEWEST && sums < plain : l->sums > 0;
  const double flagged = pays ? sums : plain + 0.5; /* a load and a compare */
  const bool is_call = l->at.call[0], is_row = l->pieces == 1;
  const int odd = l->at.loose & 4u || l->values % 2 ? 1 : l->at.loose & 8u || l->values % 4 ? 2 : 4;
  const int vector = is_row ? odd : 1; /* values of a row that a lane adds per request */
  const bool apart = l->addresses > 0.97 * l->lanes || l->lanes < 6;
  const double adds = (apart ? plain : least) * n / vector;
  const double call = fmax(3.5 + 0.6 * l->addresses + (is_row ? 0.75 : 1.75) * n, adds);
  const bool few = is_call ? l->lanes < 8 || strstr(l->at.call, "divergent") : l->lanes <= 24;
  l->plain = plain * (is_call ? n : 1) * l->calls;
  l->flag = is_call || l->at.width < 1 ? 1 : (plain + rest) / (flagged + rest);
  l->gain = l->at.width > 0 ? (n * plain + 5) / (call + 5) : 1;
  if (!l->does.empty()) return;
  l->does = l->flag >= 1.1 && (n == 1 || l->flag > l->gain) ? "drop-in"
            : is_call && l->gain < 0.95                     ? "atomicAdd"
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
    const arc__counted *at = &c->place[place];
    if (at->id == 0) continue;
    arc__line *l = &(*lines)[{at->file, (int)(4u * (unsigned)at->line + (at->id & 3u))}];
    if (l->at.id == 0) l->at = *at, l->sums = -1;
    if (l->at.step != at->step) l->at.step = ~0ull;
    l->at.loose |= at->loose;
    for (int copy = 0; copy < ARC__COPIES; ++copy)
      for (int k = 0; k < ARC__SUMS; ++k) l->tally[k] += (double)c->tally[copy][place][k];
  }
}
#else
static inline void arc__read(arc__lines *lines) {
  arc__learnt table;
  if (cudaMemcpyFromSymbol(&table, arc__learnt_here, sizeof table) != cudaSuccess) return;
  for (int i = 0; i < ARC__ENTRIES; ++i) {
    const arc__statement *s = &table.of[i];
    const int all = ARC__SAMPLES, samples = s->taken < (unsigned)all ? (int)s->taken : all;
    if (samples == 0) continue;
    arc__line *l = &(*lines)[{__BASE_FILE__, (int)lines->size()}];
    strncpy(l->at.file, __BASE_FILE__, sizeof l->at.file - 1);
    l->at.line = s->line, l->at.width = l->values = l->pieces = 1;
    l->sums = table.sums[i / 32] >> i % 32 & 1, l->calls = samples;
    l->does = l->sums ? "sums" : "plain";
    const std::string few = std::to_string(samples) + " of " + std::to_string(all);
    if (samples < all) l->does = "not learnt: " + few + " samples";
    double *const mean[] = {&l->again, &l->addresses, &l->passes, &l->passes, &l->lanes};
    for (int k = 0; k < 5 * samples; ++k)
      *mean[k % 5] += arc__field(s->sample[k / 5], k % 5) / (double)samples;
  }
}
#endif

/* Computes the means of a line, and how many values a call of arc would have. These are the values
   of a loop, or of lines in a row, if each lane's addresses are as far apart in each call.
   row: the lines above. */
static inline void arc__count_values(arc__line *l, std::vector<arc__line *> *row) {
  const double *tally = l->tally;
  for (int bin = 1; bin < ARC__PASSES; ++bin) {
    l->calls += tally[bin];
    l->lanes += tally[bin] * (bin / 33), l->addresses += tally[bin] * (bin % 33);
  }
  const double calls = fmax(l->calls, 1);
  l->lanes /= calls, l->addresses /= calls;
  l->passes = tally[ARC__PASSES] / calls, l->again = tally[ARC__AGAIN] / (int)ARC__SEEN / calls;
  /* How many values a loop adds: each but the first moves. 1: no loop, or too many values. */
  const auto loop = [](double all, double moved) {
    const double values = all / fmax(all - moved, 1);
    return values > 1.9 && values < 1024 ? (int)(values + 0.5) : 1;
  };
  const int close = loop(tally[ARC__ADDS], tally[ARC__CLOSE]);
  const int far = loop(tally[ARC__PARTED], tally[ARC__EVEN]);
  const bool is_call = l->at.call[0], is_loose = l->at.loose & 1u;
  l->loop = far > 2 * close ? far : close;
  l->values = is_call ? l->at.width : l->loop;
  l->pieces = !is_call && (l->loop != close || is_loose) ? l->values : 1;
  const arc__line *above = row->empty() ? l : row->back();
  const arc__u64 down = (l->at.step + (1ull << 56)) >> 57, apart = l->at.step - (down << 57);
  const int pieces = above->pieces + (apart + 64u > 128u || is_loose);
  if (is_call || above->at.call[0] || l->at.width < 1 || l->at.width != above->at.width ||
      l->loop > 1 || above->loop > 1 || (int)down != l->at.line - above->at.line ||
      (pieces > 8 && l->at.step != above->at.step) ||
      fabs(above->tally[ARC__ADDS] - tally[ARC__ADDS]) > 0.25 * tally[ARC__ADDS])
    row->clear();
  row->push_back(l);
  if (row->size() == 1) return;
  for (arc__line *k : *row) k->pieces = pieces, k->values = (int)row->size();
  l->at.loose = above->at.loose; /* the alignment is that of the row */
}

static inline void arc__print_notes(FILE *out, const arc__line *l) {
  const double *tally = l->tally;
  if (l->at.call[0])
    fprintf(out, ", %s of %d values: %.0f%% reduced", l->at.call, l->at.width,
            100 * tally[ARC__REDUCED] / fmax(l->calls, 1));
  else if (l->at.width < 1)
    fprintf(out, l->at.width == 0    ? ", its result is used"
                 : l->at.width == -1 ? ", in shared or local memory: not served"
                                     : ", its type is not served");
  else if (l->values > 1)
    fprintf(out, ", %s %d %s", l->loop > 1 ? "a loop or helper over about" : "one call of",
            l->values, l->pieces > 1 ? "arrays or corners" : "values");
  if (l->at.width && l->addresses > fmax(0.7 * l->lanes, 1.5) &&
      tally[ARC__NEAR] > 0.25 * fmax(tally[ARC__ADDS], 1))
    fprintf(out, ", put neighbours back into one warp first");
}

/* The readers of a program's files. Each file adds its own before main. Files that count have a
   list of their own. */
template <int>
std::vector<void (*)(arc__lines *)> &arc__files(void) {
  static std::vector<void (*)(arc__lines *)> files;
  return files;
}
static const bool arc__listed __attribute__((unused)) =
    (arc__files<ARC_PROFILE>().push_back(arc__read), true);

ARC_EXPERIMENTAL static inline int arc_profile_print(FILE *out, const char *masks_csv) {
  arc__lines lines;
  std::vector<arc__line *> row;
  std::multimap<double, const arc__line *> costs;
  double plain = 0;
  int place = 0;
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    fprintf(stderr, "arc: a kernel failed: %s\n", cudaGetErrorString(error));
    return 1;
  }
  for (const auto read : arc__files<ARC_PROFILE>()) read(&lines);
  if (lines.empty()) fprintf(stderr, "arc: nothing that is counted has run\n");
  for (auto &l : lines)
    if (ARC_PROFILE) arc__count_values(&l.second, &row);
  for (auto &l : lines) {
    arc__predict(&l.second), plain += l.second.plain;
    costs.insert({-l.second.plain, &l.second});
  }
  FILE *masks = ARC_PROFILE && masks_csv ? fopen(masks_csv, "w") : 0;
  if (masks) fprintf(masks, "# arc masks\nplace,lanes,addresses,calls\n");
  const int columns = ARC_PROFILE ? 9 : 27;
  fprintf(out, "%slanes  addresses  passes    hot   flag   call  %-*s  line\n",
          ARC_PROFILE ? "place  warp calls  share  " : "", columns, ARC_PROFILE ? "fits" : "does");
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
    for (int bin = 1; masks && l->at.width > 0 && bin < ARC__PASSES; ++bin)
      if (l->tally[bin] > 0)
        fprintf(masks, "%d,%d,%d,%.0f\n", place, bin / 33, bin % 33, l->tally[bin]);
  }
  const bool lost = ARC_PROFILE && masks_csv && (!masks || ferror(masks) | fclose(masks));
  if (lost) fprintf(stderr, "arc: cannot write the masks to %s\n", masks_csv);
  return lines.empty() || lost;
}
#endif
#endif /* ARC_PROFILE_CUH */

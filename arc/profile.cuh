/* profile.cuh - where arc would help: what each atomicAdd does, and what arc would gain. C++.
   EXPERIMENTAL. SPDX-License-Identifier: Apache-2.0

       nvcc -include arc/drop_in.cuh -DARC_PROFILE=1 ...
   Counts by line each atomicAdd, and each arc_add_... of arc.cuh by its keys: warp calls, the lanes
   that arrive together, and their addresses. All of them add as without the flag. The first warp
   calls are looked at, then about one in 1000, which stands for the others. A source file takes
   19 MiB of device memory, for 64 lines. Below sm_70 all addresses count as different.

       ARC_EXPERIMENTAL int arc_profile_print(FILE *out, const char *masks_csv);
   Prints one table of all such files; docs/try.md explains it. Call it on the host, after the
   kernels: it waits for them, and reads the current device. Unless masks_csv is null, it also
   writes the histogram for `arc_sweep --workload-file`. Returns 0; if nothing has run or the CSV
   cannot be written, it prints a line to stderr and returns 1. If ARC_PROFILE is 0, include this
   file after drop_in.cuh: the call then prints what ARC_DROP_IN_LEARNS has learnt in this run. */
#ifndef ARC_PROFILE_CUH
#define ARC_PROFILE_CUH
#ifndef ARC_DROP_IN_CUH
#error "arc/profile.cuh: include arc/drop_in.cuh with -DARC_PROFILE=1"
#endif
#if ARC_PROFILE
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#if ARC__ARCH == 0 || ARC__ARCH >= 800
#define ARC__OTHERS(X) X(__half) X(__half2) X(__nv_bfloat16) X(__nv_bfloat162)
#endif
#endif
enum { ARC__PLACES = 64, ARC__NUMBERS = 1024, ARC__COPIES = 8, ARC__SLOTS = 256, ARC__SEEN = 8 };
enum { ARC__ALL = 2048, ARC__EACH = 256, ARC__RARELY = 1024 }; /* warp calls that are looked at */
/* Indices into a tally. It begins with the calls at 33 * lanes + addresses; these sums follow. ADDS
   and NEAR count lanes of calls that are looked at in succession. From TRIED on: how many calls
   follow the n-th of a row; from MOVED on: how many of them go on with it. CORNERS: how many of all
   these come to another lane's last address. */
enum { ARC__AGAIN = 33 * 33, ARC__SAVED, ARC__SECTORS, ARC__ADDS, ARC__NEAR, ARC__CORNERS };
enum { ARC__LONGEST = 128, ARC__TRIED = ARC__CORNERS + 1, ARC__MOVED = ARC__TRIED + ARC__LONGEST };
enum { ARC__SUMS = ARC__MOVED + ARC__LONGEST };
struct arc__counted {
  arc__u64 id;  /* 0: none */
  unsigned odd; /* bits 2 and 3 of addresses that begin a row */
  /* width: values of a call; else the type; 0: the result is used; -1: shared memory; -2: other */
  int line, width;
  char call[24], file[240]; /* the call of arc; empty: an atomicAdd */
  /* Of the row that begins here, what leads to the n-th add: the step of each lane's address, from
     bit 13 on; the place; and in 7 bits the votes for them. */
  arc__u64 steps[ARC__LONGEST];
};
struct arc__code_line {
  const char *file;
  int line;
  const char *call; /* as above; null: an atomicAdd */
};
#define ARC__HERE \
  { __builtin_FILE(), __builtin_LINE(), 0 }
#define arc__drop_in_result arc__counted_result /* files that do not count have their own type */
struct arc__looking {                           /* what a warp's call leaves for its next ones */
  /* Per lane: its address; the turn and block; whether n is sure, n of its row, and in 6 bits each
     the place where the row begins and its own. seen: an address per place. */
  arc__u64 last[32];
  unsigned when[32], row[32], seen[ARC__PLACES];
};
struct arc__counts {
  arc__counted place[ARC__PLACES];
  arc__u64 lost;
  /* Warp calls that were looked at: per multiprocessor, until one of them has ARC__ALL; from then
     on all of them have enough, and calls count per line. */
  unsigned all[ARC__SLOTS], enough, each[ARC__NUMBERS];
  arc__looking warp[ARC__SLOTS][64];
  arc__u64 tally[ARC__COPIES][ARC__PLACES][ARC__SUMS]; /* copies: adds to one address take turns */
};
static __device__ arc__counts arc__counts_here;

/* Returns the place of a line, the same in all lanes; negative if there are too many lines. */
ARC__OUT_OF_LINE int arc__count_place(arc__code_line at, int width) {
  const unsigned line = (unsigned)at.line, kind = at.call ? 7u : (unsigned)(width + 2);
  const arc__u64 id = (arc__u64)at.file << 18 | (line & 0x7fffu) << 3 | kind;
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
  const arc__counts *c = &arc__counts_here;
  if (!c->enough || c->each[(unsigned)line % ARC__NUMBERS] < ARC__EACH) return 1;
  const unsigned clock = (unsigned)clock64(),
                 mixed = clock * 0x9e3779b9u; /* in step with no loop */
  if ((mixed ^ mixed >> 15) * 0x9e3779b9u < ~0u / ARC__RARELY) return ARC__RARELY;
  return arc__in_turn(clock) ? 0 : -1;
}
/* Looks at a call of `lanes`, which all call it. The function is out of line, and the lanes meet at
   its end. So a loop that they leave at several places parts them no further. */
ARC__OUT_OF_LINE void arc__count(unsigned lanes, arc__u64 address, arc__code_line at, int width,
                                 int stands_for) {
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
      hits += *(volatile unsigned *)&c->warp[here ^ i][warp].seen[place] == id;
    hits = is_first ? 0u : hits << 12; /* below: passes that sums would save, and sectors */
    if (arc__leads(sector, lane)) hits += (unsigned)(__popc(same) - 1) << 6 | 1u;
    const unsigned sum = arc__sum_over(lanes, hits, 16), saved = sum >> 6 & 63u,
                   sectors = sum & 63u;
    /* A row goes on if all lanes make the step that other warps made there. But a far step of
       adjacent lanes at one statement is rather that of a grid's threads. */
    const int high = arc__highest(lanes);
    const unsigned clock = (unsigned)clock64(), block = blockIdx.x + gridDim.x * blockIdx.y;
    const unsigned turns = arc__in_turn(clock) ? clock >> 15 | 1u << 31 : 0u;
    const unsigned turn = __shfl_sync(lanes, c->enough ? turns : 1u, high);
    const unsigned when = turn * 0x9e3779b9u + block;
    arc__looking *w = &c->warp[here][warp];
    const unsigned row = turn != 0u && w->when[lane] == when ? w->row[lane] : 0u,
                   n = row >> 12 & 0xffu;
    const arc__u64 step = address - w->last[lane], before = __shfl_sync(lanes, w->last[lane], high);
    const bool follows = !__any_sync(lanes, (row == 0u) | (row != __shfl_sync(lanes, row, high)));
    const bool even = follows && !__any_sync(lanes, step != __shfl_sync(lanes, step, high));
    const unsigned addresses = (unsigned)__popc(__ballot_sync(lanes, is_first));
    arc__counted *head = &c->place[row >> 6 & 63u];
    arc__u64 *leads = &head->steps[n % ARC__LONGEST];
    const arc__u64 known = __shfl_sync(lanes, *leads, high), votes = known & 127u;
    const arc__u64 mine = step << 13 | (arc__u64)place << 7;
    const bool may = even && step != 0u && n < ARC__LONGEST && head->width == width && !at.call &&
                     (step + 64u <= 128u || (row & 63u) != (unsigned)place ||
                      6u * (saved + sectors) > addresses);
    const bool sure = row >> 31 != 0u; /* it saw where the row begins */
    const bool agrees = (sure && known == 0u) || (known ^ mine) < 128u, moves = may && agrees;
    const bool begins = !moves && (follows || turn == 1u);
    const bool corners = __any_sync(lanes, moves && address == before);
    w->last[lane] = address, w->when[lane] = when;
    w->row[lane] = moves ? (row & ~63u) + 4096u + (unsigned)place
                   : even && n == ARC__LONGEST
                       ? row /* too long: where it begins is not known */
                       : (unsigned)begins << 31 | (4096u + (unsigned)place * 65u);
    if (arc__leads(lanes, lane)) {
      const bool all = turn == 1u; /* only then is each call before this one looked at */
      if (all && atomicAdd(&c->all[here], 1u) == ARC__ALL) c->enough = 1;
      if (!all && stands_for == 1) atomicAdd(&c->each[(unsigned)at.line % ARC__NUMBERS], 1u);
      if (may && sure && agrees && votes < 127u) *leads = mine | (votes + 1u);
      if (may && sure && !agrees) *leads = votes != 0u ? known - 1u : mine;
      const unsigned odd = begins ? (unsigned)address & 12u : 0u;
      if (odd & ~c->place[place].odd) atomicOr(&c->place[place].odd, odd);
      const auto add = [=](const arc__counted *to, unsigned index, unsigned x) {
        if (x) atomicAdd(&c->tally[here % ARC__COPIES][to - c->place][index], (arc__u64)x);
      };
      const arc__counted *to = &c->place[place];
      const unsigned calls = (unsigned)stands_for, all_lanes = (unsigned)__popc(lanes);
      const bool beside = turn && c->warp[here][warp ^ 1u].seen[place] == id;
      add(to, 33u * all_lanes + addresses, calls), add(to, ARC__AGAIN, (sum >> 12) * calls);
      add(to, ARC__SAVED, saved * calls), add(to, ARC__SECTORS, sectors * calls);
      add(to, ARC__ADDS, turn ? all_lanes : 0u), add(to, ARC__NEAR, beside ? all_lanes : 0u);
      add(head, ARC__TRIED + n, follows && sure && n < ARC__LONGEST);
      add(head, ARC__MOVED + n, moves && sure), add(head, ARC__CORNERS, corners && sure);
      w->seen[place] = id;
    }
  }
  __syncwarp(lanes);
}
ARC__FN void arc__count_add(const void *p, arc__code_line at, int width) {
  if (__isShared(p)) { /* only makes its line known: the others wait for each other */
    unsigned *each = &arc__counts_here.each[(unsigned)at.line % ARC__NUMBERS];
    if (*each == 0u && atomicAdd(each, 1u) == 0u) (void)arc__count_place(at, -1);
    return;
  }
  const int looks = arc__looks(at.line);
  if (looks >= 0) arc__count(arc__lanes_here(), (arc__u64)p, at, width, looks);
}

ARC__FN int arc__count_type(const float *) { return 1; }
ARC__FN int arc__count_type(const double *) { return 2; }
ARC__FN int arc__count_type(const void *) { return 3; }
template <class T>
ARC__FN void arc__drop_in_add(T *p, T v, arc__code_line at) {
  arc__count_add(p, at, arc__count_type(p));
  atomicAdd(p, v);
}

/* Counts a call of arc, as if each row had 32 bytes of its own. A template: arc.cuh comes later. */
template <class Call>
ARC__FN Call arc__count_call(Call c, arc__code_line at) {
  c.lanes |= 1u << c.lane; /* the leader counts apart, see arc__make_mask_of_lane */
  if (!at.call) at.call = "arc_add_with";
  const unsigned present = __ballot_sync(c.lanes, c.active);
  const int looks = __shfl_sync(c.lanes, arc__looks(at.line), arc__highest(c.lanes));
  if (c.active && looks >= 0)
    arc__count(present, (arc__u64)arc__key_id(c.key) << 5, at, c.width, looks);
  return c;
}
#endif

#if !defined(__CUDACC_RTC__) && (ARC_PROFILE || ARC_DROP_IN == ARC_DROP_IN_LEARNS)
#include <math.h>
#include <stdio.h>
#include <map>
#include <string>
#include <vector>
/* A statement, with means over its warp calls or over samples of them. sums: whether the flag does;
   -1: predict it. vector: how many values of a row go into a request; 0: they are in no row. */
struct arc__line {
  std::string call, does, note, count;
  int line, width, sums, values, vector;
  bool is_loop;
  double calls, lanes, addresses, again, saved, sectors, plain, flag, gain, adds, beside;
  double masks[33 * 33];
};
/* By file, line and type. */
typedef std::map<std::pair<std::string, int>, arc__line> arc__lines;

#if ARC_PROFILE
/* Adds what this source file has counted. Lines of a header may be in several files. */
static inline void arc__read(arc__lines *lines) {
  std::vector<arc__counts> table(1);
  const arc__counts *c = &table[0];
  if (cudaMemcpyFromSymbol(&table[0], arc__counts_here, sizeof *c) != cudaSuccess) return;
  if (c->lost)
    fprintf(stderr, "arc: over %d lines in a file, %llu adds lost\n", ARC__PLACES, c->lost);
  for (const arc__counted &at : c->place) {
    if (at.id == 0) continue;
    const auto line = [=](const arc__counted *of) {
      return &(*lines)[{of->file, 8 * of->line + (int)(of->id & 7)}];
    };
    const auto sum = [&](int index) {
      double all = 0;
      for (const auto &copy : c->tally) all += (double)copy[&at - c->place][index];
      return all;
    };
    arc__line *const own = line(&at);
    for (int bin = 1; bin < 33 * 33; ++bin) {
      const double calls = sum(bin);
      own->masks[bin] += calls, own->calls += calls;
      own->lanes += calls * (bin / 33), own->addresses += calls * (bin % 33);
    }
    own->again += sum(ARC__AGAIN) / (int)ARC__SEEN, own->saved += sum(ARC__SAVED);
    own->sectors += sum(ARC__SECTORS), own->adds += sum(ARC__ADDS), own->beside += sum(ARC__NEAR);
    /* A call of arc would have the values of a row: nearly always each lane's addresses are as far
       apart, and the row is as long. It ends where it returns to its first address. Three or more
       neighbours, and several lines, end where their first line goes on elsewhere. */
    const bool corners = sum(ARC__CORNERS) > 0.05 * sum(ARC__MOVED + 1);
    std::vector<const arc__counted *> row(1, &at);
    bool is_row = !corners, goes_on = true;
    double reach = 1, last = 0; /* of the rows, how many come so far */
    arc__u64 distance = 0, start = 0;
    for (int n = 1; goes_on; ++n) {
      const int step_of = n % ARC__LONGEST;
      const double tried = sum(ARC__TRIED + step_of), moved = sum(ARC__MOVED + step_of);
      const arc__u64 step = (arc__u64)((long long)at.steps[step_of] >> 13);
      const arc__counted *next = &c->place[at.steps[step_of] >> 7 & 63u];
      const bool close = step + 64u <= 128u, returns = next == row[0] && !close;
      goes_on = n < ARC__LONGEST && moved > 0.9 * tried;
      if (goes_on) reach *= moved / tried, last = moved, distance += step;
      if (!goes_on || distance == start ||
          (returns && (row.back() != row[0] || (is_row && row.size() > 2)))) {
        if (n == ARC__LONGEST || reach < 0.75) row.resize(1); /* too long, or of many lengths */
        const int values = at.call[0] ? at.width : (int)row.size();
        const unsigned odd = (at.odd | (unsigned)start) & 12u;
        const bool ends = goes_on || tried > 0 || last >= 0.5 * sum(ARC__MOVED + 1); /* seen */
        for (const arc__counted *part : row) {
          arc__line *l = line(part);
          l->call = part->call, l->line = part->line, l->width = part->width, l->sums = -1;
          if (l->values >= values) continue;
          l->values = values, l->is_loop = row.back() == row[0];
          l->count = (ends ? "" : "about ") + std::to_string(values);
          l->vector = !is_row ? 0 : odd & 4u || values % 2 ? 1 : odd || values % 4 ? 2 : 4;
        }
        row.clear(), start = distance, is_row = !corners;
      } else {
        is_row = is_row && close;
      }
      row.push_back(next);
    }
  }
}
#else
static inline void arc__read(arc__lines *lines) {
  arc__learnt table;
  if (cudaMemcpyFromSymbol(&table, arc__learnt_here, sizeof table) != cudaSuccess) return;
  for (int i = 0; i < ARC__ENTRIES; ++i) {
    const arc__statement *s = &table.of[i];
    const int samples = s->taken < ARC__SAMPLES ? (int)s->taken : (int)ARC__SAMPLES;
    if (samples == 0) continue;
    arc__line *l = &(*lines)[{__BASE_FILE__, (int)lines->size()}];
    l->line = s->line, l->width = l->values = l->vector = 1, l->calls = samples;
    l->sums = table.sums[i / ARC__LINES] >> i % ARC__LINES & 1;
    l->does = l->sums ? "sums" : "plain";
    const std::string few = std::to_string(samples) + " of " + std::to_string(ARC__SAMPLES);
    if (samples < ARC__SAMPLES) l->does = "not learnt: " + few + " samples";
    double *const sum[] = {&l->again, &l->addresses, &l->saved, &l->sectors, &l->lanes};
    for (int k = 0; k < 5 * samples; ++k) *sum[k % 5] += arc__field(s->sample[k / 5], k % 5);
  }
}
#endif

/* Predicts costs in passes. A pass is about 0.01 ns of a whole H200, to which the model is fitted.
   The cost of sums depends on the addresses of a warp; that of a call also on its values. The code
   around the adds costs 5. */
static inline void arc__predict(arc__line *l) {
  for (double *sum : {&l->lanes, &l->addresses, &l->again, &l->saved, &l->sectors})
    *sum /= fmax(l->calls, 1);
  const double n = l->values, rest = 5 / n, hot = fmin(20 * l->again, 100); /* hot: of the sums */
  const double gain = l->saved + 100 * l->again, least = l->sectors + hot, plain = gain + least;
  const bool pays = l->sums < 0 ? l->lanes >= (int)ARC__FEWEST && gain > 10 : l->sums > 0;
  const double flagged = pays ? 8 + least : plain + 0.5; /* a load and a compare */
  const bool is_call = !l->call.empty();
  const double adds = (l->lanes < 6 ? plain : least) * n / fmax(l->vector, 1);
  const double call = fmax(5 + 0.6 * l->addresses + (l->vector ? 0.75 : 1.75) * n, adds);
  const bool few = is_call ? l->lanes < 8 || l->call.find("divergent") < 99 : l->lanes <= 24;
  l->plain = plain * (is_call ? n : 1) * l->calls;
  l->flag = is_call || l->width < 1 ? 1 : (plain + rest) / (flagged + rest);
  l->gain = l->width > 0 ? (n * plain + 5) / (call + 5) : 1;
  if (!l->does.empty()) return;
  l->does = l->flag >= 1.1 && (n == 1 || l->flag > l->gain) ? "drop-in"
            : is_call && l->gain < 0.95                     ? "atomicAdd"
            : l->gain < 1.1                                 ? "leave it"
            : few                                           ? "divergent"
            : l->addresses < 1.1                            ? "uniform"
            : is_call                                       ? "add"
                                                            : "divergent";
  l->note = is_call          ? ", " + l->call + " of " + l->count + " values"
            : l->width == 0  ? ", its result is used"
            : l->width == -1 ? ", in shared memory: not served"
            : l->width < 0   ? ", its type is not served"
            : l->values == 1 ? ""
                             : (l->is_loop ? ", a loop or helper over " : ", one call of ") +
                                   l->count + (l->vector ? " values" : " arrays or corners");
  if (l->width && l->addresses > fmax(0.7 * l->lanes, 1.5) && l->beside > 0.25 * fmax(l->adds, 1))
    l->note += ", put neighbours back into one warp first";
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
  std::multimap<double, const arc__lines::value_type *> costs;
  double plain = 0;
  int place = 0;
  for (const auto read : arc__files<ARC_PROFILE>()) read(&lines);
  if (lines.empty()) fprintf(stderr, "arc: nothing that is counted has run\n");
  for (auto &l : lines) {
    arc__predict(&l.second), plain += l.second.plain;
    costs.insert({-l.second.plain, &l});
  }
  FILE *masks = ARC_PROFILE && masks_csv ? fopen(masks_csv, "w") : 0;
  if (masks) fprintf(masks, "# arc masks\nplace,lanes,addresses,calls\n");
  const int columns = ARC_PROFILE ? 9 : 27;
  fprintf(out, "%slanes  addresses  passes    hot   flag   call  %-*s  line\n",
          ARC_PROFILE ? "place  warp calls  share  " : "", columns, ARC_PROFILE ? "fits" : "does");
  for (const auto &cost : costs) {
    const arc__line *l = &cost.second->second;
    ++place;
    if (ARC_PROFILE)
      fprintf(out, "%5d %11.0f %5.1f%%  ", place, l->calls, 100 * l->plain / fmax(plain, 1));
    fprintf(out, "%5.1f %10.1f %7.1f %6.1f %6.2f %6.2f  %-*s  %s:%d%s\n", l->lanes, l->addresses,
            l->saved + l->sectors, l->again, l->flag, l->gain, columns, l->does.c_str(),
            cost.second->first.first.c_str(), l->line, l->note.c_str());
    for (int bin = 1; masks && l->width > 0 && bin < 33 * 33; ++bin)
      if (l->masks[bin] > 0)
        fprintf(masks, "%d,%d,%d,%.0f\n", place, bin / 33, bin % 33, l->masks[bin]);
  }
  const bool lost = ARC_PROFILE && masks_csv && (!masks || ferror(masks) | fclose(masks));
  if (lost) fprintf(stderr, "arc: cannot write the masks to %s\n", masks_csv);
  return lines.empty() || lost;
}
#endif
#endif /* ARC_PROFILE_CUH */

/* profile.cuh - where arc would pay: counts what each atomicAdd does. C++. EXPERIMENTAL.
   SPDX-License-Identifier: Apache-2.0

       nvcc -include arc/drop_in.cuh -DARC_PROFILE=1 ...
   Each atomicAdd on global memory that arc/drop_in.cuh would serve, and each whose result is used,
   counts by its line: calls of a warp, the lanes that arrive together, their addresses, the largest
   group of one address. So does each arc_add_... of arc.cuh, by its keys; other forms do not. All
   add as without. A file takes 17 MiB of device memory, for 64 lines.

       int arc_profile_print(FILE *out, const char *masks_csv);
   On the host, once, behind the kernels, for which it waits: one table of all such files of the
   program, and their histogram for `arc_sweep --workload-file`, unless masks_csv is null. Returns
   0, or 1 and a line on stderr if nothing has run or the CSV cannot be written. Of several
   devices, the current one is read.
       share    the line's part of what plain adds would cost, by ARC_COST_REQUEST a lane and value
       fits     none; drop-in: leave the flag in; uniform, divergent, add: arc_add_uniform_f32,
                arc_add_divergent_f32, arc_add_f32; index_add, table: those files of arc/
       gain     times as fast as plain adds, estimated by the constants ARC_COST_...
       line     of a call of arc, also how many of its calls reduced, the threshold (33: never; the
                mean, if it changes), and how many more calls had no active lane
   Lines below each other with as many adds are a row's values: call arc once, with all of them.
   Where ARC_PROFILE is 0 and ARC_DROP_IN is ARC_DROP_IN_LEARNS, include this behind drop_in.cuh:
   the same call prints what the flag has learnt in this run, of the files that do, and no masks.
   Cost: a match and an add for a warp's call; below sm_70 all addresses count as different. */
#ifndef ARC_PROFILE_CUH
#define ARC_PROFILE_CUH
#ifndef ARC_DROP_IN_CUH
#error "arc/profile.cuh: include arc/drop_in.cuh with -DARC_PROFILE=1"
#endif
#if !ARC_PROFILE
#if ARC_DROP_IN == ARC_DROP_IN_LEARNS && !defined(__CUDACC_RTC__)
#include <stdio.h>
#include <vector>
/* The files of a program that print: each announces itself before main. */
struct arc__learner {
  const char *name;
  bool (*read)(arc__learnt *);
  static std::vector<arc__learner> &files(void) {
    static std::vector<arc__learner> all;
    return all;
  }
  arc__learner(const char *file, bool (*its)(arc__learnt *)) : name(file), read(its) {
    files().push_back(*this);
  }
};
static arc__learner arc__learner_here(__BASE_FILE__, [](arc__learnt *to) {
  return cudaMemcpyFromSymbol(to, arc__learnt_here, sizeof *to) == cudaSuccess;
});

static inline int arc_profile_print(FILE *out, const char *) {
  const char *const does[] = {"plain", "sums of one address", "sums of several", "plain"};
  std::vector<arc__learnt> learnt(1);
  int printed = 0;
  for (const arc__learner &file : arc__learner::files()) {
    if (!file.read(&learnt[0])) continue;
    for (int i = 0; i < ARC__ENTRIES; ++i) {
      const arc__statement *s = &learnt[0].of[i];
      const double n = s->samples, pays = s->one > s->several ? s->one : s->several;
      if (s->samples == 0) continue;
      if (printed++ == 0)
        fprintf(out, "lanes  addresses  passes   hot  saves  does                 line\n");
      fprintf(out, "%5.1f %10.1f %7.1f %5.1f %6.1f  ", s->lanes / n, s->addresses / n,
              s->passes / n, s->again / n / ARC__SEEN, pays / n / 10);
      if (s->samples < ARC__SAMPLES)
        fprintf(out, "not learnt: %2d of %d  ", s->samples, ARC__SAMPLES);
      else
        fprintf(out, "%-21s", does[learnt[0].says[i] & 3]);
      fprintf(out, "%s:%d\n", file.name, s->line);
    }
  }
  if (printed == 0) fprintf(stderr, "arc: no statement was sampled\n");
  return printed == 0;
}
#endif
#else
enum { ARC__PLACES = 64, ARC__COPIES = 32, ARC__REDUCED = 529, ARC__BINS, ARC__NAME = 240 };
struct arc__code_line {
  const char *file;
  int line;
  const char *call; /* of arc; null: an atomicAdd */
};
#define ARC__HERE \
  { __builtin_FILE(), __builtin_LINE(), 0 }
struct arc__counted {
  char file[ARC__NAME], call[24];
  int line, width; /* width 0: an atomicAdd whose result is used */
};
struct arc__tally {
  arc__u64 calls, sum;
};
struct arc__counts {
  arc__u64 id[ARC__PLACES], lost;
  arc__counted place[ARC__PLACES];
  /* Of each pair (lanes, addresses): calls, and the sum of their largest groups; of ARC__REDUCED:
     reduced calls, and the sum of all thresholds. Copies, because adds to one address take turns: a
     multiprocessor has its own. */
  arc__tally bin[ARC__COPIES][ARC__PLACES][ARC__BINS];
};
static __device__ arc__counts arc__counts_here;

static __host__ __device__ inline int arc__bin(int lanes, int addresses) {
  return lanes * (lanes - 1) / 2 + addresses;
}

/* The counters of a line; null: there are too many lines. */
ARC__FN arc__tally *arc__count_place(arc__code_line at, int width) {
  arc__counts *c = &arc__counts_here;
  const unsigned line = (unsigned)at.line, kind = at.call ? 2u : width == 0;
  const arc__u64 id = (arc__u64)at.file << 17 | (line & 0x7fffu) << 2 | kind;
  unsigned copy = blockIdx.x;
#if defined(__CUDA_ARCH__)
  asm("mov.u32 %0, %%smid;" : "=r"(copy));
#endif
  for (unsigned i = line; i < line + ARC__PLACES; ++i) {
    arc__u64 *seen = &c->id[i % ARC__PLACES], before = *seen;
    if (before == 0u) before = atomicCAS(seen, 0ull, id);
    if (before == 0u) {
      arc__counted *to = &c->place[i % ARC__PLACES];
      for (int k = 0; at.file[k] && k < ARC__NAME - 1; ++k) to->file[k] = at.file[k];
      for (int k = 0; at.call && at.call[k]; ++k) to->call[k] = at.call[k];
      to->line = at.line;
      to->width = width;
    }
    if (before == 0u || before == id) return c->bin[copy % ARC__COPIES][i % ARC__PLACES];
  }
  atomicAdd(&c->lost, 1ull);
  return 0;
}

/* Counts a call of `lanes`, which all call; groups of at least `least` are reduced. */
ARC__FN void arc__count(unsigned lanes, arc__u64 address, arc__code_line at, int width, int least,
                        int threshold) {
  const int lane = arc__lane();
  unsigned group = 1u << lane;
#if ARC__ARCH >= 700
  const unsigned low = (unsigned)address, high = (unsigned)(address >> 32);
  const unsigned below = lanes & arc__lanes_below(lane);
  const unsigned next = __shfl_sync(lanes, low, below ? arc__highest(below) : lane);
  if (!__all_sync(lanes, !below || low > next)) { /* where they rise, all differ */
    group = __match_any_sync(lanes, low);
    if (__any_sync(lanes, high != __shfl_sync(lanes, high, arc__highest(group))))
      group &= __match_any_sync(lanes, high);
  }
#endif
  int largest = 1;
  for (int step = 16; step > 0; step /= 2)
    if (__any_sync(lanes, __popc(group) >= largest + step)) largest += step;
  const int addresses = __popc(__ballot_sync(lanes, arc__leads(group, lane)));
  arc__tally *to = arc__leads(lanes, lane) ? arc__count_place(at, width) : 0;
  if (!to) return;
  atomicAdd(&to[arc__bin(__popc(lanes), addresses)].calls, 1ull);
  atomicAdd(&to[arc__bin(__popc(lanes), addresses)].sum, (arc__u64)largest);
  if (largest >= least) atomicAdd(&to[ARC__REDUCED].calls, 1ull);
  if (threshold > 0) atomicAdd(&to[ARC__REDUCED].sum, (arc__u64)threshold);
}
ARC__FN void arc__count_add(const void *p, arc__code_line at, int width) {
  if (__isShared(p)) return; /* before the lanes: the others wait for those that count */
  arc__count(arc__lanes_here(), (arc__u64)p, at, width, 33, 0);
}
#define arc__count_used(p, at) arc__count_add(p, at, 0)

template <class T>
ARC__FN void arc__drop_in_add(T *p, T v, arc__code_line at) {
  arc__count_add(p, at, 1);
  atomicAdd(p, v);
}

/* A call of arc, before it adds: what arc__add will decide. A template, as arc.cuh stands below. */
template <class Call>
ARC__FN Call arc__count_call(Call c, arc__code_line at) {
  c.lanes |= 1u << c.lane; /* as arc__make_mask_of_lane says: the leader counts apart */
  Call asked = c;
  if (!at.call) at.call = "arc_add_with";
  asked.present = __ballot_sync(asked.lanes, c.active);
  const int threshold = c.path == ARC_PATH_ATOMIC ? 33 : arc__threshold(&asked);
  const bool plain = arc__decide(&asked, threshold) == 0; /* ARC__EACH_LANE, of a later file */
  const bool any = arc__is_auto_keyed(&asked) && c.threshold == ARC_THRESHOLD_AUTO; /* group */
  const int least = plain ? 33 : any || threshold < 2 ? 2 : threshold;
  arc__tally *empty = 0;
  if (c.active)
    arc__count(asked.present, (arc__u64)arc__key_id(c.key), at, c.width, least, threshold);
  else if (asked.present == 0u && arc__leads(asked.lanes, c.lane))
    empty = arc__count_place(at, c.width);
  if (empty) atomicAdd(&empty[arc__bin(0, 0)].calls, 1ull);
  return c;
}
#ifndef ARC_CUH /* in which each call now has its line */
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

#if !defined(__CUDACC_RTC__)
#include <stdio.h>
#include <string.h>
#include <algorithm>
#include <vector>
/* The files of a program that count: each announces itself before main. */
struct arc__profiled {
  typedef bool (*read)(arc__counts *);
  static std::vector<read> &files(void) {
    static std::vector<read> all;
    return all;
  }
  explicit arc__profiled(read its) { files().push_back(its); }
};
static arc__profiled arc__profiled_here([](arc__counts *to) {
  return cudaMemcpyFromSymbol(to, arc__counts_here, sizeof *to) == cudaSuccess;
});

struct arc__line {
  arc__counted at;
  int values; /* of a call, or lines in a row with as many adds */
  double calls, lanes, addresses, largest, one_address, plain, summed;
  arc__tally bin[ARC__BINS];
};

/* Adds a line of one file to those that are known. */
static inline void arc__add_line(std::vector<arc__line> *lines, const arc__counts *c, int place) {
  const arc__counted *at = &c->place[place];
  size_t i = 0;
  while (i < lines->size() && memcmp(&(*lines)[i].at, at, sizeof *at)) ++i;
  if (i == lines->size()) lines->push_back(arc__line());
  arc__line *l = &(*lines)[i];
  l->at = *at;
  for (int copy = 0; copy < ARC__COPIES; ++copy)
    for (int b = 0; b < ARC__BINS; ++b) {
      l->bin[b].calls += c->bin[copy][place][b].calls;
      l->bin[b].sum += c->bin[copy][place][b].sum;
    }
}

/* Costs of all calls: each lane's requests, or those of one address after a reduction. */
static inline double arc__sum_line(arc__line *l) {
  const bool is_call = l->at.call[0];
  const int n = is_call ? l->at.width : 1, shuffles = n < 5 ? 5 : n; /* about */
  const double one = ARC_COST_REDUCE + ARC_COST_VALUE * n + ARC_COST_REQUEST;
  const double match = ARC_COST_MATCH + ARC_COST_MATCH_SHUFFLE * shuffles;
  l->values = n;
  for (int lanes = 1; lanes <= 32; ++lanes)
    for (int addresses = 1; addresses <= lanes; ++addresses) {
      const arc__tally *bin = &l->bin[arc__bin(lanes, addresses)];
      const double calls = (double)bin->calls, plain = ARC_COST_REQUEST * lanes * n;
      const double sums = addresses == 1 ? one : match + ARC_COST_REQUEST * addresses;
      const bool many = is_call || lanes >= (addresses == 1 ? 12 : 17); /* as the drop-in */
      l->calls += calls;
      l->lanes += calls * lanes;
      l->addresses += calls * addresses;
      l->largest += (double)bin->sum;
      l->one_address += addresses == 1 ? calls : 0;
      l->plain += calls * plain;
      l->summed += calls * (many && addresses < lanes && sums < plain ? sums : plain);
    }
  return l->plain;
}

/* What fits, by what most calls look like. */
static inline const char *arc__fitting(const arc__line *l) {
  const double lanes = l->lanes / l->calls, largest = l->largest / l->calls;
  const bool whole = l->at.call[0] && strcmp(l->at.call, "arc_add_divergent"); /* a warp calls */
  if (!l->at.width || !(l->plain >= 1.1 * l->summed)) return "none";
  if (l->one_address > 0.9 * l->calls) return lanes > 24 || whole ? "uniform" : "divergent";
  if (largest > 4 && l->addresses > 0.4 * l->lanes) return "table"; /* few keys, and many others */
  if (whole) return "add";
  if (l->values > 3 && lanes > 24 && !l->at.call[0]) return "index_add";
  return l->values > 1 || l->at.call[0] ? "divergent" : "drop-in";
}

static inline int arc__write_masks(const char *name, const std::vector<arc__line> &lines) {
  FILE *out = fopen(name, "w");
  bool good = out && fprintf(out, "# arc masks\nplace,lanes,addresses,calls\n") > 0;
  for (size_t i = 0; good && i < lines.size(); ++i)
    for (int lanes = 1; lanes <= 32 && lines[i].at.width; ++lanes)
      for (int addresses = 1; addresses <= lanes; ++addresses) {
        const arc__u64 calls = lines[i].bin[arc__bin(lanes, addresses)].calls;
        if (calls) good &= fprintf(out, "%zu,%d,%d,%llu\n", i + 1, lanes, addresses, calls) > 0;
      }
  good &= out && !fclose(out);
  if (!good) fprintf(stderr, "arc: cannot write the masks to %s\n", name);
  return !good;
}

/* Lines of one file below each other with as many adds get their number. */
static inline void arc__join_lines(std::vector<arc__line> *lines) {
  for (size_t i = 0, from = 0; i < lines->size(); ++i) {
    const arc__line *l = &(*lines)[i], *first = &(*lines)[from];
    const bool joins = i > from && !strcmp(l->at.file, first->at.file) &&
                       l->at.line <= l[-1].at.line + 2 && l->lanes == first->lanes &&
                       l->at.width == 1 && !l->at.call[0] && !first->at.call[0];
    from = joins ? from : i;
    for (size_t k = from; joins && k <= i; ++k) (*lines)[k].values = (int)(i - from) + 1;
  }
}

static inline void arc__print_line(FILE *out, size_t number, const arc__line *l, double all) {
  const double calls = l->calls > 0 ? l->calls : 1;
  const arc__tally *reduced = &l->bin[ARC__REDUCED], *empty = &l->bin[arc__bin(0, 0)];
  fprintf(out, "%5zu %11.0f %6.1f %10.1f %8.1f %5.1f%%  %-10s %5.1f  %s:%d", number, l->calls,
          l->lanes / calls, l->addresses / calls, l->largest / calls,
          100 * l->plain / (all > 0 ? all : 1), arc__fitting(l),
          l->at.width && l->calls > 0 ? l->plain / l->summed : 1.0, l->at.file, l->at.line);
  if (l->at.call[0])
    fprintf(out, ", %s of %d values: %.0f%% reduced, threshold %.0f, %.0f empty", l->at.call,
            l->at.width, 100 * (double)reduced->calls / calls, (double)reduced->sum / calls,
            (double)empty->calls);
  else if (!l->at.width)
    fprintf(out, ", its result is used");
  else if (l->values > 1)
    fprintf(out, ", one call of %d values", l->values);
  fprintf(out, "\n");
}

static inline int arc_profile_print(FILE *out, const char *masks_csv) {
  std::vector<arc__counts> counts(1); /* of a file after the other */
  std::vector<arc__line> lines;
  double plain = 0, lost = 0;
  int device = 0, devices = 0;
  for (arc__profiled::read read : arc__profiled::files()) {
    if (!read(&counts[0])) continue;
    lost += (double)counts[0].lost;
    for (int place = 0; place < ARC__PLACES; ++place)
      if (counts[0].id[place]) arc__add_line(&lines, &counts[0], place);
  }
  std::sort(lines.begin(), lines.end(), [](const arc__line &a, const arc__line &b) {
    const int files = strcmp(a.at.file, b.at.file);
    return files ? files < 0 : a.at.line < b.at.line;
  });
  for (arc__line &l : lines) plain += arc__sum_line(&l);
  arc__join_lines(&lines);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const arc__line &a, const arc__line &b) { return a.plain > b.plain; });
  if (lost > 0)
    fprintf(stderr, "arc: over %d lines in a file, %.0f calls lost\n", ARC__PLACES, lost);
  (void)cudaGetDeviceCount(&devices), (void)cudaGetDevice(&device);
  if (devices > 1) fprintf(stderr, "arc: of %d devices, device %d is counted\n", devices, device);
  if (lines.empty()) {
    fprintf(stderr, "arc: nothing that is counted has run\n");
    return 1;
  }
  fprintf(out, "place  warp calls  lanes  addresses  largest  share  fits        gain  line\n");
  for (size_t i = 0; i < lines.size(); ++i) arc__print_line(out, i + 1, &lines[i], plain);
  return masks_csv && arc__write_masks(masks_csv, lines);
}
#endif
#endif /* ARC_PROFILE */
#endif /* ARC_PROFILE_CUH */

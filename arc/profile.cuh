/* profile.cuh - where arc would pay: counts what each atomicAdd does. C++. EXPERIMENTAL.
   SPDX-License-Identifier: Apache-2.0

       nvcc -include arc/drop_in.cuh -DARC_PROFILE=1 ...
   Each atomicAdd on global memory that arc/drop_in.cuh would serve, and each whose result is used,
   counts by its line: calls of a warp, the lanes that arrive together, their addresses, the largest
   group of one address. It adds as without. A file takes 17 MiB of device memory, for 64 lines.

       int arc_profile_print(FILE *out, const char *masks_csv);
   On the host, once, behind the kernels: one table of all such files of the program, and their
   histogram for `arc_sweep --workload-file`, unless masks_csv is null. Files that are compiled so
   have it. Returns 0, or 1 and a line on stderr if nothing has run or the CSV cannot be written.
   Of several devices, the current one is read. Waits for its kernels.
       share    the line's part of what all these adds cost, estimated by ARC_COST_REQUEST a lane
       fits     none; drop-in: leave the flag in; uniform, divergent: arc_add_uniform_f32,
                arc_add_divergent_f32; index_add, table: arc/index_add.cuh, arc/table.cuh
       gain     times as fast as plain adds, estimated by the constants ARC_COST_...
   Lines below each other with as many adds are a row's values: call arc once, with all of them.
   Cost: a match and an add for a warp's call. ARC_PROFILE 0: nothing. */
#ifndef ARC_PROFILE_CUH
#define ARC_PROFILE_CUH
#ifndef ARC_DROP_IN_CUH
#error "arc/profile.cuh: include arc/drop_in.cuh with -DARC_PROFILE=1"
#endif
enum { ARC__PLACES = 64, ARC__COPIES = 32, ARC__BINS = 528, ARC__NAME = 240 };
struct arc__code_line {
  const char *file;
  int line;
};
#define ARC__HERE \
  { __builtin_FILE(), __builtin_LINE() }
struct arc__counted {
  char file[ARC__NAME];
  int line, used;
};
struct arc__counts {
  arc__u64 id[ARC__PLACES], lost;
  arc__counted place[ARC__PLACES];
  /* of each pair (lanes, addresses): calls, and the sum of their largest groups. Copies, because
     adds to one address take turns: a multiprocessor has its own. */
  arc__u64 bin[ARC__COPIES][ARC__PLACES][ARC__BINS][2];
};
static __device__ arc__counts arc__counts_here;

static __host__ __device__ inline int arc__bin(int lanes, int addresses) {
  return lanes * (lanes - 1) / 2 + addresses - 1;
}

/* The line's number in the table; -1: there are too many. */
ARC__FN int arc__count_place(arc__code_line at, bool used) {
  arc__counts *c = &arc__counts_here;
  const arc__u64 id = (arc__u64)at.file << 16 | (unsigned)(at.line & 0x7fff) << 1 | used;
  unsigned i = ((unsigned)(id >> 16) * 0x9e3779b9u + (unsigned)at.line * 0x85ebca6bu) >> 26;
  for (int tries = 0; tries < ARC__PLACES; ++tries, i = (i + 1) % ARC__PLACES) {
    arc__u64 seen = c->id[i];
    if (seen == 0u) seen = atomicCAS(&c->id[i], 0ull, id);
    if (seen == id) return (int)i;
    if (seen != 0u) continue;
    for (int k = 0; at.file[k] && k < ARC__NAME - 1; ++k) c->place[i].file[k] = at.file[k];
    c->place[i].line = at.line;
    c->place[i].used = used;
    return (int)i;
  }
  return -1;
}

/* The addresses of `lanes`, of which all call, and the most lanes that have one. */
ARC__FN int arc__count_addresses(unsigned lanes, int lane, const void *p, int *largest) {
  const arc__u64 address = (arc__u64)p;
  int addresses = 0;
#if ARC__ARCH >= 700
  const unsigned low = (unsigned)address, high = (unsigned)(address >> 32);
  const unsigned below = lanes & arc__lanes_below(lane);
  (void)__match_all_sync(lanes, address, &addresses);
  *largest = addresses ? __popc(lanes) : 1;
  if (addresses) return 1;
  unsigned next = __shfl_sync(lanes, low, below ? arc__highest(below) : lane);
  if (__all_sync(lanes, !below || low > next)) return __popc(lanes); /* they rise: all differ */
  unsigned group = __match_any_sync(lanes, low);
  if (__any_sync(lanes, high != __shfl_sync(lanes, high, arc__highest(group))))
    group &= __match_any_sync(lanes, high);
  for (int step = 16; step > 0; step /= 2)
    if (__any_sync(lanes, __popc(group) >= *largest + step)) *largest += step;
  addresses = __popc(__ballot_sync(lanes, arc__leads(group, lane)));
#else
  *largest = 0;
  for (unsigned rest = lanes; rest != 0u; ++addresses) {
    unsigned group =
        __ballot_sync(lanes, address == __shfl_sync(lanes, address, arc__highest(rest)));
    if (__popc(group) > *largest) *largest = __popc(group);
    rest &= ~group;
  }
#endif
  return addresses;
}

ARC__FN void arc__count(const void *p, arc__code_line at, bool used) {
  const int lane = arc__lane();
  if (__isShared(p)) return;
  const unsigned lanes = __activemask() | 1u << lane;
  int largest, addresses = arc__count_addresses(lanes, lane, p, &largest);
  const int place = arc__count_place(at, used);
  unsigned copy = blockIdx.x;
#if defined(__CUDA_ARCH__)
  asm("mov.u32 %0, %%smid;" : "=r"(copy));
#endif
  const bool highest = arc__leads(lanes, lane), lowest = (lanes & arc__lanes_below(lane)) == 0u;
  if (place < 0 && highest) atomicAdd(&arc__counts_here.lost, 1ull);
  if (place < 0 || !(highest || lowest)) return;
  const int bin = arc__bin(__popc(lanes), addresses);
  arc__u64 *to = arc__counts_here.bin[copy % ARC__COPIES][place][bin];
  atomicAdd(&to[highest ? 0 : 1], highest ? 1ull : (arc__u64)largest); /* one lane: largest is 1 */
}
#define arc__count_used(p, at) arc__count(p, at, true)

template <class T>
ARC__FN void arc__drop_in_add(T *p, T v, arc__code_line at) {
  arc__count(p, at, false);
  atomicAdd(p, v);
}

#if !defined(__CUDACC_RTC__)
#include <stdio.h>
#include <string.h>
#include <algorithm>
#include <vector>
/* The files of a program that count: each announces itself before main. */
struct arc__profiled {
  bool (*read)(arc__counts *);
  arc__profiled *next;
  static arc__profiled *&first(void) {
    static arc__profiled *units = 0;
    return units;
  }
  explicit arc__profiled(bool (*read_)(arc__counts *)) : read(read_), next(first()) {
    first() = this;
  }
};
static arc__profiled arc__profiled_here([](arc__counts *to) {
  return cudaMemcpyFromSymbol(to, arc__counts_here, sizeof *to) == cudaSuccess;
});

struct arc__line {
  arc__counted at;
  int values; /* lines in a row with as many adds */
  double calls, lanes, addresses, largest, one_address, plain, drop_in;
  arc__u64 bin[ARC__BINS][2];
};

/* Adds a line of one file to those that are known. */
static inline void arc__add_line(std::vector<arc__line> *lines, const arc__counts *c, int place) {
  const arc__counted *at = &c->place[place];
  size_t i = 0;
  while (i < lines->size() && ((*lines)[i].at.line != at->line || (*lines)[i].at.used != at->used ||
                               strcmp((*lines)[i].at.file, at->file)))
    ++i;
  if (i == lines->size()) lines->push_back(arc__line());
  arc__line *l = &(*lines)[i];
  l->at = *at;
  for (int copy = 0; copy < ARC__COPIES; ++copy)
    for (int b = 0; b < 2 * ARC__BINS; ++b)
      l->bin[b / 2][b % 2] += c->bin[copy][place][b / 2][b % 2];
}

/* Costs of all calls: each lane's request, or those of one address after a reduction. */
static inline void arc__sum_line(arc__line *l) {
  const double one = ARC_COST_REDUCE + ARC_COST_VALUE + ARC_COST_REQUEST;
  const double match = ARC_COST_MATCH + 5 * ARC_COST_MATCH_SHUFFLE;
  for (int lanes = 1; lanes <= 32; ++lanes)
    for (int addresses = 1; addresses <= lanes; ++addresses) {
      const arc__u64 *bin = l->bin[arc__bin(lanes, addresses)];
      const double calls = (double)bin[0], plain = ARC_COST_REQUEST * lanes;
      double sums = addresses == 1 ? one : match + ARC_COST_REQUEST * addresses;
      if (lanes < (addresses == 1 ? 8 : 17) || addresses == lanes)
        sums = plain; /* as the drop-in */
      l->calls += calls;
      l->lanes += calls * lanes;
      l->addresses += calls * addresses;
      l->largest += lanes == 1 ? calls : (double)bin[1];
      l->one_address += addresses == 1 ? calls : 0;
      l->plain += calls * plain;
      l->drop_in += calls * (sums < plain ? sums : plain);
    }
}

/* What fits, by what most calls look like. */
static inline const char *arc__fitting(const arc__line *l) {
  const double lanes = l->lanes / l->calls, largest = l->largest / l->calls;
  if (l->at.used || l->plain < 1.1 * l->drop_in) return "none";
  if (l->one_address > 0.9 * l->calls) return lanes > 24 ? "uniform" : "divergent";
  if (largest > 4 && l->addresses > 0.4 * l->lanes) return "table"; /* few keys, and many others */
  if (l->values > 3 && lanes > 24) return "index_add";
  return l->values > 1 ? "divergent" : "drop-in";
}

static inline int arc__write_masks(const char *name, const std::vector<arc__line> &lines) {
  FILE *out = fopen(name, "w");
  bool good = out && fprintf(out, "# arc masks\nplace,lanes,addresses,calls\n") > 0;
  for (size_t i = 0; good && i < lines.size(); ++i)
    for (int n = 0; n < 32 * 32; ++n) {
      const int lanes = n / 32 + 1, addresses = n % 32 + 1;
      if (addresses > lanes || lines[i].at.used) continue;
      const arc__u64 calls = lines[i].bin[arc__bin(lanes, addresses)][0];
      if (calls) good &= fprintf(out, "%zu,%d,%d,%llu\n", i + 1, lanes, addresses, calls) > 0;
    }
  good &= out && !fclose(out);
  if (!good) fprintf(stderr, "arc: cannot write the masks to %s\n", name);
  return !good;
}

static inline int arc_profile_print(FILE *out, const char *masks_csv) {
  std::vector<arc__counts> counts(1); /* of a file after the other */
  std::vector<arc__line> lines;
  double plain = 0, lost = 0;
  int device = 0, devices = 0;
  for (arc__profiled *unit = arc__profiled::first(); unit; unit = unit->next) {
    if (!unit->read(&counts[0])) continue;
    lost += (double)counts[0].lost;
    for (int place = 0; place < ARC__PLACES; ++place)
      if (counts[0].id[place]) arc__add_line(&lines, &counts[0], place);
  }
  std::sort(lines.begin(), lines.end(), [](const arc__line &a, const arc__line &b) {
    const int files = strcmp(a.at.file, b.at.file);
    return files ? files < 0 : a.at.line < b.at.line;
  });
  for (size_t i = 0; i < lines.size(); ++i) {
    arc__sum_line(&lines[i]);
    plain += lines[i].plain;
  }
  for (size_t i = 0, from = 0; i < lines.size(); ++i) {
    const bool joins = i > from && !strcmp(lines[i].at.file, lines[from].at.file) &&
                       lines[i].at.line <= lines[i - 1].at.line + 2 &&
                       lines[i].lanes == lines[from].lanes && !lines[i].at.used;
    from = joins ? from : i;
    for (size_t k = from; k <= i; ++k) lines[k].values = (int)(i - from) + 1;
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const arc__line &a, const arc__line &b) { return a.plain > b.plain; });
  if (lost > 0)
    fprintf(stderr, "arc: over %d lines in a file, %.0f calls lost\n", ARC__PLACES, lost);
  (void)cudaGetDeviceCount(&devices), (void)cudaGetDevice(&device);
  if (devices > 1) fprintf(stderr, "arc: of %d devices, device %d is counted\n", devices, device);
  if (lines.empty()) {
    fprintf(stderr, "arc: no atomicAdd that is counted has run\n");
    return 1;
  }
  fprintf(out, "place  warp calls  lanes  addresses  largest  share  fits        gain  line\n");
  for (size_t i = 0; i < lines.size(); ++i) {
    const arc__line *l = &lines[i];
    fprintf(out, "%5zu %11.0f %6.1f %10.1f %8.1f %5.1f%%  %-10s %5.1f  %s:%d", i + 1, l->calls,
            l->lanes / l->calls, l->addresses / l->calls, l->largest / l->calls,
            100 * l->plain / plain, arc__fitting(l), l->at.used ? 1.0 : l->plain / l->drop_in,
            l->at.file, l->at.line);
    if (l->at.used) fprintf(out, ", its result is used");
    fprintf(out, l->values > 1 ? ", one call of %d values\n" : "\n", l->values);
  }
  return masks_csv && arc__write_masks(masks_csv, lines);
}
#endif
#endif /* ARC_PROFILE_CUH */

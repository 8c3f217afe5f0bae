/* arc study circles: which circles reach which box, in order, without a sort.
   SPDX-License-Identifier: Apache-2.0

   A warp tests 32 candidates of its box at a time. A vote gives each circle that reaches the box
   its place in the list, behind those before, so the order is kept. One pass counts the circles, a
   scan of the counts finds where each part of a list begins, and a second pass writes the lists.
   This is done in two levels: all circles are candidates of a coarse box; the circles of a coarse
   box are the candidates of the boxes in it. */
#include "render.cuh"

#if !SIMT_ON_CPU
#include <cub/device/device_scan.cuh>
#endif

enum { COARSE_SIDE = 8 /* boxes */, COARSE_PARTS = SIMT_ON_CPU ? 2 : 64, FINE_PARTS = 8 };

/* The box of `from` that holds this one of `to`. */
DEVICE int box_around(box_lists from, box_lists to, int box) {
  int times = from.side / to.side;
  return box / to.columns / times * from.columns + box % to.columns / times;
}

/* One warp a part of a box of `to`; its candidates are in `from`, or all circles where that has no
   list. counts: where to write how many reach the box; null: they are written to the list. */
__global__ void __launch_bounds__(LINE_THREADS)
    find_circles(const circle *circles, int count, box_lists from, box_lists to, int *counts) {
  int lane = (int)threadIdx.x & 31, id = (int)(blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  if (id >= to.boxes * to.parts) return;
  int box = id / to.parts, part = id % to.parts, outer = from.list ? box_around(from, to, box) : 0;
  int begin = from.list ? min(from.offsets[outer * from.parts], from.capacity) : 0;
  int end = from.list ? min(from.offsets[(outer + 1) * from.parts], from.capacity) : count;
  int share = (end - begin + 32 * to.parts - 1) / (32 * to.parts) * 32;
  int place = counts ? 0 : to.offsets[id];
  rectangle r = rectangle_of_box(to, box);
  begin += part * share;
  end = min(end, begin + share);
  for (int i = begin + lane; i - lane < end; i += 32) {
    int key = i < end ? from.list ? from.list[i] : i : 0;
    const circle *c = &circles[key];
    bool reaches = i < end && circle_reaches(c->x, c->y, c->radius, r);
    unsigned all = __ballot_sync(WHOLE_WARP, reaches);
    int mine = place + __popc(all & ((1u << lane) - 1u));
    if (reaches && !counts && mine < to.capacity) to.list[mine] = key;
    place += __popc(all);
  }
  if (counts && lane == 0) counts[id] = place;
}

/* out[i] = the sum of in[0] to in[i - 1]. */
static void scan(renderer *r, const int *in, int *out, int count) {
#if SIMT_ON_CPU
  (void)r;
  for (int i = 0, sum = 0; i < count; sum += in[i++]) out[i] = sum;
#else
  size_t bytes = 0;
  cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, count);
  device_reserve(&r->memory, &r->scratch, bytes, "scratch of a scan");
  device_check(cub::DeviceScan::ExclusiveSum(r->scratch.data, bytes, in, out, count), "a scan");
#endif
}

static void find(renderer *r, const box_lists *from, const box_lists *to, int *counts) {
  SIMT_LAUNCH(find_circles, line_blocks(32 * (size_t)to->boxes * to->parts), LINE_THREADS, 0, 0,
              r->circles, r->count, *from, *to, counts);
}

static void make_level(renderer *r, int level, int side, const box_lists *from) {
  box_lists *l = &r->levels[level];
  l->side = side;
  l->columns = (r->width + side - 1) / side;
  l->boxes = l->columns * ((r->height + side - 1) / side);
  l->parts = level == LEVEL_COARSE ? COARSE_PARTS : FINE_PARTS;
  int ends = l->boxes * l->parts + 1;
  device_reserve(&r->memory, &r->counts, sizeof(int) * (size_t)ends, "counts of the boxes");
  device_reserve(&r->memory, &r->offsets[level], sizeof(int) * (size_t)ends, "places of lists");
  l->offsets = (int *)r->offsets[level].data;
  find(r, from, l, (int *)r->counts.data);
  scan(r, (const int *)r->counts.data, l->offsets, ends);
  find(r, from, l, nullptr);
}

/* Whether the list had room for all its circles. Else it has now. */
static bool had_room(renderer *r, int level) {
  box_lists *l = &r->levels[level];
  int needed;
  device_to_host(&needed, l->offsets + l->boxes * l->parts, sizeof needed, "making the lists");
  if (needed < 0) device_check(cudaErrorMemoryAllocation, "lists of more than 2^31 circles");
  if (needed <= l->capacity && l->list != nullptr) return true;
  l->capacity = needed + needed / 4 + 1;
  device_reserve(&r->memory, &r->lists[level], sizeof(int) * (size_t)l->capacity, "lists");
  l->list = (int *)r->lists[level].data;
  return false;
}

/* The host waits once, at the end, to see whether there was room. */
void renderer_lists(renderer *r) {
  static const box_lists everything = {};
  do {
    make_level(r, LEVEL_COARSE, COARSE_SIDE * BOX_SIDE, &everything);
    make_level(r, LEVEL_FINE, BOX_SIDE, &r->levels[LEVEL_COARSE]);
  } while (!had_room(r, LEVEL_COARSE) || !had_room(r, LEVEL_FINE));
}

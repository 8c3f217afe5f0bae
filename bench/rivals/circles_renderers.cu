/* circles_renderers - how else circles can be drawn: boxes of other sizes or made by the CPU, no
   boxes, other ways to pass over circles that are elsewhere, colours kept in global memory.
   SPDX-License-Identifier: Apache-2.0

   usage: circles_renderers [--size WxH]     every scene by every renderer

   The rivals paint from the back to the front and never stop early, as renderers do that people
   hand in for CS149's third assignment; `own` is that of examples/circles. Status: 0 all pictures
   are right, 1 one is not, 2 wrong usage, 130 interrupted. */
#include <math.h>
#include <string.h>

#include "examples/circles/render.cuh"
#include "examples/common/device_describe.h"
#include "examples/common/option_table.h"
#include "examples/common/program_run.h"

/* ---- kernels -------------------------------------------------------------------------------- */

/* Which of the candidates a block looks at. */
enum {
  EACH,       /* every pixel at each of them, straight from global memory */
  BLOCK_SCAN, /* those that reach the block, compacted by a prefix sum in shared memory */
  WARP_VOTE   /* those that reach the warp's pixels, by a vote */
};

template <typename colour_type>
DEVICE void blend(colour_type colour, const circle *c, pixel p) {
  circle_view v = view_circle(c, p, 1.0f);
  if (!(v.t > 0.0f)) return;
  float alpha = c->opacity * coverage_of(v.t);
  colour[0] = (1.0f - alpha) * colour[0] + alpha * c->red;
  colour[1] = (1.0f - alpha) * colour[1] + alpha * c->green;
  colour[2] = (1.0f - alpha) * colour[2] + alpha * c->blue;
}

/* The candidates: of the box's list, or all circles. */
typedef struct candidates {
  const int *list; /* null: all */
  int begin, end;
} candidates;

DEVICE int candidate(candidates all, int i) { return all.list ? all.list[i] : i; }

/* The sum of `value` over the threads before this one; *total: over all. The whole block calls. */
DEVICE int block_scan(int value, int *total) {
  __shared__ int sums[BLOCK_PIXELS];
  int thread = (int)threadIdx.x, threads = (int)blockDim.x, sum = value;
  sums[thread] = sum;
  __syncthreads();
  for (int step = 1; step < threads; step *= 2) {
    int before = thread >= step ? sums[thread - step] : 0;
    __syncthreads();
    sums[thread] = sum += before;
    __syncthreads();
  }
  *total = sums[threads - 1];
  return sum - value;
}

DEVICE rectangle rectangle_of_block(canvas c) {
  float x = (float)((int)blockIdx.x % c.columns * c.block);
  float y = (float)((int)blockIdx.x / c.columns * c.block), last = (float)c.block - 0.5f;
  return {x + 0.5f, y + 0.5f, x + last, y + last};
}

DEVICE void draw_scanned(float colour[3], circle *batch, const circle *circles, candidates all,
                         canvas c, pixel p) {
  rectangle block = rectangle_of_block(c);
  for (int first = all.begin; first < all.end; first += (int)blockDim.x) {
    int mine = first + (int)threadIdx.x, total;
    circle one = circles[mine < all.end ? candidate(all, mine) : 0];
    bool reaches = mine < all.end && circle_reaches(one.x, one.y, one.radius, block);
    int place = block_scan(reaches, &total);
    if (reaches) batch[place] = one;
    __syncthreads();
    for (int k = 0; k < total; ++k) blend(colour, &batch[k], p);
    __syncthreads();
  }
}

DEVICE void draw_voted(float colour[3], circle *batch, const circle *circles, candidates all,
                       pixel p) {
  circle *mine = &batch[threadIdx.x & ~31u];
  int lane = (int)threadIdx.x & 31;
  for (int first = all.begin; first < all.end; first += 32) {
    int count = min(all.end - first, 32);
    if (lane < count) mine[lane] = circles[candidate(all, first + lane)];
    __syncwarp();
    for (unsigned rest = circles_of_warp(mine, 0, count, p, 1.0f); rest != 0u;)
      blend(colour, &mine[next_circle(&rest)], p);
    __syncwarp();
  }
}

template <int filter, bool global>
__global__ void __launch_bounds__(BLOCK_PIXELS)
    draw_rival(canvas c, box_lists lists, const circle *circles, int count, float *picture) {
  __shared__ circle batch[BLOCK_PIXELS];
  pixel p = pixel_of_lane(c, lists);
  candidates all = {lists.list, 0, count};
  float colour[3] = {BACKGROUND, BACKGROUND, BACKGROUND};
  if (lists.list) all.begin = list_begin(lists, p.box);
  if (lists.list) all.end = list_begin(lists, p.box + 1);
  for (int i = 0; global && p.inside && i < 3; ++i) picture[p.at + i] = colour[i];
  /* volatile: or the compiler might see that nobody else reads the pixel, and keep it. */
  volatile float *kept = picture + p.at;
  for (int i = all.begin; filter == EACH && i < all.end; ++i) {
    const circle *c = &circles[candidate(all, i)];
    if (!global)
      blend(colour, c, p);
    else if (p.inside)
      blend(kept, c, p);
  }
  if (filter == BLOCK_SCAN) draw_scanned(colour, batch, circles, all, c, p);
  if (filter == WARP_VOTE) draw_voted(colour, batch, circles, all, p);
  for (int i = 0; !global && p.inside && i < 3; ++i) picture[p.at + i] = colour[i];
}

/* ---- boxes on the CPU ----------------------------------------------------------------------- */

static bool reaches_box(const circle *c, int side, int column, int row) {
  float x0 = (float)(column * side) + 0.5f, x1 = x0 + (float)(side - 1);
  float y0 = (float)(row * side) + 0.5f, y1 = y0 + (float)(side - 1);
  float dx = fmaxf(fmaxf(x0 - c->x, c->x - x1), 0.0f), reach = c->radius + 0.5f;
  float dy = fmaxf(fmaxf(y0 - c->y, c->y - y1), 0.0f);
  return dx * dx + dy * dy < reach * reach;
}

/* Circle after circle into a list for each box, then all lists to the device in one piece. */
static void lists_on_cpu(renderer *r, const scene *s, int side) {
  box_lists *l = &r->levels[LEVEL_FINE];
  int columns = (s->width + side - 1) / side, rows = (s->height + side - 1) / side;
  std::vector<std::vector<int>> boxes((size_t)columns * rows);
  std::vector<int> offsets(1, 0), list;
  for (int i = 0; i < r->count; ++i) {
    const circle *c = &s->circles[(size_t)i];
    float reach = c->radius + 1.0f, per_side = 1.0f / (float)side;
    int x0 = max((int)((c->x - reach) * per_side), 0),
        y0 = max((int)((c->y - reach) * per_side), 0);
    int x1 = min((int)((c->x + reach) * per_side), columns - 1);
    int y1 = min((int)((c->y + reach) * per_side), rows - 1);
    for (int y = y0; y <= y1; ++y)
      for (int x = x0; x <= x1; ++x)
        if (reaches_box(c, side, x, y)) boxes[(size_t)y * columns + x].push_back(i);
  }
  for (const std::vector<int> &box : boxes) {
    list.insert(list.end(), box.begin(), box.end());
    offsets.push_back((int)list.size());
  }
  device_reserve(&r->memory, &r->offsets[LEVEL_FINE], offsets.size() * sizeof(int), "places");
  device_reserve(&r->memory, &r->lists[LEVEL_FINE], (list.size() + 1) * sizeof(int), "lists");
  *l = {side,
        columns,
        columns * rows,
        1,
        (int *)r->offsets[LEVEL_FINE].data,
        (int *)r->lists[LEVEL_FINE].data,
        (int)list.size()};
  host_to_device(l->offsets, offsets.data(), offsets.size() * sizeof(int), "places");
  host_to_device(l->list, list.data(), list.size() * sizeof(int), "lists");
}

/* ---- the table ------------------------------------------------------------------------------ */

enum { OWN = -1, ON_GPU = 0, ON_CPU, NO_BOXES };

typedef struct rival {
  const char *name;
  int side, boxes; /* of the boxes, and where they are made */
  int filter;      /* OWN, or of draw_rival, */
  bool global;     /* as this */
} rival;

static const rival rivals[] = {{"own, boxes of 8", 8, ON_GPU, OWN, false},
                               {"own, boxes of 16", 16, ON_GPU, OWN, false},
                               {"own, boxes of 32", 32, ON_GPU, OWN, false},
                               {"own, boxes of 64", 64, ON_GPU, OWN, false},
                               {"own, boxes of 16 by the CPU", 16, ON_CPU, OWN, false},
                               {"each pixel each circle, boxes of 8", 8, ON_GPU, EACH, false},
                               {"each pixel each circle, boxes of 16", 16, ON_GPU, EACH, false},
                               {"each pixel each circle, boxes of 32", 32, ON_GPU, EACH, false},
                               {"each pixel each circle, boxes of 64", 64, ON_GPU, EACH, false},
                               {" the same of 16, in global memory", 16, ON_GPU, EACH, true},
                               {"scan of the block, boxes of 8", 8, ON_GPU, BLOCK_SCAN, false},
                               {"scan of the block, boxes of 16", 16, ON_GPU, BLOCK_SCAN, false},
                               {"scan of the block, boxes of 64", 64, ON_GPU, BLOCK_SCAN, false},
                               {"vote of the warp, boxes of 8", 8, ON_GPU, WARP_VOTE, false},
                               {"vote of the warp, boxes of 16", 16, ON_GPU, WARP_VOTE, false},
                               {"vote of the warp, boxes of 64", 64, ON_GPU, WARP_VOTE, false},
                               {"scan of the block, no boxes", 64, NO_BOXES, BLOCK_SCAN, false},
                               {"vote of the warp, no boxes", 64, NO_BOXES, WARP_VOTE, false}};

enum { RIVALS = sizeof rivals / sizeof *rivals };

static void make_lists(renderer *r, const scene *s, const rival *how) {
  if (how->boxes == ON_GPU) renderer_lists(r, how->side);
  if (how->boxes == ON_CPU) lists_on_cpu(r, s, how->side);
  if (how->boxes == NO_BOXES) r->levels[LEVEL_FINE].side = how->side;
}

static void draw(renderer *r, const rival *how) {
  typedef void (*draw_kernel)(canvas, box_lists, const circle *, int, float *);
  static const draw_kernel kernels[] = {draw_rival<EACH, false>, draw_rival<BLOCK_SCAN, false>,
                                        draw_rival<WARP_VOTE, false>};
  if (how->filter == OWN) {
    renderer_pass(r, PASS_DRAW, 0, nullptr);
    return;
  }
  const draw_kernel kernel = how->global ? draw_rival<EACH, true> : kernels[how->filter];
  SIMT_LAUNCH(kernel, r->c.blocks, r->c.block * r->c.block, 0, 0, r->c, r->levels[LEVEL_FINE],
              (const circle *)r->circles.data, r->count, (float *)r->picture.data);
}

static double worst_difference(const renderer *r, const std::vector<double> *wanted) {
  const std::vector<float> rgb = renderer_read(r);
  double worst = 0.0;
  for (size_t i = 0; i < rgb.size(); ++i)
    if (!(255.0 * fabs(rgb[i] - (*wanted)[i]) <= worst))
      worst = 255.0 * fabs(rgb[i] - (*wanted)[i]);
  return worst;
}

typedef struct result {
  float lists_ms, draw_ms; /* medians */
  double worst;            /* difference of a colour from the serial renderer's, of 255 */
} result;

static result run(const scene *s, const rival *how, const std::vector<double> *wanted,
                  int repeats) {
  result its;
  std::vector<float> lists, draws;
  renderer r;
  renderer_begin(&r, s, nullptr, how->side < BLOCK_SIDE ? how->side : (int)BLOCK_SIDE);
  for (int i = 0; i < repeats && (i == 0 || !interrupts); ++i) {
    lists.push_back(device_time([&] { make_lists(&r, s, how); }));
    draws.push_back(device_time([&] { draw(&r, how); }));
  }
  its.worst = worst_difference(&r, wanted);
  its.lists_ms = median(lists.data(), (int)lists.size());
  its.draw_ms = median(draws.data(), (int)draws.size());
  renderer_end(&r);
  return its;
}

static bool compare_scene(const scene *s, const char *name) {
  std::vector<double> wanted = scene_draw_serially(s);
  bool right = true;
  printf("\n%s: %zu circles, %d x %d pixels; ms by %s\n%-36s %9s %9s %9s %12s\n", name,
         s->circles.size(), s->width, s->height,
         SIMT_ON_CPU ? "the host's clock for the emulation" : "GPU events, medians", "renderer",
         "lists", "picture", "both", "worst of 255");
  for (int i = 0; i < RIVALS && !interrupts; ++i) {
    result its = run(s, &rivals[i], &wanted, SIMT_ON_CPU ? 1 : 9);
    if (interrupts) break;
    printf("%-36s %9.4f %9.4f %9.4f %12.3f\n", rivals[i].name, its.lists_ms, its.draw_ms,
           its.lists_ms + its.draw_ms, its.worst);
    right = right && its.worst <= 0.3;
  }
  return right;
}

/* ---- the program ---------------------------------------------------------------------------- */

int main(int argc, char **argv) {
  int size[] = {DEFAULT_WIDTH, DEFAULT_HEIGHT};
  option table[] = {
      {"circles_renderers: every scene by every renderer.\n\nusage: circles_renderers [options]\n"},
      {"--size", OPTION_SIZE, size, "of the pictures; without it 1024x768, on the CPU warp 96x64",
       1, IMAGE_MAX_SIDE},
      {OPTIONS_END},
      {}};
  error_line error;
  bool right = true;
  if (program_begin("circles_renderers", argc, argv)) return 0;
  if (!options_read(table, argc, argv, &error)) return fail(2, &error);
  if (!has_device("circles_renderers", &error)) return fail(1, &error);
  catch_interrupts();
  device_describe(stdout, DEVICE_ON_SCREEN, 0.0);
  for (int kind = SCENE_3; kind < SCENES && !interrupts; ++kind) {
    if (kind == SCENE_FIT) continue;
    scene s = scene_make(kind, size[0], size[1], scene_circles(kind), 1);
    right = compare_scene(&s, scene_names[kind]) && right;
  }
  if (!right && !interrupts)
    return error_set(&error, "a picture differs from the serial renderer's"), fail(1, &error);
  return interrupts ? puts("interrupted"), 130 : 0;
}

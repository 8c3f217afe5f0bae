/* arc study gaussians: pictures alone are the same as those of training's forward pass, whichever
   steps are taken; so are the lists; nothing that a picture does not need is made or allocated.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include "../render/draw.cuh"
#include "test_frame.cuh"

enum { COUNT = 760, WIDTH = 94, HEIGHT = 89, VALUES = 3 * WIDTH * HEIGHT };

/* Large and small, thin and round ones; some out of sight or too faint; some as deep as another or
   nearly so; so many in places that pixels become opaque. */
static void make_scene(reference *r) {
  reference_make(r, WIDTH, HEIGHT, COUNT, 2, 12.0, 4);
  for (int i = 0; i < COUNT; ++i) {
    double *g = &r->gaussian[REF_WIDTH * i];
    if (i >= COUNT / 2 && i % 3 == 0)
      memcpy(g + REF_POSITION, g + REF_POSITION - REF_WIDTH * COUNT / 2, 3 * sizeof *g);
    for (int k = 0; k < 3 && i % 6 == 0; ++k) g[REF_POSITION + k] *= 1.0 + (i % 5 - 2.0) * 1e-7;
    if (i % 20 == 0) g[REF_SCALE] += 2.5;
    if (i % 20 == 7)
      for (int k = 0; k < 3; ++k) g[REF_SCALE + k] += 1.0;
    if (i % 20 == 9) g[REF_OPACITY] = -7.0;
    if (i % 20 == 11) g[REF_POSITION] += 1000.0;
    if (i % 2 == 0) g[REF_OPACITY] += 2.0;
  }
}

/* Lists of several batches, and pixels that end before their lists do. */
static void check_scene(const test_frame *t) {
  int longest = test_longest_list(t), opaque = 0;
  for (float left : device_read<float>(t->f.transmittance.data, VALUES / 3))
    opaque += left < 2.0f * OPAQUE_TRANSMITTANCE;
  CHECK(t->f.tiles == 36 && longest > TILE_PIXELS && opaque > VALUES / 30,
        "%d tiles, the longest list %d, %d pixels opaque", t->f.tiles, longest, opaque);
}

typedef struct variant {
  const char *name;
  paint_kernel paint;
  int pixels;
  bool lifted;
} variant;

#define EACH_PIXELS(name, walk, lifted)                                                   \
  {name, paint<walk, lifted, 1>, 1, lifted}, {name, paint<walk, lifted, 2>, 2, lifted}, { \
    name, paint<walk, lifted, 4>, 4, lifted                                               \
  }

static const variant variants[] = {EACH_PIXELS("groups", WALK_GROUPS, true),
                                   EACH_PIXELS("groups, opacity outside", WALK_GROUPS, false),
                                   EACH_PIXELS("batches", WALK_BATCHES, true),
                                   EACH_PIXELS("batches, opacity outside", WALK_BATCHES, false)};
enum { VARIANTS = sizeof variants / sizeof *variants };

static void begin(drawer *d, test_frame *t, const reference *r) {
  frame_settings settings = test_frame_settings(r);
  draw_begin(d, &settings, &t->memory);
}

static void draw(drawer *d, test_frame *t) {
  draw_view(d, split_gaussians((float *)t->parameters.data, t->count), t->count, t->degree,
            &t->camera);
}

/* What training draws, and what is left of the background. */
typedef struct picture {
  std::vector<float> values, left;
} picture;

/* But for where training stops and for rounding, the numbers are the same with the opacity outside
   the exponent; else within 1/255 but for 0.1 % of the pixels, and nearer on the whole. */
static void check_picture(const drawer *d, const picture *wanted, const variant *v) {
  const std::vector<float> got = device_read<float>(d->f.colour.data, VALUES);
  float largest = 0.0f;
  double sum = 0.0;
  int off = 0;
  for (int i = 0; i < VALUES; ++i) {
    float left = wanted->left[i % (VALUES / 3)], apart = fabsf(got[i] - wanted->values[i]);
    if (left < MAY_STOP && apart <= left) apart = 0.0f;
    largest = apart <= largest ? largest : apart; /* a NaN stays */
    sum += apart;
    off += !(apart <= 1.0f / 255.0f);
  }
  CHECK(off * 1000 <= VALUES && sum / VALUES < 1e-5, "%s, %d pixels: %d values off, mean %.3g",
        v->name, v->pixels, off, sum / VALUES);
  CHECK(v->lifted || largest <= 2e-4f, "%s, %d pixels: off by %g", v->name, v->pixels, largest);
}

static void check_lists(const drawer *d, const test_frame *t, const char *name) {
  const size_t ends = (size_t)t->f.tiles + 1;
  CHECK(d->f.pairs == t->f.pairs, "%s: %d pairs, not %d", name, d->f.pairs, t->f.pairs);
  CHECK(device_read<int>(d->f.first.data, ends) == device_read<int>(t->f.first.data, ends) &&
            test_read_list(&d->f) == test_read_list(&t->f),
        "%s: the lists differ", name);
}

static void test_pictures(test_frame *t, const reference *r, const picture &wanted) {
  for (int i = 0; i < VARIANTS; ++i) {
    drawer d;
    begin(&d, t, r);
    d.pixels = variants[i].pixels;
    d.paint = variants[i].paint;
    draw(&d, t);
    check_picture(&d, &wanted, &variants[i]);
    draw_end(&d);
  }
}

/* Projecting and emitting at once or not: the lists are training's. */
static void test_lists(test_frame *t, const reference *r, const picture &wanted) {
  for (int fused = 0; fused < 2; ++fused) {
    const char *name = fused == 1 ? "fused" : "apart";
    drawer d;
    begin(&d, t, r);
    d.fused = fused == 1;
    for (int again = 0; again < 2; ++again) {
      draw(&d, t);
      check_lists(&d, t, name);
      check_picture(&d, &wanted, &variants[1]);
    }
    draw_times times = draw_read_times(&d);
    CHECK(times.all > 0.0f && times.place + times.sort + times.paint <= 1.01f * times.all,
          "%s: %g + %g + %g of %g ms", name, times.place, times.sort, times.paint, times.all);
    draw_end(&d);
  }
}

static const struct {
  int side, pixels;
  paint_kernel paint, of_tiles;
} macro_variants[] = {{8, 1, paint<WALK_UNITS_8, true, 1>, paint<WALK_GROUPS, true, 1>},
                      {8, 2, paint<WALK_UNITS_8, true, 2>, paint<WALK_GROUPS, true, 2>},
                      {8, 4, paint<WALK_UNITS_8, true, 4>, paint<WALK_GROUPS, true, 4>},
                      {16, 1, paint<WALK_UNITS_16, true, 1>, paint<WALK_GROUPS, true, 1>},
                      {16, 2, paint<WALK_UNITS_16, true, 2>, paint<WALK_GROUPS, true, 2>},
                      {16, 4, paint<WALK_UNITS_16, true, 4>, paint<WALK_GROUPS, true, 4>}};

/* The picture of lists by tiles, in one part and in many. What a pixel still gets once it is opaque
   differs, and on a GPU rounding, which may decide whether a splat's rim hits a pixel: the compiler
   contracts products and sums of each kernel by itself. Little room, then enough. */
static void test_macro_tiles(test_frame *t, const reference *r) {
  for (const auto &v : macro_variants) {
    drawer d, of_tiles;
    begin(&of_tiles, t, r);
    of_tiles.paint = v.of_tiles;
    of_tiles.pixels = v.pixels;
    draw(&of_tiles, t);
    const std::vector<float> wanted = device_read<float>(of_tiles.f.colour.data, VALUES);
    begin(&d, t, r);
    draw_by_macro_tiles(&d, v.side);
    d.paint = v.paint;
    d.pixels = v.pixels;
    for (int longest : {8192, 8192, 10}) {
      if (longest > 10 && &v != macro_variants && SIMT_ON_CPU) continue;
      d.f.longest_part = longest;
      draw(&d, t);
      const std::vector<float> got = device_read<float>(d.f.colour.data, VALUES);
      int off = 0;
      for (int i = 0; i < VALUES; ++i) {
        float apart = fabsf(got[i] - wanted[i]);
        off += !(apart <= 2e-4f);
        CHECK(apart <= 2e-4f + 1.0f / 255.0f, "units of %d, %d pixels, parts of %d: %g, not %g",
              v.side, v.pixels, longest, got[i], wanted[i]);
      }
      CHECK(off * 1000 <= (SIMT_ON_CPU ? 0 : VALUES), "%d values are off", off);
      CHECK(3 * d.f.pairs < 2 * of_tiles.f.pairs, "%d pairs of %d", d.f.pairs, of_tiles.f.pairs);
      CHECK(longest > 10 || d.f.part_count > 2 * d.f.grid.lists, "%d parts", d.f.part_count);
    }
    draw_end(&d);
    draw_end(&of_tiles);
  }
}

/* Before a wall that hides all else: the first part of a list is all that is drawn of it. On a GPU
   others may have begun before it is through. */
static void test_hidden_parts(void) {
  enum { SPLATS = 80, WALL = 6, PART = 10 };
  reference r;
  test_frame t;
  drawer d;
  reference_make(&r, 64, 32, SPLATS, 0, 60.0, 11);
  for (int i = 0; i < WALL; ++i) {
    double *g = &r.gaussian[REF_WIDTH * i];
    reference_place(&r, g, 0.5, 0.5, 0.5 + 0.1 * i);
    for (int k = 0; k < 3; ++k) g[REF_SCALE + k] = log(4.0);
    g[REF_OPACITY] = 6.0;
  }
  test_frame_begin(&t, &r);
  begin(&d, &t, &r);
  draw(&d, &t);
  const std::vector<float> wanted = device_read<float>(d.f.colour.data, 3 * 64 * 32);
  d.f.longest_part = PART;
  draw_by_macro_tiles(&d, 8);
  draw(&d, &t);
  const std::vector<float> got = device_read<float>(d.f.colour.data, 3 * 64 * 32);
  for (size_t i = 0; i < got.size(); ++i)
    CHECK(fabsf(got[i] - wanted[i]) <= 2e-4f, "value %d is %g, not %g", (int)i, got[i], wanted[i]);
  const int n = (d.f.pairs + PART - 1) / PART, tiles = d.f.grid.tiles;
  CHECK(d.f.grid.lists == 1 && n > 4, "%d lists, %d parts", d.f.grid.lists, n);
  for (const drawn_parts &parts : device_read<drawn_parts>(d.f.parts_drawn.data, (size_t)tiles))
    CHECK(parts.drawn == n && parts.hidden == n, "%d parts of %d, %d from the first opaque one on",
          parts.drawn, n, parts.hidden);
  const auto left = device_read<float4>(d.f.part_pixels.data, (size_t)n * tiles * TILE_PIXELS);
  for (size_t i = 0; SIMT_ON_CPU && i < left.size(); ++i)
    CHECK((left[i].x > 0.0f) == (i < (size_t)tiles * TILE_PIXELS), "pixel %d is drawn or is not",
          (int)i);
  draw_end(&d);
  test_frame_end(&t);
}

/* Small macro tiles, then large ones where lists are short, and back where they are long. */
static void test_adapting(test_frame *t, const reference *r, const picture &wanted) {
  static const struct {
    int listed, side; /* splats of a list of the last picture, as if; what the next one takes */
  } cases[] = {{0, 8}, {701, 8}, {699, 16}, {1999, 16}, {2001, 8}, {1, 16}};
  drawer d;
  begin(&d, t, r);
  draw_adaptively(&d);
  for (const auto &c : cases) {
    d.f.pairs = c.listed * d.f.grid.lists;
    draw(&d, t);
    CHECK(d.f.macro_side == c.side, "units of %d pixels after %d splats a list", d.f.macro_side,
          c.listed);
    check_picture(&d, &wanted, &variants[1]);
  }
  draw_end(&d);
}

/* Harmonics in halves: colours within half a unit of their last place, 2^-12, of each term. */
static void test_halves(test_frame *t, const reference *r) {
  drawer d;
  device_array array = {};
  const gaussians model = split_gaussians((float *)t->parameters.data, t->count);
  std::vector<unsigned short> halves;
  begin(&d, t, r);
  draw(&d, t);
  device_clear(d.f.splats.data, COUNT * sizeof(splat));
  draw(&d, t);
  const std::vector<splat> wanted = device_read<splat>(d.f.splats.data, COUNT);
  for (float value : device_read<float>(model.sh, (size_t)SH_FLOATS * COUNT))
    halves.push_back(half_bits(value));
  device_upload(&t->memory, &array, halves, "test");
  gaussians with = model;
  with.sh = nullptr;
  with.halves = (const unsigned short *)array.data;
  draw_view(&d, with, t->count, t->degree, &t->camera);
  const std::vector<splat> got = device_read<splat>(d.f.splats.data, COUNT);
  int changed = 0;
  for (int key : test_read_list(&t->f)) {
    const splat *a = &got[key], *b = &wanted[key];
    float apart =
        fmaxf(fmaxf(fabsf(a->red - b->red), fabsf(a->green - b->green)), fabsf(a->blue - b->blue));
    CHECK(apart <= 1e-3f && a->x == b->x, "splat %d: a colour is off by %g", key, apart);
    changed += apart > 1e-6f;
  }
  CHECK(changed > 0, "no colour has changed");
  device_release(&t->memory, &array);
  draw_end(&d);
}

/* However little room there was, the picture is whole; the next one has room. */
static void test_room(test_frame *t, const reference *r, const picture &wanted) {
  drawer d;
  begin(&d, t, r);
  draw(&d, t);
  for (int room : {10, d.f.pairs - 1, d.f.pairs}) {
    d.f.pair_capacity = room;
    draw(&d, t);
    bool grown = d.f.pair_capacity > d.f.pairs;
    CHECK(grown == (room < d.f.pairs), "%d pairs: room for %d, then for %d", d.f.pairs, room,
          d.f.pair_capacity);
    check_lists(&d, t, "little room");
    check_picture(&d, &wanted, &variants[1]);
  }
  int capacity = d.f.pair_capacity;
  size_t memory = t->memory.now;
  draw(&d, t);
  CHECK(d.f.pair_capacity == capacity && t->memory.now == memory,
        "a second picture took more room");
  draw_end(&d);
}

/* After a picture of more pairs: what that one has left behind is in no list. */
static void test_fewer(test_frame *t, const reference *r) {
  drawer d;
  device_camera camera = t->camera;
  begin(&d, t, r);
  draw(&d, t);
  int before = d.f.pairs;
  t->camera.fx *= 0.5f, t->camera.fy *= 0.5f;
  draw(&d, t);
  test_frame_forward(t);
  CHECK(d.f.pairs < before, "%d pairs after %d", d.f.pairs, before);
  check_lists(&d, t, "fewer pairs");
  draw_end(&d);
  t->camera = camera;
  test_frame_forward(t);
}

/* Splats that reach no tile are not written, those that reach one are, with training's numbers. */
static void test_colours(test_frame *t, const reference *r) {
  enum { POISON = 0x5a };
  drawer d;
  bool listed[COUNT] = {false};
  int unlisted = 0;
  const std::vector<splat> wanted = test_read_splats(t);
  for (int key : test_read_list(&t->f)) listed[key] = true;
  begin(&d, t, r);
  draw(&d, t);
  device_check(cudaMemset(d.f.splats.data, POISON, COUNT * sizeof(splat)), "poison");
  draw(&d, t);
  const std::vector<splat> got = device_read<splat>(d.f.splats.data, COUNT);
  for (int i = 0; i < COUNT; ++i) {
    const float *a = (const float *)&got[i], *b = (const float *)&wanted[i];
    bool untouched = ((const unsigned char *)&got[i])[0] == POISON && got[i].key == 0x5a5a5a5a;
    unlisted += !listed[i];
    CHECK(untouched != listed[i], "splat %d is %s", i, untouched ? "not written" : "written");
    for (int k = 0; k < 11 && listed[i]; ++k) {
      const float size = k == 3 ? fabsf(b[3]) + b[2] + b[4] : fabsf(b[k]); /* b cancels */
      CHECK(fabsf(a[k] - b[k]) <= 1e-5f * size, "splat %d: number %d is %g, not %g", i, k, a[k],
            b[k]);
    }
  }
  CHECK(unlisted > 20 && unlisted < COUNT / 2, "%d reach no tile", unlisted);
  draw_end(&d);
}

/* Nothing of training, nor of the steps that are left out. */
static void test_memory(test_frame *t, const reference *r) {
  drawer d;
  size_t before = t->memory.now;
  begin(&d, t, r);
  draw(&d, t);
  const frame *f = &d.f;
  const device_array *absent[] = {&f->boxes, &f->transmittance, &f->drawn, &f->hits,
                                  &f->slope, &f->maps,          &f->parts, &f->sums};
  for (size_t i = 0; i < sizeof absent / sizeof *absent; ++i)
    CHECK(absent[i]->data == nullptr, "array %d is allocated", (int)i);
  size_t wanted = COUNT * (sizeof(splat) + sizeof(float)) + ((size_t)f->tiles + 1) * sizeof(int) +
                  VALUES * sizeof(float) + sizeof(unsigned) + 16 * (size_t)f->pair_capacity +
                  f->scratch.bytes;
  CHECK(t->memory.now - before == wanted, "%zu bytes, not %zu", t->memory.now - before, wanted);
  draw_end(&d);
  CHECK(t->memory.now == before, "not all is given back");
}

/* 256 tiles: a list's number begins a byte of the key. 64 macro tiles: bits of the depth are in
   values. */
static void test_row_of_tiles(void) {
  reference r;
  test_frame t;
  drawer d;
  reference_make(&r, 4081, 1, 30, 0, 40.0, 7);
  test_frame_begin(&t, &r);
  test_frame_forward(&t);
  begin(&d, &t, &r);
  draw(&d, &t);
  CHECK(t.f.tiles == 256 && t.f.pairs > 20, "%d tiles, %d pairs", t.f.tiles, t.f.pairs);
  check_lists(&d, &t, "a row of tiles");
  const std::vector<float> wanted = device_read<float>(d.f.colour.data, 3 * 4081);
  draw_by_macro_tiles(&d, 8);
  draw(&d, &t);
  CHECK(d.f.grid.lists == 64 && d.f.grid.depth_bits < DEPTH_BITS, "%d lists", d.f.grid.lists);
  const std::vector<float> got = device_read<float>(d.f.colour.data, 3 * 4081);
  const float rim = SIMT_ON_CPU ? 0.0f : 1.0f / 255.0f; /* as in test_macro_tiles */
  for (int i = 0; i < 3 * 4081; ++i)
    CHECK(fabsf(got[i] - wanted[i]) <= 2e-4f + rim, "value %d is %g, not %g", i, got[i], wanted[i]);
  draw_end(&d);
  test_frame_end(&t);
}

static void check_background(const frame *f, const reference *r) {
  const std::vector<float> got = device_read<float>(f->colour.data, 1200);
  CHECK(f->pairs == 0, "%d pairs", f->pairs);
  for (int i = 0; i < 1200; ++i) CHECK(got[i] == (float)r->background[i / 400], "value %d", i);
}

/* As training draws, too. */
static void test_nothing_seen(void) {
  reference r;
  test_frame t;
  reference_make(&r, 20, 20, 4, 0, 5.0, 9);
  for (int i = 0; i < 4; ++i) r.gaussian[REF_WIDTH * i + REF_OPACITY] = -9.0;
  test_frame_begin(&t, &r);
  test_frame_forward(&t);
  check_background(&t.f, &r);
  for (int side : {0, 8}) {
    drawer d;
    begin(&d, &t, &r);
    draw_by_macro_tiles(&d, side);
    draw(&d, &t);
    check_background(&d.f, &r);
    draw_end(&d);
  }
  test_frame_end(&t);
}

int main(void) {
  reference r;
  test_frame t;
  if (!test_has_device("test_gaussians_draw")) return TEST_SKIPPED;
  make_scene(&r);
  test_frame_begin(&t, &r);
  test_frame_forward(&t);
  check_scene(&t);
  const picture wanted = {device_read<float>(t.f.colour.data, VALUES),
                          device_read<float>(t.f.transmittance.data, VALUES / 3)};
  test_pictures(&t, &r, wanted);
  test_lists(&t, &r, wanted);
  test_macro_tiles(&t, &r);
  test_adapting(&t, &r, wanted);
  test_halves(&t, &r);
  test_room(&t, &r, wanted);
  test_fewer(&t, &r);
  test_colours(&t, &r);
  test_memory(&t, &r);
  test_frame_end(&t);
  test_hidden_parts();
  test_row_of_tiles();
  test_nothing_seen();
  return test_end("test_gaussians_draw");
}

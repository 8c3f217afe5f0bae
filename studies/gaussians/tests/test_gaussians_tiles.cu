/* arc study gaussians: which splats a tile has, in which order; the picture does not depend on how
   tiles and warps are found.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include "test_frame.cuh"

enum { COUNT = 220 };

/* ---- lists ---------------------------------------------------------------------------------- */

/* Small ones and a few that span the picture: boxes below and above 32 tiles. Some of the second
   half lie where one of the first half does, some where the one before does: as deep; and some so
   near to it that their keys are equal and their depths are not. */
static void make_scene(reference *r) {
  reference_make(r, 150, 100, COUNT, 0, 12.0, 4);
  for (int i = 0; i < COUNT; ++i) {
    double *g = &r->gaussian[REF_WIDTH * i];
    g[REF_OPACITY] -= 1.0;
    if (i >= COUNT / 2 && i % 3 == 0)
      memcpy(g + REF_POSITION, g + REF_POSITION - REF_WIDTH * COUNT / 2, 3 * sizeof *g);
    if (i % 7 == 3 || i % 7 == 5)
      memcpy(g + REF_POSITION, g + REF_POSITION - REF_WIDTH, 3 * sizeof *g);
    for (int k = 0; k < 3 && i % 7 == 5; ++k) g[REF_POSITION + k] *= 1.0 + (i % 5 - 2.0) * 1.5e-7;
    if (i % 20 == 0) g[REF_SCALE] += 2.5; /* long and thin */
    if (i % 20 == 7)
      for (int k = 0; k < 3; ++k) g[REF_SCALE + k] += 1.0;
    for (int k = 0; k < 3; ++k) g[REF_SCALE + k] = (float)g[REF_SCALE + k];
    g[REF_OPACITY] = (float)g[REF_OPACITY];
  }
}

static double distance_at(const splat *s, double x, double y) {
  double dx = s->x - x, dy = s->y - y;
  return s->a * dx * dx + s->b * dx * dy + s->c * dy * dy;
}

/* The least q along the edge from (x0, y0) to (x1, y1): a parabola in t from 0 to 1. */
static double least_on_edge(const splat *s, double x0, double y0, double x1, double y1) {
  double at_0 = distance_at(s, x0, y0), at_1 = distance_at(s, x1, y1);
  double at_half = distance_at(s, 0.5 * (x0 + x1), 0.5 * (y0 + y1));
  double square = 2.0 * (at_0 + at_1 - 2.0 * at_half), linear = at_1 - at_0 - square;
  double t = square > 0.0 ? fmin(fmax(-0.5 * linear / square, 0.0), 1.0) : 0.0;
  return fmin(fmin(at_0, at_1), distance_at(s, x0 + t * (x1 - x0), y0 + t * (y1 - y0)));
}

static double least_in_square(const splat *s, int column, int row, int side) {
  double x0 = column * side + 0.5, y0 = row * side + 0.5;
  double x1 = x0 + side - 1, y1 = y0 + side - 1;
  if (s->x >= x0 && s->x <= x1 && s->y >= y0 && s->y <= y1) return 0.0;
  return fmin(fmin(least_on_edge(s, x0, y0, x1, y0), least_on_edge(s, x0, y1, x1, y1)),
              fmin(least_on_edge(s, x0, y0, x0, y1), least_on_edge(s, x1, y0, x1, y1)));
}

typedef struct lists {
  std::vector<int> first, list;
  int pairs;
  std::vector<splat> splats;
  std::vector<float> depths;
} lists;

static lists read_lists(const test_frame *t) {
  return {device_read<int>(t->f.first.data, (size_t)t->f.tiles + 1), test_read_list(&t->f),
          t->f.pairs, test_read_splats(t), device_read<float>(t->f.depths.data, (size_t)t->count)};
}

/* Depth never falls, equally deep splats come in the order of their Gaussians, none comes twice. */
static void check_order(const lists *l, int tiles, int depth_bits) {
  int equal = 0, turned = 0;
  auto bits_in_key = [&](float depth) {
    unsigned bits;
    memcpy(&bits, &depth, sizeof bits);
    return (bits - 0x3e4ccccdu /* of 0.2, the nearest */) >> (DEPTH_BITS - depth_bits);
  };
  CHECK(l->first[0] == 0 && l->first[tiles] == l->pairs, "lists from %d to %d of %d pairs",
        l->first[0], l->first[tiles], l->pairs);
  for (int t = 0; t < tiles; ++t) {
    bool listed[COUNT] = {false};
    for (int i = l->first[t]; i < l->first[t + 1]; ++i) {
      int key = l->list[i];
      CHECK(key >= 0 && key < COUNT && !listed[key], "tile %d lists splat %d twice", t, key);
      listed[key] = true;
      if (i == l->first[t]) continue;
      float before = l->depths[l->list[i - 1]], depth = l->depths[key];
      CHECK(before <= depth, "tile %d: pair %d lies behind the next", t, i - 1);
      CHECK(before < depth || l->list[i - 1] < key, "tile %d: splat %d before %d, as deep", t,
            l->list[i - 1], key);
      equal += before == depth;
      turned += before < depth && bits_in_key(before) == bits_in_key(depth) && l->list[i - 1] > key;
    }
  }
  CHECK(equal > 20 && turned > 5, "%d pairs are as deep as the next, %d of a key have turned",
        equal, turned);
}

static bool is_listed(const lists *l, int tile, int key) {
  for (int i = l->first[tile]; i < l->first[tile + 1]; ++i)
    if (l->list[i] == key) return true;
  return false;
}

/* Exactly the tiles that the ellipse reaches, but for a rim as wide as rounding. */
static void check_exact(const lists *l, const test_frame *t) {
  int large = 0, reached = 0;
  for (int key = 0; key < COUNT; ++key) {
    const splat *s = &l->splats[key];
    int tiles = 0;
    for (int tile = 0; tile < t->f.tiles; ++tile) {
      bool listed = is_listed(l, tile, key);
      double least =
          least_in_square(s, tile % t->camera.tiles_x, tile / t->camera.tiles_x, TILE_SIDE);
      tiles += listed;
      CHECK(listed || s->limit < 0.0f || least > s->limit, "tile %d lacks splat %d", tile, key);
      CHECK(!listed || least <= 1.002 * s->limit + 2e-3, "tile %d lists splat %d: %g, limit %g",
            tile, key, least, s->limit);
    }
    large += tiles > 32 /* the boxes that one lane tests alone */;
    reached += tiles > 0;
  }
  CHECK(large > 3 && reached > COUNT / 2, "%d splats are large, %d reached", large, reached);
}

/* Depth never falls in a macro tile's list, equally deep splats come in the order of Gaussians;
   masks are of exactly the units that the ellipse reaches, and not empty. */
static void check_macro_tile(const lists *l, const std::vector<masked_gaussian> &list, int t,
                             const list_grid *g) {
  unsigned masks[COUNT] = {0u};
  for (int i = l->first[t]; i < l->first[t + 1]; ++i) {
    int key = (int)(list[i] >> 32), before = i > l->first[t] ? (int)(list[i - 1] >> 32) : key;
    CHECK(l->depths[before] < l->depths[key] ||
              (l->depths[before] == l->depths[key] && before <= key),
          "macro tile %d: splat %d before %d", t, before, key);
    CHECK(masks[key] == 0u && (unsigned)list[i] != 0u, "macro tile %d: splat %d twice or not in it",
          t, key);
    masks[key] = (unsigned)list[i];
  }
  for (int key = 0; key < COUNT; ++key)
    for (int unit = 0; unit < 32; ++unit) {
      const splat *s = &l->splats[key];
      int column = t % g->lists_x * 8 + unit % 8, row = t / g->lists_x * 4 + unit / 8;
      bool listed = (masks[key] >> unit & 1u) != 0u,
           within = column * g->side < 160 && row * g->side < 112;
      double least = least_in_square(s, column, row, g->side);
      CHECK(listed || !within || s->limit < 0.0f || least > s->limit,
            "macro tile %d, unit %d of %d pixels lacks splat %d", t, unit, g->side, key);
      CHECK(!listed || (within && least <= 1.002 * s->limit + 2e-3),
            "macro tile %d, unit %d of %d pixels has splat %d", t, unit, g->side, key);
    }
}

/* Each part of each list once, the longest first as far as an eighth of an octave tells, of which
   those further back count as shorter; none is longer than `longest`; parts of a list that is cut
   have slots of their own. */
static void check_parts(const lists *l, const std::vector<list_part> &parts, int longest) {
  std::vector<unsigned long long> seen(l->first.size() - 1);
  std::vector<int> slots(2 * parts.size());
  double before = l->pairs;
  for (const list_part &p : parts) {
    if (p.parts == 0) {
      before = 0;
      continue;
    }
    int length = l->first[p.list + 1] - l->first[p.list];
    CHECK(p.parts == std::max(1, (length + longest - 1) / longest) && p.part < p.parts,
          "list %d of %d splats: part %d of %d", p.list, length, p.part, p.parts);
    double counts = length / p.parts / (1.0 + 3.0 * p.part);
    CHECK(counts < 1.1 * before + 1.0, "a part that counts %g splats after one of %g", counts,
          before);
    CHECK(((seen[p.list] >> p.part) & 1ull) == 0, "list %d: part %d twice", p.list, p.part);
    seen[p.list] |= 1ull << p.part;
    before = counts;
    if (p.parts > 1)
      CHECK(slots[p.slot + p.part]++ == 0, "list %d: slot %d + %d twice", p.list, p.slot, p.part);
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    int length = l->first[i + 1] - l->first[i], n = std::max(1, (length + longest - 1) / longest);
    CHECK(n < 64 && seen[i] == (1ull << n) - 1ull, "list %d: not all of %d parts", (int)i, n);
  }
}

/* l: what training lists, with its splats and depths. */
static void test_macro_tiles(test_frame *t, lists l, int side, int longest) {
  gaussians model = split_gaussians((float *)t->parameters.data, t->count);
  t->f.macro_side = side;
  t->f.pair_capacity = 0;
  t->f.longest_part = longest;
  frame_place(&t->f, model, t->count, t->degree, &t->camera);
  frame_sort(&t->f);
  int pairs = t->f.pairs;
  l.first = device_read<int>(t->f.first.data, (size_t)t->f.grid.lists + 1);
  const auto list = device_read<masked_gaussian>(t->f.list, (size_t)pairs);
  CHECK(l.first[0] == 0 && l.first[t->f.grid.lists] == pairs && pairs < l.pairs, "%d pairs", pairs);
  for (int m = 0; m < t->f.grid.lists; ++m) check_macro_tile(&l, list, m, &t->f.grid);
  check_parts(&l, device_read<list_part>(t->f.list_parts.data, (size_t)t->f.part_count),
              longest * side * side / 64);
  t->f.macro_side = 0;
  test_frame_forward(t);
}

static std::vector<float> draw(test_frame *t, tile_test test, int *pairs) {
  t->f.settings.test = test;
  test_frame_forward(t);
  *pairs = t->f.pairs;
  return device_read<float>(t->f.colour.data, 3 * (size_t)t->camera.width * t->camera.height);
}

/* The fewer tiles a test lists, the fewer pairs; not a bit of the picture changes. */
static void test_same_picture(test_frame *t) {
  int pairs[3];
  const std::vector<float> wanted = draw(t, TILE_CIRCLE, &pairs[0]);
  for (int test = TILE_BOX; test <= TILE_EXACT; ++test)
    CHECK(draw(t, (tile_test)test, &pairs[test - TILE_CIRCLE]) == wanted,
          "tiles %d: another picture", test);
  CHECK(pairs[2] < 0.9 * pairs[1] && pairs[1] < 0.9 * pairs[0],
        "pairs: circle %d, box %d, exact %d", pairs[0], pairs[1], pairs[2]);
}

/* The colour of one pixel: all splats of its tile's list, one after another. False if rounding may
   decide whether the pixel is opaque. */
static bool pixel_on_host(const test_frame *t, const lists *l, int column, int row, float rgb[3]) {
  int tile = row / TILE_SIDE * t->camera.tiles_x + column / TILE_SIDE;
  float left = 1.0f;
  bool certain = true;
  for (int k = 0; k < 3; ++k) rgb[k] = 0.0f;
  for (int i = l->first[tile]; i < l->first[tile + 1]; ++i) {
    const splat *s = &l->splats[l->list[i]];
    float dx = s->x - ((float)column + 0.5f), dy = s->y - ((float)row + 0.5f);
    float q = fmaf(dx, fmaf(s->a, dx, s->b * dy), s->c * dy * dy);
    if (signbit(q) || !(q <= s->limit)) continue;
    float alpha = fminf(s->opacity * exp2f(-q), LARGEST_ALPHA), weight = alpha * left;
    float rest = left * (1.0f - alpha);
    certain = certain && fabsf(rest / OPAQUE_TRANSMITTANCE - 1.0f) > 1e-4f;
    if (rest < OPAQUE_TRANSMITTANCE) break;
    rgb[0] += weight * s->red, rgb[1] += weight * s->green, rgb[2] += weight * s->blue;
    left = rest;
  }
  for (int k = 0; k < 3; ++k) rgb[k] += left * t->f.settings.background[k];
  return certain;
}

/* A warp skips the splats that miss its rectangle; the picture is that of all splats. */
static void test_skipped_splats(const test_frame *t, const lists *l) {
  size_t plane = (size_t)t->camera.width * t->camera.height;
  const std::vector<float> got = device_read<float>(t->f.colour.data, 3 * plane);
  float rgb[3];
  for (size_t p = 0; p < plane; ++p) {
    if (!pixel_on_host(t, l, (int)p % t->camera.width, (int)p / t->camera.width, rgb)) continue;
    for (int k = 0; k < 3; ++k)
      CHECK(fabsf(got[k * plane + p] - rgb[k]) <= 2e-5f, "channel %d of pixel %d is %.8g, not %.8g",
            k, (int)p, got[k * plane + p], rgb[k]);
  }
}

int main(void) {
  reference r;
  test_frame t;
  if (!test_has_device("test_gaussians_tiles")) return TEST_SKIPPED;
  make_scene(&r);
  test_frame_begin(&t, &r);
  test_same_picture(&t);
  lists l = read_lists(&t);
  check_order(&l, t.f.tiles, t.f.grid.depth_bits);
  check_exact(&l, &t);
  test_skipped_splats(&t, &l);
  for (int side : {8, 16})
    for (int longest : {8192, 3}) test_macro_tiles(&t, l, side, longest);
  test_frame_end(&t);
  return test_end("test_gaussians_tiles");
}

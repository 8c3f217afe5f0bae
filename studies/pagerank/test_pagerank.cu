/* arc study pagerank: every path against the serial iteration, and what graphs are read and made.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "../../bench/common/test_device.h"
#include "../common/test_files.h"
#include "rank.h"

#include "arc.cuh"

static void check_graph(const graph *g, const char *what) {
  for (int v = 0; v < g->vertices; ++v)
    for (long long e = g->begin[v]; e < g->begin[v + 1]; ++e)
      CHECK(g->source[e] == v && g->target[e] >= 0 && g->target[e] < g->vertices, "%s: edge %lld",
            what, e);
  CHECK(g->begin[0] == 0 && g->begin[g->vertices] == g->edges, "%s: edges are left out", what);
}

static void iterate(ranking *r, int by, int way, int threshold) {
  ranking_divide(r);
  ranking_push(r, by, way, threshold, nullptr);
  ranking_apply(r);
}

static void check_ranks(const graph *g, const char *what) {
  const int thresholds[] = {0, 8, ARC_THRESHOLD_NEVER, ARC_THRESHOLD_AUTO};
  const int steps = 2;
  std::vector<double> wanted((size_t)g->vertices);
  double all = 0;
  ranking r;
  graph_rank_serially(g, DAMPING, steps, wanted.data());
  for (int v = 0; v < g->vertices; ++v) all += wanted[v];
  CHECK(fabs(all - 1) < 1e-12, "%s: serial ranks sum to %.17g", what, all);
  ranking_begin(&r, g);
  /* 5e-6: to a hub go hundreds of additions, in any order. */
  for (int by = 0; by < BYS; ++by)
    for (int way = 0; way < RANK_WAYS; ++way)
      for (int threshold : thresholds) {
        if (!way_runs_here(way) || (threshold != 0 && !way_has_threshold(way))) continue;
        ranking_reset(&r);
        for (int i = 0; i < steps; ++i) iterate(&r, by, way, threshold);
        const std::vector<float> rank = ranking_read(&r);
        for (int v = 0; v < g->vertices; ++v)
          CHECK(fabs(rank[v] - wanted[v]) <= 5e-6 * wanted[v],
                "%s by %d, way %d, threshold %d: vertex %d has %.9g, must have %.9g", what, by, way,
                threshold, v, rank[v], wanted[v]);
      }
  ranking_end(&r);
}

static void test_generated(int scale, int degree, unsigned long long seed) {
  graph g;
  char what[64];
  snprintf(what, sizeof what, "scale %d, degree %d, seed %llu", scale, degree, seed);
  CHECK(graph_generate(&g, scale, degree, seed, &error), "%s: %s", what, error.text);
  CHECK(g.vertices == 1 << scale && g.edges == (long long)degree << scale, "%s: size", what);
  check_graph(&g, what);
  check_ranks(&g, what);
}

/* 199 edges to one vertex are six full warps and one of seven lanes; a warp of vertices has
   the same one step. */
static void check_star_counts(const graph *g) {
  ranking r;
  ranking_begin(&r, g);
  ranking_reset(&r);
  auto *device = (unsigned long long *)device_take(&r.arrays, 66 * sizeof(long long), "counts");
  ranking_push(&r, BY_EDGE, WAY_COUNT, 0, device);
  const auto counts = device_read<unsigned long long>(device, 66);
  CHECK(counts[32] == 6 && counts[7] == 1, "lanes of a star: %llu full, %llu of seven", counts[32],
        counts[7]);
  CHECK(counts[33 + 1] == 7 && counts[33] == 1, "keys of a star: %llu warps of one, %llu of none",
        counts[33 + 1], counts[33]);
  ranking_end(&r);
}

/* A star: all push to vertex 0, which pushes nothing: whole warps on one address. */
static void test_star(void) {
  std::string text = "\xef\xbb\xbf# all to 0\n";
  graph g;
  for (int v = 1; v < 200; ++v) text += std::to_string(v) + "\t0\r\n";
  test_write_file(test_path("star.txt"), text);
  const bool read = graph_read(&g, test_path("star.txt"), &error);
  CHECK(read && g.vertices == 200 && g.edges == 199, "%s", read ? "size" : error.text);
  if (!read) return;
  check_graph(&g, "star");
  check_star_counts(&g);
  check_ranks(&g, "star");
}

static void check_unreadable(const char *text, const char *part) {
  graph g;
  test_write_file(test_path("wrong.txt"), text);
  test_refusal(!graph_read(&g, test_path("wrong.txt"), &error), part);
}

int main(void) {
  test_folder_make();
  check_unreadable("", "holds no edge");
  check_unreadable("# nothing\n\n", "holds no edge");
  check_unreadable("1 2\n3\n", "line 2");
  check_unreadable("1 2 3\n", "line 1");
  check_unreadable("1 -2\n", "line 1");
  check_unreadable("0 2147483647\n", "line 1");
  check_unreadable("a b\n", "two whole numbers from 0 to 2147483646");
  const bool runs = test_has_device("test_pagerank");
  if (runs) {
    test_generated(1, 1, 1);
    test_generated(6, 3, 2);
    test_generated(8, 16, 3);
    test_star();
  }
  test_folder_remove();
  return runs || test_failures ? test_end("test_pagerank") : TEST_SKIPPED;
}

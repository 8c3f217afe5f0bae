/* arc example pagerank: every path against the serial iteration, and what graphs are read and made.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "../common/test_device.h"
#include "../common/test_files.h"
#include "rank.h"

#include "arc.cuh"

static void check_graph(const graph *g, const char *what) {
  for (int v = 0; v < g->vertices; ++v)
    for (long long e = g->begin[v]; e < g->begin[v + 1]; ++e)
      CHECK(g->source[e] == v && g->target[e] >= 0 && g->target[e] < g->vertices, "%s: edge %lld",
            what, e);
  CHECK(g->begin[0] == 0 && g->begin[g->vertices] == g->edges, "%s: edges are left out", what);
  graph_warps w = graph_count_warps(g);
  long long warps = 0;
  for (int k = 0; k <= 32; ++k) warps += w.by_keys[k];
  CHECK(warps == w.warps && warps == (g->edges + 31) / 32, "%s: %lld warps", what, warps);
}

static void check_ranks(const graph *g, const char *what) {
  const int thresholds[] = {0, 8, ARC_THRESHOLD_NEVER, ARC_THRESHOLD_AUTO};
  const int steps = 4;
  double *wanted = (double *)host_memory(sizeof(double) * (size_t)g->vertices), all = 0;
  ranking r;
  graph_rank_serially(g, DAMPING, steps, wanted);
  for (int v = 0; v < g->vertices; ++v) all += wanted[v];
  CHECK(fabs(all - 1) < 1e-12, "%s: serial ranks sum to %.17g", what, all);
  ranking_begin(&r, g);
  for (int by = 0; by < BYS; ++by)
    for (int way = 0; way < WAYS; ++way)
      for (int threshold : thresholds) {
        ranking_reset(&r);
        for (int i = 0; i < steps; ++i) ranking_step(&r, by, way, threshold);
        float *rank = ranking_read(&r);
        for (int v = 0; v < g->vertices; ++v)
          CHECK(fabs(rank[v] - wanted[v]) <= 2e-6 * wanted[v],
                "%s by %s, %s, threshold %d: vertex %d has %.9g, must have %.9g", what, by_name(by),
                way_name(way), threshold, v, rank[v], wanted[v]);
        free(rank);
      }
  ranking_end(&r);
  free(wanted);
}

static void test_generated(int scale, int degree, unsigned long long seed) {
  graph g;
  char what[64];
  snprintf(what, sizeof what, "scale %d, degree %d, seed %llu", scale, degree, seed);
  graph_generate(&g, scale, degree, seed);
  CHECK(g.vertices == 1 << scale && g.edges == (long long)degree << scale, "%s: size", what);
  check_graph(&g, what);
  check_ranks(&g, what);
  graph_free(&g);
}

/* A star: all push to vertex 0, which pushes nothing: whole warps on one address. */
static void test_star(void) {
  char text[4000] = "# all to 0\n";
  graph g;
  error_line error;
  for (int v = 1; v < 200; ++v) snprintf(text + strlen(text), 16, "%d\t0\r\n", v);
  test_write_file(test_path("star.txt"), text, strlen(text));
  const bool read = graph_read(&g, test_path("star.txt"), &error);
  CHECK(read && g.vertices == 200 && g.edges == 199, "%s", read ? "size" : error.text);
  if (!read) return;
  check_graph(&g, "star");
  CHECK(graph_count_warps(&g).by_keys[1] == 7, "warps of a star");
  check_ranks(&g, "star");
  graph_free(&g);
}

static void check_unreadable(const char *text, const char *part) {
  graph g;
  error_line error = {""};
  test_write_file(test_path("wrong.txt"), text, strlen(text));
  CHECK(!graph_read(&g, test_path("wrong.txt"), &error), "'%s' was read", text);
  CHECK(strstr(error.text, part) != nullptr, "'%s': lacks '%s': %s", text, part, error.text);
}

int main(void) {
  CHECK(test_folder_make(), "cannot make the folder %s", test_folder);
  check_unreadable("", "holds no edge");
  check_unreadable("# nothing\n\n", "holds no edge");
  check_unreadable("1 2\n3\n", "line 2");
  check_unreadable("1 2 3\n", "line 1");
  check_unreadable("1 -2\n", "line 1");
  check_unreadable("0 2147483647\n", "line 1");
  check_unreadable("a b\n", "two whole numbers from 0 to 2147483646");
  const bool can_run = test_has_device("test_pagerank");
  if (can_run) {
    test_generated(1, 1, 1);
    test_generated(6, 3, 2);
    test_generated(8, 16, 3);
    test_star();
  }
  test_folder_remove();
  return can_run || test_failures ? test_end("test_pagerank") : TEST_SKIPPED;
}

/* arc example pagerank: page ranks of a graph, pushed along its edges by atomic additions.
   SPDX-License-Identifier: Apache-2.0

   pagerank --scale 20 --compare-paths
   pagerank --graph web-Google.txt --by vertex --tune
   pagerank --help

   The papers' counter-example: hardly ever do two lanes of a warp push to one vertex, so that
   nothing can be gained, and arc must not cost. Where to read on: rank.cu (kernels), graph.h. */
#include <math.h>
#include <string.h>

#include <vector>

#include "rank.h"

static const double LARGEST_ERROR = 1e-4; /* of a rank, over what it must be */
static const char *const by_names[] = {"edge", "vertex", nullptr};

static const char *graph_file;
static int scale = SIMT_ON_CPU ? 8 : 20, degree = 16, by = BY_EDGE;

static graph the_graph;
static ranking the_ranking;
static std::vector<double> wanted; /* the serial ranks after so many iterations */
static int wanted_iterations;

static bool read_option(const char *name, const char *value, bool *known, error_line *error) {
  *known = value != nullptr;
  if (value == nullptr) return false;
  if (!strcmp(name, "--graph")) return parse_file(name, value, &graph_file, error);
  if (!strcmp(name, "--by")) return parse_name(name, value, by_names, &by, error);
  if (!strcmp(name, "--scale"))
    return parse_integer(name, value, 1, GRAPH_MOST_SCALE, &scale, error);
  if (!strcmp(name, "--degree"))
    return parse_integer(name, value, 1, GRAPH_MOST_DEGREE, &degree, error);
  return *known = false;
}

static bool begin(const char *dataset, workload_options *o, error_line *error) {
  long long most = 0;
  if (dataset != nullptr) by = strcmp(dataset, by_names[BY_EDGE]) ? BY_VERTEX : BY_EDGE;
  if (graph_file == nullptr
          ? !graph_generate(&the_graph, scale, degree, (unsigned long long)o->seed, error)
          : !graph_read(&the_graph, graph_file, error))
    return false;
  for (int v = 0; v < the_graph.vertices; ++v)
    most = std::max(most, the_graph.begin[v + 1] - the_graph.begin[v]);
  printf("graph      %d vertices, %lld edges, at most %lld of one, pushed by %s\n",
         the_graph.vertices, the_graph.edges, most, by_names[by]);
  ranking_begin(&the_ranking, &the_graph);
  ranking_reset(&the_ranking);
  wanted.resize((size_t)the_graph.vertices);
  wanted_iterations = -1;
  return true;
}

static void reset(void) { ranking_reset(&the_ranking); }
static void forward(int) { ranking_divide(&the_ranking); }
static void gradient(int way, int threshold) {
  ranking_push(&the_ranking, by, way, threshold, workload_counts());
}
static void update(int) { ranking_apply(&the_ranking); }

static workload_sums sums(void) {
  const workload_sums all = {(const float *)the_ranking.sums.data, (size_t)the_graph.vertices};
  return all;
}

static bool judge(int iterations, workload_quality *, error_line *error) {
  double worst = 0;
  if (wanted_iterations != iterations)
    graph_rank_serially(&the_graph, DAMPING, iterations, wanted.data());
  wanted_iterations = iterations;
  float *rank = ranking_read(&the_ranking);
  for (size_t v = 0; v < wanted.size(); ++v) { /* no rank is 0; of NaN, fmax takes the other */
    const double difference = fabs(rank[v] - wanted[v]) / wanted[v];
    worst = difference == difference ? fmax(worst, difference) : INFINITY;
  }
  free(rank);
  return worst <= LARGEST_ERROR ||
         error_set(error, "ranks differ by %.2g from the serial ones; at most %g is accepted",
                   worst, LARGEST_ERROR);
}

static void end(void) {
  ranking_end(&the_ranking);
  graph_free(&the_graph);
}

int main(int argc, char **argv) {
  static const char *const own_ways[] = {"atomred", nullptr};
  const workload w = {
      "pagerank",
      "ranks the vertices of a graph; what vertices push along edges is added by atomics.\n"
      "Ranks are compared with a serial power iteration in double precision.\n"
      "\n"
      "usage: pagerank [options]\n"
      "\n"
      "  --graph FILE       a list of edges, \"from to\" a line, as SNAP publishes them; there is\n"
      "                     memory for as many vertices as the largest number says\n"
      "  --scale N          without FILE: 2^N vertices, 1 to 26; default: 20, on the CPU warp 8\n"
      "  --degree N         and so many edges for each, 1 to 256; default: 16\n"
      "  --by NAME          edge: a thread an edge; vertex: a thread all edges of a vertex;\n"
      "                     default: edge",
      by_names,
      1u << WAY_SERIALIZED | 1u << WAY_BUTTERFLY | 1u << WAY_TREE | 1u << WAY_AUTO | 1u << WAY_CG,
      own_ways,
      0u,
      SIMT_ON_CPU ? 3 : 30,
      read_option,
      begin,
      reset,
      forward,
      gradient,
      update,
      sums,
      judge,
      nullptr,
      end};
  return workload_main(argc, argv, &w);
}

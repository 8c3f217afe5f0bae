/* arc study pagerank: page ranks of a graph, pushed along its edges by atomic additions.
   SPDX-License-Identifier: Apache-2.0

   The papers' counter-example: two lanes of a warp hardly ever push to one vertex. So arc can gain
   nothing, and must not make the kernel slower. Where to read on: rank.cu (kernels), graph.h. */
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

static option options[] = {
    {"pagerank: ranks the vertices of a graph; what vertices push along edges is added by "
     "atomics.\n"
     "Ranks are compared with a serial power iteration in double precision.\n"
     "\nusage: pagerank [options]\n"},
    {"--graph", OPTION_INPUT, &graph_file,
     "a list of edges, \"from to\" per line, as SNAP publishes them; the largest number in it says "
     "how many vertices there are: at most 1000000 and 100 per edge"},
    {"--scale", OPTION_INT, &scale, "without --graph: 2^N vertices", 1, GRAPH_MOST_SCALE},
    {"--degree", OPTION_INT, &degree, "without --graph: edges per vertex", 1, GRAPH_MOST_DEGREE},
    {"--by", OPTION_NAME, &by, "one thread per edge, or per vertex for all of its edges", 0, -1,
     by_names},
    {"--scale --degree --seed", OPTION_WITHOUT, nullptr, "--graph"},
    {"--by", OPTION_WITHOUT, nullptr, "--dataset or --experiment"},
    {}};

static bool begin(const char *dataset, workload_options *o, error_line *error) {
  long long most = 0;
  if (dataset != nullptr) by = strcmp(dataset, by_names[BY_EDGE]) ? BY_VERTEX : BY_EDGE;
  if (graph_file == nullptr
          ? !graph_generate(&the_graph, scale, degree, (unsigned long long)o->seed, error)
          : !graph_read(&the_graph, graph_file, error))
    return false;
  for (int v = 0; v < the_graph.vertices; ++v)
    most = std::max(most, the_graph.begin[v + 1] - the_graph.begin[v]);
  printf("graph      %d vertices, %lld edges, at most %lld per vertex, pushed by %s\n",
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

static workload_sums sums(void) { return {the_ranking.sums, (size_t)the_graph.vertices}; }

static bool judge(int iterations, workload_quality *, error_line *error) {
  double worst = 0;
  if (wanted_iterations != iterations)
    graph_rank_serially(&the_graph, DAMPING, iterations, wanted.data());
  wanted_iterations = iterations;
  const std::vector<float> rank = ranking_read(&the_ranking);
  for (size_t v = 0; v < wanted.size(); ++v) { /* no rank is 0; of NaN, fmax takes the other */
    const double difference = fabs(rank[v] - wanted[v]) / wanted[v];
    worst = difference == difference ? fmax(worst, difference) : INFINITY;
  }
  return worst <= LARGEST_ERROR ||
         error_set(error, "ranks differ by %.2g from the serial ones; at most %g is accepted",
                   worst, LARGEST_ERROR);
}

static void end(void) { ranking_end(&the_ranking); }

int main(int argc, char **argv) {
  static const char *const own_ways[] = {"atomred", nullptr};
  const unsigned ways = 1u << WAY_SERIALIZED | 1u << WAY_BUTTERFLY | 1u << WAY_AUTO | 1u << WAY_CG;
  const workload w = {"pagerank", options, by_names, ways,     own_ways, 0u,   SIMT_ON_CPU ? 3 : 30,
                      begin,      reset,   forward,  gradient, update,   sums, judge,
                      nullptr,    end};
  return workload_main(argc, argv, &w);
}

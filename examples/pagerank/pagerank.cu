/* arc example pagerank: page ranks of a graph, pushed along its edges by atomic additions.
   SPDX-License-Identifier: Apache-2.0

   pagerank --scale 20 --compare-paths
   pagerank --graph web-Google.txt --by vertex --tune
   pagerank --help

   The papers' counter-example: hardly ever do two lanes of a warp push to one vertex, so that
   nothing can be gained, and arc must not cost. Where to read on: rank.cu (the kernels), graph.h. */
#include <math.h>
#include <string.h>

#include <vector>

#include "../common/device_describe.h"
#include "../common/option_values.h"
#include "../common/program_run.h"
#include "arc_tune.h"
#include "rank.h"

#include "arc.cuh"

typedef struct settings {
  const char *graph, *csv;
  int scale, degree, seed, iterations, by, way, threshold;
  bool compare, tune, help;
} settings;

/* What one way gave; times are medians over iterations. */
typedef struct result {
  int way, threshold, iterations;
  float push_ms;
  double worst; /* of all vertices: the difference from the serial rank, over that */
} result;

static const double LARGEST_ERROR = 1e-4;

static int fail(int status, const error_line *error) {
  fprintf(stderr, "pagerank: %s\n", error->text);
  return status;
}

static void print_help(void) {
  fputs(
      "pagerank: ranks the vertices of a graph; what vertices push along edges is added by "
      "atomics.\n"
      "\n"
      "usage: pagerank [options]\n"
      "\n"
      "  --graph FILE       a list of edges, \"from to\" a line, as SNAP publishes them\n"
      "  --scale N          without FILE: 2^N vertices, 1 to 26; default: 20, on the CPU warp 8\n"
      "  --degree N         and so many edges for each, 1 to 256; default: 16\n"
      "  --seed N           of the generated graph; default: 1\n"
      "  --iterations N     1 to 100000; default: 30, on the CPU warp 3\n"
      "  --by NAME          edge: a thread an edge; vertex: a thread all edges of a vertex;\n"
      "                     default: edge\n"
      "  --path NAME        plain, serialized, butterfly, tree, auto or atomred; default: auto\n"
      "  --threshold N      the balancing threshold, 0 to 33 or auto; default: auto\n"
      "  --tune             the tuner picks the threshold of auto as iterations go by\n"
      "  --compare-paths    every path, in one table\n"
      "  --csv FILE         one line for each path; it appears complete or not at all\n"
      "  --help             this text\n"
      "  --version          the version\n"
      "\n"
      "Ranks are compared with a serial power iteration in double precision. Ctrl-C ends after "
      "the\n"
      "iteration under way. Status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.\n",
      stdout);
}

/* ---- options -------------------------------------------------------------------------------- */

static bool parse_name(const char *option, const char *text, const char *(*name)(int), int count,
                       int *value, error_line *error) {
  char legal[200] = "";
  for (int i = 0; i < count; ++i) {
    if (!strcmp(text, name(i))) return *value = i, true;
    snprintf(legal + strlen(legal), sizeof legal - strlen(legal), "%s%s", i ? ", " : "", name(i));
  }
  return error_set(error, "%s is '%.100s'; it must be one of %s", option, text, legal);
}

static bool parse_valued(settings *s, const char *name, const char *value, bool *known,
                         error_line *error) {
  *known = true;
  if (!strcmp(name, "--graph")) return parse_file(name, value, &s->graph, error);
  if (!strcmp(name, "--csv")) return parse_file(name, value, &s->csv, error);
  if (!strcmp(name, "--threshold")) return parse_threshold(value, &s->threshold, error);
  if (!strcmp(name, "--by")) return parse_name(name, value, by_name, BYS, &s->by, error);
  if (!strcmp(name, "--path")) return parse_name(name, value, way_name, WAYS, &s->way, error);
  if (!strcmp(name, "--scale"))
    return parse_integer(name, value, 1, GRAPH_MOST_SCALE, &s->scale, error);
  if (!strcmp(name, "--degree"))
    return parse_integer(name, value, 1, GRAPH_MOST_DEGREE, &s->degree, error);
  if (!strcmp(name, "--seed")) return parse_integer(name, value, 0, 1000000, &s->seed, error);
  if (!strcmp(name, "--iterations"))
    return parse_integer(name, value, 1, 100000, &s->iterations, error);
  return *known = false;
}

static bool parse(settings *s, int argc, char **argv, error_line *error) {
  bool path_given = false;
  for (int i = 1; i < argc; ++i) {
    option_given given;
    bool known, *flag = nullptr;
    if (!option_read(&given, argc, argv, i, error)) return false;
    if (!strcmp(given.name, "--help")) flag = &s->help;
    if (!strcmp(given.name, "--tune")) flag = &s->tune;
    if (!strcmp(given.name, "--compare-paths")) flag = &s->compare;
    if (flag != nullptr) {
      if (!option_set_flag(&given, flag, error)) return false;
      continue;
    }
    bool legal = parse_valued(s, given.name, given.value, &known, error);
    if (!option_accept(&given, known, legal, &i, error)) return false;
    path_given = path_given || !strcmp(given.name, "--path");
  }
  if (s->compare && path_given)
    return error_set(error, "--compare-paths runs every path; leave --path out");
  if (s->tune && s->way != WAY_AUTO) return error_set(error, "--tune is for --path auto");
  return true;
}

/* ---- running -------------------------------------------------------------------------------- */

static void show_progress(const settings *s, int way, int done) {
  if (progress_due())
    fprintf(stderr, "\r%-10s iteration %d of %d\033[K", way_name(way), done, s->iterations);
}

static void tune_begin(arc_tune *tune) {
  arc_tune_config config = arc_tune_config_default(); /* auto, thresholds 0..32 */
  if (arc_tune_init(tune, &config) != ARC_TUNE_OK) abort();
}

static result run(const settings *s, ranking *r, int way) {
  static arc_tune tune;
  bool tunes = s->tune && way == WAY_AUTO;
  std::vector<float> ms;
  result its = {way, s->threshold, 0, 0.0f, 0.0};
  if (tunes) tune_begin(&tune);
  ranking_reset(r);
  while (its.iterations < s->iterations && !interrupts) {
    arc_tune_policy policy = {};
    if (tunes) {
      policy = arc_tune_next(&tune);
      its.threshold = policy.threshold;
    }
    ms.push_back(ranking_step(r, s->by, way, its.threshold));
    if (policy.ticket != 0) arc_tune_report(&tune, policy.ticket, 1000.0 * ms.back());
    its.iterations += 1;
    show_progress(s, way, its.iterations);
  }
  progress_clear();
  if (!ms.empty()) its.push_ms = median(ms.data(), (int)ms.size());
  if (tunes) its.threshold = tune.result.choice.threshold;
  return its;
}

static double worst_difference(const ranking *r, const double *wanted) {
  float *rank = ranking_read(r);
  double worst = 0;
  for (int v = 0; v < r->g->vertices; ++v)
    worst = fmax(worst, fabs(rank[v] - wanted[v]) / wanted[v]); /* no rank is 0 */
  free(rank);
  return worst;
}

static void print_graph(const graph *g) {
  const graph_warps w = graph_count_warps(g);
  double keys = 0, most = 0;
  for (int k = 1; k <= 32; ++k) keys += (double)k * (double)w.by_keys[k];
  for (int k = 0; k < g->vertices; ++k) most = fmax(most, (double)(g->begin[k + 1] - g->begin[k]));
  printf("graph      %d vertices, %lld edges, at most %.0f of one\n", g->vertices, g->edges, most);
  printf("warps      of 32 edges: %.1f different targets, %.3g %% have one, %.3g %% have 32\n",
         keys / (double)w.warps, 100.0 * (double)w.by_keys[1] / (double)w.warps,
         100.0 * (double)w.by_keys[32] / (double)w.warps);
}

static const char *threshold_word(int threshold, char *text, size_t size) {
  snprintf(text, size, "%d", threshold);
  return threshold == ARC_THRESHOLD_AUTO ? "auto" : text;
}

static void print_results(const settings *s, const std::vector<result> &all) {
  char word[16];
  printf("\nms of a push by %s: medians, %s\n%-11s %9s %9s %8s %12s\n", by_name(s->by),
         SIMT_ON_CPU ? "host time of the emulation, not a GPU time" : "GPU events", "path",
         "threshold", "ms", "x first", "worst error");
  for (const result &r : all)
    printf("%-11s %9s %9.4f %8.2f %12.2g\n", way_name(r.way),
           threshold_word(r.threshold, word, sizeof word), r.push_ms,
           r.push_ms > 0 ? all[0].push_ms / r.push_ms : 0.0f, r.worst);
}

static bool write_csv(const settings *s, const graph *g, const std::vector<result> &all,
                      error_line *error) {
  output_file file;
  char word[16];
  if (!output_file_open(&file, s->csv, error)) return false;
  program_write_head(file.stream);
  device_describe(file.stream, "# ", 0.0);
  fprintf(file.stream, "vertices,edges,by,path,threshold,iterations,push_ms,worst_error\n");
  for (const result &r : all)
    fprintf(file.stream, "%d,%lld,%s,%s,%s,%d,%.6f,%.3g\n", g->vertices, g->edges, by_name(s->by),
            way_name(r.way), threshold_word(r.threshold, word, sizeof word), r.iterations,
            r.push_ms, r.worst);
  return output_file_commit(&file, error);
}

static bool load(const settings *s, graph *g, error_line *error) {
  if (s->csv != nullptr && !output_file_probe(s->csv, error)) return false;
  if (s->graph != nullptr) return graph_read(g, s->graph, error);
  graph_generate(g, s->scale, s->degree, (unsigned long long)s->seed);
  return true;
}

int main(int argc, char **argv) {
  settings s = {};
  error_line error;
  graph g;
  ranking r;
  std::vector<result> all;
  s.scale = SIMT_ON_CPU ? 8 : 20;
  s.degree = 16;
  s.seed = 1;
  s.iterations = SIMT_ON_CPU ? 3 : 30;
  s.way = WAY_AUTO;
  s.threshold = ARC_THRESHOLD_AUTO;
  if (program_begin("pagerank", argc, argv)) return 0;
  if (!parse(&s, argc, argv, &error)) return fail(2, &error);
  if (s.help) return print_help(), 0;
  if (!has_device("pagerank", &error) || !load(&s, &g, &error)) return fail(1, &error);
  catch_interrupts();
  device_check(print_device(ARC_POLICY_STRING), "reading the device's properties");
  print_graph(&g);
  ranking_begin(&r, &g);
  std::vector<double> wanted((size_t)g.vertices);
  int wanted_iterations = -1;
  for (int way = s.compare ? 0 : s.way; way <= (s.compare ? WAYS - 1 : s.way) && !interrupts;
       ++way) {
    result its = run(&s, &r, way);
    if (its.iterations != wanted_iterations) {
      graph_rank_serially(&g, DAMPING, its.iterations, wanted.data());
      wanted_iterations = its.iterations;
    }
    its.worst = worst_difference(&r, wanted.data());
    all.push_back(its);
  }
  ranking_end(&r);
  print_results(&s, all);
  if (s.csv != nullptr && !write_csv(&s, &g, all, &error)) return fail(1, &error);
  graph_free(&g);
  for (const result &its : all)
    if (!(its.worst <= LARGEST_ERROR)) {
      error_set(&error,
                "path %s: ranks differ by %.2g from the serial ones; at most %g is accepted",
                way_name(its.way), its.worst, LARGEST_ERROR);
      return fail(1, &error);
    }
  return interrupts ? 130 : 0;
}

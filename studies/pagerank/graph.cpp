/* arc study pagerank: a directed graph, read or generated. SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

#include <limits.h>
#include <string.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "../../bench/common/program_run.h"

typedef std::vector<std::pair<int, int>> edge_list;

static bool set_interrupted(error_line *error) {
  return error_set(error, "interrupted before the graph was complete");
}

/* Sorts the edges by source, then by target. What takes seconds of a large graph looks for
   interrupts as it goes. */
static bool take_edges(graph *g, int vertices, const edge_list &edges, error_line *error) {
  g->vertices = vertices;
  g->edges = (long long)edges.size();
  g->source.resize(edges.size());
  g->target.resize(edges.size());
  g->begin.assign((size_t)vertices + 1, 0);
  for (size_t i = 0; i < edges.size() && !interrupts; ++i) g->begin[edges[i].first + 1] += 1;
  for (int v = 0; v < vertices; ++v) g->begin[v + 1] += g->begin[v];
  std::vector<long long> next = g->begin;
  for (size_t i = 0; i < edges.size() && !interrupts; ++i) {
    const size_t place = (size_t)next[(size_t)edges[i].first]++;
    g->source[place] = edges[i].first;
    g->target[place] = edges[i].second;
  }
  for (int v = 0; v < vertices && !interrupts; ++v)
    std::sort(g->target.begin() + g->begin[v], g->target.begin() + g->begin[v + 1]);
  return !interrupts || set_interrupted(error);
}

/* A whole number from 0 to INT_MAX - 1, behind blanks. */
static bool take_number(const char **text, int *number) {
  long long value = 0;
  while (**text == ' ' || **text == '\t') ++*text;
  if (**text < '0' || **text > '9') return false;
  for (; **text >= '0' && **text <= '9'; ++*text)
    if ((value = 10 * value + (**text - '0')) >= INT_MAX) return false;
  *number = (int)value;
  return true;
}

static bool is_blank(const char *text) { return text[strspn(text, " \t\r\n")] == '\0'; }

bool graph_read(graph *g, const char *path, error_line *error) {
  edge_list edges;
  char line[256];
  int largest = -1;
  FILE *file = text_open(path);
  if (file == nullptr) return error_set(error, "'%.300s' cannot be read", path);
  for (long long number = 1; !interrupts && fgets(line, sizeof line, file) != nullptr; ++number) {
    const char *text = line;
    int from, to;
    bool whole = strchr(line, '\n') != nullptr || feof(file);
    if (line[0] == '#' || is_blank(line)) {
      for (int c = '\n'; !whole && (c = fgetc(file)) != EOF && c != '\n';) {
      }
      continue;
    }
    if (!whole || !take_number(&text, &from) || !take_number(&text, &to) || !is_blank(text)) {
      fclose(file);
      return error_set(error,
                       "'%.300s', line %lld: must be two whole numbers from 0 to %d, \"from to\"",
                       path, number, INT_MAX - 1);
    }
    largest = std::max(largest, std::max(from, to));
    edges.push_back(std::make_pair(from, to));
  }
  bool failed = ferror(file) != 0;
  fclose(file);
  if (failed) return error_set(error, "'%.300s' cannot be read", path);
  if (interrupts) return set_interrupted(error);
  if (edges.empty()) return error_set(error, "'%.300s' holds no edge, \"from to\"", path);
  const long long most = GRAPH_MOST_NUMBER + GRAPH_MOST_PER_EDGE * (long long)edges.size();
  if (largest > most)
    return error_set(
        error,
        "'%.300s' has a vertex %d; with %zu edges the largest may be %lld, as there is "
        "memory for all below",
        path, largest, edges.size(), most);
  return take_edges(g, largest + 1, edges, error);
}

bool graph_generate(graph *g, int scale, int degree, unsigned long long seed, error_line *error) {
  std::mt19937_64 random(seed);
  const int vertices = 1 << scale;
  const size_t count = (size_t)vertices * (size_t)degree;
  const double needed = 16.0 * (double)count + 48.0 * vertices, left = memory_left();
  if (needed > left)
    return error_set(error,
                     "2^%d vertices with %d edges each take %.1f GB of memory, and %.1f GB are "
                     "left; --scale or --degree must be less",
                     scale, degree, 1e-9 * needed, 1e-9 * left);
  std::vector<int> name((size_t)vertices);
  for (int v = 0; v < vertices; ++v) name[(size_t)v] = v;
  for (int v = vertices - 1; v > 0 && !interrupts; --v)
    std::swap(name[(size_t)v], name[random() % (unsigned)(v + 1)]);
  edge_list edges;
  edges.reserve(count);
  while (edges.size() < count && !interrupts) {
    int from = 0, to = 0;
    for (int bit = 0; bit < scale; ++bit) {
      const int drawn = (int)(random() % 100); /* 57, 19, 19, 5 */
      from = 2 * from + (drawn >= 76);
      to = 2 * to + (drawn >= 95 || (drawn >= 57 && drawn < 76));
    }
    edges.push_back(std::make_pair(name[(size_t)from], name[(size_t)to]));
  }
  return take_edges(g, vertices, edges, error);
}

void graph_rank_serially(const graph *g, double damping, int iterations, double *rank) {
  const int n = g->vertices;
  std::vector<double> sums((size_t)n);
  std::fill(rank, rank + n, 1.0 / n);
  for (int i = 0; i < iterations && !interrupts; ++i) {
    double dangling = 0;
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int v = 0; v < n && !interrupts; ++v) {
      const long long degree = g->begin[v + 1] - g->begin[v];
      if (degree == 0) dangling += rank[v];
      for (long long e = g->begin[v]; e < g->begin[v + 1]; ++e)
        sums[(size_t)g->target[e]] += rank[v] / (double)degree;
    }
    for (int v = 0; v < n; ++v)
      rank[v] = (1 - damping) / n + damping * (sums[(size_t)v] + dangling / n);
  }
}

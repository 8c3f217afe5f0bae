/* bench_gaussians: measures the trainer of studies/gaussians, by arc and by other ways to add.
   SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "../../../bench/common/device_describe.h"

#define ON_ONE_VIEW "--backward --papers --draw"

static std::vector<option> make_table(bench_options *b, std::vector<int> *datasets,
                                      std::vector<int> *ways) {
  static const char *const dataset_names[] = {"scene", "small", "medium", "large", nullptr};
  std::vector<option> table = options_of_training(&b->o);
  table.insert(table.begin(), {"bench_gaussians: measures the trainer gaussians.\n\nusage: "
                               "bench_gaussians --backward|--papers|--draw|--experiment FILE "
                               "[options]"});
  table.insert(
      table.end(),
      {{"\nwhat to measure"},
       {"--backward", OPTION_FLAG, &b->backward,
        "measures the backward pass of one view, with every way to add, threshold and number of "
        "pixels per lane: medians, all sums compared; default: 1 million small, 300000 medium and "
        "50000 large Gaussians at 1920x1080"},
       {"--papers", OPTION_FLAG, &b->papers,
        "measures the kernel that the papers describe on one view, with atomics, SW-S and SW-B at "
        "every threshold, and arc: medians, all sums compared"},
       {"--draw", OPTION_FLAG, &b->draw,
        "renders as gaussians --draw, with and without each step that makes it fast, at 1920x1080 "
        "and 3840x2160 or --size: medians, pictures compared"},
       {"--experiment", OPTION_OUTPUT, &b->experiment,
        "measures every way to add on --scene, or on the three procedural scenes: the backward "
        "pass "
        "alone at threshold 0, 8, 16, 24, 32, and a training at the best one; a .csv line each"},
       {"--seeds", OPTION_INT, &b->seeds,
        "repeats --experiment with N seeds from --seed on; paper.py prints mean PSNRs", 1, 1000},
       {"--ways", OPTION_LIST, ways, "only these ways to add in --experiment", 0, -1,
        experiment_ways()},
       {"--datasets", OPTION_LIST, datasets,
        "what to measure on; scene means --scene; default: --scene or --procedural if given, else "
        "small,medium,large",
        0, -1, dataset_names},
       {"--repeats", OPTION_INT, &b->o.repeats, "launches of each measurement", 1, 1000},
       {"--orbit", OPTION_INT, &b->o.orbit, "renders with so many cameras on a ring", 1, 100000},
       {"--city", OPTION_INT, &b->city,
        "renders a synthetic city of so many Gaussians, as long, thin and opaque as those of "
        "--init, with cameras of its own",
        1, 50000000},
       {"--write", OPTION_INPUT, &b->write,
        "writes model.ply and cameras.txt of --city into this folder, and renders nothing"},
       {"--csv", OPTION_OUTPUT, &b->o.csv, "writes the table of what is measured on one view"},
       {"--renders", OPTION_INPUT, &b->o.renders, "writes the pictures of --draw into this folder"},
       {OPTIONS_END},

       {"--backward --papers --draw --csv", OPTION_WITHOUT, nullptr, "--experiment"},
       {"--papers --draw", OPTION_WITHOUT, nullptr, "--backward"},
       {"--draw", OPTION_WITHOUT, nullptr, "--papers"},
       {"--seeds --ways", OPTION_NEEDS, nullptr, "--experiment"},
       {"--datasets", OPTION_WITHOUT, nullptr, "--draw"},
       {"--repeats", OPTION_NEEDS, nullptr, ON_ONE_VIEW},
       {"--orbit --city --renders", OPTION_NEEDS, nullptr, "--draw"},
       {"--city", OPTION_NEEDS, nullptr, "--init"},
       {"--write", OPTION_NEEDS, nullptr, "--city"},
       {"--csv --renders", OPTION_WITHOUT, nullptr, "--write"},
       {"--procedural", OPTION_WITHOUT, nullptr, "--scene --datasets --city"},
       {"--orbit", OPTION_WITHOUT, nullptr, "--scene --city"},
       {"--city", OPTION_WITHOUT, nullptr, "--scene"},
       {"--iterations --hold-out --densify --densify-until --most-gaussians --tiles",
        OPTION_WITHOUT, nullptr, ON_ONE_VIEW},
       {"--sh-degree", OPTION_WITHOUT, nullptr, "--draw"},
       {}});
  return table;
}

/* Without what they are for, or beside what excludes them, options would be ignored. */
static bool check(const bench_options *b, error_line *error) {
  const options *o = &b->o;
  const bool scene = o->input.path != nullptr, init = o->init != nullptr;
  const struct {
    bool applies;
    const char *text;
  } rules[] = {
      {!b->backward && !b->papers && !b->draw && b->experiment == nullptr,
       "give --backward, --papers, --draw or --experiment FILE"},
      {scene && o->size[0] > 0 && !b->draw && b->datasets <= 1u,
       "--size is for the procedural scene; convert.py makes other pictures of --scene"},
      {(b->backward || b->papers) && init && !scene,
       "--init is for --scene; procedural scenes have a model"},
      {(b->datasets & 1u) != 0u && !scene, "--datasets names scene; give it with --scene PATH"},
      {scene && b->datasets != 0u && (b->datasets & 1u) == 0u,
       "--datasets names no scene; leave --scene out"},
      {b->experiment != nullptr && init && b->datasets > 1u,
       "--init is a model of one scene, and --datasets names others"}};
  for (const auto &rule : rules)
    if (rule.applies) return error_set(error, "%s", rule.text);
  return true;
}

static bool parse(bench_options *b, int argc, char **argv, error_line *error) {
  std::vector<int> datasets, ways;
  std::vector<option> table = make_table(b, &datasets, &ways);
  if (!options_read(table.data(), argc, argv, error)) return false;
  for (int dataset : datasets) b->datasets |= 1u << dataset;
  for (int way : ways) b->ways |= 1u << way;
  return check(b, error) && options_complete(&b->o, table.data(), b->draw, error);
}

int main(int argc, char **argv) {
  bench_options b = {};
  error_line error;
  if (program_begin("bench_gaussians", argc, argv)) return 0;
  b.o = options_default();
  b.o.train.iterations = SIMT_ON_CPU ? 60 : 7000;
  b.o.repeats = SIMT_ON_CPU ? 1 : 9;
  b.seeds = 1;
  if (!parse(&b, argc, argv, &error)) return fail(2, &error);
  catch_interrupts();
  if (!has_device("bench_gaussians", &error)) return fail(1, &error);
  device_describe(stdout, DEVICE_ON_SCREEN, 0.0);
  if (b.backward || b.papers) return run_backward(&b);
  return b.draw ? run_draws(&b) : run_experiment(&b);
}

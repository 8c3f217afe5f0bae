/* arc study gaussians: training as a whole: it learns, it grows by the rules, and damaged
   checkpoints are refused. SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include "../../common/search.h"
#include "../../common/test_files.h"
#include "../train/setup.h"
#include "test_frame.cuh"

static options test_options(int iterations) {
  options o = options_default();
  o.kind = SCENE_MEDIUM;
  o.gaussians = 120, o.views = 6, o.size[0] = 40, o.size[1] = 32;
  o.input.hold_out = 3;
  o.train.iterations = iterations;
  o.train.seed = 3;
  o.train.densify_from = 8, o.train.densify_every = 4, o.train.reset_every = 1000;
  o.train.densify_until = iterations;
  o.train.most_gaussians = 200;
  return o;
}

static void begin(trainer *t, scene *data, const options *o, const gaussians_host *model) {
  trainer_begin(t, data, &o->train);
  trainer_set_model(t, model);
}

/* ---- it learns ------------------------------------------------------------------------------ */

static const double GAIN_DB = 3.0; /* of the training views, by 50 iterations */

/* What is written down of each iteration. */
static void check_records(const trainer *t, const gaussians_host *model) {
  int seen[16] = {0};
  for (int i = 0; i < t->iteration - 1; ++i) {
    const step_record *r = &t->records[i];
    seen[r->view] += 1;
    CHECK(r->gaussians > 0 && r->pairs > 0, "iteration %d: %d Gaussians, %d pairs", i, r->gaussians,
          r->pairs);
    CHECK(r->forward_ms > 0.0f && r->backward_ms > 0.0f && r->rest_ms > 0.0f,
          "iteration %d: no times", i);
  }
  for (int i = 0; i < (int)t->data->views.size(); ++i)
    CHECK((seen[i] > 0) == !t->data->views[i].held_out, "view %d was trained on %d times", i,
          seen[i]);
  CHECK(t->records[0].gaussians == model->count, "%d Gaussians at first", t->records[0].gaussians);
}

static void test_learning(const options *o, scene *data, const gaussians_host *model) {
  trainer t;
  loss_figures before, after, held_out;
  begin(&t, data, o, model);
  CHECK(trainer_judge(&t, false, &before), "no training views");
  while (t.iteration < o->train.iterations) trainer_step(&t);
  CHECK(trainer_judge(&t, false, &after) && trainer_judge(&t, true, &held_out), "no views");
  CHECK(after.psnr >= before.psnr + GAIN_DB, "PSNR rose from %.2f to %.2f dB only", before.psnr,
        after.psnr);
  CHECK(after.loss < 0.7 * before.loss, "the loss fell from %g to %g only", before.loss,
        after.loss);
  CHECK(held_out.psnr > before.psnr, "held-out views have %.2f dB", held_out.psnr);
  CHECK(t.count > model->count, "%d Gaussians have not become more", t.count);
  check_records(&t, model);
  CHECK(t.memory.peak >= t.memory.now && t.memory.now > 0, "memory is not counted");
  printf("test_gaussians_training: PSNR %.2f to %.2f dB (held out %.2f), %d to %d Gaussians\n",
         before.psnr, after.psnr, held_out.psnr, model->count, t.count);
  trainer_end(&t);
  CHECK(t.memory.now == 0, "%zu bytes are not given back", t.memory.now);
}

/* The tuner picks the threshold of each step and gets its time, and the loss falls. */
static void test_tuning(const options *o, scene *data, const gaussians_host *model) {
  enum { STEPS = 30 };
  trainer t;
  options mine = *o;
  int changes = 0;
  mine.train.search = SEARCH_TUNER;
  mine.train.iterations = STEPS;
  begin(&t, data, &mine, model);
  while (t.iteration < STEPS) {
    const int before = t.f.settings.threshold;
    trainer_step(&t);
    changes += t.f.settings.threshold != before;
  }
  loss_figures first = trainer_figures(&t, 0), last = trainer_figures(&t, STEPS - 1);
  CHECK(changes > 5, "%d changes of threshold in %d steps", changes, (int)STEPS);
  CHECK(last.loss < first.loss, "the loss went from %g to %g", first.loss, last.loss);
  trainer_end(&t);
}

/* Sum of the gradients' magnitudes after a step. */
static double first_gradient(const options *o, scene *data, const gaussians_host *model, int search) {
  trainer t;
  options mine = *o;
  double sum = 0.0;
  mine.train.search = search;
  begin(&t, data, &mine, model);
  trainer_step(&t);
  for (float g : device_read<float>((const float *)t.blocks[BLOCK_GRADIENTS].data,
                                    (size_t)GRADIENT_FLOATS * t.count, "reading gradients"))
    sum += fabs(g);
  trainer_end(&t);
  return sum;
}

/* The papers' search finds the fastest, and its launches leave nothing in the sums. */
static void test_search(const options *o, scene *data, const gaussians_host *model) {
  const int found = search_threshold([](int t) { return (float)(t < 13 ? 29 - t : t); });
  CHECK(found == 13, "the fastest threshold is 13, not %d", found);
  const double searched = first_gradient(o, data, model, SEARCH_PAPERS), wanted = first_gradient(o, data, model, SEARCH_NONE);
  CHECK(fabs(searched / wanted - 1.0) < 0.01, "gradients of %g, not %g", searched, wanted);
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static void check_refused(trainer *t, const char *path, const char *part) {
  test_refusal(!checkpoint_read(t, path, &error), part);
}

static void test_wrong_checkpoints(const options *o, scene *data, const gaussians_host *model) {
  trainer t;
  const char *path = test_path("checkpoint");
  begin(&t, data, o, model);
  CHECK(checkpoint_write(&t, path, &error), "%s", error.text);
  const std::string whole = test_read_file(path);
  const size_t peak = t.memory.peak;
  const auto refuse = [&](const std::string &bytes, const char *part) {
    test_write_file(path, bytes);
    check_refused(&t, path, part);
  };
  const auto changed = [&](size_t at) {
    std::string bytes = whole;
    bytes[at] ^= 1;
    return bytes;
  };
  check_refused(&t, test_path("absent"), "No such file");
  refuse(whole.substr(0, whole.size() - 1), "shorter than");
  refuse(whole + '\0', "longer than");
  refuse(whole.substr(0, 20), "not a checkpoint");
  refuse(whole.substr(1), "not a checkpoint");
  refuse(changed(whole.size() / 2), "checksum is wrong");
  refuse(changed(16), "checksum is wrong"); /* iterations behind it */
  refuse(changed(14), "shorter than");      /* 65536 Gaussians more */
  CHECK(t.memory.peak == peak, "%zu bytes of memory taken for a size that is wrong",
        t.memory.peak - peak);
  test_write_file(path, whole);
  t.settings.seed += 1;
  check_refused(&t, path, "--seed 3; give the same");
  t.settings.seed -= 1;
  t.training.pop_back();
  check_refused(&t, path, "4 of them for training");
  t.training.push_back(0);
  CHECK(checkpoint_read(&t, path, &error), "%s", error.text);
  trainer_end(&t);
}

/* ---- growing -------------------------------------------------------------------------------- */

enum { PULLED = 1, LARGE = 2, CLEAR = 4, HUGE_ONE = 8, KINDS = 16 };

static int wanted_fate(int kind) {
  if (kind & (CLEAR | HUGE_ONE)) return FATE_PRUNE;
  if (!(kind & PULLED)) return FATE_KEEP;
  return kind & LARGE ? FATE_SPLIT : FATE_CLONE;
}

/* One Gaussian of each kind; every number tells where it came from. */
static void make_kinds(gaussians_host *g, float extent) {
  for (int i = 0; i < KINDS; ++i) {
    float scale = (i & HUGE_ONE) ? 0.5f * extent : (i & LARGE) ? 0.05f * extent : 0.005f * extent;
    for (int k = 0; k < 3; ++k) g->position[3 * i + k] = (float)(100 * i + k);
    for (int k = 0; k < 3; ++k) g->scale[3 * i + k] = logf(scale * (k == 1 ? 1.0f : 0.5f));
    for (int k = 0; k < 4; ++k) g->rotation[4 * i + k] = 0.3f + 0.01f * (float)(i + k);
    for (int k = 0; k < SH_FLOATS; ++k) g->sh[SH_FLOATS * i + k] = (float)(i + 100 * k);
    g->opacity[i] = i & CLEAR ? -6.0f : 1.0f;
  }
}

/* statistics: seen twice; the pull of some is above the limit on average, of others below, though
   not in sum. */
static void set_statistics(trainer *t, float pull) {
  float values[2 * KINDS];
  for (int i = 0; i < KINDS; ++i) {
    values[i] = (i & PULLED) ? 2.2f * pull : 1.8f * pull;
    values[KINDS + i] = 2.0f;
  }
  host_to_device(t->statistics.data, values, sizeof values, "test");
}

static void set_moments(trainer *t) {
  std::vector<float> block(model_bytes(KINDS) / sizeof(float));
  gaussians g = split_gaussians(block.data(), KINDS);
  for (int i = 0; i < KINDS; ++i) g.opacity[i] = g.position[3 * i + 2] = (float)(i + 1);
  host_to_device(t->blocks[BLOCK_MEANS].data, block.data(), model_bytes(KINDS), "test");
  host_to_device(t->blocks[BLOCK_SQUARES].data, block.data(), model_bytes(KINDS), "test");
}

static void check_successor(const gaussians_host *before, int i, const gaussians_host *after, int k,
                            bool split) {
  float squares = 0.0f;
  for (int j = 0; j < 3; ++j) {
    float shift = after->position[3 * k + j] - before->position[3 * i + j];
    float shrink = before->scale[3 * i + j] - after->scale[3 * k + j];
    squares += shift * shift;
    CHECK(fabsf(shrink - (split ? logf(1.6f) : 0.0f)) < 1e-5f, "%d of %d: scale by %g", k, i,
          shrink);
  }
  float reach = 5.0f * expf(before->scale[3 * i + 1]);
  CHECK(split ? squares > 0.0f && squares < reach * reach : squares == 0.0f, "%d of %d moved by %g",
        k, i, sqrtf(squares));
  CHECK(after->opacity[k] == before->opacity[i], "opacity of %d", k);
  for (int j = 0; j < 4; ++j)
    CHECK(after->rotation[4 * k + j] == before->rotation[4 * i + j], "rotation of %d", k);
  for (int j = 0; j < SH_FLOATS; ++j)
    CHECK(after->sh[SH_FLOATS * k + j] == before->sh[SH_FLOATS * i + j], "sh of %d", k);
}

static std::vector<float> read_block(const trainer *t, int block) {
  return device_read<float>(t->blocks[block].data, (size_t)GAUSSIAN_FLOATS * t->count);
}

static void check_grown(trainer *t, const gaussians_host *before) {
  gaussians_host after;
  CHECK(trainer_get_model(t, &after, &error), "%s", error.text);
  std::vector<float> means = read_block(t, BLOCK_MEANS), squares = read_block(t, BLOCK_SQUARES);
  int place = 0;
  for (int i = 0; i < KINDS; ++i) {
    int fate = wanted_fate(i), successors = fate == FATE_PRUNE ? 0 : fate == FATE_KEEP ? 1 : 2;
    for (int k = 0; k < successors && place < t->count; ++k, ++place) {
      float wanted = fate != FATE_SPLIT && k == 0 ? (float)(i + 1) : 0.0f;
      check_successor(before, i, &after, place, fate == FATE_SPLIT);
      CHECK(split_gaussians(means.data(), t->count).opacity[place] == wanted &&
                split_gaussians(squares.data(), t->count).position[3 * place + 2] == wanted,
            "moments of %d, from %d", place, i);
    }
  }
  CHECK(place == t->count, "%d Gaussians, not %d", t->count, place);
}

static void test_growing(const options *o, scene *data) {
  trainer t;
  gaussians_host before;
  options mine = *o;
  mine.train.reset_every = 1;
  CHECK(gaussians_allocate(&before, KINDS, 3, &error), "%s", error.text);
  make_kinds(&before, data->extent);
  begin(&t, data, &mine, &before);
  t.iteration = 5;
  set_statistics(&t, mine.train.densify_pull);
  set_moments(&t);
  trainer_densify(&t);
  check_grown(&t, &before);
  for (float statistic : device_read<float>(t.statistics.data, 2 * (size_t)t.count))
    CHECK(statistic == 0.0f, "a statistic is kept");
  trainer_reset_opacity(&t);
  std::vector<float> block = read_block(&t, BLOCK_PARAMETERS);
  for (int i = 0; i < t.count; ++i) {
    float stored = split_gaussians(block.data(), t.count).opacity[i];
    CHECK(fabsf(1.0f / (1.0f + expf(-stored)) - 0.01f) < 1e-6f, "opacity %d is %g", i, stored);
  }
  trainer_end(&t);
}

/* Too many to be: only pruned. */
static void test_no_room_to_grow(const options *o, scene *data) {
  trainer t;
  gaussians_host before;
  options mine = *o;
  mine.train.most_gaussians = KINDS / 4 + 1;
  CHECK(gaussians_allocate(&before, KINDS, 3, &error), "%s", error.text);
  make_kinds(&before, data->extent);
  begin(&t, data, &mine, &before);
  t.iteration = mine.train.reset_every;
  set_statistics(&t, mine.train.densify_pull);
  trainer_densify(&t);
  CHECK(t.count == KINDS / 4, "%d Gaussians, not %d", t.count, KINDS / 4);
  trainer_end(&t);
}

/* ---- parts ---------------------------------------------------------------------------------- */

/* Each epoch shows every training view once, in its own order. */
static void test_order_of_views(const options *o, scene *data, const gaussians_host *model) {
  trainer t;
  int orders[8][16], changed = 0, iteration = 0;
  begin(&t, data, o, model);
  for (int epoch = 0; epoch < 8; ++epoch) {
    int seen[16] = {0};
    for (int i = 0; i < (int)t.training.size(); ++i, ++iteration) {
      orders[epoch][i] = trainer_view(&t, iteration);
      seen[orders[epoch][i]] += 1;
      changed += epoch > 0 && orders[epoch][i] != orders[epoch - 1][i];
    }
    for (int i = 0; i < (int)data->views.size(); ++i)
      CHECK(seen[i] == !data->views[i].held_out, "view %d came %d times", i, seen[i]);
  }
  CHECK(changed > 0, "all epochs are alike");
  trainer_end(&t);
}

static void test_degrees(void) {
  train_settings s;
  memset(&s, 0, sizeof s);
  s.sh_degree = 3;
  s.iterations = 30000;
  CHECK(degree_at(&s, 999) == 0 && degree_at(&s, 1000) == 1 && degree_at(&s, 29999) == 3, "30000");
  s.iterations = 8;
  CHECK(degree_at(&s, 0) == 0 && degree_at(&s, 7) >= 2, "8");
  s.full_degree = true;
  CHECK(degree_at(&s, 0) == 3, "full");
}

/* More points than the CPU warp compares in a launch: a row of them, a unit apart. */
static void test_many_points(void) {
  enum { POINTS = 2601 };
  scene row = {};
  gaussians_host g;
  row.points.resize(POINTS);
  for (int i = 0; i < POINTS; ++i) row.points[(size_t)i].position[0] = (float)i;
  CHECK(start_model(&g, &row, 0, 0, 1, &error), "%s", error.text);
  for (int i = 2; i < POINTS - 2; ++i) /* neighbours at 1, 1 and 2 */
    CHECK(fabsf(g.scale[3 * i] - 0.5f * logf(2.0f)) < 1e-6f, "%d: %g", i, g.scale[3 * i]);
}

int main(void) {
  scene data;
  gaussians_host model;
  if (!test_has_device("test_gaussians_training")) return TEST_SKIPPED;
  options o = test_options(50);
  test_folder_make();
  bool made = setup_load(&data, &o, &error) && setup_first_model(&model, &data, &o, &error);
  CHECK(made, "%s", error.text);
  if (made) {
    test_degrees();
    test_many_points();
    test_order_of_views(&o, &data, &model);
    test_growing(&o, &data);
    test_no_room_to_grow(&o, &data);
    test_wrong_checkpoints(&o, &data, &model);
    test_tuning(&o, &data, &model);
    test_search(&o, &data, &model);
    test_learning(&o, &data, &model);
  }
  test_folder_remove();
  return test_end("test_gaussians_training");
}

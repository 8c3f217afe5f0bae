/* arc study gaussians: training, from the first model to the last step.
   SPDX-License-Identifier: Apache-2.0 */
#include "train.h"

#include <math.h>

#include <algorithm>

#include "../../../bench/common/program_run.h"
#include "../../../bench/common/random.h"
#include "../../common/search.h"
#include "adam.cuh"

/* The field's learning rates. Positions: of the scene's extent, falling to a hundredth. */
#define RATE_POSITION 0.00016f
#define RATE_COLOUR 0.0025f
#define RATE_HARMONICS 0.000125f
#define RATE_OPACITY 0.05f
#define RATE_SCALE 0.005f
#define RATE_ROTATION 0.001f

gaussians trainer_block(const trainer *t, int block) {
  return split_gaussians((float *)t->blocks[block].data, t->count);
}

size_t model_bytes(int count) { return (size_t)count * GAUSSIAN_FLOATS * sizeof(float); }

static bool trainer_sums_are_fixed(const trainer *t) {
  return t->settings.frame.reproducible && t->settings.batch > 1;
}

/* What a step sums up, and one number by which processes say that they were interrupted. */
static size_t gradient_values(int count) { return (size_t)GRADIENT_FLOATS * count + 1; }

static size_t trainer_gradient_bytes(const trainer *t, size_t values) {
  return values * (trainer_sums_are_fixed(t) ? sizeof(long long) : sizeof(float));
}

/* From that number of the sums on. */
static void *trainer_sums(const trainer *t, size_t at) {
  return (char *)t->blocks[BLOCK_GRADIENTS].data + trainer_gradient_bytes(t, at);
}

void trainer_reserve_gradients(trainer *t) {
  device_reserve(&t->memory, &t->blocks[BLOCK_GRADIENTS],
                 trainer_gradient_bytes(t, gradient_values(t->count)), "memory for the gradients");
}

view_statistics trainer_statistics(const trainer *t) {
  return {(float *)t->statistics.data, (float *)t->statistics.data + t->count};
}

/* ---- tuning --------------------------------------------------------------------------------- */

static void trainer_begin_tuning(trainer *t) {
  arc_tune_config config = arc_tune_config_default();
  config.seed = t->settings.seed;
  if (arc_tune_init(&t->tune, &config) == ARC_TUNE_OK) return;
  fprintf(stderr, "the tuner refuses its configuration\n");
  exit(1);
}

/* Before the backward kernel of a step. */
static void trainer_pick_policy(trainer *t) {
  arc_tune_policy *policy = &t->policies[t->drawn & 1];
  if (t->settings.search == SEARCH_PAPERS && t->iteration % SEARCH_EVERY == 0) {
    t->f.settings.threshold = search_threshold([t](int threshold) {
      t->f.settings.threshold = threshold;
      return device_time([t] { frame_backward(&t->f); });
    });
    frame_clear_sums(&t->f);
  }
  if (t->settings.search != SEARCH_TUNER) return;
  *policy = arc_tune_next(&t->tune);
  t->f.settings.threshold = policy->threshold;
}

void trainer_take_choice(trainer *t) {
  if (t->settings.search == SEARCH_TUNER) t->f.settings.threshold = t->tune.result.choice.threshold;
}

/* ---- begin and end -------------------------------------------------------------------------- */

static void trainer_load_target(trainer *t, int index) {
  const view *v = &t->data->views[index];
  size_t plane = (size_t)v->camera.width * v->camera.height;
  std::vector<unsigned char> bytes(3 * plane);
  for (size_t p = 0; p < plane; ++p)
    for (int k = 0; k < 3; ++k) {
      float value = fminf(fmaxf(v->picture.rgb[3 * p + k], 0.0f), 1.0f);
      bytes[k * plane + p] = (unsigned char)(255.0f * value + 0.5f);
    }
  device_upload(&t->memory, &t->targets[index], bytes, "the pictures");
}

static void trainer_load_views(trainer *t) {
  const int views = (int)t->data->views.size();
  t->targets.resize(t->data->views.size());
  for (int i = 0; i < views; ++i) {
    t->cameras.push_back(camera_on_device(&t->data->views[i].camera));
    trainer_load_target(t, i);
    if (!t->data->views[i].held_out) t->training.push_back(i);
  }
}

void trainer_begin(trainer *t, const scene *data, const train_settings *settings) {
  static group alone = {0, 1, false, nullptr, nullptr};
  *t = {};
  t->settings = *settings;
  if (t->settings.batch < 1) t->settings.batch = 1;
  t->data = data;
  t->team = &alone;
  t->last = t->epoch = -1;
  size_t steps = settings->iterations > 0 ? (size_t)settings->iterations : 1;
  frame_begin(&t->f, &settings->frame, &t->memory);
  trainer_begin_tuning(t);
  device_reserve(&t->memory, &t->losses, steps * LOSS_PARTS * sizeof(double),
                 "memory for the losses");
  device_clear(t->losses.data, steps * LOSS_PARTS * sizeof(double));
  t->records.resize(steps);
  trainer_load_views(t);
  for (int i = 0; i < 2 * MARKS; ++i)
    device_check(cudaEventCreate(&t->marks[i / MARKS][i % MARKS]), "creating an event");
}

void trainer_end(trainer *t) {
  frame_end(&t->f);
  for (int i = 0; i < BLOCKS; ++i) {
    device_release(&t->memory, &t->blocks[i]);
    device_release(&t->memory, &t->next[i]);
  }
  device_release(&t->memory, &t->statistics);
  device_release(&t->memory, &t->losses);
  for (device_array &target : t->targets) device_release(&t->memory, &target);
  for (int i = 0; i < 2 * MARKS; ++i) cudaEventDestroy(t->marks[i / MARKS][i % MARKS]);
}

void trainer_make_room(trainer *t, int count) {
  t->count = count;
  trainer_reserve_gradients(t);
  for (int i = 0; i < BLOCKS; ++i) {
    if (i == BLOCK_GRADIENTS) continue;
    device_reserve(&t->memory, &t->blocks[i], model_bytes(count), "memory for the Gaussians");
    device_clear(t->blocks[i].data, model_bytes(count));
  }
  device_reserve(&t->memory, &t->statistics, 2 * sizeof(float) * count, "memory for statistics");
  device_clear(t->statistics.data, 2 * sizeof(float) * count);
}

void model_to_device(const gaussians_host *host, gaussians device) {
  auto copy = [](float *to, const std::vector<float> &from) {
    host_to_device(to, from.data(), from.size() * sizeof(float), "copying the Gaussians");
  };
  copy(device.rotation, host->rotation);
  if (device.sh != nullptr) copy(device.sh, host->sh);
  copy(device.position, host->position);
  copy(device.scale, host->scale);
  copy(device.opacity, host->opacity);
}

void model_to_host(gaussians_host *host, gaussians device) {
  auto copy = [](std::vector<float> *to, const float *from) {
    device_to_host(to->data(), from, to->size() * sizeof(float), "copying the Gaussians");
  };
  copy(&host->rotation, device.rotation);
  copy(&host->sh, device.sh);
  copy(&host->position, device.position);
  copy(&host->scale, device.scale);
  copy(&host->opacity, device.opacity);
}

void trainer_set_model(trainer *t, const gaussians_host *model) {
  trainer_make_room(t, model->count);
  model_to_device(model, trainer_block(t, BLOCK_PARAMETERS));
}

bool trainer_get_model(const trainer *t, gaussians_host *model, error_line *error) {
  if (!gaussians_allocate(model, t->count, t->settings.sh_degree, error)) return false;
  model_to_host(model, trainer_block(t, BLOCK_PARAMETERS));
  return true;
}

/* ---- schedules ------------------------------------------------------------------------------ */

int degree_at(const train_settings *s, int iteration) {
  if (s->full_degree) return s->sh_degree;
  int every = s->iterations / (s->sh_degree + 1) + 1;
  int degree = iteration / (every < 1000 ? every : 1000);
  return degree < s->sh_degree ? degree : s->sh_degree;
}

/* The views in an order of seed and epoch only, so that a resumed run has the same. */
static void trainer_shuffle(trainer *t, int epoch) {
  unsigned long long seed = t->settings.seed * 0x100000001b3ull + (unsigned long long)epoch;
  std::sort(t->training.begin(), t->training.end());
  for (int i = (int)t->training.size() - 1; i > 0; --i) {
    int k = (int)(hashed_random(seed, (unsigned long long)i) * (float)(i + 1));
    std::swap(t->training[i], t->training[k]);
  }
}

int trainer_view(trainer *t, int iteration) {
  int count = (int)t->training.size(), epoch = iteration / count;
  if (epoch != t->epoch) trainer_shuffle(t, epoch);
  t->epoch = epoch;
  return t->training[iteration % count];
}

/* ---- one step ------------------------------------------------------------------------------- */

/* One of the arrays of the model. */
typedef struct model_array {
  int first, width; /* numbers per Gaussian */
  float rate;
  int scale_log2;
} model_array;

adam_step adam_at(float rate, int batch, int to) {
  float scaled = rate * sqrtf((float)batch);
  return {scaled, scaled, 1, 1, 1.0f / (float)batch, -1, adam_decay_at(0.9, 0.999, batch, to)};
}

void adam_move(adam_floats from, adam_floats to, const void *sums, size_t count, adam_step step) {
  SIMT_LAUNCH(adam, line_blocks(count), LINE_THREADS, 0, 0, from, to, sums, count, step);
}

static adam_floats trainer_floats(const device_array *blocks, size_t at) {
  return {(float *)blocks[BLOCK_PARAMETERS].data + at, (float *)blocks[BLOCK_MEANS].data + at,
          (float *)blocks[BLOCK_SQUARES].data + at};
}

/* One of the arrays of a part's Gaussians. */
static void trainer_move_array(trainer *t, const device_array *to, const gradient_sums *part,
                               const model_array *array, int batch) {
  size_t count = (size_t)array->width * part->count;
  size_t at = (size_t)array->first * t->count + (size_t)array->width * part->first;
  size_t sums = (size_t)GRADIENT_FLOATS * part->first + (size_t)array->first * part->count;
  adam_step step = adam_at(array->rate, batch, t->iteration + batch);
  if (array->width == SH_FLOATS) {
    step.rate_of_others = adam_at(RATE_HARMONICS, batch, t->iteration + batch).rate;
    step.period = SH_FLOATS;
    step.first = 3;
  }
  if (trainer_sums_are_fixed(t)) step.scale_log2 = array->scale_log2;
  adam_move(trainer_floats(t->blocks, at), trainer_floats(to, at), trainer_sums(t, sums), count,
            step);
}

static void trainer_move(trainer *t, const device_array *to, const gradient_sums *part, int batch) {
  float falling = (float)pow(0.01, t->iteration / (double)t->settings.iterations);
  const model_array arrays[] = {
      {0, 4, RATE_ROTATION, GRADIENT_SCALE_LOG2},
      {4, SH_FLOATS, RATE_COLOUR, GRADIENT_SCALE_LOG2},
      {52, 3, RATE_POSITION * t->data->extent * falling, POSITION_SCALE_LOG2},
      {55, 3, RATE_SCALE, GRADIENT_SCALE_LOG2},
      {58, 1, RATE_OPACITY, GRADIENT_SCALE_LOG2}};
  for (int a = 0; a < 5; ++a) trainer_move_array(t, to, part, &arrays[a], batch);
}

/* Of the view that this process draws, or has drawn last. */
static void trainer_mark(trainer *t, int view, int mark) {
  device_check(cudaEventRecord(t->marks[view & 1][mark], 0), "recording an event");
}

void trainer_read_times(trainer *t) {
  int slot = (t->drawn - 1) & 1;
  cudaEvent_t *marks = t->marks[slot];
  step_record *r = &t->records[t->last];
  float ms[MARKS - 1];
  device_check(cudaEventSynchronize(marks[MARK_END]), "waiting for a step");
  for (int i = 0; i + 1 < MARKS; ++i)
    device_check(cudaEventElapsedTime(&ms[i], marks[i], marks[i + 1]), "timing a step");
  r->forward_ms = ms[MARK_START];
  r->backward_ms = ms[MARK_MEASURED];
  r->rest_ms = ms[MARK_DRAWN] + ms[MARK_BACKWARD] + ms[MARK_SUMMED];
  r->sum_ms = ms[MARK_SLOPES];
  if (t->settings.search == SEARCH_TUNER)
    arc_tune_report(&t->tune, t->policies[slot].ticket, 1000.0 * r->backward_ms);
}

/* The last of the iterations after `from` and up to `to` that `every` divides; 0: none. */
static int due(int from, int to, int every) {
  int number = to - to % every;
  return number > from ? number : 0;
}

/* After the iterations up to `to`. */
static void trainer_follow_schedule(trainer *t, int to) {
  const train_settings *s = &t->settings;
  if (!s->densifies) return;
  int grows = due(t->iteration, to, s->densify_every),
      resets = due(t->iteration, to, s->reset_every);
  if (grows > 0 && grows >= s->densify_from && grows < s->densify_until) trainer_densify(t);
  if (resets > 0 && resets < s->densify_until) trainer_reset_opacity(t);
}

/* ---- replicas ------------------------------------------------------------------------------- */

/* Adds a number that depends on every bit, and on where it stands. Whole warps. */
__global__ void __launch_bounds__(LINE_THREADS)
    checksum(const unsigned *words, size_t count, unsigned long long *sum) {
  unsigned long long mine = 0;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += (size_t)gridDim.x * blockDim.x) {
    unsigned long long x = (words[i] + i * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    mine += x ^ x >> 31;
  }
  arc_add_uniform_u64(arc_target_u64_rows(sum, 1, 1), 0, &mine, true);
}

/* All processes must have the same model: they see the same sums and do the same with them. */
static void trainer_check_replicas(trainer *t, int to) {
  enum { EVERY = 100 };
  unsigned long long mine = 0, all = 0;
  device_array sum = {nullptr, 0};
  if (t->team->size == 1 || due(t->iteration, to, EVERY) == 0) return;
  device_reserve(&t->memory, &sum, sizeof mine, "memory for the checksum");
  device_clear(sum.data, sizeof mine);
  SIMT_LAUNCH(checksum, 64, LINE_THREADS, 0, 0, (const unsigned *)t->blocks[BLOCK_PARAMETERS].data,
              (size_t)GAUSSIAN_FLOATS * t->count, (unsigned long long *)sum.data);
  device_to_host(&mine, sum.data, sizeof mine, "reading the checksum");
  if (group_sum(t->team, sum.data, 1, GROUP_I64)) {
    device_to_host(&all, sum.data, sizeof all, "reading the checksum");
    if (all != mine * (unsigned long long)t->team->size) {
      fprintf(stderr, "the processes have different models after %d iterations\n", to);
      exit(1);
    }
  }
  device_release(&t->memory, &sum);
}

double *trainer_losses(const trainer *t, int iteration) {
  return (double *)t->losses.data + LOSS_PARTS * (size_t)iteration;
}

/* A group sums up in parts of so many bytes: while one travels, the next is worked out, and one
   that has arrived moves the model. */
static int trainer_parts(const trainer *t) {
  static const size_t PART_BYTES = SIMT_ON_CPU ? 1 << 12 : 1 << 26;
  size_t parts = trainer_gradient_bytes(t, gradient_values(t->count)) / PART_BYTES + 1;
  if (parts > GROUP_PARTS) parts = GROUP_PARTS;
  if (parts > (size_t)t->count / 32) parts = (size_t)t->count / 32; /* none is empty */
  return t->team->size == 1 || parts == 0 ? 1 : (int)parts;
}

static gradient_sums trainer_part(const trainer *t, gradient_mode mode, int part) {
  int parts = trainer_parts(t), whole = t->count / parts / 32 * 32; /* rows stay aligned */
  gradient_sums sums;
  sums.mode = mode;
  sums.first = part * whole;
  sums.count = part + 1 < parts ? whole : t->count - sums.first;
  sums.values = trainer_sums(t, (size_t)GRADIENT_FLOATS * sums.first);
  return sums;
}

/* Behind the last part is one more number, by which processes say that they were interrupted. */
static void *trainer_vote(const trainer *t) {
  return trainer_sums(t, gradient_values(t->count) - 1);
}

/* Begins to add up a part over all processes. */
static void trainer_send(trainer *t, int part) {
  gradient_sums sums = trainer_part(t, GRADIENTS_SET, part);
  bool is_last = part + 1 == trainer_parts(t), fixed = trainer_sums_are_fixed(t);
  if (t->team->size == 1) return;
  if (is_last) /* bytes of 1 are above 0 as a float and as an integer */
    device_check(cudaMemsetAsync(trainer_vote(t), interrupts > 0, trainer_gradient_bytes(t, 1), 0),
                 "clearing memory");
  group_add(t->team, part, sums.values, (size_t)GRADIENT_FLOATS * sums.count + is_last,
            fixed ? GROUP_I64 : GROUP_F32);
}

/* One view of a step, forward and backward. */
static void trainer_add_view(trainer *t, int iteration, gradient_mode mode, bool is_last) {
  int index = trainer_view(t, iteration);
  frame *f = &t->f;
  trainer_mark(t, t->drawn, MARK_START);
  /* Waits for the step before: its times can be read without another wait. */
  frame_forward(f, trainer_block(t, BLOCK_PARAMETERS), t->count, degree_at(&t->settings, iteration),
                &t->cameras[index]);
  trainer_mark(t, t->drawn, MARK_DRAWN);
  if (t->last >= 0) trainer_read_times(t);
  t->records[iteration] = {index, t->count, f->pairs, 0.0f, 0.0f, 0.0f, 0.0f};
  frame_measure(f, (const unsigned char *)t->targets[index].data, trainer_losses(t, iteration));
  frame_clear_sums(f);
  trainer_pick_policy(t);
  trainer_mark(t, t->drawn, MARK_MEASURED);
  frame_backward(f);
  trainer_mark(t, t->drawn, MARK_BACKWARD);
  for (int p = 0; p < trainer_parts(t); ++p) {
    frame_project_backward(f, trainer_part(t, mode, p));
    if (is_last) trainer_send(t, p);
  }
  for (int mark = MARK_SLOPES; mark < MARKS; ++mark) trainer_mark(t, t->drawn, mark);
  t->last = iteration;
  t->drawn += 1;
}

/* At an interrupt a process alone does not take the step under way; a group takes it together. */
static bool trainer_gives_up(const trainer *t) { return interrupts > 0 && t->team->size == 1; }

/* The views of a step that are this process's. */
static void trainer_add_views(trainer *t, int batch) {
  bool fixed = trainer_sums_are_fixed(t), draws = t->team->rank < batch;
  gradient_mode mode = fixed ? GRADIENTS_ADD_FIXED : GRADIENTS_SET;
  if (fixed || !draws)
    device_clear(trainer_sums(t, 0), trainer_gradient_bytes(t, gradient_values(t->count)));
  for (int k = t->team->rank; k < batch && !trainer_gives_up(t); k += t->team->size) {
    trainer_add_view(t, t->iteration + k, mode, k + t->team->size >= batch);
    if (!fixed) mode = GRADIENTS_ADD;
  }
  for (int p = 0; !draws && p < trainer_parts(t); ++p) trainer_send(t, p);
}

/* The mark of the step in which this process has drawn the last view. */
static void trainer_mark_step(trainer *t, int mark) {
  if (t->last >= t->iteration) trainer_mark(t, t->drawn - 1, mark);
}

/* Moves all by the sums, part by part as they arrive. */
static void trainer_move_all(trainer *t, const device_array *to, int batch) {
  int parts = trainer_parts(t);
  for (int p = 0; p < parts; ++p) {
    gradient_sums part = trainer_part(t, GRADIENTS_SET, p);
    group_use(t->team, p);
    if (p + 1 == parts) trainer_mark_step(t, MARK_SUMMED);
    trainer_move(t, to, &part, batch);
  }
}

/* In a group: into other blocks, which take the place of the model's once all sums have arrived.
   False: a process is gone. */
static bool trainer_move_by_group(trainer *t, int batch) {
  long long votes = 0;
  for (int i = 0; i < BLOCKS; ++i)
    if (i != BLOCK_GRADIENTS)
      device_reserve(&t->memory, &t->next[i], model_bytes(t->count), "memory for the Gaussians");
  trainer_move_all(t, t->next, batch);
  if (!group_wait(t->team)) return false;
  for (int i = 0; i < BLOCKS; ++i) {
    if (i != BLOCK_GRADIENTS) std::swap(t->blocks[i], t->next[i]);
  }
  device_to_host(&votes, trainer_vote(t), trainer_gradient_bytes(t, 1), "reading the sums");
  t->stopped = votes != 0;
  return true;
}

static void trainer_note_views(trainer *t) {
  for (int p = 0; p < trainer_parts(t); ++p) {
    gradient_sums part = trainer_part(t, GRADIENTS_SET, p);
    SIMT_LAUNCH(add_statistics, line_blocks(part.count), LINE_THREADS, 0, 0, trainer_statistics(t),
                part, trainer_sums_are_fixed(t) ? POSITION_SCALE_LOG2 : -1);
  }
}

void trainer_link(trainer *t) {
  device_clear(trainer_sums(t, 0), trainer_gradient_bytes(t, gradient_values(t->count)));
  for (int p = 0; p < trainer_parts(t); ++p) trainer_send(t, p);
  group_wait(t->team);
}

void trainer_step(trainer *t) {
  int left = t->settings.iterations - t->iteration;
  int batch = t->settings.batch < left ? t->settings.batch : left;
  trainer_add_views(t, batch);
  if (trainer_gives_up(t)) return;
  if (t->team->size == 1) trainer_move_all(t, t->blocks, batch);
  if (t->team->size > 1 && !trainer_move_by_group(t, batch)) return;
  trainer_note_views(t);
  trainer_follow_schedule(t, t->iteration + batch);
  trainer_mark_step(t, MARK_END);
  device_check(cudaGetLastError(), "launching a step");
  trainer_check_replicas(t, t->iteration + batch);
  t->iteration += batch;
}

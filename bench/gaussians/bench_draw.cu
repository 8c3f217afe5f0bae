/* bench/gaussians --draw: pictures alone, with and without each step that makes them fast.
   SPDX-License-Identifier: Apache-2.0 */
#include "examples/gaussians/render/draw.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "city.h"
#include "measure.h"

/* The first is what training draws with (paint null: frame_forward), with whose pictures all others
   are compared; the second has all steps; the others lack a step or have another in its place; the
   last has none. */
typedef struct draw_step {
  const char *name;
  bool fused, counts_first;
  tile_test test;
  paint_kernel paint;
  int pixels;
} draw_step;

static const draw_step steps[] = {
    {"training", false, true, TILE_EXACT, nullptr, 1},
    {"all", true, false, TILE_EXACT, paint<WALK_GROUPS, true, 2>, 2},
    {"pixels_1", true, false, TILE_EXACT, paint<WALK_GROUPS, true, 1>, 1},
    {"pixels_4", true, false, TILE_EXACT, paint<WALK_GROUPS, true, 4>, 4},
    {"two_kernels", false, false, TILE_EXACT, paint<WALK_GROUPS, true, 2>, 2},
    {"opacity_outside", true, false, TILE_EXACT, paint<WALK_GROUPS, false, 2>, 2},
    {"prefetch_singles", true, false, TILE_EXACT, paint<WALK_SINGLES, true, 2>, 2},
    {"prefetch_singles_4", true, false, TILE_EXACT, paint<WALK_SINGLES, true, 4>, 4},
    {"batches", true, false, TILE_EXACT, paint<WALK_BATCHES, true, 2>, 2},
    {"count_read_back", true, true, TILE_EXACT, paint<WALK_GROUPS, true, 2>, 2},
    {"boxes", true, false, TILE_BOX, paint<WALK_GROUPS, true, 2>, 2},
    {"none", false, true, TILE_CIRCLE, paint<WALK_BATCHES, false, 1>, 1}};
enum { STEPS = sizeof steps / sizeof *steps, ALL = 1 };

/* Means over the views. */
typedef struct draw_row {
  const char *step;
  int width, height, redrawn;
  double pairs, place_ms, sort_ms, paint_ms, frame_ms;
  double memory_mib, pixels_off; /* of the view in which the most are off, a share */
} draw_row;

typedef struct draw_table {
  draw_row rows[2 * STEPS];
  int count;
} draw_table;

/* ---- drawing -------------------------------------------------------------------------------- */

/* What training draws with; the frame alone is timed. */
static draw_times bench_training(drawer *d, const draw_input *in, int view, int repeats) {
  device_camera camera = camera_on_device(&in->data.views[view].camera);
  float *values = (float *)host_memory(sizeof(float) * repeats);
  draw_times t = {NAN, NAN, NAN, 0.0f};
  for (int i = 0; i < repeats && !interrupts; ++i) {
    device_check(cudaEventRecord(d->marks[DRAW_START], 0), "recording an event");
    frame_forward(&d->f, in->model, in->count, in->degree, &camera);
    device_check(cudaEventRecord(d->marks[DRAW_END], 0), "recording an event");
    device_check(cudaEventSynchronize(d->marks[DRAW_END]), "waiting for a launch");
    device_check(cudaEventElapsedTime(&values[i], d->marks[DRAW_START], d->marks[DRAW_END]),
                 "timing");
  }
  t.all = median(values, repeats);
  free(values);
  return t;
}

static image read_picture(const frame *f) {
  image picture;
  error_line error;
  if (!image_allocate(&picture, f->camera.width, f->camera.height, &error)) {
    fprintf(stderr, "%s\n", error.text);
    exit(1);
  }
  frame_read_picture(f, &picture);
  return picture;
}

/* The share of pixels of which a value is off by more than 1/255. */
static double share_off(const image *got, const image *wanted) {
  size_t pixels = (size_t)got->width * got->height, off = 0;
  for (size_t i = 0; i < pixels; ++i) {
    bool near = true;
    for (int k = 0; k < 3; ++k)
      near = near && fabsf(got->rgb[3 * i + k] - wanted->rgb[3 * i + k]) <= 1.0f / 255.0f;
    off += !near;
  }
  return (double)off / (double)pixels;
}

/* wanted: of each view, what training draws; made if the step is training. */
static void bench_step(const draw_input *in, const options *o, const draw_step *step, image *wanted,
                       draw_row *row) {
  drawer d;
  frame_settings settings = o->train.frame;
  device_memory memory = in->memory;
  int views = in->data.view_count;
  settings.test = step->test;
  memory.peak = memory.now;
  draw_begin(&d, &settings, &memory);
  d.fused = step->fused;
  d.counts_first = step->counts_first;
  d.pixels = step->pixels;
  if (step->paint != nullptr) d.paint = step->paint;
  for (int i = 0; i < views && !interrupts; ++i) {
    draw_times t = step->paint != nullptr ? draw_medians(&d, in, i, o->repeats)
                                          : bench_training(&d, in, i, o->repeats);
    if (interrupts) break;
    row->pairs += (double)d.f.pairs / views;
    row->place_ms += (double)t.place / views;
    row->sort_ms += (double)t.sort / views;
    row->paint_ms += (double)t.paint / views;
    row->frame_ms += (double)t.all / views;
    image picture = read_picture(&d.f);
    if (step->paint == nullptr) {
      wanted[i] = picture;
    } else {
      row->pixels_off = fmax(row->pixels_off, share_off(&picture, &wanted[i]));
      image_free(&picture);
    }
  }
  row->redrawn = d.redrawn;
  draw_end(&d);
  row->memory_mib = (double)memory.peak / 1048576.0;
}

/* ---- the table ------------------------------------------------------------------------------ */

static const double MOST_OFF = 0.001; /* of the pixels of a view */

static void print_row(const draw_row *r, const draw_row *all) {
  printf("%-20s %10.0f %9.4f %9.4f %9.4f %9.4f %9.1f %7.3f %10.1f %9.6f\n", r->step, r->pairs,
         r->place_ms, r->sort_ms, r->paint_ms, r->frame_ms, 1000.0 / r->frame_ms,
         all != nullptr ? r->frame_ms / all->frame_ms : NAN, r->memory_mib, r->pixels_off);
  fflush(stdout);
}

/* All steps at one size. */
static bool bench_size(draw_input *in, const options *o, int width, int height, draw_table *table,
                       error_line *error) {
  const draw_row *all = nullptr;
  bool same = true;
  image *wanted = (image *)host_memory(sizeof(image) * (size_t)in->data.view_count);
  for (int i = 0; i < in->data.view_count; ++i)
    camera_resize(&in->data.views[i].camera, width, height);
  printf(
      "\n%d x %d pixels, means of %d views, medians of %d, %s\n%-20s %10s %9s %9s %9s %9s %9s "
      "%7s %10s %9s\n",
      width, height, in->data.view_count, o->repeats, clock_name(), "step", "pairs", "place ms",
      "sort ms", "paint ms", "frame ms", "a second", "/ all", "MiB", "off");
  for (int i = 0; i < STEPS && same && !interrupts; ++i) {
    draw_row row = {};
    row.step = steps[i].name;
    row.width = width;
    row.height = height;
    bench_step(in, o, &steps[i], wanted, &row);
    if (interrupts) break;
    table->rows[table->count++] = row;
    if (i == ALL) all = &table->rows[table->count - 1];
    print_row(&row, all);
    same = row.pixels_off <= MOST_OFF ||
           error_set(error, "%s: %.3f %% of the pixels are off by more than 1/255", row.step,
                     100.0 * row.pixels_off);
  }
  for (int i = 0; i < in->data.view_count; ++i) image_free(&wanted[i]);
  free(wanted);
  return same;
}

static bool write_table(const bench_options *b, const draw_input *in, const draw_table *table,
                        error_line *error) {
  output_file file;
  const options *o = &b->o;
  const char *dataset = b->city > 0 ? "synthetic city"
                        : o->init != nullptr
                            ? o->init
                            : dataset_name(o, o->kind != 0 ? o->kind : (int)SCENE_SMALL);
  if (!measure_open_csv(&file, o->csv,
                        "dataset,gaussians,views,width,height,step,pairs,place_ms,sort_ms,paint_ms,"
                        "frame_ms,frames_a_second,memory_mib,redrawn,pixels_off,clock",
                        error))
    return false;
  for (int i = 0; i < table->count; ++i) {
    const draw_row *r = &table->rows[i];
    const double parts[] = {r->place_ms, r->sort_ms, r->paint_ms};
    fprintf(file.stream, "%s,%d,%d,%d,%d,%s,%.1f", dataset, in->count, in->data.view_count,
            r->width, r->height, r->step, r->pairs);
    for (int k = 0; k < 3; ++k)
      if (isnan(parts[k]))
        fprintf(file.stream, ",");
      else
        fprintf(file.stream, ",%.5f", parts[k]);
    fprintf(file.stream, ",%.5f,%.2f,%.2f,%d,%.7f,%s\n", r->frame_ms, 1000.0 / r->frame_ms,
            r->memory_mib, r->redrawn, r->pixels_off, clock_name());
  }
  return output_file_commit(&file, error);
}

/* Made like the model of --init. */
static bool load_city(draw_input *in, const bench_options *b, error_line *error) {
  enum { CITY_VIEWS = 8 };
  gaussians_host like, model;
  const int views = b->o.views > 0 ? b->o.views : (int)CITY_VIEWS;
  memset(in, 0, sizeof *in);
  if (!ply_read(&like, b->o.init, error)) return false;
  bool made = make_city(&model, &in->data, &like, b->city, views, b->o.train.seed, error);
  gaussians_free(&like);
  if (!made) return false;
  draw_upload(in, &model);
  gaussians_free(&model);
  return true;
}

int run_draws(const bench_options *b) {
  static const int sizes[2][2] = {{1920, 1080}, {3840, 2160}};
  const options *o = &b->o;
  static draw_table table;
  draw_input in;
  error_line error;
  if (!(b->city > 0 ? load_city(&in, b, &error) : draw_load(&in, o, &error)))
    return fail(interrupts ? 130 : 2, &error);
  printf("%d Gaussians%s\n", in.count, b->city > 0 ? ", a synthetic city" : "");
  bool done = true;
  for (int i = 0; i < (o->size[0] > 0 ? 1 : 2) && done && !interrupts; ++i)
    done = bench_size(&in, o, o->size[0] > 0 ? o->size[0] : sizes[i][0],
                      o->size[0] > 0 ? o->size[1] : sizes[i][1], &table, &error);
  if (done && o->csv != nullptr) done = write_table(b, &in, &table, &error);
  draw_free(&in);
  if (!done) return fail(1, &error);
  return measure_status();
}

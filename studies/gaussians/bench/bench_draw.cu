/* studies/gaussians/bench --draw: pictures alone, with and without each step that makes them fast.
   SPDX-License-Identifier: Apache-2.0 */
#include "../render/draw.cuh"

#include <math.h>
#include <string.h>

#include "../../common/profiled.h"
#include "city.h"
#include "measure.h"

/* The first is what training draws with (paint null: frame_forward), with whose pictures all others
   are compared; the second has all of FlashGS's steps; those up to none lack a step or have another
   in its place; the others have lists of macro tiles, auto of either size, half with harmonics in
   halves, too. */
typedef struct draw_step {
  const char *name;
  bool fused;
  tile_test test;
  paint_kernel paint;
  int pixels;
  int macro_side = 0; /* lists of tiles */
  bool adapts = false, halves = false;
} draw_step;

static const draw_step steps[] = {
    {"training", false, TILE_EXACT, nullptr, 1},
    {"all", true, TILE_EXACT, paint<WALK_GROUPS, true, 2>, 2},
    {"pixels_1", true, TILE_EXACT, paint<WALK_GROUPS, true, 1>, 1},
    {"pixels_4", true, TILE_EXACT, paint<WALK_GROUPS, true, 4>, 4},
    {"two_kernels", false, TILE_EXACT, paint<WALK_GROUPS, true, 2>, 2},
    {"opacity_outside", true, TILE_EXACT, paint<WALK_GROUPS, false, 2>, 2},
    {"batches", true, TILE_EXACT, paint<WALK_BATCHES, true, 2>, 2},
    {"boxes", true, TILE_BOX, paint<WALK_GROUPS, true, 2>, 2},
    {"none", false, TILE_CIRCLE, paint<WALK_BATCHES, false, 1>, 1},
    {"macro_64x32", true, TILE_EXACT, paint<WALK_UNITS_8, true, 2>, 2, 8},
    {"macro_128x64", true, TILE_EXACT, paint<WALK_UNITS_16, true, 4>, 4, 16},
    {"auto", true, TILE_EXACT, paint<WALK_UNITS_8, true, 2>, 2, 8, true},
    {"half", true, TILE_EXACT, paint<WALK_UNITS_8, true, 2>, 2, 8, true, true}};
enum { ALL = 1 };

static const double MOST_OFF = 0.001; /* of the pixels of a view */

/* Means over the views. */
typedef struct draw_row {
  const draw_step *step;
  int width, height;
  double pairs, place_ms, sort_ms, paint_ms, frame_ms;
  double memory_mib, pixels_off; /* of the view in which the most are off, a share */
} draw_row;

/* ---- drawing -------------------------------------------------------------------------------- */

/* What training draws with; the frame alone is timed. */
static draw_times bench_training(drawer *d, const draw_input *in, int view, int repeats) {
  device_camera camera = camera_on_device(&in->data.views[view].camera);
  std::vector<float> ms;
  for (int i = 0; i < repeats && (i == 0 || !interrupts); ++i)
    ms.push_back(
        device_time([&] { frame_forward(&d->f, in->model, in->count, in->degree, &camera); }));
  return {NAN, NAN, NAN, median(ms.data(), (int)ms.size())};
}

typedef struct picture {
  std::vector<float> values, room; /* three planes; by how much they may be off */
} picture;

static std::vector<float> read_plane(const frame *f, const device_array *from, size_t planes) {
  return device_read<float>(from->data, planes * f->camera.width * f->camera.height,
                            "reading the picture");
}

/* What training draws, within 1/255, or what it may have left out, of colours below 2. */
static picture read_wanted(const frame *f) {
  picture p = {read_plane(f, &f->colour, 3), read_plane(f, &f->transmittance, 1)};
  for (float &room : p.room) room = fmaxf(room < MAY_STOP ? 2.0f * room : 0.0f, 1.0f / 255.0f);
  return p;
}

/* The share of pixels of which a value is off by more. */
static double share_off(const std::vector<float> &got, const picture &wanted) {
  const size_t pixels = wanted.room.size();
  size_t off = 0;
  for (size_t i = 0; i < pixels; ++i) {
    bool near = true;
    for (size_t k = i; k < got.size(); k += pixels)
      near = near && fabsf(got[k] - wanted.values[k]) <= wanted.room[i];
    off += !near;
  }
  return (double)off / (double)pixels;
}

/* wanted: of each view, what training draws; made if the step is training. What all steps draw goes
   to --renders. */
static bool bench_step(const draw_input *all, const options *o, const draw_step *step,
                       std::vector<picture> *wanted, draw_row *row, error_line *error) {
  drawer d;
  frame_settings settings = o->train.frame;
  draw_input mine = *all, *in = &mine;
  device_memory memory = in->memory;
  const int views = (int)in->data.views.size();
  const camera *first = &in->data.views[0].camera;
  const bool writes = step == &steps[ALL] && o->renders != nullptr;
  bool written = !writes || make_folder(o->renders, error);
  *row = {step, first->width, first->height, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  settings.test = step->test;
  if (!step->halves) in->model.halves = nullptr;
  memory.now -= (step->halves ? 2 : 1) * in->halves.bytes; /* the harmonics that it does not take */
  memory.peak = memory.now;
  draw_begin(&d, &settings, &memory);
  if (step->macro_side > 0) draw_by_macro_tiles(&d, step->macro_side);
  d.adapts = step->adapts;
  d.fused = step->fused;
  d.pixels = step->pixels;
  if (step->paint != nullptr) d.paint = step->paint;
  for (int i = 0; i < views && written && !interrupts; ++i) {
    draw_times t = step->paint != nullptr ? draw_medians(&d, in, i, o->repeats)
                                          : bench_training(&d, in, i, o->repeats);
    if (interrupts) break;
    if (step->paint != nullptr && i == 0) profiled([&] { draw_medians(&d, in, i, 1); });
    row->pairs += (double)d.f.pairs / views;
    row->place_ms += (double)t.place / views;
    row->sort_ms += (double)t.sort / views;
    row->paint_ms += (double)t.paint / views;
    row->frame_ms += (double)t.all / views;
    if (step->paint == nullptr) wanted->push_back(read_wanted(&d.f));
    row->pixels_off =
        fmax(row->pixels_off, share_off(read_plane(&d.f, &d.f.colour, 3), (*wanted)[i]));
    if (writes) written = write_picture(&d.f, &in->data.views[i], o->renders, error);
  }
  draw_end(&d);
  row->memory_mib = (double)memory.peak / 1048576.0;
  return written;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* All steps at one size. */
static bool bench_size(draw_input *in, const options *o, int width, int height,
                       std::vector<draw_row> *rows, error_line *error) {
  std::vector<picture> wanted;
  double all_ms = NAN;
  for (view &v : in->data.views) camera_resize(&v.camera, width, height);
  printf(
      "\n%d x %d pixels, means of %d views, medians of %d, %s\n%-20s %10s %9s %9s %9s %9s %9s "
      "%7s %10s %9s\n",
      width, height, (int)in->data.views.size(), o->repeats, clock_name(), "step", "pairs",
      "place ms", "sort ms", "paint ms", "frame ms", "a second", "/ all", "MiB", "off");
  for (const draw_step &step : steps) {
    draw_row r;
    if (!bench_step(in, o, &step, &wanted, &r, error)) return false;
    if (interrupts) break;
    rows->push_back(r);
    if (&step == &steps[ALL]) all_ms = r.frame_ms;
    printf("%-20s %10.0f %9.4f %9.4f %9.4f %9.4f %9.1f %7.3f %10.1f %9.6f\n", step.name, r.pairs,
           r.place_ms, r.sort_ms, r.paint_ms, r.frame_ms, 1000.0 / r.frame_ms, r.frame_ms / all_ms,
           r.memory_mib, r.pixels_off);
    fflush(stdout);
    if (!(r.pixels_off <= MOST_OFF))
      return error_set(error, "%s: %.3f %% of the pixels are off by more than 1/255", step.name,
                       100.0 * r.pixels_off);
  }
  return true;
}

static bool write_table(const bench_options *b, const draw_input *in,
                        const std::vector<draw_row> &rows, error_line *error) {
  output_file file;
  const options *o = &b->o;
  const char *dataset = b->city > 0 ? "synthetic city"
                        : o->init != nullptr
                            ? o->init
                            : dataset_name(o, o->kind != 0 ? o->kind : (int)SCENE_SMALL);
  if (!table_open(&file, o->csv,
                  "dataset,gaussians,views,width,height,step,pairs,place_ms,sort_ms,paint_ms,"
                  "frame_ms,frames_a_second,memory_mib,pixels_off,clock",
                  error))
    return false;
  for (const draw_row &r : rows) {
    fprintf(file.stream, "%s,%d,%d,%d,%d,%s,%.1f", dataset, in->count, (int)in->data.views.size(),
            r.width, r.height, r.step->name, r.pairs);
    for (double ms : {r.place_ms, r.sort_ms, r.paint_ms})
      if (isnan(ms))
        fprintf(file.stream, ",");
      else
        fprintf(file.stream, ",%.5f", ms);
    fprintf(file.stream, ",%.5f,%.2f,%.2f,%.7f,%s\n", r.frame_ms, 1000.0 / r.frame_ms, r.memory_mib,
            r.pixels_off, clock_name());
  }
  return output_file_commit(&file, error);
}

/* Made like the model of --init. */
static bool load_city(draw_input *in, const bench_options *b, error_line *error) {
  enum { CITY_VIEWS = 8 };
  gaussians_host like, model;
  const int views = b->o.views > 0 ? b->o.views : (int)CITY_VIEWS;
  *in = {};
  if (!ply_read(&like, b->o.init, error)) return false;
  if (!make_city(&model, &in->data, &like, b->city, views, b->o.train.seed, error)) return false;
  if (b->write != nullptr)
    return make_folder(b->write, error) && write_city(&model, &in->data, b->write, error);
  draw_upload(in, &model, true, true);
  return true;
}

int run_draws(const bench_options *b) {
  static const int sizes[2][2] = {{1920, 1080}, {3840, 2160}};
  options with_both = b->o, *o = &with_both;
  std::vector<draw_row> rows;
  draw_input in;
  error_line error;
  with_both.harmonics = HARMONICS_BOTH;
  if (!(b->city > 0 ? load_city(&in, b, &error) : draw_load(&in, o, &error)))
    return fail(interrupts ? interrupted_status() : 2, &error);
  printf("%d Gaussians%s\n", b->city > 0 ? b->city : in.count,
         b->city > 0 ? ", a synthetic city" : "");
  bool done = true;
  const int drawn = b->write != nullptr ? 0 : o->size[0] > 0 ? 1 : 2;
  for (int i = 0; i < drawn && done && !interrupts; ++i)
    done = bench_size(&in, o, o->size[0] > 0 ? o->size[0] : sizes[i][0],
                      o->size[0] > 0 ? o->size[1] : sizes[i][1], &rows, &error);
  if (done && o->csv != nullptr) done = write_table(b, &in, rows, &error);
  draw_free(&in);
  if (!done) return fail(1, &error);
  return measure_status();
}

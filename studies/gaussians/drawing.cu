/* arc study gaussians: --draw: a model and cameras in, pictures or times out.
   SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

enum { ORBIT_VIEWS = 24, ORBIT_WIDTH = 1920, ORBIT_HEIGHT = 1080 };

/* ---- what is drawn -------------------------------------------------------------------------- */

static void upload_halves(draw_input *in, const std::vector<float> &sh) {
  const float most = 65504.0f;
  std::vector<unsigned short> halves(sh.size());
  for (size_t i = 0; i < sh.size(); ++i) halves[i] = half_bits(fminf(fmaxf(sh[i], -most), most));
  device_upload(&in->memory, &in->halves, halves, "memory for the harmonics");
  in->model.halves = (const unsigned short *)in->halves.data;
}

void draw_upload(draw_input *in, const gaussians_host *model, bool floats, bool halves) {
  const int sh_floats = floats ? (int)SH_FLOATS : 0;
  const size_t each = GAUSSIAN_FLOATS - SH_FLOATS + sh_floats;
  in->count = model->count;
  in->degree = model->sh_degree;
  device_reserve(&in->memory, &in->block, each * model->count * sizeof(float),
                 "memory for the Gaussians");
  in->model = split_gaussians((float *)in->block.data, model->count, sh_floats);
  if (!floats) in->model.sh = nullptr;
  model_to_device(model, in->model);
  if (halves) upload_halves(in, model->sh);
}

static bool load_cameras(scene *data, const options *o, error_line *error) {
  scene_options input = o->input;
  input.most_views = o->views;
  input.cameras_only = true;
  return scene_read(data, &input, error);
}

/* The model, and cameras where no scene has given them. */
static bool load_model(gaussians_host *model, scene *data, const options *o, error_line *error) {
  const bool made = o->init != nullptr ? ply_read(model, o->init, error)
                                       : setup_truth(data, model, o, o->kind, error);
  if (!made) return false;
  if (o->orbit == 0 && !data->views.empty()) return true;
  scene_orbit(data, model, o->orbit > 0 ? o->orbit : (int)ORBIT_VIEWS, ORBIT_WIDTH, ORBIT_HEIGHT);
  return true;
}

bool draw_load(draw_input *in, const options *o, error_line *error) {
  gaussians_host model;
  *in = {};
  printf("loading    %s\n",
         o->init != nullptr ? printable(o->init) : "a model drawn by the program");
  if (o->input.path != nullptr && !load_cameras(&in->data, o, error)) return false;
  if (!load_model(&model, &in->data, o, error)) return false;
  for (view &v : in->data.views)
    if (o->size[0] > 0) camera_resize(&v.camera, o->size[0], o->size[1]);
  draw_upload(in, &model, o->harmonics != HARMONICS_HALF, o->harmonics != HARMONICS_FLOAT);
  return true;
}

void draw_free(draw_input *in) {
  device_release(&in->memory, &in->block);
  device_release(&in->memory, &in->halves);
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* Of one view: medians of milliseconds. */
typedef struct draw_record {
  draw_times ms;
  int pairs;
} draw_record;

draw_times draw_medians(drawer *d, const draw_input *in, int view, int repeats) {
  device_camera camera = camera_on_device(&in->data.views[view].camera);
  std::vector<float> values[4];
  for (int i = 0; i < repeats && (i == 0 || !interrupts); ++i) {
    draw_view(d, in->model, in->count, in->degree, &camera);
    const draw_times t = draw_read_times(d);
    int k = 0;
    for (float part : {t.place, t.sort, t.paint, t.all}) values[k++].push_back(part);
  }
  auto middle = [&](int k) { return median(values[k].data(), (int)values[k].size()); };
  return {middle(0), middle(1), middle(2), middle(3)};
}

static bool write_draw_csv(const draw_input *in, const draw_record *records, int drawn,
                           const char *path, error_line *error) {
  output_file file;
  if (!output_file_open(&file, path, error)) return false;
  fprintf(file.stream, "view,width,height,pairs,place_ms,sort_ms,paint_ms,frame_ms,clock\n");
  for (int i = 0; i < drawn; ++i) {
    const draw_record *r = &records[i];
    const view *v = &in->data.views[i];
    fprintf(file.stream, "%s,%d,%d,%d,%.5f,%.5f,%.5f,%.5f,%s\n", v->name, v->camera.width,
            v->camera.height, r->pairs, r->ms.place, r->ms.sort, r->ms.paint, r->ms.all,
            clock_name());
  }
  return output_file_commit(&file, error);
}

static void print_drawing(const draw_input *in, const draw_record *records, int drawn) {
  double ms[4] = {0.0, 0.0, 0.0, 0.0}, pairs = 0.0;
  int most = 0;
  for (int i = 0; i < drawn; ++i) {
    const draw_times *t = &records[i].ms;
    const float parts[] = {t->place, t->sort, t->paint, t->all};
    for (int k = 0; k < 4; ++k) ms[k] += parts[k] / drawn;
    pairs += (double)records[i].pairs / drawn;
    most = records[i].pairs > most ? records[i].pairs : most;
  }
  printf("drawn      %d views, %.1f a second; pairs %.0f in the mean, %d at most\n", drawn,
         1000.0 / ms[3], pairs, most);
  printf("ms a view  place %.4f, sort %.4f, paint %.4f, all %.4f (medians, their mean%s)\n", ms[0],
         ms[1], ms[2], ms[3], SIMT_ON_CPU ? "; host time of the emulation, not a GPU time" : "");
  printf("memory     %.1f MiB of the device at most\n", (double)in->memory.peak / 1048576.0);
}

/* Returns how many views are drawn; fewer than all after an interrupt or an error. */
static int draw_views(drawer *d, const draw_input *in, const options *o, draw_record *records,
                      error_line *error) {
  const int views = (int)in->data.views.size();
  int drawn = 0;
  for (; drawn < views && !interrupts; ++drawn) {
    if (progress_due()) progress_line("drawing  view %d of %d", drawn, views);
    records[drawn].ms = draw_medians(d, in, drawn, o->repeats);
    if (interrupts) break;
    records[drawn].pairs = d->f.pairs;
    if (o->renders != nullptr && !write_picture(&d->f, &in->data.views[drawn], o->renders, error))
      break;
  }
  progress_clear();
  return drawn;
}

int run_draw(const options *o) {
  draw_input in;
  drawer d;
  error_line error;
  if (!draw_load(&in, o, &error)) return fail(interrupts ? interrupted_status() : 2, &error);
  const int views = (int)in.data.views.size();
  printf("gaussians  %d of degree %d, %d views, the first of %d x %d pixels\n", in.count, in.degree,
         views, in.data.views[0].camera.width, in.data.views[0].camera.height);
  std::vector<draw_record> records((size_t)views);
  draw_begin(&d, &o->train.frame, &in.memory);
  if (o->lists == LISTS_AUTO) draw_adaptively(&d);
  if (o->lists == LISTS_64X32) draw_by_macro_tiles(&d, 8);
  if (o->lists == LISTS_128X64) draw_by_macro_tiles(&d, 16);
  bool written = o->renders == nullptr || make_folder(o->renders, &error);
  int drawn = written ? draw_views(&d, &in, o, records.data(), &error) : 0;
  written = written && (drawn == views || interrupts > 0);
  if (drawn > 0) print_drawing(&in, records.data(), drawn);
  if (written && o->csv != nullptr)
    written = write_draw_csv(&in, records.data(), drawn, o->csv, &error);
  if (written && drawn < views) printf("interrupted after %d of %d views\n", drawn, views);
  draw_end(&d);
  draw_free(&in);
  if (!written) return fail(1, &error);
  return drawn < views ? interrupted_status() : 0;
}

/* arc study gaussians: trains a scene of 3D Gaussians from pictures.
   SPDX-License-Identifier: Apache-2.0

   Where to read on: render/backward.cuh (the kernel that adds through arc), render/pixels.cuh and
   render/forward.cuh (the forward pass), render/project.cuh (from Gaussians to splats and back),
   render/frame.h (one view), render/draw.h (pictures alone), train/train.h (one step after
   another). This file is the program, drawing.cu its --draw. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

#include "../../bench/common/device_describe.h"

static void print_scene(const options *o, const trainer *t) {
  const scene *data = t->data;
  printf("scene      %s, %d views of %d x %d pixels, %d for training\n",
         o->input.path != nullptr ? printable(o->input.path)
                                  : scene_kind_name(o->kind != 0 ? o->kind : (int)SCENE_SMALL),
         (int)data->views.size(), t->cameras[0].width, t->cameras[0].height,
         (int)t->training.size());
  printf("gaussians  %d, from iteration %d of %d, seed %u\n", t->count, t->iteration,
         t->settings.iterations, t->settings.seed);
  if (t->settings.batch > 1 || t->team->size > 1)
    printf("group      %d processes, %d views per step\n", t->team->size, t->settings.batch);
}

static void print_training(const trainer *t, double seconds) {
  const frame_settings *s = &t->f.settings;
  step_medians ms = medians_of(t);
  printf("threshold  %s%s%s\n", threshold_word(s->threshold).c_str(),
         t->settings.search ? ", tuned" : "", s->reproducible ? ", reproducible" : "");
  int trained = t->iteration - t->first_iteration;
  printf("trained    %d iterations in %.2f s, %.1f per second, %d Gaussians\n", trained, seconds,
         trained / seconds, t->count);
  if (trained == 0) return;
  printf("ms / view  forward %.4f, backward %.4f, rest %.4f (medians%s)\n", ms.forward, ms.backward,
         ms.rest, SIMT_ON_CPU ? "; host time of the emulation, not a GPU time" : "");
  if (t->team->size > 1)
    printf("sums       %.4f ms per step (mean), with the wait for the slowest process\n", ms.sum);
}

/* ---- judging -------------------------------------------------------------------------------- */

static bool check_loss(const trainer *t, double loss, error_line *error) {
  return isfinite(loss) ||
         error_set(error, "the loss is not finite after %d iterations", t->iteration);
}

static bool check_last_loss(const trainer *t, error_line *error) {
  return t->iteration == t->first_iteration ||
         check_loss(t, trainer_figures(t, t->iteration - 1).loss, error);
}

static bool judge(trainer *t, bool held_out, error_line *error) {
  loss_figures f;
  if (!trainer_judge(t, held_out, &f)) return true;
  printf("%-10s PSNR %.3f dB, SSIM %.4f, L1 %.5f\n", held_out ? "test" : "train", f.psnr, f.ssim,
         f.l1);
  return check_loss(t, f.loss, error);
}

/* ---- what is written ------------------------------------------------------------------------ */

static bool write_model(const trainer *t, const char *path, error_line *error) {
  gaussians_host model;
  return trainer_get_model(t, &model, error) && ply_write(&model, path, error);
}

static bool any_held_out(const scene *data) {
  for (const view &v : data->views)
    if (v.held_out) return true;
  return false;
}

static bool write_renders(trainer *t, const char *folder, error_line *error) {
  bool all = !any_held_out(t->data), written = make_folder(folder, error);
  printf("drawing    %s views\n", all ? "all" : "the held-out");
  for (int i = 0; written && trainer_next_view(t, "drawing", i); ++i) {
    const view *v = &t->data->views[i];
    if (!all && !v->held_out) continue;
    trainer_draw(t, i);
    written = write_picture(&t->f, v, folder, error);
  }
  return written;
}

static bool write_csv(const trainer *t, const char *path, error_line *error) {
  output_file file;
  if (!output_file_open(&file, path, error)) return false;
  fprintf(file.stream,
          "iteration,view,loss,l1,ssim,psnr_db,gaussians,pairs,forward_ms,backward_ms,rest_ms,"
          "sum_ms,clock\n");
  for (int i = t->first_iteration; i < t->iteration; ++i) {
    const step_record *r = &t->records[i];
    loss_figures f = trainer_figures(t, i);
    fprintf(file.stream, "%d,%s,%.9g,%.9g,%.9g,%.6f,%d,%d,%.5f,%.5f,%.5f,%.5f,%s\n", i + 1,
            t->data->views[r->view].name, f.loss, f.l1, f.ssim, f.psnr, r->gaussians, r->pairs,
            r->forward_ms, r->backward_ms, r->rest_ms, r->sum_ms, clock_name());
  }
  return output_file_commit(&file, error);
}

static bool write_cameras(trainer *t, const char *path, error_line *error) {
  output_file file;
  const std::vector<float> slopes = trainer_camera_slopes(t);
  if (slopes.empty()) return true;
  if (!output_file_open(&file, path, error)) return false;
  fprintf(file.stream, "view,r00,r01,r02,t0,r10,r11,r12,t1,r20,r21,r22,t2\n");
  for (size_t i = 0; i < t->data->views.size(); ++i) {
    if (t->data->views[i].held_out) continue;
    fprintf(file.stream, "%s", t->data->views[i].name);
    for (int k = 0; k < CAMERA_FLOATS; ++k)
      fprintf(file.stream, ",%.9g", slopes[CAMERA_FLOATS * i + k]);
    fprintf(file.stream, "\n");
  }
  return output_file_commit(&file, error);
}

static void print_written(const char *file) {
  if (file != nullptr) printf("written    %s\n", printable(file));
}

typedef bool (*write_file)(const trainer *t, const char *path, error_line *error);

/* What the training has made; the model first. Each is written, whatever becomes of the others. */
static bool write_training(const options *o, const trainer *t) {
  const char *const files[] = {o->out, o->checkpoint, o->csv};
  const write_file writes[] = {write_model, checkpoint_write, write_csv};
  error_line error;
  bool all = true;
  for (int i = 0; i < 3; ++i) {
    if (files[i] == nullptr || writes[i](t, files[i], &error))
      print_written(files[i]);
    else
      fail(1, &error), all = false;
  }
  return all;
}

/* What takes work on all views. */
static bool write_views(const options *o, trainer *t, error_line *error) {
  if (o->renders != nullptr && !write_renders(t, o->renders, error)) return false;
  if (!interrupts) print_written(o->renders);
  if (!interrupts && o->cameras != nullptr && !write_cameras(t, o->cameras, error)) return false;
  if (!interrupts) print_written(o->cameras);
  return true;
}

/* ---- from the options to the end ------------------------------------------------------------ */

/* A folder that is not there is made and removed again. */
static bool probe_folder(const char *folder, error_line *error) {
  struct stat status;
  if (mkdir(folder, 0777) == 0) return rmdir(folder) == 0;
  if (errno != EEXIST) return error_set(error, "--renders '%.300s': %s", folder, strerror(errno));
  if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
    return error_set(error, "--renders '%.300s' is not a folder", folder);
  return access(folder, W_OK | X_OK) == 0 ||
         error_set(error, "--renders '%.300s': %s", folder, strerror(errno));
}

static bool set_first_model(trainer *t, const options *o, error_line *error) {
  gaussians_host model;
  if (o->resume != nullptr) return checkpoint_read(t, o->resume, error);
  if (!setup_first_model(&model, t->data, o, error)) return false;
  trainer_set_model(t, &model);
  return true;
}

/* Of those that are left of a group, one writes the checkpoint. */
static int leave_group(const options *o, const trainer *t) {
  error_line error;
  char text[512];
  if (!group_speaks(t->team) || t->iteration == t->first_iteration) return GROUP_LEFT;
  if (o->checkpoint == nullptr)
    snprintf(text, sizeof text, "training ended after %d iterations, without --checkpoint",
             t->iteration);
  else if (checkpoint_write(t, o->checkpoint, &error))
    snprintf(text, sizeof text,
             "training ended; --resume %.300s goes on from iteration %d with any --gpus",
             o->checkpoint, t->iteration);
  else
    snprintf(text, sizeof text, "training ended: %.450s", error.text);
  group_tell(t->team, text);
  return GROUP_LEFT;
}

/* After an interrupt what was trained is written; it is neither judged nor drawn. */
static int train_and_report(const options *o, trainer *t) {
  error_line error;
  double seconds = 0.0;
  checkpoint_plan plan = {o->checkpoint, o->checkpoint_every};
  trainer_link(t); /* all have set up; from here on they agree on an interrupt step by step */
  if (!t->team->lost) print_scene(o, t);
  train_on(t, plan, &seconds);
  trainer_gather(t);
  if (t->team->lost) return leave_group(o, t);
  group_end(t->team);
  if (t->team->rank != 0) return 0;
  if (!check_last_loss(t, &error)) return fail(1, &error);
  const bool written = write_training(o, t);
  print_training(t, seconds);
  const bool whole = !interrupts;
  if (whole) printf("judging    %zu views\n", t->data->views.size());
  if (whole && (!judge(t, false, &error) || !judge(t, true, &error) || !write_views(o, t, &error)))
    return fail(1, &error);
  printf("memory     at most %.1f MiB of the device\n", (double)t->memory.peak / 1048576.0);
  if (!interrupts) return written ? 0 : 1;
  if (whole)
    printf("interrupted after the training: not all views are judged and rendered\n");
  else
    printf("interrupted after %d of %d iterations\n", t->iteration, t->settings.iterations);
  return written ? interrupted_status() : 1;
}

static int run_training(const options *o, group *team) {
  scene data;
  trainer t;
  error_line error;
  int status;
  if (!setup_load(&data, o, &error)) return fail(interrupts ? interrupted_status() : 2, &error);
  trainer_begin(&t, &data, &o->train);
  t.team = team;
  if (t.training.empty()) {
    error_set(&error, "every view is held out; raise --hold-out or set it to 0");
    status = fail(2, &error);
  } else if (!set_first_model(&t, o, &error)) {
    status = fail(interrupts ? interrupted_status() : 2, &error);
  } else if (interrupts && team->size == 1) {
    error_set(&error, "interrupted before the first iteration");
    status = fail(interrupted_status(), &error);
  } else {
    status = train_and_report(o, &t);
  }
  trainer_end(&t);
  return status;
}

/* In each process. */
static int run(group *team, void *state) {
  const options *o = (const options *)state;
  error_line error;
  options mine = *o;
  if (!has_device("gaussians", &error)) return fail(1, &error);
  if (!group_begin(team, &error)) return fail(2, &error);
  device_describe(stdout, DEVICE_ON_SCREEN, 0.0);
  if (o->draws) return run_draw(o);
  if (mine.train.batch == 0) mine.train.batch = team->size;
  if (mine.train.batch < team->size) {
    error_set(&error, "--batch is %d; with %d processes it must be %d or more", mine.train.batch,
              team->size, team->size);
    return fail(2, &error);
  }
  return run_training(&mine, team);
}

int main(int argc, char **argv) {
  options o = options_default();
  error_line error;
  if (program_begin("gaussians", argc, argv)) return 0;
  o.train.iterations = SIMT_ON_CPU ? 60 : 7000;
  o.repeats = SIMT_ON_CPU ? 1 : 9;
  if (!options_parse(&o, argc, argv, &error) || !group_can(o.gpus, &error) ||
      (o.renders != nullptr && !probe_folder(o.renders, &error)))
    return fail(2, &error);
  catch_interrupts();
  return group_run(o.gpus, "gaussians", run, &o);
}

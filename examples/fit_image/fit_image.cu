/* arc example fit_image: fits a picture with 2D Gaussians by gradient descent.
   SPDX-License-Identifier: Apache-2.0

   fit_image --image photo.png --gaussians 50000 --steps 1000 --out fitted.png
   fit_image --help

   Where to read on: model.cuh (one Gaussian at one pixel), kernels.cuh (the kernels; the call of
   arc is in `backward`), fit.h (one step after another). This file is the program. */
#include <math.h>
#include <string.h>

#include "../common/program_run.h"
#include "fit.h"

#include "../common/device_describe.h"

static const double SAME_PSNR_DB = 0.1;

/* What one run of one path gave; times are medians over the steps. */
typedef struct run_result {
  fit_way way;
  int steps;
  double loss, psnr;
  float whole_ms, forward_ms, backward_ms, rest_ms;
} run_result;

static fit_options default_options(void) {
  fit_options o;
  memset(&o, 0, sizeof o);
  o.fit.steps = SIMT_ON_CPU ? 30 : 500;
  o.fit.seed = 1;
  o.fit.way = FIT_DEFAULT;
  o.fit.rates[RATE_MEAN] = 0.4f;
  o.fit.rates[RATE_SCALE] = 0.06f;
  o.fit.rates[RATE_ANGLE] = 0.06f;
  o.fit.rates[RATE_COLOUR] = 0.01f;
  return o;
}

static int fail(int status, const error_line *error) {
  fprintf(stderr, "fit_image: %s\n", error->text);
  return status;
}

/* The CPU warp takes seconds for what a GPU does in a millisecond: without --size, small. */
static void default_size(const fit_options *o, int *width, int *height) {
  if (o->image == nullptr) {
    *width = SIMT_ON_CPU ? 64 : 1080;
    *height = SIMT_ON_CPU ? 64 : 1920;
  } else if (SIMT_ON_CPU) {
    double side = *width > *height ? *width : *height;
    double shrink = side > 64.0 ? 64.0 / side : 1.0;
    *width = (int)fmax(1.0, *width * shrink + 0.5);
    *height = (int)fmax(1.0, *height * shrink + 0.5);
  }
}

static bool load_target(const fit_options *o, image *target, error_line *error) {
  if (o->image != nullptr && !image_read(target, o->image, error)) return false;
  int width = o->image != nullptr ? target->width : 0;
  int height = o->image != nullptr ? target->height : 0;
  default_size(o, &width, &height);
  if (o->width > 0) {
    width = o->width;
    height = o->height;
  }
  return o->image != nullptr ? image_shrink(target, width, height, error)
                             : image_procedural(target, width, height, error);
}

static void default_gaussians(fit_options *o, const image *target) {
  int fitting = target->width * target->height / 20;
  if (o->fit.gaussians == 0) o->fit.gaussians = fitting < 1 ? 1 : fitting > 50000 ? 50000 : fitting;
}

static void print_header(const fit_options *o, const image *target) {
  device_describe(stdout, DEVICE_ON_SCREEN, 0.0);
  printf("picture    %s, %d x %d pixels\n", o->image != nullptr ? o->image : "built-in",
         target->width, target->height);
}

/* Once all is set up: from here on there is something to write. */
static void begin_training(const fit_options *o) {
  catch_interrupts();
  printf("gaussians  %d, %d values each; %d steps, seed %llu\n", o->fit.gaussians,
         (int)GAUSSIAN_WIDTH, o->fit.steps, o->fit.seed);
}

static void show_progress(const fit *f) {
  if (!progress_due()) return;
  double loss = fit_latest_loss(f);
  fprintf(stderr, "\r%-11s step %d of %d  loss %.6g  PSNR %.2f dB\033[K",
          fit_way_name(f->settings.way), f->steps_done, f->settings.steps, loss, fit_psnr(f, loss));
}

/* Fits to the end. False, with a line, if the loss is not a number any more. */
static bool run(fit *f, const image *target, image *fitted, run_result *result, error_line *error) {
  while (f->steps_done < f->settings.steps && !interrupts) {
    fit_step(f);
    show_progress(f);
  }
  progress_clear();
  result->way = f->settings.way;
  result->steps = f->steps_done;
  result->loss = fit_loss(f);
  result->psnr = fit_psnr(f, result->loss);
  if (f->steps_done > 0) fit_read_times(f, f->steps_done - 1);
  result->whole_ms = f->steps_done ? median(f->times.whole, f->steps_done) : 0.0f;
  result->forward_ms = f->steps_done ? median(f->times.forward, f->steps_done) : 0.0f;
  result->backward_ms = f->steps_done ? median(f->times.backward, f->steps_done) : 0.0f;
  result->rest_ms = f->steps_done ? median(f->times.rest, f->steps_done) : 0.0f;
  fit_read_picture(f, target, fitted);
  if (isfinite(result->loss)) return true;
  return error_set(error,
                   "the loss is not finite after %d steps; lower the learning rates "
                   "(--lr-mean, --lr-scale, --lr-angle, --lr-colour)",
                   result->steps);
}

static void print_result(const run_result *r) {
  printf("path       %s\n", fit_way_name(r->way));
  printf("loss       %.6g after %d steps\n", r->loss, r->steps);
  printf("PSNR       %.3f dB\n", r->psnr);
  printf("ms a step  %.4f: forward %.4f, backward %.4f, rest %.4f (medians%s)\n", r->whole_ms,
         r->forward_ms, r->backward_ms, r->rest_ms,
         SIMT_ON_CPU ? "; host time of the emulation, not a GPU time" : "");
}

/* Columns are ratios of the plain kernel's time to this one's: larger is better. */
static void print_table(const run_result *results, int count) {
  printf("\nms a step: medians, %s\n",
         SIMT_ON_CPU ? "host time of the emulation; says nothing about a GPU" : "GPU events");
  printf("%-12s %9s %12s %9s %9s %9s %9s\n", "path", "PSNR dB", "backward ms", "x plain", "forward",
         "rest", "step ms");
  for (int i = 0; i < count; ++i) {
    const run_result *r = &results[i];
    printf("%-12s %9.3f %12.4f %9.2f %9.4f %9.4f %9.4f\n", fit_way_name(r->way), r->psnr,
           r->backward_ms, r->backward_ms > 0.0f ? results[0].backward_ms / r->backward_ms : 0.0f,
           r->forward_ms, r->rest_ms, r->whole_ms);
  }
}

/* Every path computes the same gradients, but for rounding. */
static bool same_psnr(const run_result *results, int count, error_line *error) {
  int least = 0, most = 0;
  for (int i = 1; i < count; ++i) {
    if (results[i].psnr < results[least].psnr) least = i;
    if (results[i].psnr > results[most].psnr) most = i;
  }
  bool equal = results[most].psnr == results[least].psnr; /* both may be infinite */
  double spread = equal ? 0.0 : results[most].psnr - results[least].psnr;
  printf("\nPSNR spread %.4f dB; at most %.1f is accepted\n", spread, SAME_PSNR_DB);
  if (spread <= SAME_PSNR_DB) return true;
  return error_set(error, "the paths disagree: %s reaches %.3f dB, %s only %.3f dB",
                   fit_way_name(results[most].way), results[most].psnr,
                   fit_way_name(results[least].way), results[least].psnr);
}

static bool write_csv(const char *path, const run_result *results, int count, const fit_options *o,
                      const image *target, error_line *error) {
  output_file file;
  if (!output_file_open(&file, path, error)) return false;
  fprintf(file.stream,
          "path,values,gaussians,width,height,steps,loss,psnr_db,step_ms,"
          "forward_ms,backward_ms,rest_ms,clock\n");
  for (int i = 0; i < count; ++i) {
    const run_result *r = &results[i];
    fprintf(file.stream, "%s,%d,%d,%d,%d,%d,%.9g,%.6f,%.6f,%.6f,%.6f,%.6f,%s\n",
            fit_way_name(r->way), (int)GAUSSIAN_WIDTH, o->fit.gaussians, target->width,
            target->height, r->steps, r->loss, r->psnr, r->whole_ms, r->forward_ms, r->backward_ms,
            r->rest_ms, SIMT_ON_CPU ? "host_emulation" : "gpu_events");
  }
  return output_file_commit(&file, error);
}

/* Runs one path, or all of them with --compare-paths, and writes the outputs. */
static int run_and_report(const fit_options *o, const image *target, image *fitted) {
  run_result results[FIT_WAYS];
  error_line error;
  int count = 0;
  int first = o->compare_paths ? 0 : (int)o->fit.way;
  int last = o->compare_paths ? (int)FIT_WAYS - 1 : (int)o->fit.way;
  for (int way = first; way <= last && (count == 0 || !interrupts); ++way) {
    fit_settings settings = o->fit;
    fit f;
    settings.way = (fit_way)way;
    fit_begin(&f, target, &settings);
    if (count == 0) begin_training(o);
    const bool finite = run(&f, target, fitted, &results[count], &error);
    fit_end(&f);
    if (!finite) return fail(1, &error);
    count += 1;
  }
  if (o->compare_paths)
    print_table(results, count);
  else
    print_result(&results[0]);
  bool agree = !o->compare_paths || interrupts || same_psnr(results, count, &error);
  if (!agree) fail(1, &error);
  if (o->out != nullptr) {
    if (!image_write(fitted, o->out, &error)) return fail(1, &error);
    printf("written    %s\n", o->out);
  }
  if (o->csv != nullptr) {
    if (!write_csv(o->csv, results, count, o, target, &error)) return fail(1, &error);
    printf("written    %s\n", o->csv);
  }
  if (interrupts) {
    printf("interrupted after %d of %d steps\n", results[count - 1].steps, o->fit.steps);
    return 130;
  }
  return agree ? 0 : 1;
}

int main(int argc, char **argv) {
  fit_options o = default_options();
  error_line error;
  if (program_begin("fit_image", argc, argv)) return 0;
  if (!options_parse(&o, argc, argv, &error)) return fail(2, &error);
  if (o.help) {
    options_print_help(stdout);
    return 0;
  }
  /* Outputs that cannot be written are reported before the work begins. */
  if (o.out != nullptr && !image_write_probe(o.out, &error)) return fail(2, &error);
  if (o.csv != nullptr && !output_file_probe(o.csv, &error)) return fail(2, &error);
  image target = {0, 0, nullptr}, fitted = {0, 0, nullptr};
  int status = 0;
  if (!load_target(&o, &target, &error))
    status = fail(2, &error);
  else if (!has_device("fit_image", &error) ||
           !image_allocate(&fitted, target.width, target.height, &error))
    status = fail(1, &error);
  if (status == 0) {
    default_gaussians(&o, &target);
    signal(SIGPIPE, SIG_IGN); /* as from catch_interrupts on: the header is printed before */
    print_header(&o, &target);
    status = run_and_report(&o, &target, &fitted);
  }
  image_free(&target);
  image_free(&fitted);
  return status;
}

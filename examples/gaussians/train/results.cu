/* arc example gaussians: what a training has made of the views.
   SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "../../common/program_run.h"
#include "train.h"

/* What the processes know of the iterations of this run is added up: of others each has zeros. */
void trainer_gather(trainer *t) {
  enum { NUMBERS = 7 };
  int first = t->first_iteration, count = t->iteration - first;
  size_t bytes = sizeof(double) * NUMBERS * count;
  double *rows = (double *)host_memory(bytes);
  device_array sums = {nullptr, 0};
  if (t->team->size == 1) return free(rows);
  for (int i = 0; i < count; ++i) {
    const step_record *r = &t->records[first + i];
    const double row[NUMBERS] = {(double)r->view, (double)r->gaussians, (double)r->pairs,
                                 r->forward_ms,   r->backward_ms,       r->rest_ms,
                                 r->sum_ms};
    memcpy(rows + NUMBERS * i, row, sizeof row);
  }
  device_reserve(&t->memory, &sums, bytes, "memory for the records");
  host_to_device(sums.data, rows, bytes, "copying the records");
  if (group_sum(t->team, sums.data, (size_t)NUMBERS * count, GROUP_F64) &&
      group_sum(t->team, trainer_losses(t, first), (size_t)LOSS_PARTS * count, GROUP_F64))
    device_to_host(rows, sums.data, bytes, "reading the records");
  for (int i = 0; i < count; ++i) {
    const double *row = rows + NUMBERS * i;
    step_record r = {(int)row[0],   (int)row[1],   (int)row[2],  (float)row[3],
                     (float)row[4], (float)row[5], (float)row[6]};
    t->records[first + i] = r;
  }
  device_release(&t->memory, &sums);
  free(rows);
}

loss_figures trainer_figures(const trainer *t, int iteration) {
  double sums[LOSS_PARTS];
  const device_camera *c = &t->cameras[t->records[iteration].view];
  device_to_host(sums, trainer_losses(t, iteration), sizeof sums, "reading the loss");
  return loss_figures_of(sums, c->width, c->height);
}

void trainer_draw(trainer *t, int index) {
  frame_forward(&t->f, trainer_block(t, BLOCK_PARAMETERS), t->count, t->settings.sh_degree,
                &t->cameras[index]);
}

bool trainer_next_view(const trainer *t, const char *what, int i) {
  if (progress_due()) progress_line("%s  view %d of %d", what, i, t->data->view_count);
  if (i < t->data->view_count && !interrupts) return true;
  progress_clear();
  return false;
}

bool trainer_judge(trainer *t, bool held_out, loss_figures *mean) {
  device_array sums = {nullptr, 0};
  int views = 0;
  device_reserve(&t->memory, &sums, LOSS_PARTS * sizeof(double), "memory for the loss");
  memset(mean, 0, sizeof *mean);
  for (int i = 0; trainer_next_view(t, "judging", i); ++i) {
    double host[LOSS_PARTS];
    if (t->data->views[i].held_out != held_out) continue;
    trainer_draw(t, i);
    frame_judge(&t->f, (const unsigned char *)t->targets[i].data, (double *)sums.data);
    device_to_host(host, sums.data, sizeof host, "reading the loss");
    loss_figures one = loss_figures_of(host, t->cameras[i].width, t->cameras[i].height);
    mean->l1 += one.l1;
    mean->ssim += one.ssim;
    mean->psnr += one.psnr;
    mean->loss += one.loss;
    views += 1;
  }
  device_release(&t->memory, &sums);
  mean->l1 /= views;
  mean->ssim /= views;
  mean->psnr /= views;
  mean->loss /= views;
  return views > 0 && !interrupts;
}

float *trainer_camera_slopes(trainer *t) {
  size_t count = (size_t)CAMERA_FLOATS * t->data->view_count, bytes = count * sizeof(long long);
  device_array rows = {nullptr, 0}, sums = {nullptr, 0};
  long long *fixed = (long long *)host_memory(bytes);
  float *slopes = (float *)host_memory(count * sizeof(float));
  device_reserve(&t->memory, &rows, bytes, "memory for the cameras");
  device_reserve(&t->memory, &sums, LOSS_PARTS * sizeof(double), "memory for the loss");
  device_clear(rows.data, bytes);
  for (int i = 0; trainer_next_view(t, "cameras", i); ++i) {
    if (t->data->views[i].held_out) continue;
    trainer_draw(t, i);
    frame_measure(&t->f, (const unsigned char *)t->targets[i].data, (double *)sums.data);
    frame_clear_sums(&t->f);
    frame_backward(&t->f);
    frame_camera_backward(&t->f, i, (long long *)rows.data);
  }
  device_to_host(fixed, rows.data, bytes, "reading the cameras");
  for (size_t i = 0; i < count; ++i) slopes[i] = arc_fixed_to_f32(fixed[i], CAMERA_SCALE_LOG2);
  device_release(&t->memory, &rows);
  device_release(&t->memory, &sums);
  free(fixed);
  if (!interrupts) return slopes;
  free(slopes);
  return nullptr;
}

/* arc study gaussians: what a training has made of the views.
   SPDX-License-Identifier: Apache-2.0 */
#include "../../../bench/common/program_run.h"
#include "train.h"

/* What the processes know of the iterations of this run is added up: of others each has zeros. */
void trainer_gather(trainer *t) {
  typedef struct record_row {
    double view, gaussians, pairs, forward_ms, backward_ms, rest_ms, sum_ms;
  } record_row;
  const int first = t->first_iteration, count = t->iteration - first;
  std::vector<record_row> rows;
  device_array sums = {nullptr, 0};
  if (t->team->size == 1) return;
  for (int i = first; i < t->iteration; ++i) {
    const step_record &r = t->records[i];
    rows.push_back({(double)r.view, (double)r.gaussians, (double)r.pairs, r.forward_ms,
                    r.backward_ms, r.rest_ms, r.sum_ms});
  }
  const size_t bytes = rows.size() * sizeof(record_row);
  device_upload(&t->memory, &sums, rows, "the records");
  if (group_sum(t->team, sums.data, bytes / sizeof(double), GROUP_F64) &&
      group_sum(t->team, trainer_losses(t, first), (size_t)LOSS_PARTS * count, GROUP_F64))
    device_to_host(rows.data(), sums.data, bytes, "reading the records");
  for (int i = 0; i < count; ++i) {
    const record_row &r = rows[i];
    t->records[first + i] = {(int)r.view,         (int)r.gaussians,     (int)r.pairs,
                             (float)r.forward_ms, (float)r.backward_ms, (float)r.rest_ms,
                             (float)r.sum_ms};
  }
  device_release(&t->memory, &sums);
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
  const int views = (int)t->data->views.size();
  if (progress_due()) progress_line("%s  view %d of %d", what, i, views);
  if (i < views && !interrupts) return true;
  progress_clear();
  return false;
}

bool trainer_judge(trainer *t, bool held_out, loss_figures *mean) {
  device_array sums = {nullptr, 0};
  int views = 0;
  device_reserve(&t->memory, &sums, LOSS_PARTS * sizeof(double), "memory for the loss");
  *mean = {};
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

std::vector<float> trainer_camera_slopes(trainer *t) {
  size_t count = CAMERA_FLOATS * t->data->views.size(), bytes = count * sizeof(long long);
  device_array rows = {nullptr, 0}, sums = {nullptr, 0};
  std::vector<float> slopes;
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
  for (long long sum : device_read<long long>(rows.data, count, "reading the cameras"))
    slopes.push_back(arc_fixed_to_f32(sum, CAMERA_SCALE_LOG2));
  device_release(&t->memory, &rows);
  device_release(&t->memory, &sums);
  if (interrupts) slopes.clear();
  return slopes;
}

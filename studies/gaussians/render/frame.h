/* arc study gaussians: one view of a model, forward and backward.
   SPDX-License-Identifier: Apache-2.0

       frame_project, frame_list, frame_draw   the picture; frame_forward: all three
       frame_measure                           the loss, and its slope by the picture
       frame_backward                          hence the sums of each splat, through arc
       frame_project_backward                  hence the gradient of each parameter */
#pragma once

#include "../../common/device.h"
#include "backward.h"
#include "../settings.h"

typedef struct frame {
  frame_settings settings;
  device_memory *memory;
  gaussians model;
  int count, degree;
  device_camera camera;
  int macro_side; /* 0: lists of tiles; for pictures alone 8 or 16: of macro tiles of such units */
  list_grid grid;
  int longest_part; /* of a list of macro tiles with units of 8 pixels */
  int tiles, pairs, pair_capacity, part_count;
  const void *list; /* of the device: all lists, in one of the buffers of values */
  device_array splats, boxes, depths, keys[2], values[2], scratch, first, total;
  device_array list_parts, parts_drawn, part_pixels;
  device_array colour, transmittance, drawn, hits;
  device_array slope, maps, parts, sums, words;
  backward_launcher backward; /* how the sums are added up */
} frame;

/* memory: where what the frame takes is counted. */
void frame_begin(frame *f, const frame_settings *settings, device_memory *memory);
void frame_end(frame *f);

void frame_project(frame *f, gaussians model, int count, int degree, const device_camera *camera);
void frame_list(frame *f);
void frame_draw(frame *f);
void frame_forward(frame *f, gaussians model, int count, int degree, const device_camera *camera);

/* As it is drawn now; of the size of its camera. */
void frame_read_picture(const frame *f, image *picture);

/* frame_list is frame_emit, which waits for the number of pairs, and frame_sort. For pictures alone
   (draw.h): frame_place is frame_project and frame_emit in one kernel, which writes only what a
   picture takes. */
void frame_emit(frame *f);
void frame_sort(frame *f);
void frame_place(frame *f, gaussians model, int count, int degree, const device_camera *camera);
render_arguments frame_render_arguments(const frame *f);

/* The parts of a picture's loss: doubles on the device, sums not yet divided by the number of
   values. */
enum { LOSS_L1, LOSS_SSIM, LOSS_SQUARES, LOSS_PARTS };

/* The loss to train by, and its slope. wanted: three planes of bytes. */
void frame_measure(frame *f, const unsigned char *wanted, double *sums);
/* The figures of a finished picture, clamped to 0..1 as the field does it. */
void frame_judge(frame *f, const unsigned char *wanted, double *sums);

typedef struct loss_figures {
  double l1, ssim, psnr, loss;
} loss_figures;

loss_figures loss_figures_of(const double *sums, int width, int height);

/* Where the sums of splats are. */
splat_sums frame_sums(const frame *f);
void frame_clear_sums(frame *f);
backward_arguments frame_backward_arguments(const frame *f);
/* Adds to the sums, which are cleared before. */
void frame_backward(frame *f);
void frame_project_backward(frame *f, gradient_sums gradients);
/* Adds the loss by the camera's 12 numbers to row view_index of by_camera, in fixed point of scale
   CAMERA_SCALE_LOG2. */
void frame_camera_backward(frame *f, int view_index, long long *by_camera);

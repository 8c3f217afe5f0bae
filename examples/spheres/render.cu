/* arc example spheres: lists of tiles, the picture, Adam. SPDX-License-Identifier: Apache-2.0

   A tile's list holds the spheres that may reach one of its pixels, in no order: each pixel keeps
   the closest ones itself. */
#include "blend.cuh"

enum { SCAN_THREADS = 256 };

/* The camera's axes, of length 1, and the picture in them: a point at (x, y, z) along the axes lies
   at pixel (centre_x + per_unit x / z, centre_y + per_unit y / z). */
typedef struct frame {
  float3 eye, right, down, forward;
  float per_unit, centre_x, centre_y;
  int tiles_x, tiles_y;
} frame;

/* ---- which spheres may reach which tile ------------------------------------------------------ */

/* What a sphere, seen in the plane of one axis and forward, covers of the axis: the tangents through
   the eye, as their mean and half their distance. z must be above the radius. */
static __device__ __forceinline__ float2 span_of(float x, float z, float radius) {
  const float reciprocal = 1.0f / (z * z - radius * radius);
  const float half = radius * sqrtf(x * x + z * z - radius * radius);
  return make_float2(x * z * reciprocal, half * reciprocal);
}

/* One thread a sphere. Around the eye there is nothing to draw: such a sphere gets no tile. */
__global__ void __launch_bounds__(LINE_THREADS)
    find_tiles(frame f, int spheres, const float4 *rows, tile_box *boxes, int *counts) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= spheres) return;
  const float4 place = place_of(rows, i);
  const float3 offset = make_float3(place.x - f.eye.x, place.y - f.eye.y, place.z - f.eye.z);
  const float z = dot(offset, f.forward);
  tile_box box = {0, 0, 0, 0};
  if (z > place.w) {
    const float slack = 0.01f; /* of a pixel, for rounding */
    const float2 x = span_of(dot(offset, f.right), z, place.w);
    const float2 y = span_of(dot(offset, f.down), z, place.w);
    box = tile_box_around(make_float2(f.centre_x + f.per_unit * x.x, f.centre_y + f.per_unit * y.x),
                          make_float2(f.per_unit * x.y + slack, f.per_unit * y.y + slack),
                          f.tiles_x, f.tiles_y);
  }
  boxes[i] = box;
  for (int y = box.y0; y < box.y1; ++y)
    for (int x = box.x0; x < box.x1; ++x) atomicAdd(&counts[y * f.tiles_x + x], 1);
}

/* first[t]: the counts before tile t, summed; first[tiles]: of all. One block; each thread takes a
   run of tiles. */
__global__ void __launch_bounds__(SCAN_THREADS)
    scan_tiles(int tiles, const int *counts, int *first) {
  __shared__ int sums[SCAN_THREADS];
  const int thread = (int)threadIdx.x;
  const int run = (tiles + SCAN_THREADS - 1) / SCAN_THREADS;
  const int begin = min(thread * run, tiles), end = min(begin + run, tiles);
  int sum = 0;
  for (int t = begin; t < end; ++t) sum += counts[t];
  sums[thread] = sum;
  __syncthreads();
  for (int step = 1; step < SCAN_THREADS; step *= 2) {
    const int before = thread >= step ? sums[thread - step] : 0;
    __syncthreads();
    sums[thread] += before;
    __syncthreads();
  }
  int place = sums[thread] - sum;
  for (int t = begin; t < end; ++t) {
    first[t] = place;
    place += counts[t];
  }
  if (thread == SCAN_THREADS - 1) first[tiles] = place;
}

/* One thread a sphere; counts go down to 0, which leaves them ready for the next view. */
__global__ void __launch_bounds__(LINE_THREADS)
    fill_tiles(int spheres, int tiles_x, const tile_box *boxes, const int *first, int *counts,
               int *list) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= spheres) return;
  const tile_box box = boxes[i];
  for (int y = box.y0; y < box.y1; ++y)
    for (int x = box.x0; x < box.x1; ++x) {
      const int tile = y * tiles_x + x;
      list[first[tile] + atomicAdd(&counts[tile], -1) - 1] = i;
    }
}

/* ---- the picture ----------------------------------------------------------------------------- */

typedef struct draw_arguments {
  camera view;
  int width, height, tiles_x;
  const float4 *rows;
  const int *first, *list;
  float *colour, *total;
  int *tracked;
} draw_arguments;

/* The closest spheres so far, by depth. */
typedef struct closest {
  float depth[TRACKED];
  int sphere[TRACKED];
} closest;

static __device__ __forceinline__ void swap_if(bool condition, closest *c, int i) {
  const float depth = c->depth[i];
  const int sphere = c->sphere[i];
  c->depth[i] = condition ? c->depth[i - 1] : depth;
  c->sphere[i] = condition ? c->sphere[i - 1] : sphere;
  c->depth[i - 1] = condition ? depth : c->depth[i - 1];
  c->sphere[i - 1] = condition ? sphere : c->sphere[i - 1];
}

static __device__ __forceinline__ void keep_closest(closest *c, float depth, int sphere) {
  if (depth >= c->depth[TRACKED - 1]) return;
  c->depth[TRACKED - 1] = depth;
  c->sphere[TRACKED - 1] = sphere;
  UNROLL
  for (int i = TRACKED - 1; i > 0; --i) swap_if(c->depth[i] < c->depth[i - 1], c, i);
}

/* The whole block walks over its tile's list; it stages offsets from the eye, and radii squared. */
static __device__ __forceinline__ void track(closest *c, const draw_arguments *a, const pixel *p) {
  __shared__ float4 staged[TILE_PIXELS];
  __shared__ int names[TILE_PIXELS];
  const int begin = a->first[blockIdx.x], end = a->first[blockIdx.x + 1];
  for (int start = begin; start < end; start += TILE_PIXELS) {
    const int mine = start + (int)threadIdx.x, count = min(end - start, (int)TILE_PIXELS);
    __syncthreads(); /* all warps are done with the spheres before */
    if (mine < end) {
      const float4 place = place_of(a->rows, a->list[mine]);
      const float3 offset = offset_of(place, &a->view);
      staged[threadIdx.x] = make_float4(offset.x, offset.y, offset.z, place.w * place.w);
      names[threadIdx.x] = a->list[mine];
    }
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      const float4 s = staged[k];
      const approach near_by = approach_of(make_float3(s.x, s.y, s.z), p->ray);
      if (near_by.square < s.w && near_by.depth > DEPTH_NEAR && near_by.depth < DEPTH_FAR)
        keep_closest(c, near_by.depth, names[k]);
    }
  }
}

/* One block a tile. */
__global__ void __launch_bounds__(TILE_PIXELS) draw(draw_arguments a) {
  const pixel p = pixel_of_thread(&a.view, a.width, a.height, a.tiles_x);
  const size_t plane = (size_t)a.width * a.height;
  closest c;
  for (int i = 0; i < TRACKED; ++i) {
    c.depth[i] = DEPTH_FAR;
    c.sphere[i] = -1;
  }
  track(&c, &a, &p);
  if (!p.inside) return;
  float total = front_of(BACKGROUND_DEPTH);
  float3 sum =
      make_float3(total * BACKGROUND_COLOUR, total * BACKGROUND_COLOUR, total * BACKGROUND_COLOUR);
  for (int i = 0; i < TRACKED; ++i) {
    a.tracked[i * plane + p.index] = c.sphere[i];
    if (c.sphere[i] < 0) continue;
    const float4 place = place_of(a.rows, c.sphere[i]), look = look_of(a.rows, c.sphere[i]);
    const approach near_by = approach_of(offset_of(place, &a.view), p.ray);
    const float u = weight_of(&near_by, place.w, look.w).value;
    total += u;
    sum = add_scaled(sum, make_float3(look.x, look.y, look.z), u);
  }
  a.total[p.index] = total;
  a.colour[p.index] = sum.x / total;
  a.colour[plane + p.index] = sum.y / total;
  a.colour[2 * plane + p.index] = sum.z / total;
}

/* ---- a step ---------------------------------------------------------------------------------- */

typedef struct step_rates {
  float rate[SPHERE_FLOATS], least[SPHERE_FLOATS], most[SPHERE_FLOATS];
  float correction_1, correction_2; /* of Adam's means and squares */
} step_rates;

/* One thread a float of a sphere. Adam measures a gradient by its own size, so that none would
   count as much as any: spheres that no pixel tracks stay. moments: the means, then the squares. */
__global__ void __launch_bounds__(LINE_THREADS)
    take_step(int floats, const float *sums, const unsigned *seen, step_rates s, float *rows,
              float *moments) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= floats || seen[i / SPHERE_FLOATS] == 0u) return;
  const int sphere = i / SPHERE_FLOATS, k = i % SPHERE_FLOATS;
  const float gradient = sums[(size_t)sphere * ROW_FLOATS + k];
  const float mean = 0.9f * moments[i] + 0.1f * gradient;
  const float square = 0.99f * moments[floats + i] + 0.01f * gradient * gradient;
  moments[i] = mean;
  moments[floats + i] = square;
  const float step = mean / s.correction_1 / (sqrtf(square / s.correction_2) + 1e-20f);
  rows[i] = fminf(fmaxf(rows[i] - s.rate[k] * step, s.least[k]), s.most[k]);
}

/* ---- host ------------------------------------------------------------------------------------ */

static frame frame_of(const camera *c, const renderer *r) {
  const float pixel =
      sqrtf(c->right[0] * c->right[0] + c->right[1] * c->right[1] + c->right[2] * c->right[2]);
  const float *a = c->right, *b = c->down;
  float axes[3][3], centre[2] = {0, 0};
  for (int k = 0; k < 3; ++k) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    axes[0][k] = a[k] / pixel;
    axes[1][k] = b[k] / pixel;
    axes[2][k] = (a[l] * b[m] - a[m] * b[l]) / (pixel * pixel);
    for (int axis = 0; axis < 2; ++axis) centre[axis] -= c->corner[k] * axes[axis][k] / pixel;
  }
  frame f = {};
  f.eye = make_float3(c->eye[0], c->eye[1], c->eye[2]);
  f.right = make_float3(axes[0][0], axes[0][1], axes[0][2]);
  f.down = make_float3(axes[1][0], axes[1][1], axes[1][2]);
  f.forward = make_float3(axes[2][0], axes[2][1], axes[2][2]);
  f.per_unit = 1 / pixel;
  f.centre_x = centre[0];
  f.centre_y = centre[1];
  f.tiles_x = r->tiles_x;
  f.tiles_y = r->tiles / r->tiles_x;
  return f;
}

void renderer_begin(renderer *r, int spheres, int width, int height) {
  const size_t n = (size_t)spheres, pixels = (size_t)width * (size_t)height;
  *r = {};
  r->spheres = spheres;
  r->width = width;
  r->height = height;
  r->tiles_x = tiles_along(width);
  r->tiles = r->tiles_x * tiles_along(height);
  device_reserve(&r->memory, &r->rows, n * SPHERE_FLOATS * sizeof(float), "spheres");
  device_reserve(&r->memory, &r->moments, 2 * n * SPHERE_FLOATS * sizeof(float), "spheres");
  device_reserve(&r->memory, &r->boxes, n * sizeof(tile_box), "spheres");
  device_reserve(&r->memory, &r->sums, (n + 1) * ROW_FLOATS * sizeof(float), "gradients");
  device_reserve(&r->memory, &r->seen, n * sizeof(unsigned), "gradients");
  device_reserve(&r->memory, &r->tile_counts, (size_t)r->tiles * sizeof(int), "tiles");
  device_reserve(&r->memory, &r->tile_first, ((size_t)r->tiles + 1) * sizeof(int), "tiles");
  device_reserve(&r->memory, &r->colour, 3 * pixels * sizeof(float), "a picture");
  device_reserve(&r->memory, &r->total, pixels * sizeof(float), "a picture");
  device_reserve(&r->memory, &r->tracked, TRACKED * pixels * sizeof(int), "a picture");
  device_clear(r->tile_counts.data, r->tile_counts.bytes);
}

void renderer_end(renderer *r) {
  device_array *arrays[] = {&r->rows,   &r->moments,     &r->boxes,      &r->sums,
                            &r->seen,   &r->tile_counts, &r->tile_first, &r->list,
                            &r->colour, &r->total,       &r->tracked};
  for (device_array *array : arrays) device_release(&r->memory, array);
}

void renderer_set(renderer *r, const float *rows) {
  host_to_device(r->rows.data, rows, (size_t)r->spheres * SPHERE_FLOATS * sizeof(float), "spheres");
  device_clear(r->moments.data, r->moments.bytes);
}

void renderer_draw(renderer *r, const camera *view) {
  const float4 *rows = (const float4 *)r->rows.data;
  tile_box *boxes = (tile_box *)r->boxes.data;
  int *counts = (int *)r->tile_counts.data, *first = (int *)r->tile_first.data, pairs;
  const int blocks = line_blocks((size_t)r->spheres);
  r->view = *view;
  SIMT_LAUNCH(find_tiles, blocks, LINE_THREADS, 0, 0, frame_of(view, r), r->spheres, rows, boxes,
              counts);
  SIMT_LAUNCH(scan_tiles, 1, SCAN_THREADS, 0, 0, r->tiles, counts, first);
  device_to_host(&pairs, first + r->tiles, sizeof pairs, "lists");
  device_reserve(&r->memory, &r->list, (size_t)(pairs + pairs / 4) * sizeof(int), "lists");
  SIMT_LAUNCH(fill_tiles, blocks, LINE_THREADS, 0, 0, r->spheres, r->tiles_x, boxes, first, counts,
              (int *)r->list.data);
  const draw_arguments a = {*view,
                            r->width,
                            r->height,
                            r->tiles_x,
                            rows,
                            first,
                            (const int *)r->list.data,
                            (float *)r->colour.data,
                            (float *)r->total.data,
                            (int *)r->tracked.data};
  SIMT_LAUNCH(draw, r->tiles, TILE_PIXELS, 0, 0, a);
  device_check(cudaGetLastError(), "drawing");
}

void renderer_clear_sums(renderer *r) {
  device_clear(r->sums.data, r->sums.bytes);
  device_clear(r->seen.data, r->seen.bytes);
}

void renderer_step(renderer *r, int step, float radius) {
  const float far_away = 2 * DEPTH_FAR;
  const float pace = .01f / sqrtf(1 + (float)step / 100), length = pace * radius;
  const step_rates rates = {
      {length, length, length, .5f * length, 3 * pace, 3 * pace, 3 * pace, .2f * pace},
      {-far_away, -far_away, -far_away, .3f * radius, 0, 0, 0, .1f},
      {far_away, far_away, far_away, 3 * radius, 1, 1, 1, 1},
      1 - powf(.9f, (float)(step + 1)),
      1 - powf(.99f, (float)(step + 1))};
  const int floats = r->spheres * SPHERE_FLOATS;
  SIMT_LAUNCH(take_step, line_blocks((size_t)floats), LINE_THREADS, 0, 0, floats,
              (const float *)r->sums.data, (const unsigned *)r->seen.data, rates,
              (float *)r->rows.data, (float *)r->moments.data);
  device_check(cudaGetLastError(), "a step");
}

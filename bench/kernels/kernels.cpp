/* kernels.cpp - which kernel measures a cell. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include "arc_policy.cuh"

#define FAMILY(name) &sweep_family_##name,
static const struct sweep_kernel_family *const families[] = {SWEEP_FAMILIES(FAMILY)};

static bool fits(int wanted, int value, int any) { return value == wanted || value == any; }

static bool has_width(const struct sweep_kernels *k, int width) {
  return k->width == width || (k->width == SWEEP_ANY_WIDTH && width <= SWEEP_RUN_TIME_WIDTH);
}

static bool serves(const struct sweep_kernel_table *t, const struct sweep_cell *c) {
  bool floats = c->path == SWEEP_PATH_NONE && c->type >= SWEEP_TYPE_f16; /* without memory: f32 */
  int type = floats ? (int)SWEEP_TYPE_f32 : c->type;
  return t->path == c->path && t->form == c->form && t->type == type &&
         fits(c->zeros, t->zeros, SWEEP_ANY_ZEROS) &&
         fits(c->threshold, t->threshold, SWEEP_ANY_THRESHOLD);
}

static sweep_kernel find(const struct sweep_cell *c) {
  for (const struct sweep_kernel_family *family : families) {
    for (int t = 0; t < family->count; ++t) {
      const struct sweep_kernel_table *table = &family->tables[t];
      if (!serves(table, c)) continue;
      for (int i = 0; i < table->count; ++i) {
        const struct sweep_kernels *k = &table->kernels[i];
        sweep_kernel kernel = c->call == SWEEP_CALL_UNIFORM ? k->uniform : k->keyed;
        if (kernel && has_width(k, c->width)) return kernel;
      }
    }
  }
  return nullptr;
}

const char *sweep_path_missing(int path) {
  if (path == SWEEP_PATH_CG) return sweep_missing_cg;
  if (path == SWEEP_PATH_CUB) return sweep_missing_cub;
  return nullptr;
}

int sweep_stride(const struct sweep_cell *c) {
  return c->padding == 0 ? c->width | 1 : (c->width + c->padding - 1) / c->padding * c->padding;
}

int sweep_value_bytes(int type) {
#define BYTES(name, bytes) bytes,
  static const int all[] = {0, SWEEP_TYPES(BYTES)};
  return all[type];
}

int sweep_row_bytes(const struct sweep_cell *c) {
  int values = sweep_stride(c);
  return sweep_value_bytes(c->type) * (c->type == SWEEP_TYPE_wide ? ARC_WIDE_ROW(values) : values);
}

sweep_kernel sweep_kernel_of(const struct sweep_cell *c, const char **why) {
  const char *missing = sweep_path_missing(c->path);
  bool aligned = c->path == SWEEP_PATH_VECTOR || c->zeros == SWEEP_ZEROS_ALIGNED_PROMISED;
  bool pairs = c->path == SWEEP_PATH_PLAIN && sweep_value_bytes(c->type) == 2;
  sweep_kernel kernel = nullptr;
  if (missing)
    *why = missing;
  else if (aligned && (c->padding == 0 || c->padding % 4 != 0))
    *why = "needs rows of whole 16 bytes: --padding 4, 8, ...";
  else if (pairs && sweep_stride(c) % 2 != 0)
    *why = "adds two halves at once, to rows of whole 4 bytes: --padding 2, 4, ...";
  else if (!(kernel = find(c)))
    *why = "has no kernel of this type, width, form, threshold and promise";
  return kernel;
}

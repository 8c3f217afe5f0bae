/* kernels.cpp - which kernel measures a cell. SPDX-License-Identifier: Apache-2.0 */
#include "../sweep/sweep.h"
#include "kernels.h"

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

sweep_kernel sweep_kernel_of(const struct sweep_cell *c) {
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

static const char *missing(int path) {
  if (path == SWEEP_PATH_CG) return sweep_missing_cg;
  if (path == SWEEP_PATH_CUB) return sweep_missing_cub;
  if (path == SWEEP_PATH_CUB_BATCHED) return sweep_missing_cub_batched;
  return nullptr;
}

std::string sweep_path_missing(int path) { return missing(path) ? missing(path) : ""; }

std::string sweep_why_not(const struct sweep_cell &c) {
  if (missing(c.path)) return std::string("is unavailable: ") + missing(c.path);
  bool aligned = c.path == SWEEP_PATH_VECTOR || c.zeros == SWEEP_ZEROS_ALIGNED_PROMISED;
  if (aligned && (c.padding == 0 || c.padding % 4 != 0))
    return "needs rows of whole 16 bytes: --padding 4, 8, ...";
  if (c.path == SWEEP_PATH_PLAIN && sweep_value_bytes(c.type) == 2 && sweep_stride(c) % 2 != 0)
    return "adds two halves at once, to rows of whole 4 bytes: --padding 2, 4, ...";
  if (sweep_kernel_of(&c)) return "";
  return "has no kernel of this type, width, form, threshold and promise";
}

bool sweep_width_exists(int width, int type) {
  struct sweep_cell c = {};
  c.path = type == SWEEP_TYPE_f32 ? SWEEP_PATH_NONE : SWEEP_PATH_PLAIN;
  c.type = type;
  c.form = SWEEP_FORM_LITERAL;
  c.call = SWEEP_CALL_UNIFORM;
  c.width = width;
  return sweep_kernel_of(&c) != nullptr;
}

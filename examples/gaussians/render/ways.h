/* arc example gaussians: the ways to add, by name.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_WAYS_H
#define GAUSSIANS_WAYS_H

typedef enum add_way {
  ADD_PLAIN,           /* an atomicAdd for every value: what arc replaces */
  ADD_SERIALIZED,      /* the papers' SW-S, through arc */
  ADD_BUTTERFLY,       /* the papers' SW-B, through arc */
  ADD_CUB,             /* cub::WarpReduce a value */
  ADD_SHUFFLES,        /* five shuffles a value, as rasterizers do it by hand */
  ADD_AUTO,            /* arc decides, the threshold is known at run time */
  ADD_DEFAULT,         /* arc as compiled: the kernel to copy from */
  ADD_NONE,            /* adds nothing: the limit, no way to train */
  ADD_WAYS,            /* how many */
  ADD_COUNT = ADD_WAYS /* counts hit lanes instead */
} add_way;

static inline const char *add_way_name(add_way way) {
  static const char *const names[ADD_WAYS] = {"plain",    "serialized", "butterfly", "cub",
                                              "shuffles", "auto",       "default",   "none"};
  return names[way];
}

/* Whether it takes the balancing threshold at run time. */
static inline bool add_way_has_threshold(add_way way) {
  return way == ADD_SERIALIZED || way == ADD_BUTTERFLY || way == ADD_AUTO;
}

/* Whether arc adds: the others have no fixed-point sums. */
static constexpr bool add_way_is_arc(int way) {
  return way == ADD_SERIALIZED || way == ADD_BUTTERFLY || way == ADD_AUTO || way == ADD_DEFAULT;
}

#endif

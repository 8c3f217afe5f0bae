/* arc example gaussians: names of the ways to add.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_PATHS_H
#define GAUSSIANS_PATHS_H

/* Plain is what arc replaces; cub and shuffles are how others do it by hand; default is the kernel
   people copy, bound to arc's path and threshold macros; none computes every value and adds
   nothing: the limit, and no way to train. The rest name a path of arc and take the threshold at
   run time. */
typedef enum add_path {
  ADD_PLAIN,
  ADD_ATOMIC,
  ADD_SERIALIZED, /* the papers' SW-S */
  ADD_BUTTERFLY,  /* the papers' SW-B */
  ADD_CUB,
  ADD_SHUFFLES,
  ADD_TRANSPOSED,
  ADD_TREE,
  ADD_AUTO,
  ADD_DEFAULT,
  ADD_NONE,
  ADD_PATHS /* how many */
} add_path;

static inline const char *add_path_name(add_path path) {
  static const char *const names[ADD_PATHS] = {"plain", "atomic",   "serialized", "butterfly",
                                               "cub",   "shuffles", "transposed", "tree",
                                               "auto",  "default",  "none"};
  return names[path];
}

static inline bool add_path_has_threshold(add_path path) {
  return path == ADD_SERIALIZED || path == ADD_BUTTERFLY || path == ADD_TRANSPOSED ||
         path == ADD_TREE || path == ADD_AUTO;
}

#endif

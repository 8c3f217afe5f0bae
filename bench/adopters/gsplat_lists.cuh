/* gsplat_lists.cuh - gsplat's lists of tiles, as its own intersect_tile launches them.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ATen/ATen.h>

#include "Intersect.h"
#include "MathUtils.h"

using at::Tensor;
using Ref = const Tensor &; /* also of what is written to */

/* Where each tile's Gaussians begin, and their numbers, nearest first; listed() is called when
   they are listed and not yet sorted. */
template <class Listed>
static std::tuple<Tensor, Tensor> list_and_sort(Ref means2d, Ref radii, Ref depths, Ref conics,
                                                Ref opacities, int64_t tile, int64_t tile_width,
                                                int64_t tile_height, Listed listed) {
  using Maybe = at::optional<Tensor>;
  const uint32_t images = means2d.size(0);
  const auto intersect = [&](Maybe ends, Maybe counts, Maybe ids, Maybe gaussians) {
    gsplat::launch_intersect_tile_kernel(means2d, radii, depths, conics, opacities, {}, {}, images,
                                         tile, tile_width, tile_height, ends, counts, ids,
                                         gaussians);
  };
  const auto ints = depths.options().dtype(at::kInt), longs = ints.dtype(at::kLong);
  Tensor counts = at::empty_like(depths, ints);
  intersect({}, counts, {}, {});
  Tensor ends = at::cumsum(counts.view({-1}), 0, at::kLong);
  const int64_t total = ends[-1].item<int64_t>();
  Tensor ids = at::empty({total}, longs), gaussians = at::empty({total}, ints);
  Tensor sorted_ids = at::empty_like(ids), sorted = at::empty_like(gaussians);
  intersect(ends, {}, ids, gaussians);
  listed();
  gsplat::radix_sort_double_buffer(total, gsplat::bits_for_count(images),
                                   gsplat::bits_for_count(tile_width * tile_height), ids, gaussians,
                                   sorted_ids, sorted);
  Tensor starts = at::empty({images, tile_height, tile_width}, ints);
  gsplat::launch_intersect_offset_kernel(sorted_ids, images, tile_width, tile_height, starts);
  return {starts, sorted};
}

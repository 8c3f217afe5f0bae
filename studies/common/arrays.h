/* arc studies: arrays of a pool on the device. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device.h"

/* So many zeros. */
template <typename type>
static inline type *take_zeros(device_pool *pool, size_t count, const char *what) {
  return (type *)device_take(pool, count * sizeof(type), what);
}

/* What the host holds. */
template <typename type>
static inline type *take_copy(device_pool *pool, const std::vector<type> &host, const char *what) {
  type *array = take_zeros<type>(pool, host.size(), what);
  host_to_device(array, host.data(), host.size() * sizeof(type), what);
  return array;
}

/* arc studies: vectors of three floats on the device. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device.h"

DEVICE float3 from(const float v[3]) { return make_float3(v[0], v[1], v[2]); }
DEVICE float3 scale(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
DEVICE float3 add_scaled(float3 a, float3 b, float s) {
  return make_float3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s);
}
DEVICE float3 multiply(float3 a, float3 b) { return make_float3(a.x * b.x, a.y * b.y, a.z * b.z); }
DEVICE float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
DEVICE float3 normalized(float3 a) { return scale(a, rsqrtf(dot(a, a))); }

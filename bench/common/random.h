/* bench/common: random numbers, by a counter that is hashed (splitmix64).
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if defined(__CUDACC__)
#define RANDOM_FN static __host__ __device__ __forceinline__
#else
#define RANDOM_FN static inline
#endif

/* 64 random bits: number `counter` of the sequence of this seed. */
RANDOM_FN unsigned long long splitmix64(unsigned long long seed, unsigned long long counter) {
  unsigned long long z = seed + (counter + 1ull) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/* Uniform between 0 and 1, never either: the largest of its numbers would round to 1. */
RANDOM_FN float hashed_random(unsigned long long seed, unsigned long long counter) {
  float x = ((float)(splitmix64(seed, counter) >> 40) + 0.5f) * (1.0f / 16777216.0f);
  return x < 1.0f ? x : 16777215.0f / 16777216.0f;
}

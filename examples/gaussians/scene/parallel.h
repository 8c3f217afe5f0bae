/* arc example gaussians: work for all cores of the host.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Does one part of the work; false: nothing more is to be begun. */
typedef bool (*parallel_work)(void *shared, int index);

/* Begins work(shared, i) for i = 0, 1, ... count - 1 in this order, in as many threads as there are
   cores, at most 16: each may hold large pictures. Begins none after one has failed, or after an
   interrupt. On a terminal it shows how many are done, after `what`. Returns how many are. */
int parallel_for(int count, const char *what, parallel_work work, void *shared);

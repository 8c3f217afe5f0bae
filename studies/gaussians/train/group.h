/* arc study gaussians: the processes that train one model together, one per GPU.
   SPDX-License-Identifier: Apache-2.0

   Each process has the whole model. Sums over the processes go through NCCL between GPUs, and
   through shared memory between CPU warps. group_run starts the processes, and one more
   that looks after them: if a process is killed or fails, the others learn of it in group_sum and
   leave. */
#pragma once

#include <stddef.h>

#include "../../../bench/common/output_file.h"

enum { GROUP_MOST = 64, GROUP_PARTS = 8 }; /* processes that group_run starts */
enum { GROUP_LEFT = 3 };                   /* exit status of one that left since another is gone */

typedef enum group_type { GROUP_F32, GROUP_F64, GROUP_I64 } group_type;

typedef struct group {
  int rank, size;          /* rank: the number of its GPU, too */
  bool lost;               /* another process is gone: nothing can be added up any more */
  struct group_page *page; /* shared with the others; null: alone */
  struct group_link *link; /* of GPUs */
} group;

/* False, with the reason, where this build cannot have so many. Touches no device. */
bool group_can(int size, error_line *error);

/* Calls body in each of `size` processes, in this one for 1, and returns the exit status of all.
   program: for lines on stderr. To be called before the first use of the device; interrupts are
   caught already. Only rank 0 has a standard output; what others write to stderr is shown if it is
   they who fail. */
int group_run(int size, const char *program, int (*body)(group *g, void *state), void *state);

/* Chooses the GPU and links up. By all. */
bool group_begin(group *g, error_line *error);
/* By all, after the last sum. */
void group_end(group *g);

/* Begins to add up `count` values of all processes: an array on the device, in place, after what is
   launched so far; up to GROUP_PARTS arrays, one after another. By all, with the same counts and
   types. All processes get the same bits. */
void group_add(group *g, int part, void *values, size_t count, group_type type);
/* What is launched from here on comes after the sums of that part. */
void group_use(group *g, int part);
/* Waits for all sums. False: another process is gone (g->lost), and they are of no use. */
bool group_wait(group *g);
/* All of it, for one array. */
bool group_sum(group *g, void *values, size_t count, group_type type);

/* Whether this process speaks for those that are left. */
bool group_speaks(const group *g);
/* What the line about the lost process says at its end. */
void group_tell(const group *g, const char *text);

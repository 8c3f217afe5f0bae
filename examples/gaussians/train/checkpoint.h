/* arc example gaussians: saves and resumes a training.
   SPDX-License-Identifier: Apache-2.0

   The file: a checkpoint_header, then parameters, both moments and the statistics as the device
   holds them, then FNV-1a of all that, by 4 bytes. Its byte order is the machine's. */
#pragma once

#include "train.h"

bool checkpoint_write(const trainer *t, const char *path, error_line *error);
/* The trainer has been begun with the same scene and settings, but for the iterations, which may be
   more: what depends on their number, such as falling rates, is then that of the new number. */
bool checkpoint_read(trainer *t, const char *path, error_line *error);

/* printed.cuh - what arc_profile_print prints. SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stdio.h>

#include <string>

#include "arc/profile.cuh"

static std::string printed(const char *masks, int *status) {
  char text[1 << 16];
  FILE *out = tmpfile();
  *status = arc_profile_print(out, masks);
  rewind(out);
  text[fread(text, 1, sizeof text - 1, out)] = 0;
  fclose(out);
  return text;
}

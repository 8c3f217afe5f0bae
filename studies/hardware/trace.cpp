/* studies/hardware: files of recorded steps. SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <string.h>

/* Then the call, then the steps, as they are in memory. */
static const char magic[] = "arc-steps 2\n";

enum { MOST_KEY = 1 << 24 };

bool recording_write(const recording *r, const char *path, error_line *error) {
  output_file file;
  if (!output_file_open(&file, path, error)) return false;
  fwrite(magic, 1, sizeof magic, file.stream);
  fwrite(&r->call, sizeof r->call, 1, file.stream);
  fwrite(r->steps.data(), sizeof(recorded_step), r->steps.size(), file.stream);
  return output_file_commit(&file, error);
}

/* The next step, or false at the end; a part of one, or a key that is none, is damage. */
static bool read_step(FILE *file, recorded_step *step, bool *damaged) {
  const size_t bytes = fread(step, 1, sizeof *step, file);
  if (bytes == 0) return false;
  *damaged = bytes < sizeof *step;
  for (int key : step->keys) *damaged |= key < -1 || key > MOST_KEY;
  return !*damaged;
}

bool recording_read(recording *r, const char *path, error_line *error) {
  char first[sizeof magic] = "";
  recorded_step step;
  FILE *file = fopen(path, "rb");
  bool damaged = file == nullptr || fread(first, sizeof first, 1, file) != 1 ||
                 memcmp(first, magic, sizeof magic) != 0 ||
                 fread(&r->call, sizeof r->call, 1, file) != 1 || r->call < 0 ||
                 r->call >= CALL_END;
  r->steps.clear();
  while (!damaged && read_step(file, &step, &damaged)) r->steps.push_back(step);
  if (file != nullptr) fclose(file);
  if (!damaged && !r->steps.empty()) return true;
  return error_set(error, "%.300s is %s; it must be a trace that the target hardware_traces wrote",
                   path, file == nullptr ? "missing" : "damaged");
}

/* arc examples: an output file that is either complete or absent.
   SPDX-License-Identifier: Apache-2.0 */
#include "output_file.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool error_set(error_line *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return false;
}

bool output_file_open(output_file *file, const char *path, error_line *error) {
  struct stat status;
  file->stream = nullptr;
  if (path[0] == '\0') return error_set(error, "the name of an output file is empty");
  if (strlen(path) >= sizeof file->path)
    return error_set(error, "the name of an output file is longer than %d characters",
                     (int)sizeof file->path - 1);
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
    return error_set(error, "cannot write '%.300s': it exists and is not a plain file", path);
  strcpy(file->path, path);
  snprintf(file->temporary, sizeof file->temporary, "%s.%ld.tmp", path, (long)getpid());
  file->stream = fopen(file->temporary, "wb");
  if (file->stream == nullptr)
    return error_set(error, "cannot write '%.300s': %s", path, strerror(errno));
  return true;
}

bool output_file_commit(output_file *file, error_line *error) {
  bool written = fflush(file->stream) == 0 && !ferror(file->stream);
  int reason = errno;
  if (fclose(file->stream) != 0 && written) {
    written = false;
    reason = errno;
  }
  file->stream = nullptr;
  if (written && rename(file->temporary, file->path) != 0) {
    written = false;
    reason = errno;
  }
  if (written) return true;
  remove(file->temporary);
  return error_set(error, "cannot write '%.300s': %s", file->path, strerror(reason));
}

void output_file_abandon(output_file *file) {
  if (file->stream == nullptr) return;
  fclose(file->stream);
  file->stream = nullptr;
  remove(file->temporary);
}

bool output_file_probe(const char *path, error_line *error) {
  output_file file;
  if (!output_file_open(&file, path, error)) return false;
  output_file_abandon(&file);
  return true;
}

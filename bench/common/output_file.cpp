/* bench/common: an output file that is either complete or absent.
   SPDX-License-Identifier: Apache-2.0 */
#include "output_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes of the character that begins here; 0: it is not UTF-8, or controls a terminal. */
static int printable_bytes(const unsigned char *text) {
  const int first = text[0];
  if (first < 0x80) return first >= ' ' && first != 0x7f;
  const int bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  const int least = first == 0xc2 || first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  for (int i = 1; i < bytes; ++i)
    if ((text[i] & 0xc0) != 0x80 || (i == 1 && text[i] < least)) return 0;
  return bytes;
}

static void make_printable(char *to, size_t size, const char *text) {
  size_t at = 0;
  while (*text != '\0' && at + 5 <= size) {
    const int bytes = printable_bytes((const unsigned char *)text);
    if (bytes > 0) memcpy(to + at, text, (size_t)bytes);
    at += bytes > 0 ? (size_t)bytes : (size_t)sprintf(to + at, "\\x%02x", (unsigned char)*text);
    text += bytes > 0 ? bytes : 1;
  }
  to[at] = '\0';
}

const char *printable(const char *text) {
  static thread_local char rooms[4][4096];
  static thread_local int next = 0;
  next = (next + 1) % 4;
  make_printable(rooms[next], sizeof rooms[next], text);
  return rooms[next];
}

bool error_set(error_line *error, const char *format, ...) {
  char text[sizeof error->text];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  make_printable(error->text, sizeof error->text, text);
  return false;
}

/* Where to write, and the name until it is whole. */
static bool find_names(output_file *file, const char *path, error_line *error) {
  struct stat status;
  file->stream = nullptr;
  if (path[0] == '\0') return error_set(error, "the name of an output file is empty");
  if (strlen(path) >= sizeof file->path)
    return error_set(error, "the name of an output file is longer than %d characters",
                     (int)sizeof file->path - 1);
  strcpy(file->path, path);
  if (lstat(path, &status) == 0) {
    if (stat(path, &status) != 0)
      return error_set(error, "cannot write '%.300s': it is a link that leads to no file", path);
    if (!S_ISREG(status.st_mode))
      return error_set(error, "cannot write '%.300s': it exists and is not a plain file", path);
    if (realpath(path, file->path) == nullptr)
      return error_set(error, "cannot write '%.300s': %s", path, strerror(errno));
  }
  snprintf(file->temporary, sizeof file->temporary, "%s.partial", file->path);
  return true;
}

static bool open_temporary(output_file *file, const char *path, const char *mode,
                           error_line *error) {
  if (!find_names(file, path, error)) return false;
  file->stream = fopen(file->temporary, mode);
  return file->stream != nullptr ||
         error_set(error, "cannot write '%.300s': %s", path, strerror(errno));
}

bool output_file_open(output_file *file, const char *path, error_line *error) {
  return open_temporary(file, path, "wb", error);
}

bool output_file_keep(output_file *file, error_line *error) {
  bool written = fflush(file->stream) == 0 && !ferror(file->stream);
  int reason = errno;
  if (fclose(file->stream) != 0 && written) {
    written = false;
    reason = errno;
  }
  file->stream = nullptr;
  return written || error_set(error, "cannot write '%.300s': %s", file->path, strerror(reason));
}

bool output_file_commit(output_file *file, error_line *error) {
  if (!output_file_keep(file, error)) {
    remove(file->temporary);
    return false;
  }
  if (rename(file->temporary, file->path) == 0) return true;
  return error_set(error, "cannot write '%.200s': %s; it is whole in '%.200s'", file->path,
                   strerror(errno), file->temporary);
}

void output_file_abandon(output_file *file) {
  if (file->stream == nullptr) return;
  fclose(file->stream);
  file->stream = nullptr;
  remove(file->temporary);
}

bool output_file_probe(const char *path, error_line *error) {
  output_file file;
  if (!open_temporary(&file, path, "ab", error)) return false;
  bool fresh = ftell(file.stream) == 0; /* else what an interrupted program left */
  fclose(file.stream);
  if (fresh) remove(file.temporary);
  return true;
}

/* arc examples: a folder for its tests to write in, and whole files.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_TEST_FILES_H
#define EXAMPLES_TEST_FILES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_check.h"

static char test_folder[256];

/* A name inside the folder; good until the fourth call after it. */
static inline const char *test_path(const char *name) {
  static char paths[4][512];
  static int next = 0;
  next = (next + 1) % 4;
  snprintf(paths[next], sizeof paths[next], "%s/%s", test_folder, name);
  return paths[next];
}

static inline bool test_folder_make(void) {
  const char *base = getenv("TMPDIR");
  snprintf(test_folder, sizeof test_folder, "%.200s/arc_test_XXXXXX", base ? base : "/tmp");
  return mkdtemp(test_folder) != nullptr;
}

/* How many files the folder holds; with remove_them, none are left. */
static inline int test_folder_files(bool remove_them) {
  int count = 0;
  DIR *folder = opendir(test_folder);
  for (struct dirent *entry; folder != nullptr && (entry = readdir(folder)) != nullptr;) {
    if (entry->d_name[0] == '.') continue;
    count += 1;
    if (remove_them) remove(test_path(entry->d_name));
  }
  if (folder != nullptr) closedir(folder);
  return count;
}

static inline void test_folder_remove(void) {
  test_folder_files(true);
  rmdir(test_folder);
}

static inline void test_write_file(const char *path, const void *bytes, size_t size) {
  FILE *stream = fopen(path, "wb");
  CHECK(stream != nullptr && fwrite(bytes, 1, size, stream) == size, "cannot write %s", path);
  if (stream != nullptr) fclose(stream);
}

/* The whole file, with a zero behind its end; to be freed. Empty where there is no such file. */
static inline char *test_read_file(const char *path, size_t *size) {
  enum { ROOM = 1 << 20 };
  char *bytes = (char *)calloc(ROOM, 1);
  FILE *stream = fopen(path, "rb");
  *size = stream != nullptr ? fread(bytes, 1, ROOM - 1, stream) : 0;
  if (stream != nullptr) fclose(stream);
  return bytes;
}

#endif

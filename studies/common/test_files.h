/* arc studies: a folder for its tests to write in, and whole files.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_TEST_FILES_H
#define ARC_TEST_FILES_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "../../bench/common/output_file.h"
#include "../../bench/common/test_check.h"

static char test_folder[256];
static error_line error; /* of the latest call that has one */

/* A name inside the folder; good until the fourth call after it. */
static inline const char *test_path(const char *name) {
  static char paths[4][512];
  static int next = 0;
  next = (next + 1) % 4;
  snprintf(paths[next], sizeof paths[next], "%s/%s", test_folder, name);
  return paths[next];
}

static inline void test_folder_make(void) {
  const char *base = getenv("TMPDIR");
  snprintf(test_folder, sizeof test_folder, "%.200s/arc_test_XXXXXX", base ? base : "/tmp");
  CHECK(mkdtemp(test_folder) != nullptr, "cannot make the folder %s", test_folder);
}

/* How many files the folder holds; with remove_them, none are left. <filesystem> would take longer
   to compile than most tests. */
static inline int test_folder_files(bool remove_them) {
  static int count;
  static bool removes;
  const auto visit = [](const char *path, const struct stat *, int, struct FTW *at) {
    count += at->level == 1;
    return removes && at->level > 0 ? remove(path) : 0;
  };
  count = 0, removes = remove_them;
  nftw(test_folder, visit, 8, FTW_DEPTH | FTW_PHYS);
  return count;
}

static inline void test_folder_remove(void) {
  test_folder_files(true);
  rmdir(test_folder);
}

static inline void test_write_file(const char *path, std::string_view bytes) {
  FILE *stream = fopen(path, "wb");
  CHECK(stream != nullptr && fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size(),
        "cannot write %s", path);
  if (stream != nullptr) fclose(stream);
}

/* Empty where there is no such file. */
static inline std::string test_read_file(const char *path) {
  std::string bytes;
  FILE *stream = fopen(path, "rb");
  char part[1 << 16];
  for (size_t size; stream != nullptr && (size = fread(part, 1, sizeof part, stream)) > 0;)
    bytes.append(part, size);
  if (stream != nullptr) fclose(stream);
  return bytes;
}

/* Some of the bytes are others. */
static inline std::string test_damaged(std::string bytes, int changes, unsigned long long *dice) {
  for (int k = 0; k < changes; ++k)
    bytes[(size_t)(test_random(dice) * (double)bytes.size())] = (char)(256.0 * test_random(dice));
  return bytes;
}

/* What was refused is refused with one line, which holds the part. */
static inline void test_refusal(bool refused, const char *part) {
  CHECK(refused, "done, where '%s' should be said", part);
  CHECK(!refused || strstr(error.text, part) != nullptr, "'%s' lacks '%s'", error.text, part);
  CHECK(strchr(error.text, '\n') == nullptr, "more than a line: %s", error.text);
  error.text[0] = '\0';
}

#endif

/* test_tune_file.c - >>file and >>environment of arc_tune.h: a choice that was saved is loaded as
   it was or not at all.
   SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>
#include <unistd.h>

#include "tune_check.h"

#define FILE_PATH "test_tune_file.choice"
#define TEMPORARY FILE_PATH ".tmp"

static const arc_tune_key key = {"NVIDIA H200", "580.159", "backward", 9};

static double twelve_is_best(arc_tune_policy policy) {
  return 100.0 + 2.0 * abs((policy.threshold == ARC_THRESHOLD_AUTO ? 8 : policy.threshold) - 12);
}

static void make_tuner(arc_tune *t, int tuned) {
  arc_tune_config config = arc_tune_config_default();
  arc_tune_init(t, &config);
  if (tuned) check_tune(t, twelve_is_best, 3000);
}

static size_t read_bytes(char *bytes, size_t size) {
  FILE *file = fopen(FILE_PATH, "rb");
  size_t count = file == NULL ? 0 : fread(bytes, 1, size, file);
  if (file != NULL) fclose(file);
  return count;
}

static void write_bytes(const char *path, const char *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(bytes, 1, count, file) == count, "cannot write %s", path);
  if (file != NULL) fclose(file);
}

/* Loading must fail with this error and leave the tuner as new: it tunes, from the start policy. */
static void expect_refusal(int expected, const arc_tune_key *with, const char *what, int where) {
  static arc_tune t;
  arc_tune_policy policy;
  make_tuner(&t, 0);
  int status = arc_tune_load(&t, FILE_PATH, with);
  CHECK(status == expected, "%s %d: %s", what, where, arc_tune_error_text(status));
  arc_tune_best(&t, &policy);
  CHECK(policy.threshold == ARC_THRESHOLD_AUTO, "%s %d: the policy changed", what, where);
  for (int i = 0; i < 9; ++i) arc_tune_next(&t, &policy);
  CHECK(arc_tune_is_tuning(&t), "%s %d: it does not tune again", what, where);
}

static void test_round_trip(void) {
  static arc_tune t, other;
  arc_tune_policy policy;
  make_tuner(&t, 0);
  remove(FILE_PATH);
  CHECK(arc_tune_save(&t, FILE_PATH, &key) == ARC_TUNE_ERROR_UNTUNED, "nothing tuned, but saved");
  CHECK(fopen(FILE_PATH, "rb") == NULL, "an untuned choice left a file");
  make_tuner(&t, 1);
  CHECK(arc_tune_save(&t, FILE_PATH, &key) == ARC_TUNE_OK, "save");
  CHECK(access(TEMPORARY, F_OK) != 0, "save left its temporary file");
  make_tuner(&other, 0);
  CHECK(arc_tune_load(&other, FILE_PATH, &key) == ARC_TUNE_OK, "load");
  arc_tune_best(&other, &policy);
  CHECK(policy.path == ARC_PATH_AUTO && policy.threshold == 12, "loaded %d:%d", policy.path,
        policy.threshold);
  for (int i = 0; i < 2000; ++i) {
    arc_tune_next(&other, &policy);
    CHECK(policy.threshold == 12 && policy.ticket == 0, "launch %d after loading is timed", i);
  }
  arc_tune_next(&other, &policy);
  CHECK(arc_tune_is_tuning(&other), "a loaded choice is not tuned after an interval");
}

static void test_every_policy(void) {
  static arc_tune t, other;
  arc_tune_config config = arc_tune_config_default();
  config.paths = 8;
  for (int i = 0; i < 8; ++i) {
    config.path[i].path = i < 6 ? ARC_PATH_ATOMIC + i : i == 6 ? ARC_PATH_TREE : ARC_TUNE_MAX_PATH;
    config.path[i].uses_threshold = i > 0 && i != 6;
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < (config.path[i].uses_threshold ? config.thresholds : 1); ++j) {
      arc_tune_policy policy;
      config.start_path = config.path[i].path;
      config.start_threshold = config.path[i].uses_threshold ? j : ARC_THRESHOLD_AUTO;
      CHECK(arc_tune_init(&t, &config) == ARC_TUNE_OK, "start policy %d:%d", config.start_path, j);
      arc_tune_retune(&t);
      for (int k = 0; k < 5000 && arc_tune_is_tuning(&t); ++k) {
        arc_tune_next(&t, &policy);
        arc_tune_report(&t, 10.0);
      }
      CHECK(arc_tune_save(&t, FILE_PATH, &key) == ARC_TUNE_OK, "save");
      config.start_path = config.path[0].path;
      config.start_threshold = ARC_THRESHOLD_AUTO;
      arc_tune_init(&other, &config);
      CHECK(arc_tune_load(&other, FILE_PATH, &key) == ARC_TUNE_OK, "load");
      arc_tune_best(&t, &policy);
      int path = policy.path, threshold = policy.threshold;
      arc_tune_best(&other, &policy);
      CHECK(policy.path == path && policy.threshold == threshold, "%d:%d came back as %d:%d", path,
            threshold, policy.path, policy.threshold);
    }
}

static void test_damage(void) {
  static arc_tune t;
  char good[2048], bad[2048];
  make_tuner(&t, 1);
  arc_tune_save(&t, FILE_PATH, &key);
  size_t count = read_bytes(good, sizeof good);
  CHECK(count > 50 && count < sizeof good, "the file has %d bytes", (int)count);
  for (size_t i = 0; i < count; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      memcpy(bad, good, count);
      bad[i] = (char)(bad[i] ^ 1 << bit);
      write_bytes(FILE_PATH, bad, count);
      expect_refusal(ARC_TUNE_ERROR_DAMAGED, &key, "damaged at byte", (int)i);
    }
  for (size_t i = 0; i < count; ++i) {
    write_bytes(FILE_PATH, good, i);
    expect_refusal(ARC_TUNE_ERROR_DAMAGED, &key, "cut at byte", (int)i);
  }
  memcpy(bad, good, count);
  memset(bad + count, 'x', sizeof bad - count);
  write_bytes(FILE_PATH, bad, count + 1);
  expect_refusal(ARC_TUNE_ERROR_DAMAGED, &key, "longer by", 1);
  write_bytes(FILE_PATH, bad, sizeof bad);
  expect_refusal(ARC_TUNE_ERROR_DAMAGED, &key, "longer by", (int)(sizeof bad - count));
  printf("%d bytes: each damaged in each bit, each length cut\n", (int)count);
}

static void test_foreign(void) {
  static arc_tune t;
  make_tuner(&t, 1);
  arc_tune_save(&t, FILE_PATH, &key);
  arc_tune_key foreign[] = {key, key, key, key};
  foreign[0].device = "NVIDIA H100";
  foreign[1].driver = "580.16";
  foreign[2].kernel = "forward";
  foreign[3].width = 10;
  for (int i = 0; i < 4; ++i) expect_refusal(ARC_TUNE_ERROR_FOREIGN, &foreign[i], "foreign key", i);
}

/* The version of arc is a part of the key: the same file with another one, checksum and all. */
static void test_other_version(void) {
  static arc_tune t;
  char bytes[2048];
  make_tuner(&t, 1);
  arc_tune_save(&t, FILE_PATH, &key);
  size_t count = read_bytes(bytes, sizeof bytes - 1);
  bytes[count] = '\0';
  char *version = strstr(bytes, "\narc ");
  CHECK(version != NULL && atoi(version + 5) == ARC_VERSION, "the version is not in: %s", bytes);
  if (version == NULL) return;
  version[5] = version[5] == '9' ? '8' : '9';
  sprintf(bytes + count - 15, "check %08x\n", arc_tune__checksum(bytes, count - 15));
  write_bytes(FILE_PATH, bytes, count);
  expect_refusal(ARC_TUNE_ERROR_FOREIGN, &key, "another version", 0);
}

static void test_policy_not_in_the_list(void) {
  static arc_tune t, other;
  arc_tune_policy policy;
  make_tuner(&t, 1);
  arc_tune_save(&t, FILE_PATH, &key);
  arc_tune_config config = arc_tune_config_default();
  config.thresholds = 12; /* 0..11 */
  arc_tune_init(&other, &config);
  CHECK(arc_tune_load(&other, FILE_PATH, &key) == ARC_TUNE_ERROR_FOREIGN, "12 is not in the list");
  arc_tune_best(&other, &policy);
  CHECK(check_is_legal(&config, policy), "an illegal policy was loaded");
}

/* Whoever is killed between writing and renaming leaves a temporary file; nobody reads it, and the
   next to save takes its place. */
static void test_crash_before_rename(void) {
  static arc_tune t;
  char before[2048], after[2048];
  make_tuner(&t, 1);
  arc_tune_save(&t, FILE_PATH, &key);
  size_t count = read_bytes(before, sizeof before);
  write_bytes(TEMPORARY, before, count / 2);
  CHECK(arc_tune_load(&t, FILE_PATH, &key) == ARC_TUNE_OK, "a leftover temporary file disturbs");
  remove(FILE_PATH);
  expect_refusal(ARC_TUNE_ERROR_FILE, &key, "only a temporary file", 0);
  make_tuner(&t, 1);
  CHECK(arc_tune_save(&t, FILE_PATH, &key) == ARC_TUNE_OK, "save over a leftover");
  CHECK(read_bytes(after, sizeof after) == count && memcmp(before, after, count) == 0,
        "saved over a leftover, the file differs");
  CHECK(access(TEMPORARY, F_OK) != 0, "the leftover is still there");
}

static void test_unwritable(void) {
  static arc_tune t;
  char before[2048], after[2048], huge[5000];
  make_tuner(&t, 1);
  CHECK(arc_tune_save(&t, "no/such/folder/choice", &key) == ARC_TUNE_ERROR_FILE, "no folder");
  CHECK(arc_tune_load(&t, "no/such/folder/choice", &key) == ARC_TUNE_ERROR_FILE, "no folder");
  CHECK(arc_tune_load(&t, ".", &key) != ARC_TUNE_OK, "a folder is no file");
  memset(huge, 'x', sizeof huge);
  huge[sizeof huge - 1] = '\0';
  CHECK(arc_tune_save(&t, huge, &key) == ARC_TUNE_ERROR_ARGUMENT, "a path of 4999 bytes");
  /* The temporary file cannot be made: something else has its name. Holds for root as well. */
  arc_tune_save(&t, FILE_PATH, &key);
  size_t count = read_bytes(before, sizeof before);
  CHECK(mkdir(TEMPORARY, 0700) == 0, "mkdir");
  CHECK(arc_tune_save(&t, FILE_PATH, &key) == ARC_TUNE_ERROR_FILE, "the temporary is a folder");
  CHECK(rmdir(TEMPORARY) == 0, "a failed save touched what has the temporary file's name");
  CHECK(read_bytes(after, sizeof after) == count && memcmp(before, after, count) == 0,
        "a failed save changed the file");
  /* The rename cannot be done. */
  remove(FILE_PATH);
  CHECK(mkdir(FILE_PATH, 0700) == 0, "mkdir");
  CHECK(arc_tune_save(&t, FILE_PATH, &key) == ARC_TUNE_ERROR_FILE, "the file is a folder");
  CHECK(access(TEMPORARY, F_OK) != 0, "a failed save left its temporary file");
  rmdir(FILE_PATH);
}

static void test_read_only_folder(void) {
  static arc_tune t;
  if (geteuid() == 0) {
    printf("read-only folder: not tested, root may write everywhere\n");
    return;
  }
  make_tuner(&t, 1);
  CHECK(mkdir("test_tune_read_only", 0700) == 0, "mkdir");
  arc_tune_save(&t, "test_tune_read_only/choice", &key);
  chmod("test_tune_read_only", 0500);
  CHECK(arc_tune_save(&t, "test_tune_read_only/choice", &key) == ARC_TUNE_ERROR_FILE, "read-only");
  CHECK(arc_tune_load(&t, "test_tune_read_only/choice", &key) == ARC_TUNE_OK, "read-only: load");
  chmod("test_tune_read_only/choice", 0);
  CHECK(arc_tune_load(&t, "test_tune_read_only/choice", &key) == ARC_TUNE_ERROR_FILE, "unreadable");
  chmod("test_tune_read_only", 0700);
  remove("test_tune_read_only/choice");
  rmdir("test_tune_read_only");
}

static void test_keys(void) {
  static arc_tune t;
  char longest[129];
  make_tuner(&t, 1);
  memset(longest, 'k', sizeof longest);
  longest[128] = '\0';
  arc_tune_key bad[] = {key, key, key, key};
  bad[0].device = NULL;
  bad[1].driver = "two\nlines";
  bad[2].kernel = longest;
  bad[3].kernel = "carriage\rreturn";
  for (int i = 0; i < 4; ++i) {
    CHECK(arc_tune_save(&t, FILE_PATH, &bad[i]) == ARC_TUNE_ERROR_ARGUMENT, "bad key %d saved", i);
    CHECK(arc_tune_load(&t, FILE_PATH, &bad[i]) == ARC_TUNE_ERROR_ARGUMENT, "bad key %d loaded", i);
  }
  longest[127] = '\0';
  bad[2].device = bad[2].driver = longest;
  CHECK(arc_tune_save(&t, FILE_PATH, &bad[2]) == ARC_TUNE_OK, "the longest key");
  CHECK(arc_tune_load(&t, FILE_PATH, &bad[2]) == ARC_TUNE_OK, "the longest key");
  CHECK(arc_tune_save(&t, FILE_PATH, NULL) == ARC_TUNE_ERROR_ARGUMENT, "no key");
  CHECK(arc_tune_load(&t, NULL, &key) == ARC_TUNE_ERROR_ARGUMENT, "no path");
}

static void expect_environment(const char *value, int status, int path, int threshold, int frozen) {
  static arc_tune t;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_policy policy;
  config.path[2].path = ARC_PATH_ATOMIC;
  config.path[3].path = ARC_PATH_TRANSPOSED;
  config.path[3].uses_threshold = 1;
  config.paths = 4;
  arc_tune_init(&t, &config);
  if (value == NULL)
    unsetenv("ARC_TEST_TUNE");
  else
    setenv("ARC_TEST_TUNE", value, 1);
  int got = arc_tune_from_environment(&t, "ARC_TEST_TUNE");
  CHECK(got == status, "'%s': %s", value ? value : "unset", arc_tune_error_text(got));
  for (int i = 0; i < 9; ++i) arc_tune_next(&t, &policy);
  CHECK(arc_tune_is_tuning(&t) == !frozen, "'%s': tuning is %d", value ? value : "unset",
        arc_tune_is_tuning(&t));
  CHECK(policy.path == path && policy.threshold == threshold, "'%s': policy %d:%d",
        value ? value : "unset", policy.path, policy.threshold);
}

static void test_environment(void) {
  static const char *const bad[] = {
      "Auto",       "auto:",    "auto:34", "auto:-1",
      "auto:8 ",    "auto:08",  "tree:8",  "8",
      "transposed", "atomic:4", "FREEZE",  "freez",
      "auto::8",    "auto:8:8", ":",       "auto:99999999999999999999999999999999999999999"};
  const int as_is = ARC_THRESHOLD_AUTO;
  expect_environment(NULL, ARC_TUNE_OK, ARC_PATH_AUTO, as_is, 0);
  expect_environment("", ARC_TUNE_OK, ARC_PATH_AUTO, as_is, 0);
  expect_environment("freeze", ARC_TUNE_OK, ARC_PATH_AUTO, as_is, 1);
  expect_environment("auto", ARC_TUNE_OK, ARC_PATH_AUTO, as_is, 1);
  expect_environment("auto:0", ARC_TUNE_OK, ARC_PATH_AUTO, 0, 1);
  expect_environment("transposed:33", ARC_TUNE_OK, ARC_PATH_TRANSPOSED, 33, 1);
  expect_environment("atomic", ARC_TUNE_OK, ARC_PATH_ATOMIC, as_is, 1);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
    expect_environment(bad[i], ARC_TUNE_ERROR_TEXT, ARC_PATH_AUTO, as_is, 0);
}

int main(void) {
  test_round_trip();
  test_every_policy();
  test_damage();
  test_foreign();
  test_other_version();
  test_policy_not_in_the_list();
  test_crash_before_rename();
  test_unwritable();
  test_read_only_folder();
  test_keys();
  test_environment();
  remove(FILE_PATH);
  return check_finish("test_tune_file");
}

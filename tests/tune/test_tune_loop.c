/* test_tune_loop.c - >>api and >>loop of arc_tune.h: configuration, next, report, freeze, retune,
   explain, and what arc_tune_next costs the host.
   SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "tune_check.h"

static double twelve_is_best(arc_tune_policy policy) {
  int threshold = policy.threshold == ARC_THRESHOLD_AUTO ? 8 : policy.threshold;
  return 100.0 + 2.0 * abs(threshold - 12);
}

static double all_equal(arc_tune_policy policy) {
  (void)policy;
  return 50.0;
}

static void test_defaults(void) {
  arc_tune_config config = arc_tune_config_default();
  CHECK(config.paths == 2 && config.path[0].path == ARC_PATH_AUTO && !config.path[0].uses_threshold,
        "the first path must be auto as compiled");
  CHECK(config.thresholds == 34 && config.threshold[0] == 0 && config.threshold[33] == 33,
        "the thresholds must be 0..33");
  CHECK(config.interval == 2000, "the interval must be the papers' 2000, is %d", config.interval);
  CHECK(config.start_path == ARC_PATH_AUTO && config.start_threshold == ARC_THRESHOLD_AUTO,
        "the start must be auto as compiled");
}

static void test_errors_have_texts(void) {
  for (int error = -1; error <= ARC_TUNE_ERRORS; ++error) {
    const char *text = arc_tune_error_text(error);
    CHECK(text != NULL && strlen(text) > 5 && strchr(text, '\n') == NULL, "error %d: no text",
          error);
    for (int other = -1; other < error; ++other)
      CHECK(error == ARC_TUNE_ERRORS || strcmp(text, arc_tune_error_text(other)) != 0,
            "errors %d and %d have the same text", other, error);
  }
  CHECK(ARC_TUNE_OK == 0 && ARC_TUNE_ERROR_ARGUMENT == 1, "errors must start at 1");
}

/* One field of a legal configuration made illegal at a time. */
static void spoil(arc_tune_config *c, int what) {
  switch (what) {
    case 0:
      c->paths = 0;
      break;
    case 1:
      c->paths = ARC_TUNE_MAX_PATHS + 1;
      break;
    case 2:
      c->path[0].path = 0;
      break;
    case 3:
      c->path[1].path = ARC_TUNE_MAX_PATH + 1;
      break;
    case 4:
      c->path[1].uses_threshold = 2;
      break;
    case 5:
      c->path[1].uses_threshold = 0;
      break; /* the same path twice */
    case 6:
      c->thresholds = 0;
      break;
    case 7:
      c->thresholds = ARC_TUNE_MAX_THRESHOLDS + 1;
      break;
    case 8:
      c->threshold[3] = -1;
      break;
    case 9:
      c->threshold[3] = ARC_THRESHOLD_AUTO;
      break;
    case 10:
      c->threshold[3] = 4;
      break; /* twice */
    case 11:
      c->start_path = ARC_PATH_TREE;
      break;
    case 12:
      c->start_threshold = 35;
      break;
    case 13:
      c->interval = -1;
      break;
    case 14:
      c->warmup = -1;
      break;
    case 15:
      c->launch_limit = 0;
      break;
    case 16:
      c->patience = 0;
      break;
    case 17:
      c->budget = 0.0;
      break;
    case 18:
      c->budget = 1.5;
      break;
    case 19:
      c->budget = 0.0 / c->budget;
      c->budget /= c->budget;
      break; /* not a number */
    case 20:
      c->interval = 2147483647;
      break;
    case 21:
      c->thresholds = -1;
      break;
  }
}

static void test_illegal_configurations(void) {
  static arc_tune t;
  arc_tune_policy policy;
  for (int what = 0; what <= 21; ++what) {
    arc_tune_config config = arc_tune_config_default(), legal = arc_tune_config_default();
    spoil(&config, what);
    CHECK(arc_tune_init(&t, &config) == ARC_TUNE_ERROR_CONFIG, "illegal field %d passed", what);
    CHECK(arc_tune_next(&t, &policy) == ARC_TUNE_OK && check_is_legal(&legal, policy),
          "illegal field %d: no usable tuner", what);
  }
  CHECK(arc_tune_init(&t, NULL) == ARC_TUNE_ERROR_ARGUMENT, "null configuration");
  CHECK(arc_tune_init(NULL, NULL) == ARC_TUNE_ERROR_ARGUMENT, "null tuner");
}

static void test_without_a_tuner(void) {
  static arc_tune zeros;
  arc_tune_policy policy = {0, 0, 7};
  char text[8];
  CHECK(arc_tune_next(&zeros, &policy) == ARC_TUNE_ERROR_STATE, "next of zeros");
  CHECK(policy.path == ARC_PATH_AUTO && policy.threshold == ARC_THRESHOLD_AUTO && !policy.ticket,
        "next of zeros must give auto");
  CHECK(arc_tune_best(NULL, &policy) == ARC_TUNE_ERROR_STATE, "best of null");
  CHECK(arc_tune_report(&zeros, 1.0) == ARC_TUNE_ERROR_STATE, "report to zeros");
  CHECK(arc_tune_report_ticket(NULL, 1, 1.0) == ARC_TUNE_ERROR_STATE, "report to null");
  CHECK(arc_tune_retune(NULL) == ARC_TUNE_ERROR_STATE, "retune of null");
  CHECK(arc_tune_freeze(NULL, 1) == ARC_TUNE_ERROR_STATE, "freeze of null");
  CHECK(arc_tune_is_tuning(NULL) == 0, "null is not tuning");
  CHECK(arc_tune_explain(NULL, text, sizeof text) == ARC_TUNE_ERROR_STATE, "explain of null");
  CHECK(arc_tune_from_environment(NULL, "X") == ARC_TUNE_ERROR_STATE, "environment of null");
}

static void test_finds_the_best(void) {
  static arc_tune t;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_policy policy;
  arc_tune_init(&t, &config);
  arc_tune_best(&t, &policy);
  CHECK(policy.threshold == ARC_THRESHOLD_AUTO, "before tuning the start policy is best");
  int launches = check_tune(&t, twelve_is_best, 5000);
  arc_tune_best(&t, &policy);
  CHECK(policy.path == ARC_PATH_AUTO && policy.threshold == 12, "chose %d:%d, 12 is best",
        policy.path, policy.threshold);
  CHECK(launches < 150, "without noise a tuning took %d launches", launches);
  int rest = 0;
  while (!arc_tune_is_tuning(&t) && rest < 5000) {
    arc_tune_next(&t, &policy);
    CHECK(policy.threshold == 12 && policy.ticket == 0, "between tunings the choice runs, untimed");
    rest += 1;
  }
  CHECK(launches + rest >= 1990 && launches + rest <= 2020,
        "the next tuning comes after %d launches", launches + rest);
}

static int ruinous_launches = 0;

static double ruin_at_33(arc_tune_policy policy) {
  ruinous_launches += policy.threshold == 33;
  if (policy.threshold == ARC_THRESHOLD_AUTO) return 102.0;
  return policy.threshold == 33 ? 5000.0 : 100.0 - 0.01 * policy.threshold;
}

/* Whatever the list, nothing that a gain below 33 does not announce leads there. */
static void test_avoids_33(void) {
  static const int lists[][4] = {{4, 8, 33, 4}, {0, 16, 32, 33}, {33, 31, 8, 2}};
  static arc_tune t;
  for (int i = 0; i < 3; ++i) {
    arc_tune_config config = arc_tune_config_default();
    config.thresholds = i == 0 ? 3 : 4;
    memcpy(config.threshold, lists[i], sizeof lists[i]);
    CHECK(arc_tune_init(&t, &config) == ARC_TUNE_OK, "init");
    ruinous_launches = 0;
    check_tune(&t, ruin_at_33, 5000);
    CHECK(ruinous_launches == 0, "list %d: 33 was launched %d times", i, ruinous_launches);
  }
}

static double best_at_33(arc_tune_policy policy) { return 200.0 - 3.0 * policy.threshold; }

static void test_reaches_33(void) {
  static arc_tune t;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_policy policy;
  config.path[0] = config.path[1];
  config.paths = 1;
  config.start_threshold = 8;
  CHECK(arc_tune_init(&t, &config) == ARC_TUNE_OK, "init");
  check_tune(&t, best_at_33, 5000);
  arc_tune_best(&t, &policy);
  CHECK(policy.threshold == 33, "the cost falls up to 33, chosen is %d", policy.threshold);
}

/* The trees' best lies between two coarse thresholds, both worse than the policy in use, as for
   narrow rows on an H200. */
static double valley_of_the_tree(arc_tune_policy policy) {
  if (policy.path == ARC_PATH_TREE) return 94.0 + 4.0 * abs(policy.threshold - 12);
  if (policy.path == ARC_PATH_TRANSPOSED) return 130.0;
  return policy.threshold == ARC_THRESHOLD_AUTO ? 100.0 : 104.0;
}

static void test_valley_of_another_path(void) {
  static arc_tune t;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_policy policy;
  config.path[2].path = ARC_PATH_TRANSPOSED;
  config.path[3].path = ARC_PATH_TREE;
  config.path[2].uses_threshold = config.path[3].uses_threshold = 1;
  config.paths = 4;
  CHECK(arc_tune_init(&t, &config) == ARC_TUNE_OK, "init");
  check_tune(&t, valley_of_the_tree, 5000);
  arc_tune_best(&t, &policy);
  CHECK(policy.path == ARC_PATH_TREE && policy.threshold == 12, "chose %d:%d, tree:12 is best",
        policy.path, policy.threshold);
}

static void test_tune_once(void) {
  static arc_tune t;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_policy policy;
  config.interval = 0;
  arc_tune_init(&t, &config);
  check_tune(&t, twelve_is_best, 5000);
  for (int i = 0; i < 10000; ++i) {
    arc_tune_next(&t, &policy);
    CHECK(policy.threshold == 12 && !arc_tune_is_tuning(&t), "interval 0 tunes once");
  }
}

static void test_reports(void) {
  static arc_tune t;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_policy policy;
  config.warmup = 0;
  arc_tune_init(&t, &config);
  arc_tune_next(&t, &policy);
  CHECK(policy.ticket != 0, "without warmup the first launch is timed");
  CHECK(arc_tune_report_ticket(&t, policy.ticket, -1.0) == ARC_TUNE_ERROR_TIME, "a negative time");
  CHECK(arc_tune_report_ticket(&t, policy.ticket, 1.0) == ARC_TUNE_ERROR_TICKET, "a second report");
  CHECK(arc_tune_report_ticket(&t, policy.ticket + 1, 1.0) == ARC_TUNE_ERROR_TICKET,
        "a ticket not issued yet");
  CHECK(arc_tune_report_ticket(&t, 0, 1.0) == ARC_TUNE_OK, "ticket 0 is for no time");
  arc_tune_next(&t, &policy);
  CHECK(arc_tune_report(&t, 10.0) == ARC_TUNE_OK, "the time of the latest launch");
  CHECK(arc_tune_report(&t, 10.0) == ARC_TUNE_ERROR_TICKET, "the same again");
}

/* Times that come many launches later, newest first. */
static void test_late_reports(void) {
  static arc_tune t;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_policy policy, late[20];
  arc_tune_init(&t, &config);
  int launches = 0, was_tuning = 0, done = 0;
  while (launches < 20000 && !done) {
    for (int i = 0; i < 20; ++i, ++launches) arc_tune_next(&t, &late[i]);
    was_tuning = was_tuning || arc_tune_is_tuning(&t);
    for (int i = 19; i >= 0; --i)
      arc_tune_report_ticket(&t, late[i].ticket, twelve_is_best(late[i]));
    done = was_tuning && !arc_tune_is_tuning(&t);
  }
  arc_tune_best(&t, &policy);
  CHECK(policy.threshold == 12, "late reports: chose %d", policy.threshold);
  CHECK(launches < 1000, "late reports: %d launches", launches);
}

static void test_no_reports(void) {
  static arc_tune t;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_policy policy;
  arc_tune_init(&t, &config);
  for (int i = 0; i < 1900; ++i) {
    arc_tune_next(&t, &policy);
    CHECK(policy.threshold == ARC_THRESHOLD_AUTO, "no times: another policy was launched");
  }
  CHECK(!arc_tune_is_tuning(&t), "no times: the tuning was not given up");
  arc_tune_key key = {"device", "driver", "kernel", 1};
  CHECK(arc_tune_save(&t, "test_tune_loop.choice", &key) == ARC_TUNE_ERROR_UNTUNED,
        "no times: there is a choice to save");
  char text[256];
  arc_tune_explain(&t, text, sizeof text);
  CHECK(strstr(text, "given up: no times"), "no times: %s", text);
}

static void test_freeze_and_retune(void) {
  static arc_tune t;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_policy policy;
  arc_tune_init(&t, &config);
  for (int i = 0; i < 40; ++i) {
    arc_tune_next(&t, &policy);
    arc_tune_report(&t, twelve_is_best(policy));
  }
  CHECK(arc_tune_is_tuning(&t), "launch 40 is within the tuning");
  arc_tune_freeze(&t, 1);
  for (int i = 0; i < 5000; ++i) {
    arc_tune_next(&t, &policy);
    CHECK(policy.threshold == ARC_THRESHOLD_AUTO && policy.ticket == 0, "frozen: the choice stays");
  }
  arc_tune_freeze(&t, 0);
  check_tune(&t, twelve_is_best, 5000);
  arc_tune_best(&t, &policy);
  CHECK(policy.threshold == 12, "thawed: the tuning begins again, chose %d", policy.threshold);
  CHECK(arc_tune_retune(&t) == ARC_TUNE_OK && arc_tune_is_tuning(&t), "retune begins at once");
  check_tune(&t, all_equal, 5000);
  arc_tune_best(&t, &policy);
  CHECK(policy.threshold == 12, "on equal times the incumbent stays, chose %d", policy.threshold);
}

static void test_explain(void) {
  static arc_tune t;
  static char text[8192];
  char shorter[40];
  arc_tune_config config = arc_tune_config_default();
  arc_tune_init(&t, &config);
  CHECK(arc_tune_explain(&t, text, sizeof text) == ARC_TUNE_OK && strstr(text, "not tuned yet"),
        "before the first tuning: %s", text);
  check_tune(&t, twelve_is_best, 30);
  CHECK(arc_tune_explain(&t, text, sizeof text) == ARC_TUNE_OK && strstr(text, "under way"),
        "while tuning: %s", text);
  check_tune(&t, twelve_is_best, 5000);
  CHECK(arc_tune_explain(&t, text, sizeof text) == ARC_TUNE_OK, "explain");
  CHECK(strncmp(text, "auto -> auto:12, ", 17) == 0 && strstr(text, "chosen") &&
            strstr(text, "budget"),
        "after tuning: %s", text);
  size_t length = strlen(text);
  for (size_t size = 1; size < sizeof shorter; ++size) {
    memset(shorter, 'x', sizeof shorter);
    CHECK(arc_tune_explain(&t, shorter, size) == ARC_TUNE_ERROR_SIZE, "size %d", (int)size);
    CHECK(strlen(shorter) == size - 1 && strncmp(shorter, text, size - 1) == 0, "size %d: %s",
          (int)size, shorter);
  }
  CHECK(arc_tune_explain(&t, text, length + 1) == ARC_TUNE_OK, "a buffer that just fits");
  CHECK(arc_tune_explain(&t, text, length) == ARC_TUNE_ERROR_SIZE, "a buffer one too small");
  CHECK(arc_tune_explain(&t, NULL, 10) == ARC_TUNE_ERROR_ARGUMENT, "no buffer");
  arc_tune_explain(&t, text, sizeof text);
  printf("%s", text);
}

/* Best of a few, so that a busy machine does not count. Prints always; fails only far beyond any
   machine that is merely slow. */
static void measure_cost(void) {
  static arc_tune t;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_policy policy = {0, 0, 0};
  double best_ns = 1e30;
  long sum = 0;
  enum { CALLS = 1000000 };
  config.warmup = 1000000000;
  arc_tune_init(&t, &config);
  for (int repeat = 0; repeat < 9; ++repeat) {
    clock_t begin = clock();
    for (int i = 0; i < CALLS; ++i) {
      arc_tune_next(&t, &policy);
      sum += policy.threshold;
    }
    double ns = 1e9 * (double)(clock() - begin) / CLOCKS_PER_SEC / CALLS;
    if (ns < best_ns) best_ns = ns;
  }
  CHECK(sum == 9L * CALLS * ARC_THRESHOLD_AUTO, "another policy between tunings");
  printf("arc_tune_next between tunings: %.2f ns of the host; arc_tune is %u bytes\n", best_ns,
         (unsigned)sizeof(arc_tune));
  CHECK(best_ns < 1000.0, "arc_tune_next costs %.0f ns", best_ns);
}

static void measure_cost_of_tuning(void) {
  static arc_tune t;
  arc_tune_config config = arc_tune_config_default();
  unsigned long long random = 1;
  arc_tune_policy policy;
  long launches = 0;
  clock_t begin = clock();
  config.warmup = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    arc_tune_init(&t, &config);
    do {
      arc_tune_next(&t, &policy);
      arc_tune_report(&t, 100.0 + check_below(&random, 1000) * 0.02);
      launches += 1;
    } while (arc_tune_is_tuning(&t));
  }
  printf(
      "arc_tune_next and arc_tune_report while tuning: %.0f ns of the host, %.0f launches a "
      "tuning\n",
      1e9 * (double)(clock() - begin) / CLOCKS_PER_SEC / (double)launches,
      (double)launches / 200.0);
}

/* A kernel of the caller's own, known by its number: it wins, and is called so. */
static double own_kernel_is_best(arc_tune_policy policy) {
  int threshold = policy.threshold == ARC_THRESHOLD_AUTO ? 8 : policy.threshold;
  return (policy.path == ARC_PATH_AUTO + 2 ? 50.0 : 100.0) + 2.0 * abs(threshold - 20);
}

static void test_own_kernel(void) {
  static arc_tune t;
  char text[4096];
  arc_tune_policy policy;
  arc_tune_config config = arc_tune_config_default();
  for (int i = 0; i < 3; ++i) {
    config.path[config.paths].path = ARC_PATH_AUTO + 1 + i;
    config.path[config.paths++].uses_threshold = 1;
  }
  CHECK(arc_tune_init(&t, &config) == ARC_TUNE_OK, "own kernels are refused");
  check_tune(&t, own_kernel_is_best, 3000);
  arc_tune_best(&t, &policy);
  CHECK(policy.path == ARC_PATH_AUTO + 2 && policy.threshold == 20, "chose %d:%d", policy.path,
        policy.threshold);
  arc_tune_explain(&t, text, sizeof text);
  CHECK(strstr(text, "path8:20") != NULL, "explained as: %s", text);
}

int main(void) {
  test_defaults();
  test_errors_have_texts();
  test_illegal_configurations();
  test_without_a_tuner();
  test_finds_the_best();
  test_avoids_33();
  test_reaches_33();
  test_valley_of_another_path();
  test_tune_once();
  test_reports();
  test_late_reports();
  test_no_reports();
  test_freeze_and_retune();
  test_explain();
  measure_cost();
  measure_cost_of_tuning();
  test_own_kernel();
  return check_finish("test_tune_loop");
}

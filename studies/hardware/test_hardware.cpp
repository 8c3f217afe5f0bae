/* studies/hardware: the machine on hand-written traces with known answers, and the committed trace.
   SPDX-License-Identifier: Apache-2.0

   usage: test_hardware TRACE */
#include <math.h>
#include <string.h>

#include <algorithm>

#include "machine.h"

static int failures;

static void expect(const char *what, double is, double wanted) {
  if (fabs(is - wanted) < 0.5) return;
  failures += 1;
  printf("FAILED: %s is %.6g; it must be %.6g\n", what, is, wanted);
}

/* One multiprocessor and one ROP unit: a packet a clock, 2 clocks a sector, 3 if it comes again. */
static machine small_machine(void) {
  machine m = {"small", 1, 1, 1, 1.0, 1, 8, 60, 1, 1, 0, 2, 3, 128 << 10};
  return m;
}

/* One warp, one step: `repeats` instructions of 32 lanes, `distance` words apart. */
static trace by_hand(uint32_t mask, uint32_t distance, int repeats) {
  trace_step step = {};
  trace_request q = {mask, repeats, 1, {}};
  for (uint32_t i = 0; i < 32; ++i) q.words.push_back(i * distance);
  step.forms[TRACE_PLAIN] = {{0, 0, 0, 0, {q}}};
  return {1, {{step}}};
}

static outcome run(trace t, const machine *m, mechanism how) {
  job j = {m, &t, {"", 1, 0}, how, TRACE_PLAIN, 0, 100, 1, 0, true};
  return machine_run(&j);
}

/* 32 lanes, one address: 2 clocks for the first and 3 for each other. Before that 5 clocks for a
   plain instruction and its result, 8 for the address, one to the LSU and one to the port. */
static void test_one_address(void) {
  machine m = small_machine();
  trace t = by_hand(0xffffffffu, 0, 1);
  outcome o = run(t, &m, BASELINE);
  expect("one address: packets", o.packets, 32);
  expect("one address: clocks", o.clocks, 2 + 31 * 3 + 15);
  t = by_hand(0xffffffffu, 1, 1);
  o = run(t, &m, BASELINE);
  expect("one line: packets", o.packets, 1);
  expect("one line: sectors", o.sectors, 4);
  t = by_hand(0xffffffffu, 32, 1);
  expect("own lines: packets", run(t, &m, BASELINE).packets, 32);
}

/* An LDST queue of 2 and a ROP unit that takes 2 instructions of 32 lanes in some 200 clocks: of 10
   instructions 7 find it full, and the sub-core waits for about 7 times 96 clocks. */
static void test_full_queue(void) {
  machine m = small_machine();
  m.ldst_depth = 2;
  m.rop_depth = 1;
  trace t = by_hand(0xffffffffu, 0, 10);
  outcome o = run(t, &m, BASELINE);
  expect("full queue: requests", o.requests, 10);
  expect("full queue: near 680 stalls", fabs(o.stalls[STALL_ATOMIC] - 680) < 60, 1);
  m.ldst_depth = 10;
  expect("no full queue: stalls", run(t, &m, BASELINE).stalls[STALL_ATOMIC], 0);
}

/* A buffer of one line: two lines evict each other; one stays to the end. */
static void test_eviction(void) {
  machine m = small_machine();
  m.l1_bytes = 12800;
  trace t = by_hand(0xffffffffu, 0, 2);
  outcome o = run(t, &m, LAB_IDEAL);
  expect("buffer: merged", o.merged, 63);
  expect("buffer: packets", o.packets, 1);
  t = by_hand(3u, 32, 4);
  job j = {&m, &t, {"", 1, 0}, LAB, TRACE_PLAIN, 0, 1, 1, 0, true}; /* one line of 100 */
  o = machine_run(&j);
  expect("eviction: merged", o.merged, 0);
  expect("eviction: packets", o.packets, 8);
}

static void test_reduction(void) {
  machine m = small_machine();
  m.ldst_depth = 1;
  m.rop_depth = 1;
  trace t = by_hand(0xffffffffu, 0, 20);
  outcome o = run(t, &m, ARC_ALWAYS);
  expect("always: reduced", o.reduced, 20);
  expect("always: packets", o.packets, 20);
  outcome tree = run(t, &m, ARC_TREE), wide = run(t, &m, ARC_WIDE_REQUEST);
  expect("a tree is faster", tree.clocks < o.clocks - 300, 1);
  expect("wide: requests", wide.requests, 1);
  /* 13 clocks as above, 4 for the masks, 20 sums, LSU and port, and 3 sectors of 2 clocks. */
  expect("wide: clocks", wide.clocks, 13 + 4 + 20 + 1 + 6);
  o = run(t, &m, ARC_HW);
  expect("greedy: some are reduced", o.reduced > 0 && o.reduced < 20, 1);
  expect("greedy: requests", o.requests, 20);
  t = by_hand(1u, 0, 20);
  expect("one lane: reduced", run(t, &m, ARC_HW).reduced, 0);
}

/* ---- committed traces ------------------------------------------------------------------------ */

/* The different words that a form adds to. */
static std::vector<uint32_t> words_of(const trace_form *f) {
  std::vector<uint32_t> words;
  for (const trace_request &q : f->requests)
    for (uint32_t first : q.words)
      for (int i = 0; i < q.repeats + q.words_per_lane - 1; ++i)
        words.push_back(first + (uint32_t)i);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

/* Each path adds to the words that the plain atomics add to: in every fifth warp. */
static void test_trace(const char *file) {
  recording r;
  error_line error;
  long wrong = 0;
  if (!recording_read(&r, file, &error)) return expect(error.text, 0, 1);
  expect("steps", (double)r.steps.size(), 4464);
  r.steps.erase(std::remove_if(r.steps.begin(), r.steps.end(),
                               [](const recorded_step &step) { return step.warp % 5 != 0; }),
                r.steps.end());
  const trace t = trace_of(&r);
  for (const trace_warp &warp : t.warps)
    for (const trace_step &step : warp) {
      const std::vector<uint32_t> wanted = words_of(trace_form_of(&step, TRACE_PLAIN, 0));
      for (int path = 1; path < TRACE_PATHS; ++path)
        for (int threshold = 0; threshold < THRESHOLDS; threshold += 11)
          wrong += words_of(trace_form_of(&step, path, threshold)) != wanted;
    }
  expect("words that differ", (double)wrong, 0);
}

/* Four lanes with one key and three values: half of the blocks reduce from 4 on, the others from 6. */
static void test_halves(void) {
  recording r = {(record_call)(CALL_SWEEP + 1), {}};
  for (int warp = 0; warp < 2; ++warp) {
    recorded_step step = {warp, {}};
    for (int i = 4; i < 32; ++i) step.keys[i] = -1;
    r.steps.push_back(step);
  }
  const trace t = trace_of(&r);
  expect("shuffles of a block that reduces", t.warps[0][0].forms[TRACE_AUTO][0].shuffles, 6);
  expect("of one that does later", t.warps[1][0].forms[TRACE_AUTO][0].shuffles, 0);
  expect("scans without the target's", t.warps[1][0].forms[TRACE_AUTO][0].scans, 3);
}

static void test_damage(void) {
  recording r = {CALL_EDGES, {{0, {1, 2, -1}}}}, again;
  error_line error;
  const char *file = "test_hardware.tmp";
  expect("a trace is written", recording_write(&r, file, &error), 1);
  expect("and read", recording_read(&again, file, &error) && again.steps[0].keys[1] == 2, 1);
  FILE *f = fopen(file, "ab");
  fputc(0, f);
  fclose(f);
  expect("a longer one is refused", recording_read(&again, file, &error), 0);
  r.steps[0].keys[0] = -2;
  recording_write(&r, file, &error);
  expect("keys that are none are refused", recording_read(&again, file, &error), 0);
  remove(file);
  expect("no trace is refused", recording_read(&again, file, &error), 0);
}

int main(int argc, char **argv) {
  test_one_address();
  test_full_queue();
  test_eviction();
  test_reduction();
  for (int i = 1; i < argc; ++i) test_trace(argv[i]);
  test_halves();
  test_damage();
  printf("test_hardware: %s\n", failures ? "FAILED" : "passed");
  return failures != 0;
}

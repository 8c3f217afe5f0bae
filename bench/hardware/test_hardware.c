/* bench/hardware: the machine on hand-written traces with known answers, and the committed traces.
   SPDX-License-Identifier: Apache-2.0

   usage: test_hardware [TRACE...] */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
typedef struct hand_trace {
  uint32_t words[32];
  trace_request request;
  trace_form form;
  trace_step step;
  trace_warp warp;
  trace t;
} hand_trace;

static void hand_write(hand_trace *h, uint32_t mask, uint32_t distance, int repeats) {
  memset(h, 0, sizeof *h);
  for (uint32_t i = 0; i < 32; ++i) h->words[i] = i * distance;
  h->request = (trace_request){mask, (uint16_t)repeats, 1, distance == 0, h->words};
  h->form = (trace_form){0, 0, 0, 0, 1, &h->request};
  h->step.forms[TRACE_PLAIN] = &h->form;
  h->warp = (trace_warp){1, &h->step};
  h->t.width = 1;
  h->t.warp_count = 1;
  h->t.warps = &h->warp;
}

static outcome run(const hand_trace *h, const machine *m, mechanism how) {
  job j = {m, &h->t, {"", 1, 0}, how, TRACE_PLAIN, 0, 100, 1, 0, true};
  return machine_run(&j);
}

/* 32 lanes, one address: 2 clocks for the first and 3 for each other. Before that 5 clocks for a
   plain instruction and its result, 8 for the address, one to the LSU and one to the port. */
static void test_one_address(void) {
  hand_trace h;
  machine m = small_machine();
  hand_write(&h, 0xffffffffu, 0, 1);
  outcome o = run(&h, &m, BASELINE);
  expect("one address: packets", o.packets, 32);
  expect("one address: clocks", o.clocks, 2 + 31 * 3 + 15);
  hand_write(&h, 0xffffffffu, 1, 1);
  o = run(&h, &m, BASELINE);
  expect("one line: packets", o.packets, 1);
  expect("one line: sectors", o.sectors, 4);
  hand_write(&h, 0xffffffffu, 32, 1);
  expect("own lines: packets", run(&h, &m, BASELINE).packets, 32);
}

/* An LDST queue of 2 and a ROP unit that takes 2 instructions of 32 lanes in some 200 clocks: of 10
   instructions 7 find it full, and the sub-core waits for about 7 times 96 clocks. */
static void test_full_queue(void) {
  hand_trace h;
  machine m = small_machine();
  m.ldst_depth = 2;
  m.rop_depth = 1;
  hand_write(&h, 0xffffffffu, 0, 10);
  outcome o = run(&h, &m, BASELINE);
  expect("full queue: requests", o.requests, 10);
  expect("full queue: near 680 stalls", fabs(o.stalls[STALL_ATOMIC] - 680) < 60, 1);
  m.ldst_depth = 10;
  expect("no full queue: stalls", run(&h, &m, BASELINE).stalls[STALL_ATOMIC], 0);
}

/* A buffer of one line: two lines evict each other; one stays to the end. */
static void test_eviction(void) {
  hand_trace h;
  machine m = small_machine();
  m.l1_bytes = 12800;
  hand_write(&h, 0xffffffffu, 0, 2);
  outcome o = run(&h, &m, LAB_IDEAL);
  expect("buffer: merged", o.merged, 63);
  expect("buffer: packets", o.packets, 1);
  hand_write(&h, 3u, 32, 4);
  job j = {&m, &h.t, {"", 1, 0}, LAB, TRACE_PLAIN, 0, 1, 1, 0, true}; /* one line of 100 */
  o = machine_run(&j);
  expect("eviction: merged", o.merged, 0);
  expect("eviction: packets", o.packets, 8);
}

static void test_reduction(void) {
  hand_trace h;
  machine m = small_machine();
  m.ldst_depth = 1;
  m.rop_depth = 1;
  hand_write(&h, 0xffffffffu, 0, 20);
  outcome o = run(&h, &m, ARC_ALWAYS);
  expect("always: reduced", o.reduced, 20);
  expect("always: packets", o.packets, 20);
  outcome tree = run(&h, &m, ARC_TREE), wide = run(&h, &m, ARC_WIDE);
  expect("a tree is faster", tree.clocks < o.clocks - 300, 1);
  expect("wide: requests", wide.requests, 1);
  /* 13 clocks as above, 4 for the masks, 20 sums, LSU and port, and 3 sectors of 2 clocks. */
  expect("wide: clocks", wide.clocks, 13 + 4 + 20 + 1 + 6);
  o = run(&h, &m, ARC_HW);
  expect("greedy: some are reduced", o.reduced > 0 && o.reduced < 20, 1);
  expect("greedy: requests", o.requests, 20);
  hand_write(&h, 1u, 0, 20);
  expect("one lane: reduced", run(&h, &m, ARC_HW).reduced, 0);
}

/* ---- committed traces ------------------------------------------------------------------------ */

static int compare(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* The different words that a form adds to. */
static int words_of(const trace_form *f, uint32_t *words) {
  int count = 0, kept = 0;
  for (int i = 0; i < f->request_count; ++i) {
    const trace_request *q = &f->requests[i];
    int lanes = q->same ? 1 : __builtin_popcount(q->mask);
    for (int k = 0; k < lanes * q->repeats * q->words_per_lane; ++k)
      words[count++] = q->words[k % lanes] + (uint32_t)(k / lanes % q->repeats) +
                       (uint32_t)(k / lanes / q->repeats);
  }
  qsort(words, (size_t)count, sizeof *words, compare);
  for (int i = 0; i < count; ++i)
    if (i == 0 || words[i] != words[kept - 1]) words[kept++] = words[i];
  return kept;
}

/* Each path adds to the words that the plain atomics add to. */
static void test_trace(const char *file) {
  static uint32_t plain[1 << 16], other[1 << 16];
  const trace *t = trace_read(file);
  long wrong = 0, steps = 0;
  for (int w = 0; t && w < t->warp_count; ++w)
    for (int s = 0; s < t->warps[w].step_count; ++s, ++steps) {
      const trace_step *step = &t->warps[w].steps[s];
      int count = words_of(trace_form_of(step, TRACE_PLAIN, 0), plain);
      for (int path = 1; path < TRACE_PATHS; ++path)
        for (int threshold = 0; threshold < THRESHOLDS; threshold += 11) {
          int words = words_of(trace_form_of(step, path, threshold), other);
          wrong += words != count || memcmp(plain, other, sizeof *plain * (size_t)count) != 0;
        }
    }
  expect(file, (double)wrong, 0);
  expect("a trace has steps", steps > 0, 1);
}

static void test_damage(const char *file) {
  static char bytes[1 << 12];
  FILE *from = fopen(file, "rb"), *to = fopen("test_hardware.damaged", "wb");
  size_t count = from && to ? fread(bytes, 1, sizeof bytes, from) : 0;
  if (to) fwrite(bytes, 1, count - count / 3, to);
  if (to) fclose(to);
  if (from) fclose(from);
  printf("one line that says what is wrong follows\n");
  fflush(stdout);
  expect("a damaged trace is refused", trace_read("test_hardware.damaged") == NULL, 1);
  remove("test_hardware.damaged");
}

int main(int argc, char **argv) {
  test_one_address();
  test_full_queue();
  test_eviction();
  test_reduction();
  for (int i = 1; i < argc; ++i) test_trace(argv[i]);
  if (argc > 1) test_damage(argv[1]);
  printf("test_hardware: %s\n", failures ? "FAILED" : "passed");
  return failures != 0;
}

/* bench/hardware: reads recorded steps. SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
  const uint8_t *at, *end;
  bool damaged;
  uint32_t word, mask; /* the last ones read: the next are relative to them */
} reader;

static uint32_t read_number(reader *r) {
  uint32_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (r->at == r->end) break;
    uint8_t byte = *r->at++;
    value |= (uint32_t)(byte & 127u) << (shift & 31);
    if (byte < 128) return value;
  }
  r->damaged = true;
  return 0;
}

static uint32_t read_word(reader *r) {
  uint32_t code = read_number(r);
  r->word += code >> 1 ^ (0u - (code & 1u));
  return r->word;
}

static void *take(reader *r, uint32_t count, size_t size) {
  void *memory = count <= 1u << 20 && !r->damaged ? calloc(count + 1, size) : NULL;
  if (memory == NULL) r->damaged = true;
  return memory;
}

static void read_request(reader *r, trace_request *q) {
  uint32_t kind = read_number(r), run = kind & 3u;
  q->same = run == TRACE_SAME;
  q->words_per_lane = (uint8_t)(kind >> 2 & 7u);
  q->repeats = (uint16_t)(kind >> 5);
  q->mask = read_number(r);
  if (q->mask == 0) q->mask = r->mask;
  r->mask = q->mask;
  int lanes = __builtin_popcount(q->mask);
  q->words = take(r, (uint32_t)lanes, sizeof *q->words);
  for (int i = 0; i < lanes && !r->damaged && !(q->same && i > 0); ++i)
    q->words[i] = run == TRACE_RUN && i > 0 ? q->words[i - 1] + 1 : read_word(r);
  r->damaged |= lanes == 0 || q->words_per_lane == 0;
}

static void read_form(reader *r, trace_form *f) {
  f->shuffles = (uint16_t)read_number(r);
  f->votes = (uint16_t)read_number(r);
  f->matches = (uint16_t)read_number(r);
  f->scans = (uint16_t)read_number(r);
  f->request_count = (int)read_number(r);
  f->requests = take(r, (uint32_t)f->request_count, sizeof *f->requests);
  for (int i = 0; i < f->request_count && !r->damaged; ++i) read_request(r, &f->requests[i]);
}

/* Each form is followed by the first threshold that it does not hold for. */
static void read_forms(reader *r, trace_step *s, int path) {
  uint32_t count = read_number(r);
  int threshold = 0;
  s->forms[path] = take(r, count, sizeof *s->forms[path]);
  for (uint32_t i = 0; i < count && !r->damaged; ++i) {
    read_form(r, &s->forms[path][i]);
    int end = (int)read_number(r);
    while (threshold < end && threshold < THRESHOLDS) s->form_at[path][threshold++] = (uint8_t)i;
  }
  r->damaged |= threshold != THRESHOLDS;
}

static void read_warp(reader *r, trace_warp *w) {
  w->step_count = (int)read_number(r);
  w->steps = take(r, (uint32_t)w->step_count, sizeof *w->steps);
  for (int i = 0; i < w->step_count && !r->damaged; ++i) {
    w->steps[i].lanes = (uint8_t)read_number(r);
    for (int path = 0; path < TRACE_PATHS; ++path) read_forms(r, &w->steps[i], path);
  }
}

static bool read_all(reader *r, trace *t) {
  static const char magic[] = "arc-steps 1\n";
  size_t head = sizeof magic - 1 + sizeof t->name;
  if ((size_t)(r->end - r->at) < head || memcmp(r->at, magic, sizeof magic - 1)) return false;
  memcpy(t->name, r->at + sizeof magic - 1, sizeof t->name);
  t->name[sizeof t->name - 1] = '\0';
  r->at += head;
  t->width = (int)read_number(r);
  t->warp_count = (int)read_number(r);
  t->warps = take(r, (uint32_t)t->warp_count, sizeof *t->warps);
  for (int i = 0; i < t->warp_count && !r->damaged; ++i) read_warp(r, &t->warps[i]);
  return !r->damaged && r->at == r->end && t->warp_count > 0;
}

trace *trace_read(const char *file) {
  enum { MOST = 16 << 20 };
  static trace *last; /* so that all stay within reach */
  FILE *f = fopen(file, "rb");
  uint8_t *bytes = malloc(MOST);
  trace *t = calloc(1, sizeof *t);
  if (t != NULL) t->before = last, last = t;
  reader r = {bytes, bytes, false, 0, 0};
  if (f != NULL && bytes != NULL) r.end = bytes + fread(bytes, 1, MOST, f);
  if (f != NULL) fclose(f);
  bool good = t != NULL && read_all(&r, t);
  free(bytes);
  if (good) return t;
  fprintf(stderr, "hardware: %s is %s; it must be a trace that the target hardware_traces wrote\n",
          file, f == NULL ? "missing" : "damaged");
  return NULL;
}

/* studies/hardware: the event model. SPDX-License-Identifier: Apache-2.0

   Time is in clocks of the multiprocessor. For the port of a multiprocessor and for a ROP unit the
   model keeps the time at which they are free again; the length of a ROP unit's queue follows from
   that time. */
#include "machine.h"

#include <math.h>

#include <algorithm>
#include <deque>
#include <memory>

/* Scheduler clocks beside the instruction itself: bench/common/model.h. */
enum { VOTE_CLOCKS = 8, MATCH_CLOCKS = 6, SCAN_CLOCKS = 4 };
#define SHUFFLE_EXTRA 1.5
#define REQUEST_EXTRA 4.5

enum { SUBCORES = 4, MOST_WARPS = 16, MOST_ROPS = 256, MOST_MULTIPROCESSORS = 16 };
enum {
  BURST = 8,             /* instructions that one warp issues before another gets its turn */
  DEPENDENCE_CLOCKS = 4, /* from an instruction to one that needs its result */
  SHUFFLE_CLOCKS = 23,   /* the same of a shuffle, */
  LOAD_CLOCKS = 33,      /* and of a load that hits */
  LEVELS = 5,            /* of dependent shuffles in a reduction of 32 lanes */
  MASK_CLOCKS = 4,       /* until the coalescing unit has the thread masks */
  LINE_WORDS = 32,
  SECTOR_WORDS = 8,
  LINE_BYTES = 128
};

/* ---- what a warp executes -------------------------------------------------------------------- */

enum { AT_LOADS, AT_KERNEL, AT_SHUFFLES, AT_REQUESTS };

typedef struct warp {
  const trace_warp *code; /* null: none is resident */
  const trace_form *form; /* of the present step */
  uint32_t offset;        /* of its addresses, in words */
  int step, stage;
  int issue; /* plain instructions still to issue */
  int left;  /* loads or shuffles of the stage */
  int request, repeat;
  double ready;
  int waits; /* loads on their way */
} warp;

/* An instruction in an LDST queue. q null: a load of `from`. */
typedef struct entry {
  const trace_request *q;
  int repeat;
  uint32_t offset;
  bool reduced; /* one lane an address is left */
  int wide;     /* values in one request; 1 but for ARC_WIDE_REQUEST */
  warp *from;
} entry;

typedef struct subcore {
  warp warps[MOST_WARPS];
  int last; /* the warp that issued last */
  double next;
  std::deque<entry> ldst;
  entry reducing;
  double reduced_at; /* when the reduction unit is done; < 0: it is empty */
  bool asleep; /* no warp can issue, for `cause`, until `wake` or until the LSU takes from here */
  int cause;
  double wake;
} subcore;

typedef struct packet {
  uint32_t line;
  uint8_t sectors; /* a bit each */
} packet;

/* An SRAM of sums by line, direct mapped; sectors 0: empty. */
typedef std::vector<packet> buffer;

/* The instruction of one sub-core that the LSU has split. */
typedef struct slot {
  packet packets[32 * 4];
  int count, at;
} slot;

typedef struct multiprocessor {
  subcore subs[SUBCORES];
  slot slots[2 * SUBCORES]; /* the second half: of reduction units */
  double shuffle_free, lsu_free, port_free, buffer_free;
  int turn, port_turn;
  packet evicted; /* waits for the port; sectors 0: none */
  buffer sums;
} multiprocessor;

typedef struct state {
  const job *j;
  double now;
  int next_warp, resident;
  multiprocessor mps[MOST_MULTIPROCESSORS];
  double rop_free[MOST_ROPS];
  uint32_t rop_last[MOST_ROPS];
  outcome out;
} state;

static bool buffers(const state *s) { return s->j->how >= LAB_IDEAL && s->j->how <= PHI; }

static void start_step(const state *s, warp *w) {
  const job *j = s->j;
  w->form = trace_form_of(&(*w->code)[(size_t)w->step], j->path, j->threshold);
  w->stage = AT_LOADS;
  w->left = j->cost.loads;
  w->issue = 0;
}

static void start_warp(state *s, warp *w) {
  const trace *t = s->j->t;
  w->code = nullptr;
  const int warps = (int)t->warps.size();
  if (s->next_warp == warps * s->j->rounds) return;
  w->code = &t->warps[(size_t)(s->next_warp % warps)];
  w->offset = (uint32_t)(s->next_warp++ / warps) * s->j->spread;
  w->step = 0;
  w->ready = s->now;
  start_step(s, w);
  s->resident += 1;
}

static void finish_step(state *s, warp *w) {
  if (++w->step < (int)w->code->size()) {
    start_step(s, w);
    return;
  }
  s->resident -= 1;
  start_warp(s, w);
}

/* Enters the next stage that has something to do, at the end of the one before. */
static void next_stage(state *s, warp *w) {
  const trace_form *f = w->form;
  bool adds = s->j->adds;
  if (w->stage == AT_LOADS) {
    w->stage = AT_KERNEL;
    w->issue = s->j->cost.instructions;
    if (adds)
      w->issue += f->votes * VOTE_CLOCKS + f->matches * MATCH_CLOCKS + f->scans * SCAN_CLOCKS;
    if (w->issue) return;
  }
  if (w->stage == AT_KERNEL && adds && f->shuffles) {
    w->stage = AT_SHUFFLES;
    w->left = f->shuffles;
    return;
  }
  if (w->stage != AT_REQUESTS && adds && !f->requests.empty()) {
    w->stage = AT_REQUESTS;
    w->request = w->repeat = 0;
    w->issue = (int)((double)f->requests.size() * REQUEST_EXTRA);
    return;
  }
  finish_step(s, w);
}

/* False: the queue is full. */
static bool push(std::deque<entry> *queue, int depth, entry e) {
  if ((int)queue->size() == depth) return false;
  queue->push_back(e);
  return true;
}

/* ---- splitting a request --------------------------------------------------------------------- */

/* The words that an instruction's lanes add to; if it is reduced, each once. */
static std::vector<uint32_t> words_of(const entry *e) {
  std::vector<uint32_t> words;
  for (int i = 0; i < __builtin_popcount(e->q->mask); ++i) {
    const uint32_t word = e->q->words[(size_t)i] + (uint32_t)e->repeat + e->offset;
    if (!e->reduced || std::find(words.begin(), words.end(), word) == words.end())
      words.push_back(word);
  }
  return words;
}

/* A line a packet; a word that comes again goes into a further one. What lies of a lane beyond its
   line counts as of the same one. */
static int split(const entry *e, packet *packets) {
  uint32_t taken[32 * 4];
  int count = 0;
  for (uint32_t word : words_of(e)) {
    uint32_t line = word / LINE_WORDS, at = word % LINE_WORDS;
    uint32_t last = at + (uint32_t)(e->q->words_per_lane * e->wide) - 1;
    int k = 0;
    while (k < count && (packets[k].line != line || (taken[k] >> at & 1u))) ++k;
    if (k == count) {
      packets[count] = {line, 0};
      taken[count++] = 0;
    }
    taken[k] |= 1u << at;
    for (uint32_t sector = at / SECTOR_WORDS; sector <= last / SECTOR_WORDS; ++sector)
      packets[k].sectors |= (uint8_t)(1u << sector % 4);
  }
  return count;
}

/* Adders' work: lanes that share an address are summed one after the other. */
static int groups_of(entry e) {
  e.reduced = true;
  return (int)words_of(&e).size();
}

/* ---- from the port to the ROP units ---------------------------------------------------------- */

static uint32_t scatter(uint32_t line) { return (line * 2654435761u) >> 8; }

static double *rop_of(state *s, uint32_t line, int sector, uint32_t **last) {
  int rop = (int)((scatter(line) + (uint32_t)sector % 2) % (uint32_t)s->j->m->rops);
  *last = &s->rop_last[rop];
  return &s->rop_free[rop];
}

/* When the last of the ROP units that a packet goes to has room. */
static double room_at(state *s, packet p) {
  const machine *m = s->j->m;
  double at = 0;
  uint32_t *last;
  for (int i = 0; i < 4; ++i)
    if (p.sectors >> i & 1u)
      at = std::max(at, *rop_of(s, p.line, i, &last) - m->rop_depth * m->pass_clocks);
  return at;
}

/* False: the port or a ROP unit has no room now. */
static bool inject(state *s, multiprocessor *mp, packet p) {
  const machine *m = s->j->m;
  uint32_t *last;
  if (mp->port_free > s->now || room_at(s, p) > s->now) return false;
  for (int i = 0; i < 4; ++i) {
    if (!(p.sectors >> i & 1u)) continue;
    double *free_at = rop_of(s, p.line, i, &last);
    uint32_t name = p.line * 4 + (uint32_t)i + 1;
    *free_at = std::max(*free_at, s->now) + (*last == name ? m->again_clocks : m->pass_clocks);
    *last = name;
  }
  int sectors = __builtin_popcount(p.sectors);
  mp->port_free =
      std::max(mp->port_free, s->now - 1) + m->packet_clocks + m->sector_clocks * sectors;
  s->out.packets += 1;
  s->out.sectors += sectors;
  return true;
}

/* Adds a packet to the sums that are kept; a line that had its place is to be evicted. */
static void keep(state *s, multiprocessor *mp, packet p) {
  packet *kept = &mp->sums[scatter(p.line) % mp->sums.size()];
  if (kept->sectors && kept->line != p.line) {
    mp->evicted = *kept;
    kept->sectors = 0;
  }
  s->out.merged += kept->sectors != 0;
  kept->line = p.line;
  kept->sectors |= p.sectors;
}

/* ---- the LSU --------------------------------------------------------------------------------- */

static void take(state *s, multiprocessor *mp, slot *to, entry e) {
  if (!e.q) {
    e.from->waits -= 1;
    e.from->ready = std::max(e.from->ready, s->now + LOAD_CLOCKS);
    mp->lsu_free = std::max(mp->lsu_free, s->now - 1) + 1;
    return;
  }
  to->count = split(&e, to->packets);
  to->at = 0;
  mp->lsu_free = std::max(mp->lsu_free, s->now - 1) + s->j->m->lsu_clocks;
  s->out.requests += 1;
}

/* Takes the next instruction, from the LDST queues and the reduction units in turn. */
static void take_next(state *s, multiprocessor *mp) {
  for (int n = 0; n < 2 * SUBCORES && mp->lsu_free <= s->now; ++n) {
    int i = (mp->turn + n) % (2 * SUBCORES);
    subcore *sub = &mp->subs[i % SUBCORES];
    bool is_queue = i < SUBCORES;
    if (is_queue ? sub->ldst.empty() : sub->reduced_at < 0 || sub->reduced_at > s->now) continue;
    if (mp->slots[i].at < mp->slots[i].count) continue;
    mp->turn = (i + 1) % (2 * SUBCORES);
    sub->asleep = false;
    take(s, mp, &mp->slots[i], is_queue ? sub->ldst.front() : sub->reducing);
    if (is_queue)
      sub->ldst.pop_front();
    else
      sub->reduced_at = -1;
    return;
  }
}

/* One packet into the sums of the multiprocessor. */
static bool merge(state *s, multiprocessor *mp, packet p) {
  if (mp->buffer_free > s->now || mp->evicted.sectors) return false;
  double clocks = s->j->how == PHI ? 2 : 1;
  keep(s, mp, p);
  mp->buffer_free = s->now + clocks;
  if (s->j->how != LAB_IDEAL) mp->lsu_free = std::max(mp->lsu_free, s->now + clocks);
  return true;
}

static void send(state *s, multiprocessor *mp) {
  for (int n = 0; n < 2 * SUBCORES; ++n) {
    int i = (mp->port_turn + n) % (2 * SUBCORES);
    slot *from = &mp->slots[i];
    if (from->at == from->count) continue;
    packet p = from->packets[from->at];
    if (!(buffers(s) ? merge(s, mp, p) : inject(s, mp, p))) continue;
    from->at += 1;
    mp->port_turn = (i + 1) % (2 * SUBCORES);
    return;
  }
}

static void step_lsu(state *s, multiprocessor *mp) {
  if (mp->evicted.sectors && inject(s, mp, mp->evicted)) mp->evicted.sectors = 0;
  if (buffers(s) || mp->port_free <= s->now) send(s, mp);
  take_next(s, mp);
}

/* ---- the reduction unit ---------------------------------------------------------------------- */

static double reduction_clocks(const state *s, const entry *e) {
  int lanes = __builtin_popcount(e->q->mask);
  if (s->j->how == ARC_HW || s->j->how == ARC_ALWAYS) return MASK_CLOCKS + lanes;
  return MASK_CLOCKS + e->wide * groups_of(*e);
}

static bool reduce(state *s, subcore *sub, entry e) {
  if (sub->reduced_at >= 0 || __builtin_popcount(e.q->mask) < 2) return false;
  sub->reducing = e;
  sub->reducing.reduced = true;
  sub->reduced_at = s->now + reduction_clocks(s, &e);
  s->out.reduced += 1;
  return true;
}

/* An atomic leaves its warp. The greedy scheduler: to the ROP units while the LDST queue has room,
   else to the reduction unit. */
static bool dispatch(state *s, subcore *sub, entry e) {
  mechanism how = s->j->how;
  int depth = s->j->m->ldst_depth;
  if (how == ARC_HW) return push(&sub->ldst, depth, e) || reduce(s, sub, e);
  if (how >= ARC_ALWAYS && how <= ARC_WIDE_REQUEST && __builtin_popcount(e.q->mask) > 1)
    return reduce(s, sub, e);
  return push(&sub->ldst, depth, e);
}

/* ---- issuing --------------------------------------------------------------------------------- */

/* Each returns the cause why the warp cannot issue, or STALLS, after it has issued. */
static int issue_plain(state *s, subcore *sub, warp *w) {
  int count = w->issue < BURST ? w->issue : BURST;
  w->issue -= count;
  s->out.instructions += count;
  sub->next = s->now + count;
  w->ready = s->now + count + DEPENDENCE_CLOCKS;
  if (!w->issue && w->stage == AT_KERNEL) next_stage(s, w);
  return STALLS;
}

static int issue_load(state *s, subcore *sub, warp *w) {
  if (w->left == 0) {
    if (w->waits) return STALL_LOAD;
    next_stage(s, w);
    return w->ready <= s->now && w->code && w->issue ? issue_plain(s, sub, w) : STALL_DEPENDENCE;
  }
  entry e = {nullptr, 0, 0, false, 1, w};
  if (!push(&sub->ldst, s->j->m->ldst_depth, e)) return STALL_ATOMIC;
  w->left -= 1;
  w->waits += 1;
  s->out.instructions += 1;
  sub->next = s->now + 1;
  return STALLS;
}

/* The shuffles of one level do not depend on each other. */
static int issue_shuffles(state *s, multiprocessor *mp, subcore *sub, warp *w) {
  int all = w->form->shuffles, width = s->j->t->width;
  int levels = all / width > LEVELS ? all / width : LEVELS;
  int count = (all + levels - 1) / levels;
  if (count > w->left) count = w->left;
  if (mp->shuffle_free > s->now) return STALL_SHUFFLE;
  mp->shuffle_free = s->now + count;
  double slots = count * (1 + SHUFFLE_EXTRA);
  s->out.instructions += slots;
  sub->next = s->now + slots;
  w->ready = s->now + slots + SHUFFLE_CLOCKS;
  w->left -= count;
  if (!w->left) next_stage(s, w);
  return STALLS;
}

static int issue_request(state *s, subcore *sub, warp *w) {
  if (w->issue) return issue_plain(s, sub, w);
  const trace_request *q = &w->form->requests[(size_t)w->request];
  bool wide = s->j->how == ARC_WIDE_REQUEST;
  entry e = {q, w->repeat, w->offset, false, wide ? q->repeats : 1, w};
  if (!dispatch(s, sub, e)) return STALL_ATOMIC;
  s->out.instructions += 1;
  sub->next = s->now + 1;
  if (wide || ++w->repeat == q->repeats) {
    w->repeat = 0;
    w->request += 1;
  }
  if (w->request == (int)w->form->requests.size()) next_stage(s, w);
  return STALLS;
}

static int issue(state *s, multiprocessor *mp, subcore *sub, warp *w) {
  if (w->ready > s->now) return STALL_DEPENDENCE;
  if (w->stage == AT_LOADS) return issue_load(s, sub, w);
  if (w->stage == AT_KERNEL) return issue_plain(s, sub, w);
  if (w->stage == AT_SHUFFLES) return issue_shuffles(s, mp, sub, w);
  return issue_request(s, sub, w);
}

/* Until when nothing changes here, unless the LSU takes something. */
static double sleeps_until(const state *s, const subcore *sub, int cause) {
  double wake = cause == STALL_SHUFFLE ? s->now + 1 : HUGE_VAL;
  for (int i = 0; i < s->j->m->warps; ++i) {
    double ready = sub->warps[i].ready;
    if (sub->warps[i].code && ready > s->now && ready < wake) wake = ready;
  }
  return wake;
}

/* The warp that issued last goes on, if it can; else the others in turn. A clock in which none can
   is charged to the first cause of the list that a warp gives. */
static void step_subcore(state *s, multiprocessor *mp, subcore *sub) {
  int cause = STALLS, warps = s->j->m->warps;
  if (sub->next > s->now) return;
  for (int i = 0; i < warps && !(sub->asleep && s->now < sub->wake); ++i) {
    int at = (sub->last + i) % warps;
    if (!sub->warps[at].code) continue;
    int why = issue(s, mp, sub, &sub->warps[at]);
    if (why == STALLS) {
      sub->last = at;
      sub->asleep = false;
      return;
    }
    if (why < cause) cause = why;
  }
  if (!(sub->asleep && s->now < sub->wake)) {
    sub->cause = cause;
    sub->asleep = true;
    sub->wake = sleeps_until(s, sub, cause);
  }
  if (sub->cause < STALLS) s->out.stalls[sub->cause] += 1;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static bool is_quiet(const multiprocessor *mp) {
  if (mp->evicted.sectors) return false;
  for (int i = 0; i < SUBCORES; ++i)
    if (!mp->subs[i].ldst.empty() || mp->subs[i].reduced_at >= 0 ||
        mp->slots[i].at < mp->slots[i].count ||
        mp->slots[SUBCORES + i].at < mp->slots[SUBCORES + i].count)
      return false;
  return true;
}

/* What buffers hold at the end leaves through the ports, all multiprocessors at once. */
static double drain(state *s) {
  double end = s->now;
  for (int k = 0; k < s->j->m->multiprocessors && buffers(s); ++k)
    for (packet p : s->mps[k].sums) {
      if (!p.sectors) continue;
      s->now = std::max(end, std::max(s->mps[k].port_free, room_at(s, p)));
      inject(s, &s->mps[k], p);
    }
  for (int i = 0; i < s->j->m->rops; ++i) end = std::max(end, s->rop_free[i]);
  return end;
}

/* Eight warps that follow each other in the trace, a block mostly, to one multiprocessor. */
static void place_warps(state *s) {
  const machine *m = s->j->m;
  for (int first = 0; first < m->warps; first += 2)
    for (int k = 0; k < m->multiprocessors; ++k)
      for (int w = first; w < first + 2 && w < m->warps; ++w)
        for (int sub = 0; sub < SUBCORES; ++sub) start_warp(s, &s->mps[k].subs[sub].warps[w]);
}

static void begin(state *s, const job *j) {
  const int percent = j->how == LAB ? j->lab_percent : 100;
  s->j = j;
  for (multiprocessor &mp : s->mps) {
    for (subcore &sub : mp.subs) sub.reduced_at = -1;
    if (buffers(s)) mp.sums.resize((size_t)(j->m->l1_bytes / 100 * percent / LINE_BYTES));
  }
  place_warps(s);
}

outcome machine_run(const job *j) {
  const std::unique_ptr<state> memory(new state());
  state *s = memory.get();
  bool busy = true;
  begin(s, j);
  for (; busy; s->now += 1) {
    busy = s->resident > 0;
    for (int k = 0; k < j->m->multiprocessors; ++k) {
      multiprocessor *mp = &s->mps[k];
      step_lsu(s, mp);
      for (int i = 0; i < SUBCORES; ++i) step_subcore(s, mp, &mp->subs[i]);
      busy |= !is_quiet(mp);
    }
  }
  s->out.clocks = drain(s);
  return s->out;
}

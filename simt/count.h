// count.h -- which atomics of a warp's lanes make up one instruction.
// SPDX-License-Identifier: Apache-2.0
//
// README.md, "Counts", has the rule, with its phases.
#pragma once

#include <stdint.h>
#include <string.h>

#include <memory>
#include <vector>

#include "simt_control.h"
#include "simt_warp.h"

// Where an operation stands, and where the library function around it is called; line 0: none is.
struct simt__place {
  const simt__site *site;
  simt__line caller;
};
static inline bool same_place(const simt__place &a, const simt__place &b) {
  return a.site == b.site && a.caller.line == b.caller.line &&
         (a.caller.file == b.caller.file || !strcmp(a.caller.file, b.caller.file));
}

// One instruction so far: the 32-byte sectors it touched and the 4-byte words that were hit in
// each.
struct simt__instruction {
  simt__instruction() {}  // without it a new one would be zeroed
  int sector_count = 0;
  uint64_t sectors[32];
  uint8_t words[32];
};

// The instructions of one place within one phase: execution number `first + i` is open[i]. An
// atomic that lanes execute over and over without ever synchronising would keep instructions open
// for ever; beyond open_instructions_max the older half is closed, even if lanes could still join.
enum { open_instructions_max = 1 << 16 };
struct simt__executions {
  simt__place place;
  uint32_t count[32];  // by lane
  uint32_t first = 0;
  std::vector<simt__instruction> open;
  uint32_t scans = 0;      // instructions, of a bit scan
  uint64_t arguments[32];  // by lane, of its last execution

  void start(const simt__place &place_) {
    place = place_;
    memset(count, 0, sizeof count);
    first = scans = 0;
    open.clear();
  }
  void close_older_half() {
    first += open_instructions_max / 2;
    open.erase(open.begin(), open.begin() + open_instructions_max / 2);
  }
};

struct simt__phase {
  uint32_t number = 0;
  size_t place_count = 0;  // in use; the others keep their memory for the next phase
  std::vector<std::unique_ptr<simt__executions>> places;

  simt__executions *find(const simt__place &place) {
    for (size_t i = 0; i < place_count; ++i)
      if (same_place(places[i]->place, place)) return places[i].get();
    if (place_count == places.size()) places.emplace_back(new simt__executions);
    simt__executions *executions = places[place_count++].get();
    executions->start(place);
    return executions;
  }
};

// Per warp: the phase number of each lane, and the phases that have instructions open.
struct simt__phases {
  uint32_t last_number;
  uint32_t of_lane[32];
  std::vector<std::unique_ptr<simt__phase>> live, idle;

  void start() {
    last_number = 0;
    memset(of_lane, 0, sizeof of_lane);
    while (!live.empty()) retire(live.size() - 1);
  }
  void synchronise(unsigned lanes) {
    uint32_t number = ++last_number;
    if (lanes == 0xffffffffu) {
      for (int i = 0; i < 32; ++i) of_lane[i] = number;
      return;
    }
    for (; lanes; lanes &= lanes - 1) of_lane[__builtin_ctz(lanes)] = number;
  }
  void leave(int lane) { of_lane[lane] = ~0u; }
  simt__phase *current(int lane) {
    uint32_t number = of_lane[lane];
    for (size_t i = live.size(); i-- > 0;)
      if (live[i]->number == number) return live[i].get();
    retire_deserted();
    if (idle.empty()) idle.emplace_back(new simt__phase);
    live.push_back(std::move(idle.back()));
    idle.pop_back();
    live.back()->number = number;
    live.back()->place_count = 0;
    return live.back().get();
  }

 private:
  void retire(size_t i) {
    idle.push_back(std::move(live[i]));
    live[i] = std::move(live.back());
    live.pop_back();
  }
  void retire_deserted() {
    for (size_t i = live.size(); i-- > 0;) {
      bool deserted = true;
      for (int lane = 0; lane < 32; ++lane) deserted &= of_lane[lane] != live[i]->number;
      if (deserted) retire(i);
    }
  }
};

// Counts one lane's part in an instruction on global memory.
static void count_reduction(simt_counters *counters, simt__phases *phases, int lane,
                            const simt__place &place, uintptr_t address, bool vector) {
  simt__executions *executions = phases->current(lane)->find(place);
  uint32_t execution = executions->count[lane]++;
  if (execution < executions->first) execution = executions->first;
  while (executions->open.size() <= execution - executions->first) {
    if (executions->open.size() == open_instructions_max) executions->close_older_half();
    executions->open.emplace_back();
    counters->reductions += 1;
    counters->vector_reductions += vector;
  }
  simt__instruction *instruction = &executions->open[execution - executions->first];
  uint64_t sector = address / 32;
  uint8_t word = (uint8_t)(1u << (address / 4 % 8));
  int i = 0;
  while (i < instruction->sector_count && instruction->sectors[i] != sector) ++i;
  if (i == instruction->sector_count) {
    instruction->sectors[i] = sector;
    instruction->words[i] = 0;
    instruction->sector_count += 1;
    counters->sectors += 1;
  }
  counters->conflicts += (instruction->words[i] & word) != 0;
  instruction->words[i] |= word;
}

// Counts one lane's part in a bit scan.
static void count_scan(simt_counters *counters, simt__phases *phases, int lane,
                       const simt__place &place, uint64_t argument, unsigned instructions) {
  simt__executions *executions = phases->current(lane)->find(place);
  if (executions->count[lane] && executions->arguments[lane] == argument) return;
  executions->arguments[lane] = argument;
  if (++executions->count[lane] <= executions->scans) return;
  executions->scans += 1;
  counters->scans += instructions;
}

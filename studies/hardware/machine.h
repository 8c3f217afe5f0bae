/* studies/hardware: an event model of multiprocessors that send atomic additions to an L2.
   SPDX-License-Identifier: Apache-2.0

   A sub-core issues one warp instruction per clock. Instructions that touch memory enter the
   sub-core's LDST queue. The LSU, one per multiprocessor, takes instructions from the queues in
   turn, splits each into packets and sends them into the interconnect. A packet's 32-byte sectors
   go to ROP units by their address. All queues are finite and push back. README.md has the
   constants' sources. */
#pragma once

#include "trace.h"

typedef enum mechanism {
  BASELINE,         /* every lane's addition goes to the ROP units */
  ARC_HW,           /* atomred: greedy scheduler, serial reduction unit a sub-core */
  ARC_ALWAYS,       /* the same without the scheduler: what has two lanes or more is reduced */
  ARC_TREE,         /* that with a tree of adders: a group a clock */
  ARC_WIDE_REQUEST, /* `red` of n values per lane, one tree: n clocks per group, one request */
  LAB_IDEAL,        /* sums kept in an SRAM of its own, one per multiprocessor */
  LAB,              /* in a part of the L1, behind the LSU that loads use */
  PHI,              /* in the L1: a look-up and an update for each lane */
  MECHANISMS
} mechanism;

typedef struct machine {
  const char *name;
  int multiprocessors, rops; /* scaled down; both by `scale` */
  int scale;
  double ghz;
  int warps;            /* resident, a sub-core */
  int ldst_depth;       /* instructions in a sub-core's LDST queue */
  int rop_depth;        /* sectors that wait for one ROP unit */
  double lsu_clocks;    /* of the LSU, an atomic instruction */
  double packet_clocks; /* of a multiprocessor's port to the interconnect, a packet */
  double sector_clocks; /* and so many a sector */
  double pass_clocks;   /* of a ROP unit, a sector */
  double again_clocks;  /* if it is the one before's */
  int l1_bytes;
} machine;

/* What surrounds a workload's adding: of each step, from its machine code. */
typedef struct kernel_cost {
  const char *trace;
  int instructions, loads;
} kernel_cost;

typedef struct job {
  const machine *m;
  const trace *t;
  kernel_cost cost;
  mechanism how;
  int path, threshold;
  int lab_percent; /* of the L1, for LAB */
  int rounds;      /* each warp so often; */
  uint32_t spread; /* each time so many words further */
  bool adds;       /* false: the same kernel without adding */
} job;

enum { STALL_ATOMIC, STALL_LOAD, STALL_SHUFFLE, STALL_DEPENDENCE, STALLS };

typedef struct outcome {
  double clocks;
  double instructions, requests, packets, sectors;
  double stalls[STALLS]; /* clocks of sub-cores in which nothing was issued, by cause */
  double reduced;        /* instructions that went to a reduction unit */
  double merged;         /* packets that found their sector in a buffer */
} outcome;

/* Runs the warps of the trace; what fits is resident at a time. */
outcome machine_run(const job *j);

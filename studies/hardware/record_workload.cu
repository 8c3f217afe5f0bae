// studies/hardware: stands in for the examples' workload_main: records one gradient step instead.
// SPDX-License-Identifier: Apache-2.0
//
// usage: FILE CALL DATASET [options of the program]; CALL: as in trace.h.
#include <stdlib.h>

#include "../common/workload.h"
#include "record.h"
#include "simt/simt.cuh"

#include "arc_policy.cuh"

unsigned long long *workload_counts(void) { return nullptr; }

static int stop(const workload *w, const char *what) {
  fprintf(stderr, "%s: %s\n", w->name, what);
  return 2;
}

int workload_main(int argc, char **argv, const workload *w) {
  enum { FILE_AT = 1, CALL_AT, DATASET_AT, OPTIONS_AT, NEVER = 33 };
  static const int strides[] = {12, 3, 3, 20, 1, 12};
  error_line error;
  workload_options o = {};
  if (argc < OPTIONS_AT) return stop(w, "takes FILE CALL DATASET [options]");
  const int call = atoi(argv[CALL_AT]);
  if (call < CALL_FILTER || call > CALL_EDGES) return stop(w, "CALL must be 1 to 4");
  if (!options_read(w->options, argc - DATASET_AT, argv + DATASET_AT, &error))
    return stop(w, error.text);
  o.seed = 1;
  o.compare = true; /* the gradient step alone */
  if (!w->begin(argv[DATASET_AT], &o, &error)) return stop(w, error.text);
  w->reset();
  w->forward(0);
  const workload_sums sums = w->sums();
  record_begin(sums.data, sums.count, strides[call]);
  w->gradient(WAY_SERIALIZED, NEVER);
  const int status = record_end((record_call)call, argv[FILE_AT]);
  w->end();
  return status;
}

/* Measuring a workload's ways. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_PAPER_EXPERIMENT_H
#define ARC_BENCH_PAPER_EXPERIMENT_H

#include "../../examples/common/workload.h"

/* Both return the exit status. */

/* Of what has begun: every way's gradient step alone, in one table, its sums against those of plain
   atomics. */
int experiment_compare(const workload *w, const workload_options *o);

/* Every way, at the papers' five thresholds and arc's own, on every dataset: rows of o->experiment.
   After an interrupt the rows so far are written; after a wrong sum the file is as it was. */
int experiment_run(const workload *w, const workload_options *o);

#endif

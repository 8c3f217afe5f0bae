/* The papers' table of results, one for all workloads.
   SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <math.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <string>

#include "../../bench/common/device_describe.h"
#include "../../bench/common/program_run.h"

static void write_columns(FILE *out) {
  fputs(
      "workload,BW implementation,balance threshold,dataset,train PSNR,train L1,test PSNR,test L1,"
      "end-to-end training time,forward ms,backward ms,backward mJ,backward error,"
      "iterations,seed,clock",
      out);
  for (int i = 0; i < PAPER_COUNTS; ++i) fprintf(out, ",lanes %d", i);
  for (int i = 0; i < PAPER_COUNTS; ++i) fprintf(out, ",keys %d", i);
  fputc('\n', out);
}

/* Device, compiler, policy, columns: what all rows of a table share. To be freed. */
static char *shared_head(void) {
  char *text = nullptr;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == nullptr) abort();
  device_describe(out, DEVICE_IN_FILE, 0.0);
  write_columns(out);
  fclose(out);
  return text;
}

bool paper_table_open(output_file *table, const char *path, error_line *error) {
  std::ifstream file(path, std::ios::binary); /* what is not there is empty */
  const std::string old(std::istreambuf_iterator<char>(file), {});
  char *head = shared_head();
  const bool fresh = old.empty();
  bool opened = false;
  if (!fresh && (old.find(head) == std::string::npos || old.back() != '\n'))
    error_set(error,
              "'%.200s' is not a table of this device, compiler and policy; name another file, or "
              "remove it",
              path);
  else
    opened = output_file_open(table, path, error);
  if (opened) fwrite(old.data(), 1, old.size(), table->stream);
  if (opened) program_write_head(table->stream);
  if (opened && fresh) fputs(head, table->stream);
  free(head);
  return opened;
}

static void write_number(FILE *out, const char *format, double value) {
  fputc(',', out);
  if (isfinite(value)) fprintf(out, format, value);
}

static void write_counts(FILE *out, const unsigned long long *counts) {
  for (int i = 0; i < PAPER_COUNTS; ++i) {
    fputc(',', out);
    if (counts != nullptr) fprintf(out, "%llu", counts[i]);
  }
}

static void print_row(const paper_row *r) {
  printf("%-12s %-12s %9s  %9.4g ms", printable(r->dataset), r->implementation,
         threshold_word(r->threshold).c_str(), r->backward_ms);
  if (r->iterations > 0) printf("  %7.3f s, seed %d", r->training_s, r->seed);
  if (isfinite(r->test_psnr)) printf("  test %6.2f dB", r->test_psnr);
  if (isfinite(r->backward_mj)) printf("  %8.3f mJ", r->backward_mj);
  printf("\n");
  fflush(stdout);
}

void paper_table_add(output_file *table, const paper_row *r) {
  FILE *out = table->stream;
  fprintf(out, "%s,%s,%s,%s", r->workload, r->implementation, threshold_word(r->threshold).c_str(),
          r->dataset);
  write_number(out, "%.4f", r->train_psnr);
  write_number(out, "%.6f", r->train_l1);
  write_number(out, "%.4f", r->test_psnr);
  write_number(out, "%.6f", r->test_l1);
  write_number(out, "%.4f", SIMT_ON_CPU ? NAN : r->training_s); /* the emulation's says nothing */
  write_number(out, "%.6f", r->forward_ms);
  write_number(out, "%.6f", r->backward_ms);
  write_number(out, "%.4f", r->backward_mj);
  write_number(out, "%.3g", r->backward_error);
  fprintf(out, ",%d,%d,%s", r->iterations, r->seed, SIMT_ON_CPU ? "model" : "gpu_events");
  write_counts(out, r->lanes);
  write_counts(out, r->keys);
  fputc('\n', out);
  fflush(out);
  print_row(r);
}

std::vector<int> paper_thresholds(bool has_threshold, bool papers) {
  if (!has_threshold) return {ARC_THRESHOLD_AUTO};
  std::vector<int> thresholds = {0, 8, 16, 24, 32};
  if (!papers) thresholds.push_back(ARC_THRESHOLD_AUTO);
  return thresholds;
}

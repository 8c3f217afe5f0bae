/* axes.cpp - the axes of a sweep, and what cells are called. SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

#define NAME(name, bytes) #name,
#define WORD(AXIS, NAME, word) #word,

// clang-format off
const sweep_axis sweep_axis_table[AXIS_END] = {
    {"section", &sweep_cell::section, "--section", 1, 0,
     {SWEEP_SECTIONS(WORD) nullptr}, {SWEEP_SECTION_NONE}, "a label: the part of a preset that asked for the cell"},
    {"workload", &sweep_cell::workload, "--workload", 1, 0,
     {SWEEP_WORKLOADS(WORD) nullptr}, {SWEEP_WORKLOAD_AXES},
     "which lanes are active and which keys coincide; axes: as --lanes to --call say; file: as "
     "--workload-file says; the others are models"},
    {"width", &sweep_cell::width, "--width", 1, 128, {}, {10}, "values per update"},
    {"form", &sweep_cell::form, "--form", 1, 0, {SWEEP_FORMS(WORD) nullptr},
     {SWEEP_FORM_LITERAL},
     "how the kernel knows its width; literal: a constant; memory, chunks: at run time only, with "
     "two ways to pass values; rotating: literal, and each lane adds its values in another order; "
     "planes: literal, with an array per parameter"},
    {"lanes", &sweep_cell::lanes, "--lanes", 0, 32, {"mixed", "model", nullptr}, {},
     "active lanes per warp; mixed: 1-4 in half of the updates, 1-32 in the others; model: those "
     "of the workload"},
    {"shape", &sweep_cell::shape, "--shape", 1, 0, {SWEEP_SHAPES(WORD) nullptr},
     {SWEEP_SHAPE_PREFIX},
     "which lanes are active; random: other lanes in every update; single: lane 31 alone"},
    {"keys", &sweep_cell::keys, "--keys", 1, 1000, {}, {1},
     "different keys per warp; 0 in files: the workload's"},
    {"layout", &sweep_cell::layout, "--layout", 1, 0, {SWEEP_LAYOUTS(WORD) nullptr},
     {SWEEP_LAYOUT_RANDOM},
     "which lanes share a key; model in files: the workload's"},
    {"call", &sweep_cell::call, "--call", 1, 0, {SWEEP_CALLS(WORD) nullptr}, {},
     "uniform: one key per block, promised; keyed: each warp generates keys"},
    {"zeros", &sweep_cell::zeros, "--promise-zeros", 0, 1, {"all", "aligned", "none", nullptr},
     {SWEEP_ZEROS_NONE},
     "0: inactive lanes hold garbage; 1: they hold zeros, promised; all: as 1, and an active lane "
     "in each call; aligned: as all, and rows of whole 16 bytes; none: as 0, and the one key of a "
     "uniform call is not promised"},
    {"padding", &sweep_cell::padding, "--padding", 0, 1024, {}, {4},
     "rows are padded to a multiple of so many values; 0: to an odd number, which fits no vector"},
    {"type", &sweep_cell::type, "--type", 1, 0, {SWEEP_TYPES(NAME) nullptr}, {SWEEP_TYPE_f32},
     "types of values and sums; f16, bf16, fixed, exact, wide: floats are added to halves, to "
     "64-bit fixed point, to the same with exact sums, to words by exponent"},
    {"path", &sweep_cell::path, "--path", 1, 0, {SWEEP_PATHS(WORD) nullptr}, {},
     "what adds; none: nothing, the baseline of net; broken: adds wrong sums, to test the check"},
    {"threshold", &sweep_cell::threshold, "--threshold", 0, 33, {"auto", "-", nullptr}, {},
     "lanes from which a group is reduced; auto: arc's choice; - in files: the path has none"},
};
// clang-format on

/* ---- words ---- */

std::string sweep_word(int axis, int value) {
  const sweep_axis &a = sweep_axis_table[axis];
  return value <= a.high ? std::to_string(value) : a.names[(size_t)(value - a.high - 1)];
}

std::string sweep_word_of(int axis, const sweep_cell &cell) {
  return sweep_word(axis, cell.*sweep_axis_table[axis].member);
}

static std::string lanes_words(const sweep_cell &c) {
  std::string shape = " (" + sweep_word_of(AXIS_SHAPE, c) + ")";
  if (c.lanes == SWEEP_LANES_MODEL) return "the model's lanes";
  if (c.lanes == SWEEP_LANES_MIXED) return "mixed lanes" + shape;
  if (c.shape == SWEEP_SHAPE_SINGLE) return "lane 31 alone";
  return std::to_string(c.lanes) + (c.lanes == 1 ? " lane" : " lanes") + shape;
}

static std::string keys_words(const sweep_cell &c) {
  std::string call = " (" + sweep_word_of(AXIS_CALL, c) + " call)";
  if (c.workload != SWEEP_WORKLOAD_AXES)
    return "workload " + sweep_word_of(AXIS_WORKLOAD, c) + call;
  if (c.keys == 1) return "1 key" + call;
  return std::to_string(c.keys) + " keys " + sweep_word_of(AXIS_LAYOUT, c);
}

std::string sweep_group_words(const sweep_cell &c) {
  static const char *const inactive[] = {"garbage", "zeros (promised)", "zeros (all promised)",
                                         "zeros (all promised, aligned rows too)",
                                         "garbage (not even one key promised)"};
  std::string words = "width " + std::to_string(c.width);
  const bool run_time = c.form == SWEEP_FORM_MEMORY || c.form == SWEEP_FORM_CHUNKS;
  const char *when = run_time ? " (run time, " : " (";
  if (c.form != SWEEP_FORM_LITERAL) words += when + sweep_word_of(AXIS_FORM, c) + ")";
  words += ", " + lanes_words(c) + ", " + keys_words(c) + ", inactive " + inactive[c.zeros];
  if (c.type != SWEEP_TYPE_f32) words += ", " + sweep_word_of(AXIS_TYPE, c);
  if (c.padding != 4) words += ", padding " + std::to_string(c.padding);
  return words;
}

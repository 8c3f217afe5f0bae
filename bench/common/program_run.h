/* bench/common: how a program begins and fails, interrupts, progress, the clock, medians.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdio.h>

#include <string>

#include "output_file.h"

/* First of all. Each line of the output appears as soon as it is printed, in a pipe too; where
   output is lost, or `new` finds no memory, the program ends with a line on stderr and status 1.
   Ctrl-C, SIGTERM or SIGHUP ends it at once, with status 128 + signal, until interrupts are caught;
   one that was ignored at the start stays ignored. True: --version was asked for and printed. */
bool program_begin(const char *name, int argc, char **argv);

/* Prints the line, behind the program's name, to stderr; returns the status. */
int fail(int status, const error_line *error);

/* Bytes of memory that the machine has left, or the control group or limits of the process allow;
   infinite where the system does not tell. */
double memory_left(void);
/* From here on more is refused, where the system would grant it and later kill the program for
   it. Not for programs of a GPU, whose driver reserves what it never uses. */
void memory_limit(void);

/* The first lines of a table of results, each begins with "# ": program, date, command. */
void program_write_head(FILE *out);

/* How often Ctrl-C, `kill` or the loss of the terminal has come, once they are caught, that is,
   once there is something to write or work that asks for `interrupts` as it goes: the program ends
   the step under way, writes its results and leaves out what takes long. The third ends it at once.
   A pipe whose reader is gone, as `tee` after a Ctrl-C, does not end it. `also`, where it is given,
   is called with each signal, and then the program must end by itself. */
extern volatile sig_atomic_t interrupts;
void catch_interrupts(void (*also)(int signal) = nullptr);
/* 128 + the first signal that came: 130 of Ctrl-C, 143 of SIGTERM, 129 of SIGHUP. */
int interrupted_status(void);

/* Whether to print a line of progress now: on a terminal only, five times per second. It is cut to
   the terminal's width, and goes to stderr. Where it says "4 of 10", the share done stands in
   front, and the time left, by the pace since the first such line. */
bool progress_due(void);
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void progress_line(const char *format, ...);
void progress_hide(void);  /* before other lines */
void progress_clear(void); /* at the end */

/* For reading, behind the byte order mark of UTF-8 where the file begins with one; null, and errno,
   where it cannot be. */
FILE *text_open(const char *path);

/* In lines of at most 100 columns; those behind the first begin with so many spaces. */
void print_wrapped(FILE *out, std::string text, size_t indent);

/* "5", "auto" of ARC_THRESHOLD_AUTO, "-" of a negative one: the way takes none. */
std::string threshold_word(int threshold);

double seconds_now(void);

/* Sorts the values. */
float median(float *values, int count);

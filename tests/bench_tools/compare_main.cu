/* compare_main.cu - `arc_sweep compare` alone, without the kernels.
   SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep_compare.h"

int main(int argc, char **argv) { return sweep_compare(argc, argv, stdout, stderr); }

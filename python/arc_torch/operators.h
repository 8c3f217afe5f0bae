/* operators.h - what index_add_cuda.cpp calls of operators.cpp.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_OPERATORS_H
#define ARC_OPERATORS_H

#include <ATen/core/Tensor.h>

/* PyTorch's index_add_. To round sums in 16 bits once, it adds in float. */
void add_by_pytorch_(const at::Tensor &self, int64_t dim, const at::Tensor &index,
                     const at::Tensor &source, const at::Scalar &alpha, bool round_once);

#endif

/* operators.cpp - what PyTorch knows of arc's operators: schemas, gradients of both modes, vmap.
   SPDX-License-Identifier: Apache-2.0

   Tensors on CUDA are added to by index_add_cuda.cpp, all others by PyTorch's own index_add_, which
   also takes, and reports, whatever arc does not. */
#include <ATen/autocast_mode.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/library.h>

#include "operators.h"

namespace {

using at::Scalar;
using at::Tensor;
using c10::DispatchKeySet;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

#define OPERATOR(name, ...)                                                                     \
  const auto &op_##name() {                                                                     \
    static const auto op =                                                                      \
        c10::Dispatcher::singleton().findSchemaOrThrow("arc::" #name, "").typed<__VA_ARGS__>(); \
    return op;                                                                                  \
  }
OPERATOR(index_add,
         Tensor(const Tensor &, int64_t, const Tensor &, const Tensor &, const Scalar &, bool))
OPERATOR(index_add_,
         void(const Tensor &, int64_t, const Tensor &, const Tensor &, const Scalar &, bool))
OPERATOR(embedding, Tensor(const Tensor &, const Tensor &, std::optional<int64_t>))

/* ---- below autograd ------------------------------------------------------------------------ */

/* Whether PyTorch would round more than once. */
bool adds_in_float(const Tensor &self, const Tensor &source, bool round_once) {
  return round_once && at::isReducedFloatingType(self.scalar_type()) &&
         source.scalar_type() == self.scalar_type();
}

Tensor add_by_pytorch(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source,
                      const Scalar &alpha, bool round_once) {
  if (!adds_in_float(self, source, round_once))
    return at::index_add(self, dim, index, source, alpha);
  return at::index_add(self.to(at::kFloat), dim, index, source.to(at::kFloat), alpha)
      .to(self.scalar_type());
}

Tensor add_to_copy(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source,
                   const Scalar &alpha, bool round_once) {
  Tensor copy = self.clone(at::MemoryFormat::Contiguous);
  op_index_add_().call(copy, dim, index, source, alpha, round_once);
  return copy;
}

/* [index..., row...] */
Tensor gather(const Tensor &weight, const Tensor &index, std::optional<int64_t> padding) {
  TORCH_CHECK(weight.dim() > 1, "arc::embedding: the weight must have rows and columns");
  const int64_t rows = weight.size(0);
  TORCH_CHECK(!padding || (-rows <= *padding && *padding < rows),
              "arc::embedding: padding_idx " + std::to_string(*padding) + " is none of the " +
                  std::to_string(rows) + " rows");
  auto shape = index.sizes().vec();
  shape.insert(shape.end(), weight.sizes().begin() + 1, weight.sizes().end());
  return weight.index_select(0, index.reshape(-1)).view(shape);
}

/* An in-place operator tells autograd that the tensor has changed. */
void add_and_tell(DispatchKeySet keys, const Tensor &self, int64_t dim, const Tensor &index,
                  const Tensor &source, const Scalar &alpha, bool round_once) {
  {
    at::AutoDispatchBelowADInplaceOrView below;
    op_index_add_().redispatch(keys & c10::after_ADInplaceOrView_keyset, self, dim, index, source,
                               alpha, round_once);
  }
  torch::autograd::increment_version(self);
}

/* ---- autograd: the sum is linear in self and in source ------------------------------------ */

struct OfIndex : torch::autograd::Node {
  SavedVariable index;

  void release_variables() override {
    std::lock_guard<std::mutex> lock(mutex_);
    index.reset_data();
  }
};

struct IndexAddBackward : OfIndex {
  int64_t dim = 0;
  Scalar alpha;

  variable_list apply(variable_list &&gradients) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const Tensor &gradient = gradients[0];
    variable_list result(2); /* of self, of source */
    if (!gradient.defined()) return result;
    if (task_should_compute_output(0)) result[0] = gradient;
    if (task_should_compute_output(1)) {
      result[1] = gradient.index_select(dim, index.unpack());
      if (!alpha.equal(1)) result[1] = result[1].mul(alpha);
    }
    return result;
  }
  std::string name() const override { return "ArcIndexAddBackward"; }
};

struct EmbeddingBackward : OfIndex {
  std::vector<c10::SymInt> shape; /* of the weight */
  std::optional<int64_t> padding;

  variable_list apply(variable_list &&gradients) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const Tensor &gradient = gradients[0];
    if (!gradient.defined() || !task_should_compute_output(0)) return variable_list(1);
    Tensor keys = index.unpack().reshape(-1), sums = gradient.new_zeros_symint(shape);
    auto rows = shape;
    rows[0] = keys.sym_numel();
    const Tensor values = gradient.reshape_symint(rows);
    if (is_transformed()) /* vmap may have to batch the sums */
      sums = op_index_add().call(sums, 0, keys, values, 1, true);
    else
      op_index_add_().call(sums, 0, keys, values, 1, true);
    if (padding) sums.select(0, *padding).zero_();
    return {sums};
  }
  std::string name() const override { return "ArcEmbeddingBackward"; }

  static bool is_transformed() {
    return c10::impl::tls_is_dispatch_key_included(
        c10::DispatchKey::FuncTorchDynamicLayerFrontMode);
  }
};

using node_ptr = decltype(torch::autograd::Edge::function);

/* own(node, 0): up to PyTorch 2.12 a std::shared_ptr, whose deleter takes deep graphs apart without
   recursion; later a c10::intrusive_ptr, which does so itself. */
template <class Its>
auto own(Its *node, int) -> decltype(deleteNode(node), node_ptr()) {
  return {node, [](auto *its) { deleteNode(its); }};
}

template <class Its>
node_ptr own(Its *node, long) {
  return c10::intrusive_ptr<Its>::unsafe_steal_from_new(node);
}

/* Other gradients, as of complex numbers, are PyTorch's. */
bool is_for_arc(const Tensor &self, const Tensor &source) {
  return at::isFloatingType(self.scalar_type()) && self.dim() > 0 && source.dim() > 0;
}

node_ptr node_of_add(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source,
                     const Scalar &alpha) {
  if (!torch::autograd::compute_requires_grad(self, source)) return nullptr;
  auto *node = new IndexAddBackward;
  node_ptr owner = own(node, 0);
  node->set_next_edges(torch::autograd::collect_next_edges(self, source));
  node->dim = dim;
  node->index = SavedVariable(index, false);
  node->alpha = alpha;
  return owner;
}

Tensor index_add(DispatchKeySet keys, const Tensor &self, int64_t dim, const Tensor &index,
                 const Tensor &source, const Scalar &alpha, bool round_once) {
  if (!is_for_arc(self, source)) return add_by_pytorch(self, dim, index, source, alpha, round_once);
  auto node = node_of_add(self, dim, index, source, alpha);
  Tensor result = [&] {
    at::AutoDispatchBelowADInplaceOrView below;
    return op_index_add().redispatch(keys & c10::after_autograd_keyset, self, dim, index, source,
                                     alpha, round_once);
  }();
  if (node) torch::autograd::set_history(result, node);
  const Tensor &of_self = self._fw_grad(0), &of_source = source._fw_grad(0);
  if (of_source.defined())
    result._set_fw_grad(op_index_add().call(of_self.defined() ? of_self : at::zeros_like(self), dim,
                                            index, of_source, alpha, round_once),
                        0, false);
  else if (of_self.defined())
    result._set_fw_grad(of_self.clone(), 0, false);
  return result;
}

void index_add_(DispatchKeySet keys, const Tensor &self, int64_t dim, const Tensor &index,
                const Tensor &source, const Scalar &alpha, bool round_once) {
  if (!is_for_arc(self, source))
    return add_by_pytorch_(self, dim, index, source, alpha, round_once);
  torch::autograd::check_inplace(self, torch::autograd::compute_requires_grad(self, source));
  auto node = node_of_add(self, dim, index, source, alpha);
  {
    at::AutoDispatchBelowAutograd below;
    op_index_add_().redispatch(keys & c10::after_autograd_keyset, self, dim, index, source, alpha,
                               round_once);
  }
  if (node) torch::autograd::rebase_history(self, node);
  const Tensor &of_self = self._fw_grad(0), &of_source = source._fw_grad(0);
  if (!of_source.defined()) return;
  if (of_self.defined())
    op_index_add_().call(of_self, dim, index, of_source, alpha, round_once);
  else
    self._set_fw_grad(
        op_index_add().call(at::zeros_like(self), dim, index, of_source, alpha, round_once), 0,
        true);
}

Tensor embedding(DispatchKeySet keys, const Tensor &weight, const Tensor &index,
                 std::optional<int64_t> padding) {
  node_ptr owner;
  if (torch::autograd::compute_requires_grad(weight)) {
    auto *node = new EmbeddingBackward;
    owner = own(node, 0);
    node->set_next_edges(torch::autograd::collect_next_edges(weight));
    node->shape = weight.sym_sizes().vec();
    node->index = SavedVariable(index, false);
    node->padding = padding;
  }
  Tensor result = [&] {
    at::AutoDispatchBelowADInplaceOrView below;
    return op_embedding().redispatch(keys & c10::after_autograd_keyset, weight, index, padding);
  }();
  if (owner) torch::autograd::set_history(result, owner);
  const Tensor &tangent = weight._fw_grad(0);
  if (tangent.defined())
    result._set_fw_grad(op_embedding().call(tangent, index, padding), 0, false);
  return result;
}

/* One column of keys, expanded to all columns or the only one, names whole rows. */
Tensor scatter_add(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source) {
  bool is_column = index.dim() > 0 && index.dim() == self.dim() && index.sym_numel() != 0 &&
                   self.sym_numel() != 0 && index.sym_sizes() == source.sym_sizes();
  Tensor keys = index;
  for (int64_t i = index.dim() - 1; is_column && i > 0; --i) {
    is_column = index.sym_size(i) == self.sym_size(i) &&
                (index.sym_stride(i) == 0 || index.sym_size(i) == 1);
    keys = keys.select(i, 0);
  }
  const bool is_first = dim == 0 || dim == -self.dim();
  if (!is_column || !is_first) return at::scatter_add(self, dim, index, source);
  return op_index_add().call(self, 0, keys, source, 1, false);
}

/* Under autocast, both tensors get the wider of their types. */
Tensor scatter_add_promoted(const Tensor &self, int64_t dim, const Tensor &index,
                            const Tensor &source) {
  namespace autocast = at::autocast;
  const c10::impl::ExcludeDispatchKeyGuard below(c10::DispatchKey::AutocastCUDA);
  const at::ScalarType lower = autocast::get_lower_precision_fp_from_device_type(at::kCUDA);
  const at::ScalarType type = autocast::promote_type(lower, at::kCUDA, self, source);
  const Tensor wide_self = autocast::cached_cast(type, self, at::kCUDA);
  const Tensor wide_source = autocast::cached_cast(type, source, at::kCUDA);
  return ::scatter_add(wide_self, dim, index, wide_source);
}

}  // namespace

void add_by_pytorch_(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source,
                     const Scalar &alpha, bool round_once) {
  if (adds_in_float(self, source, round_once))
    self.copy_(add_by_pytorch(self, dim, index, source, alpha, round_once));
  else
    Tensor(self).index_add_(dim, index, source, alpha);
}

TORCH_LIBRARY(arc, m) {
  const std::vector<at::Tag> tags = {at::Tag::pt2_compliant_tag};
  m.def(
      "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1, "
      "bool round_once=False) -> Tensor",
      tags);
  m.def(
      "index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1, "
      "bool round_once=False) -> ()",
      tags);
  m.def("embedding(Tensor weight, Tensor index, int? padding_idx=None) -> Tensor", tags);
  m.def("scatter_add(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", tags);
  m.def("accumulate_(Tensor(a!) words, int columns, Tensor index, Tensor source) -> ()", tags);
  m.def("keep_within(Tensor index, int size, bool wraps, Tensor outside) -> Tensor", tags);
  m.def(
      "grid_sample_backward(Tensor gradient, Tensor input, Tensor grid, int mode, int padding, "
      "bool aligned, bool of_input, bool of_grid) -> (Tensor, Tensor)",
      tags);
  m.def("read_words(Tensor(a!) words, int columns, bool clears) -> Tensor", tags);
}

TORCH_LIBRARY_IMPL(arc, CompositeImplicitAutograd, m) { m.impl("scatter_add", scatter_add); }

TORCH_LIBRARY_IMPL(arc, AutocastCUDA, m) { m.impl("scatter_add", scatter_add_promoted); }

TORCH_LIBRARY_IMPL(arc, CompositeExplicitAutograd, m) {
  m.impl("index_add", add_to_copy);
  m.impl("index_add_", add_by_pytorch_);
  m.impl("embedding", gather);
}

TORCH_LIBRARY_IMPL(arc, ADInplaceOrView, m) { m.impl("index_add_", add_and_tell); }

TORCH_LIBRARY_IMPL(arc, Autograd, m) {
  m.impl("index_add", index_add);
  m.impl("index_add_", index_add_);
  m.impl("embedding", embedding);
}

/* PyTorch's own operators have rules for batches; that of embedding stands in arc_torch.py. */
TORCH_LIBRARY_IMPL(arc, FuncTorchBatched, m) {
  m.impl("scatter_add", scatter_add);
  m.impl("index_add", add_by_pytorch);
  m.impl("index_add_", add_by_pytorch_);
}

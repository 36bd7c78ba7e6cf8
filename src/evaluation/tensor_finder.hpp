// SPDX-License-Identifier: MIT
// The tensors of a model, found by the row of its architecture.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "evaluation/network.hpp"
#include "model/open/model_header.hpp"

namespace ingot::evaluation {

inline std::string text_of(std::span<const std::uint64_t> shape) {
  std::string text;
  for (const std::uint64_t size : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  }
  return text;
}

/// Trailing dimensions of 1 have no meaning, and the keys do not tell one of 0.
inline bool is_same_shape(std::span<const std::uint64_t> shape,
                          std::span<const std::uint64_t> wanted) {
  for (std::size_t i = 0; i < std::max(shape.size(), wanted.size()); ++i) {
    const std::uint64_t size = i < shape.size() ? shape[i] : 1;
    const std::uint64_t expected = i < wanted.size() ? wanted[i] : 1;
    if (expected != 0 && size != expected) return false;
  }
  return true;
}

/// Takes the tensors from a model that its row expects, and remembers which.
class Finder {
 public:
  Finder(const Model& model, const Settings& settings)
      : model_(model), settings_(settings), header_(model) {}

  /// What is asked for from now on: tensors of a layer, or of the model. A row may name tensors of
  /// a layer as such of the model.
  void expect(std::optional<std::uint64_t> layer) {
    expected_.clear();
    prefix_ = layer ? "blk." + std::to_string(*layer) + "." : "";
    if (!layer) of_model_ = expected_tensors(*settings_.row, header_, {});
    for (const ExpectedTensor& tensor : of_model_) {
      if (tensor.name.starts_with(prefix_)) expected_.insert_or_assign(tensor.name, tensor);
    }
    if (!layer) return;
    for (ExpectedTensor& tensor : expected_tensors(*settings_.row, header_, layer)) {
      expected_.insert_or_assign(tensor.name, std::move(tensor));
    }
  }

  [[nodiscard]] bool is_expected(const std::string& name) const {
    return expected_.contains(prefix_ + name + ".weight");
  }
  [[nodiscard]] std::string full_name(const std::string& name) const { return prefix_ + name; }

  /// nullptr if the row does not know the tensor, or does without it.
  Result<const TensorInfo*> find(const std::string& name) {
    const auto expected = expected_.find(prefix_ + name);
    if (expected == expected_.end()) return nullptr;
    const TensorInfo* tensor = model_.find_tensor(prefix_ + name);
    if (tensor == nullptr) {
      if (!expected->second.is_required) return nullptr;
      return fail(Errc::tensor_not_found, prefix_ + name, "the architecture needs it");
    }
    if (!is_same_shape(tensor->shape, expected->second.shape)) {
      return refuse(tensor->name, "its shape is " + text_of(tensor->shape) +
                                      "; the keys call for " + text_of(expected->second.shape));
    }
    if (find_type(tensor->type) == nullptr) return fail(Errc::unsupported_type, prefix_ + name);
    used_.insert(tensor);
    return tensor;
  }

  /// All numbers of a tensor, decoded; empty if it is not there.
  Result<std::vector<float>> numbers(const std::string& name) {
    INGOT_TRY(const TensorInfo* tensor, find(name));
    std::vector<float> floats;
    if (tensor == nullptr || tensor->element_count == 0) return floats;
    floats.resize(static_cast<std::size_t>(tensor->element_count));
    INGOT_TRY_VOID(
        model_.dequantize_rows(*tensor, 0, tensor->element_count / tensor->row_elements(), floats));
    return floats;
  }

  /// `NAME.weight`, with `NAME.bias` and `NAME.scale` if there are such. Of a tensor with three
  /// dimensions the rows are those of one expert.
  Result<Matrix> matrix(const std::string& name) {
    INGOT_TRY(const TensorInfo* tensor, find(name + ".weight"));
    Matrix made;
    if (tensor == nullptr) return made;
    const auto& shape = tensor->shape;
    made.tensor = tensor;
    made.columns = static_cast<std::size_t>(shape[0]);
    made.row_count = shape.size() > 1 ? static_cast<std::size_t>(shape[1]) : 1;
    INGOT_TRY(made.bias, numbers(name + ".bias"));
    INGOT_TRY(const std::vector<float> scale, numbers(name + ".scale"));
    if (scale.size() == 1) made.scale = scale[0];
    if (shape.size() > 2 && scale.size() == shape[2]) made.scales = scale;
    if (made.bias.empty() || made.bias.size() == tensor->element_count / made.columns) return made;
    return refuse(prefix_ + name + ".bias", "it has not one number for each row");
  }

  /// `NAME.weight`, or `NAME` alone in some rows, with `NAME.bias` if there is one.
  Result<Norm> norm(const std::string& name) {
    Norm norm;
    const std::string weight = expected_.contains(prefix_ + name) ? name : name + ".weight";
    INGOT_TRY(norm.weight, numbers(weight));
    INGOT_TRY(norm.bias, numbers(name + ".bias"));
    norm.is_applied = !norm.weight.empty();
    if (norm.is_applied) {
      INGOT_TRY(const TensorInfo* tensor, find(weight));
      norm.row_size = static_cast<std::size_t>(tensor->row_elements());
    }
    return norm;
  }

  /// A norm that the network has even if its row has no tensor for it.
  Result<Norm> usual_norm(const std::string& name) {
    INGOT_TRY(Norm made, norm(name));
    made.is_applied = made.is_applied || settings_.parts.norms.lack_weights;
    return made;
  }

  /// Errors for a tensor that nothing has taken: it would change the results. What predicts
  /// further tokens does not.
  Result<void> require_all_used() const {
    for (const TensorInfo& tensor : model_.tensors()) {
      const auto layer = parse_layer_name(tensor.name);
      if (used_.contains(&tensor) ||
          (layer && layer->layer >= settings_.layer_count && layer->layer < block_count())) {
        continue;
      }
      return refuse_kind(tensor.name, "the architecture has no place for this tensor");
    }
    return {};
  }

 private:
  [[nodiscard]] std::uint64_t block_count() const {
    return static_cast<std::uint64_t>(
        header_.number(settings_.prefix + "block_count", {}).value_or(0));
  }

  const Model& model_;
  const Settings& settings_;
  ModelHeader header_;
  std::vector<ExpectedTensor> of_model_;
  std::map<std::string, ExpectedTensor> expected_;
  std::string prefix_;
  std::unordered_set<const TensorInfo*> used_;
};

/// Finds the weights of a layer, and checks that their shapes go together.
[[nodiscard]] Result<Layer> make_layer(const Model& model, const Settings& settings, Finder& finder,
                                       std::size_t index);

}  // namespace ingot::evaluation

// SPDX-License-Identifier: MIT
// read_lora: the tensors of an adapter as changes.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "ingot/lora.hpp"
#include "ingot/metadata_keys.hpp"
#include "lora/lora_names.hpp"

namespace ingot {
namespace {

constexpr std::string_view a_ending = ".lora_a";
constexpr std::string_view b_ending = ".lora_b";
constexpr std::string_view type_key = "adapter.type";
constexpr std::string_view alpha_key = "adapter.lora.alpha";
constexpr std::string_view invocation_key = "adapter.alora.invocation_tokens";

Failure refuse(std::string_view subject, std::string detail) {
  return fail(Errc::adapter_invalid, std::string(subject), std::move(detail));
}

/// Dimensions beyond the first two, such as that of the experts, must be equal.
bool has_same_depth(const TensorInfo& a, const TensorInfo& b) {
  const std::span<const std::uint64_t> of_a = a.shape;
  const std::span<const std::uint64_t> of_b = b.shape;
  return of_a.size() == of_b.size() && std::ranges::equal(of_a.subspan(2), of_b.subspan(2));
}

bool is_floats(const TensorInfo& tensor) {
  const TensorTypeInfo* const type = find_type(tensor.type);
  return type != nullptr && !type->is_integer();
}

Result<void> check_pair(LoraChange& change) {
  const TensorInfo& a = *change.a;
  const TensorInfo& b = *change.b;
  if (a.shape.size() < 2 || !has_same_depth(a, b)) {
    return refuse(b.name, "both halves must be matrices of one number of dimensions");
  }
  const bool is_embedding = is_token_embedding(change.name);
  change.rank = is_embedding ? a.shape[0] : a.shape[1];
  if (b.shape[0] != change.rank || change.rank == 0 || change.rank > max_lora_rank) {
    return refuse(b.name, "its rank is " + std::to_string(b.shape[0]) + ", that of lora_a " +
                              std::to_string(change.rank) + "; they must be equal, and at most " +
                              std::to_string(max_lora_rank));
  }
  if (is_embedding && a.shape.size() != 2) return refuse(a.name, "a matrix is expected");
  return {};
}

Result<void> check_change(LoraChange& change) {
  if (!change.is_whole()) {
    if (change.a == nullptr) return refuse(change.b->name, "the half lora_a is missing");
    INGOT_TRY_VOID(check_pair(change));
  } else if (change.a->name.ends_with(a_ending)) {
    return refuse(change.a->name, "the half lora_b is missing");
  } else if (!change.name.ends_with("_norm.weight") || change.a->shape.size() != 1) {
    return refuse(change.name, "only norms may come whole; all else comes in two halves");
  }
  if (is_floats(*change.a) && (change.is_whole() || is_floats(*change.b))) return {};
  return refuse(change.name, "its tensors must be of floats or quantized");
}

Result<std::vector<LoraChange>> list_changes(const Model& model) {
  std::vector<LoraChange> changes;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const TensorInfo& tensor : model.tensors()) {
    const bool is_b = tensor.name.ends_with(b_ending);
    const bool is_half = is_b || tensor.name.ends_with(a_ending);
    const std::string_view name =
        is_half ? tensor.name.substr(0, tensor.name.size() - a_ending.size()) : tensor.name;
    const auto [place, is_new] = places.try_emplace(name, changes.size());
    if (is_new) changes.emplace_back().name = name;
    LoraChange& change = changes[place->second];
    if (!is_half && !is_new) return refuse(name, "it comes whole and in halves");
    if (is_half && change.a != nullptr && !change.a->name.ends_with(a_ending)) {
      return refuse(name, "it comes whole and in halves");
    }
    (is_b ? change.b : change.a) = &tensor;
  }
  for (LoraChange& change : changes) INGOT_TRY_VOID(check_change(change));
  return changes;
}

}  // namespace

std::uint64_t LoraChange::row_elements() const noexcept {
  if (is_whole()) return a->row_elements();
  return is_token_embedding(name) ? b->shape[1] : a->shape[0];
}

std::uint64_t LoraChange::row_count() const noexcept {
  if (is_whole()) return 1;
  return is_token_embedding(name) ? a->shape[1] : b->shape[1];
}

double LoraAdapter::factor(const LoraChange& change, double scale) const noexcept {
  if (change.is_whole() || alpha == 0.0f) return scale;
  return scale * static_cast<double>(alpha) / static_cast<double>(change.rank);
}

Result<LoraAdapter> read_lora(const Model& model) {
  LoraAdapter adapter;
  adapter.model = &model;
  if (model.get_or<std::string_view>(keys::general_type, "") != "adapter") {
    return refuse(keys::general_type, "it is not `adapter`: this is no adapter");
  }
  if (model.get_or<std::string_view>(type_key, "") != "lora") {
    return refuse(type_key, "it is not `lora`; only LoRA adapters are supported");
  }
  adapter.architecture = model.get_or<std::string_view>(keys::general_architecture, "");
  if (adapter.architecture.empty()) {
    return refuse(keys::general_architecture, "the architecture of the base is missing");
  }
  if (model.find(alpha_key) != nullptr) {
    INGOT_TRY(adapter.alpha, model.get<float>(alpha_key));
    if (!std::isfinite(adapter.alpha)) return refuse(alpha_key, "it must be finite");
  }
  adapter.is_invoked = model.find(invocation_key) != nullptr;
  INGOT_TRY(adapter.changes, list_changes(model));
  if (adapter.changes.empty()) return refuse(type_key, "the adapter has no tensors");
  for (LoraChange& change : adapter.changes) change.scale = adapter.factor(change, 1.0);
  return adapter;
}

}  // namespace ingot

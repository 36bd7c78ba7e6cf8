// SPDX-License-Identifier: MIT
#include "check/dominant_type.hpp"

#include <algorithm>
#include <string_view>

namespace ingot::check {
namespace {

/// Matrices that a recipe is about: not the embeddings and the output, which have types of their
/// own and may be most of a small model.
bool is_matrix_of_recipe(const TensorInfo& tensor) noexcept {
  return tensor.shape.size() >= 2 && tensor.element_count != 0 && tensor.name.ends_with("weight") &&
         tensor.name != "token_embd.weight" && tensor.name != "output.weight" &&
         find_type(tensor.type) != nullptr;
}

/// File types have numbers below this; see file_types.def.
constexpr std::uint32_t file_type_end = 64;

}  // namespace

MatrixTypes::MatrixTypes(const Model& model) {
  for (const TensorInfo& tensor : model.tensors()) add(tensor);
}

void MatrixTypes::add(const TensorInfo& tensor) {
  if (!is_matrix_of_recipe(tensor)) return;
  elements[tensor.type] += tensor.element_count;
  total += tensor.element_count;
}

std::uint64_t MatrixTypes::of(TensorType type) const {
  const auto found = elements.find(type);
  return found == elements.end() ? 0 : found->second;
}

std::optional<TensorType> MatrixTypes::most() const {
  const auto found =
      std::max_element(elements.begin(), elements.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return found == elements.end() ? std::nullopt : std::optional(found->first);
}

// Source: llama.cpp's quantizer.
std::optional<TensorType> type_of_file_type(std::uint64_t file_type) noexcept {
  const std::string_view name = file_type_name(file_type);
  if (name == "Q4_1_SOME_F16") return TensorType::q4_1;
  if (name == "MXFP4_MOE") return TensorType::mxfp4;
  if (name == "Q2_K_S") return TensorType::q2_k;
  if (name == "IQ2_S") return TensorType::iq2_xs;
  if (name == "IQ2_M") return TensorType::iq2_s;
  if (name == "IQ3_XS" || name == "IQ3_M") return TensorType::iq3_s;
  if (const TensorTypeInfo* info = find_type(name)) return info->type;
  const bool is_mixture = name.size() == 6 && name.substr(2, 3) == "_K_";  // Q4_K_M
  const TensorTypeInfo* info = is_mixture ? find_type(name.substr(0, 4)) : nullptr;
  return info != nullptr ? std::optional(info->type) : std::nullopt;
}

bool is_wrong_file_type(std::uint64_t file_type, const MatrixTypes& types) {
  const std::optional<TensorType> type = type_of_file_type(file_type);
  return type && types.total != 0 && types.of(*type) == 0;
}

std::optional<std::uint32_t> file_type_of(TensorType type) noexcept {
  std::optional<std::uint32_t> found;
  for (std::uint32_t file_type = 0; file_type < file_type_end; ++file_type) {
    if (type_of_file_type(file_type) != type) continue;
    const std::string_view name = file_type_name(file_type);
    // Of several the one named like the type, or the medium one.
    const bool is_usual = find_type(name) != nullptr || name.ends_with("_M");
    if (!found || is_usual) found = file_type;
  }
  return found;
}

}  // namespace ingot::check

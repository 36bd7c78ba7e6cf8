// SPDX-License-Identifier: MIT
#include <string_view>

#include "ingot/types.hpp"

namespace ingot {
namespace {

/// File types have numbers below this; see file_types.def.
constexpr std::uint32_t file_type_end = 64;

}  // namespace

std::string_view file_type_name(std::uint64_t file_type) noexcept {
  constexpr std::uint64_t guessed_flag = 1024;  // set by tools that infer the mixture
  switch (file_type & ~guessed_flag) {
#define INGOT_FILE_TYPE(number, label) \
  case number:                         \
    return label;
#include "ingot/file_types.def"
#undef INGOT_FILE_TYPE
    default:
      return {};
  }
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

}  // namespace ingot

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstddef>

#include "ingot/types.hpp"

namespace ingot {
namespace {

struct RemovedType {
  std::uint32_t id;
  std::string_view name;
};

constexpr std::array removed_types = {
#define INGOT_TENSOR_TYPE(id, enumerator, label, elements, bytes, weights)
#define INGOT_REMOVED_TYPE(id, label) RemovedType{id, #label},
#include "ingot/tensor_types.def"
#undef INGOT_TENSOR_TYPE
#undef INGOT_REMOVED_TYPE
};

constexpr std::size_t id_count = static_cast<std::size_t>(live_tensor_types.back().type) + 1;

constexpr std::uint8_t no_position = 0xFF;
static_assert(live_tensor_types.size() < no_position);

/// For each id the position in live_tensor_types, or no_position.
constexpr auto positions = [] {
  std::array<std::uint8_t, id_count> by_id{};
  by_id.fill(no_position);
  for (std::size_t i = 0; i < live_tensor_types.size(); ++i) {
    by_id[static_cast<std::size_t>(live_tensor_types[i].type)] = static_cast<std::uint8_t>(i);
  }
  return by_id;
}();

constexpr char to_upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace

const TensorTypeInfo* find_type(TensorType type) noexcept {
  const auto id = static_cast<std::size_t>(type);
  if (id >= positions.size() || positions[id] == no_position) return nullptr;
  return &live_tensor_types[positions[id]];
}

const TensorTypeInfo* find_type(std::string_view name) noexcept {
  const auto* found = std::find_if(
      live_tensor_types.begin(), live_tensor_types.end(), [&](const TensorTypeInfo& info) {
        return std::equal(name.begin(), name.end(), info.name.begin(), info.name.end(),
                          [](char a, char b) { return to_upper(a) == to_upper(b); });
      });
  return found != live_tensor_types.end() ? found : nullptr;
}

bool is_quantized(TensorType type) noexcept {
  const TensorTypeInfo* info = find_type(type);
  return info != nullptr && info->is_quantized();
}

bool is_integer(TensorType type) noexcept {
  const TensorTypeInfo* info = find_type(type);
  return info != nullptr && info->is_integer();
}

bool is_float(TensorType type) noexcept {
  const TensorTypeInfo* info = find_type(type);
  return info != nullptr && info->is_float();
}

std::string_view removed_type_name(TensorType type) noexcept {
  for (const RemovedType& removed : removed_types) {
    if (removed.id == static_cast<std::uint32_t>(type)) return removed.name;
  }
  return {};
}

std::optional<TensorType> fallback_type(TensorType type, std::uint64_t row_elements) noexcept {
  using enum TensorType;
  TensorType fallback = f16;
  switch (type) {
    case iq1_s:
    case iq1_m:
    case iq2_xxs:
    case iq2_xs:
    case iq2_s:
    case iq3_xxs:
    case iq3_s:
    case iq4_xs:
      fallback = iq4_nl;
      break;
    case q2_k:
    case q3_k:
    case tq1_0:
    case tq2_0:
    case q2_0:
      fallback = q4_0;
      break;
    case q4_k:
      fallback = q5_0;
      break;
    case q5_k:
      fallback = q5_1;
      break;
    case q6_k:
      fallback = q8_0;
      break;
    default:
      return std::nullopt;
  }
  const TensorTypeInfo* info = find_type(fallback);
  return row_elements % info->block_elements == 0 ? fallback : f16;
}

}  // namespace ingot

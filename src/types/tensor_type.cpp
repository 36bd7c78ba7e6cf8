// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "base/ascii.hpp"
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
};

constexpr std::size_t id_count = static_cast<std::size_t>(live_tensor_types.back().type) + 1;

constexpr std::uint8_t no_position = 0xFF;
static_assert(live_tensor_types.size() < no_position);

/// The position of each id in live_tensor_types, or no_position.
constexpr auto positions = [] {
  std::array<std::uint8_t, id_count> by_id{};
  by_id.fill(no_position);
  for (std::size_t i = 0; i < live_tensor_types.size(); ++i) {
    by_id[static_cast<std::size_t>(live_tensor_types[i].type)] = static_cast<std::uint8_t>(i);
  }
  return by_id;
}();

/// The type that quantizers take instead of one whose blocks are longer than a row.
struct Fallback {
  TensorType type;
  TensorType narrower;
};

}  // namespace

std::string_view name_of(ImportanceWeights weights) noexcept {
  constexpr std::array<std::string_view, 4> names = {"unused", "optional", "recommended",
                                                     "required"};
  return names[static_cast<std::size_t>(weights)];
}

const TensorTypeInfo* find_type(TensorType type) noexcept {
  const auto id = static_cast<std::size_t>(type);
  if (id >= positions.size() || positions[id] == no_position) return nullptr;
  return &live_tensor_types[positions[id]];
}

std::string_view name_of(TensorType type) noexcept {
  const TensorTypeInfo* info = find_type(type);
  return info == nullptr ? std::string_view() : info->name;
}

const TensorTypeInfo* find_type(std::string_view name) noexcept {
  const auto found = std::find_if(
      live_tensor_types.begin(), live_tensor_types.end(), [&](const TensorTypeInfo& info) {
        return std::equal(name.begin(), name.end(), info.name.begin(), info.name.end(),
                          [](char a, char b) { return lower_case(a) == lower_case(b); });
      });
  return found != live_tensor_types.end() ? &*found : nullptr;
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
  static constexpr Fallback fallbacks[] = {
      {iq1_s, iq4_nl}, {iq1_m, iq4_nl},   {iq2_xxs, iq4_nl}, {iq2_xs, iq4_nl},
      {iq2_s, iq4_nl}, {iq3_xxs, iq4_nl}, {iq3_s, iq4_nl},   {iq4_xs, iq4_nl},
      {q2_k, q4_0},    {q3_k, q4_0},      {tq1_0, q4_0},     {tq2_0, q4_0},
      {q2_0, q4_0},    {q4_k, q5_0},      {q5_k, q5_1},      {q6_k, q8_0}};
  const auto* row = std::ranges::find(fallbacks, type, &Fallback::type);
  if (row == std::end(fallbacks)) return std::nullopt;
  const TensorTypeInfo* info = find_type(row->narrower);
  return row_elements % info->block_elements == 0 ? row->narrower : f16;
}

}  // namespace ingot

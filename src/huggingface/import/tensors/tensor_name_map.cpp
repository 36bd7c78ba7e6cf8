// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/tensor_name_map.hpp"

#include <algorithm>

namespace ingot::huggingface {
namespace {

constexpr std::string_view layer_mark = "{layer}";
constexpr std::string_view digits = "0123456789";

}  // namespace

TensorNameMap::TensorNameMap(const RuleTable& table, const Architecture& architecture,
                             std::uint64_t layer_count)
    : layer_count_(layer_count) {
  for (const TensorKind& kind : table.tensor_kinds()) {
    const auto& kinds = architecture.tensors;
    if (std::ranges::find(kinds, kind.kind) == kinds.end()) continue;
    names_.insert_or_assign(kind.name, kind.name);
    for (const std::string& from : kind.from) names_.insert_or_assign(from, kind.name);
  }
}

std::optional<std::string> TensorNameMap::find(std::string_view name) const {
  if (auto found = find_base(name)) return found;
  for (const std::string_view ending :
       {".weight", ".bias", ".scale", ".input_max", ".input_min", ".output_max", ".output_min"}) {
    if (!name.ends_with(ending)) continue;
    if (auto found = find_base(name.substr(0, name.size() - ending.size()))) {
      return *found + std::string(ending);
    }
  }
  return std::nullopt;
}

std::optional<std::string> TensorNameMap::find_base(std::string_view name) const {
  // Each number in the name may be that of the layer.
  for (std::size_t begin = name.find_first_of(digits); begin != name.npos;) {
    const std::size_t end = std::min(name.find_first_not_of(digits, begin), name.size());
    const auto layer = number_of(name.substr(begin, end - begin));
    if (layer && *layer < layer_count_) {
      std::string general(name.substr(0, begin));
      general.append(layer_mark).append(name.substr(end));
      if (const auto found = names_.find(general); found != names_.end()) {
        std::string mapped = found->second;
        const std::size_t mark = mapped.find(layer_mark);
        if (mark != mapped.npos) mapped.replace(mark, layer_mark.size(), std::to_string(*layer));
        return mapped;
      }
    }
    begin = name.find_first_of(digits, end);
  }
  const auto found = names_.find(std::string(name));
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace ingot::huggingface

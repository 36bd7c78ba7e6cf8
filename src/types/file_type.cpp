// SPDX-License-Identifier: MIT
#include "base/ranges.hpp"
#include "ingot/types.hpp"

namespace ingot {

const FileTypeInfo* find_file_type(std::uint64_t file_type) noexcept {
  constexpr std::uint64_t guessed_flag = 1024;  // set by tools that guess the mixture
  return find_row(file_types, &FileTypeInfo::number, file_type & ~guessed_flag);
}

std::string_view file_type_name(std::uint64_t file_type) noexcept {
  const FileTypeInfo* info = find_file_type(file_type);
  return info != nullptr ? info->name : std::string_view{};
}

std::optional<std::uint32_t> file_type_of(TensorType type) noexcept {
  const TensorTypeInfo* own = find_type(type);
  std::optional<std::uint32_t> found;
  for (const FileTypeInfo& row : file_types) {
    if (row.weights != type) continue;
    if (own != nullptr && row.name == own->name) return row.number;
    if (!found || row.name.ends_with("_M")) found = row.number;
  }
  return found;
}

std::optional<TensorType> type_of_file_type(std::uint64_t file_type) noexcept {
  const FileTypeInfo* info = find_file_type(file_type);
  return info != nullptr ? std::optional(info->weights) : std::nullopt;
}

}  // namespace ingot

// SPDX-License-Identifier: MIT
#include "format/tensor_layout.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "format/parse.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::format {
namespace {

using Positions = std::vector<std::uint32_t>;

/// The tensors by ascending offset; tensors without data come before one with data at the same
/// offset.
Positions by_offset(const std::vector<TensorInfo>& tensors) {
  Positions positions(tensors.size());
  std::iota(positions.begin(), positions.end(), std::uint32_t{0});
  std::sort(positions.begin(), positions.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (tensors[a].data_offset != tensors[b].data_offset) {
      return tensors[a].data_offset < tensors[b].data_offset;
    }
    if ((tensors[a].size_bytes == 0) != (tensors[b].size_bytes == 0)) {
      return tensors[a].size_bytes == 0;
    }
    return a < b;
  });
  return positions;
}

/// Derives the sizes of tensors of unknown type from their neighbours.
void set_unknown_sizes(Structure& structure, std::uint64_t data_bytes) {
  const Positions positions = by_offset(structure.tensors);
  std::uint64_t next_offset = data_bytes;  // the next offset larger than that of tensor i
  for (std::size_t i = positions.size(); i-- != 0;) {
    TensorInfo& tensor = structure.tensors[positions[i]];
    if (i + 1 < positions.size()) {
      const std::uint64_t after = structure.tensors[positions[i + 1]].data_offset;
      if (after > tensor.data_offset) next_offset = after;
    }
    if (find_type(tensor.type) == nullptr && next_offset > tensor.data_offset) {
      tensor.size_bytes = next_offset - tensor.data_offset;
    }
  }
}

Failure outside_file(const TensorInfo& tensor, const Structure& structure,
                     std::uint64_t file_bytes) {
  const std::optional<std::uint64_t> begin = checked_add(structure.data_offset, tensor.data_offset);
  const std::optional<std::uint64_t> end =
      begin ? checked_add(*begin, tensor.size_bytes) : std::nullopt;
  return fail(Errc::tensor_outside_file, begin.value_or(Error::no_offset), std::string(tensor.name),
              end ? "it ends at byte " + std::to_string(*end) + " of a file of " +
                        std::to_string(file_bytes)
                  : "its offset is " + std::to_string(tensor.data_offset));
}

Failure overlap(const TensorInfo& tensor, const TensorInfo& other, const Structure& structure) {
  return fail(Errc::tensor_overlap, structure.data_offset + tensor.data_offset,
              std::string(tensor.name), "the other is \"" + std::string(other.name) + "\"");
}

/// Looks for two tensors with common bytes; all of them lie within the file.
Result<void> check_overlap(const Structure& structure) {
  const TensorInfo* last = nullptr;  // the last tensor with data
  for (const std::uint32_t position : by_offset(structure.tensors)) {
    const TensorInfo& tensor = structure.tensors[position];
    if (tensor.size_bytes == 0) continue;
    if (last != nullptr && tensor.data_offset < last->data_offset + last->size_bytes) {
      return overlap(tensor, *last, structure);
    }
    last = &tensor;
  }
  return {};
}

}  // namespace

Result<std::uint64_t> alignment_of(const Structure& structure, bool is_lenient) {
  const Value* const value = structure.find(keys::general_alignment);
  if (value == nullptr) return default_alignment;
  const auto refuse = [&](Errc code, const std::string& found) {
    return fail(code, value->file_offset(), std::string(keys::general_alignment), "found " + found);
  };
  if (value->type() != ValueType::uint32) {
    return refuse(Errc::alignment_wrong_type, std::string(name_of(value->type())));
  }
  const std::uint64_t alignment = *value->get<std::uint32_t>();
  const bool is_small = alignment == 1 || alignment == 2 || alignment == 4;
  if (alignment == 0 || (alignment % 8 != 0 && !is_small)) {
    return refuse(Errc::alignment_invalid, std::to_string(alignment));
  }
  if (is_small && !is_lenient) {
    return refuse(Errc::alignment_too_small, std::to_string(alignment));
  }
  return alignment;
}

Result<void> check_layout(Structure& structure, std::uint64_t file_bytes) {
  const std::uint64_t data_bytes =
      file_bytes > structure.data_offset ? file_bytes - structure.data_offset : 0;
  const bool has_unknown_types =
      std::any_of(structure.tensors.begin(), structure.tensors.end(),
                  [](const TensorInfo& tensor) { return find_type(tensor.type) == nullptr; });
  if (has_unknown_types) set_unknown_sizes(structure, data_bytes);

  bool is_in_order = true;
  std::uint64_t end = 0;
  for (const TensorInfo& tensor : structure.tensors) {
    if (tensor.data_offset > data_bytes || tensor.size_bytes > data_bytes - tensor.data_offset) {
      return outside_file(tensor, structure, file_bytes);
    }
    if (tensor.data_offset < end) is_in_order = false;
    end = std::max(end, tensor.data_offset + tensor.size_bytes);
  }
  return is_in_order ? Result<void>{} : check_overlap(structure);
}

}  // namespace ingot::format

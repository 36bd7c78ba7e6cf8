// SPDX-License-Identifier: MIT
#include "format/tensor_table.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "base/large_pages.hpp"
#include "format/field.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::format {
namespace {

constexpr std::uint64_t max_lenient_name_bytes = 65535;
constexpr std::uint32_t max_lenient_dimensions = 8;

class TensorInfoParser {
 public:
  TensorInfoParser(Cursor& cursor, const ParseOptions& options, std::uint64_t count,
                   Structure& structure)
      : cursor_(cursor), options_(options), count_(count), structure_(structure) {}

  Result<void> run() {
    structure_.tensors.reserve(to_size(count_));
    prefer_large_pages(structure_.tensors.data(), to_size(count_ * sizeof(TensorInfo)));
    structure_.tensor_index.reserve(to_size(count_));
    // One reservation keeps the shapes in place; unused memory is never touched.
    const std::uint64_t most_dimensions =
        options_.is_lenient ? max_lenient_dimensions : max_dimensions;
    structure_.dimensions.reserve(to_size(count_ * most_dimensions));

    std::uint64_t indexed = 0;
    for (std::uint64_t i = 0; i < count_; ++i) {
      if (i - indexed == unindexed_.size()) INGOT_TRY_VOID(index_name(indexed++));
      if (const Result<void> parsed = parse_info(); !parsed) {
        // A repeated name of an earlier tensor is the first fault.
        while (indexed < i) INGOT_TRY_VOID(index_name(indexed++));
        return parsed;
      }
    }
    while (indexed < count_) INGOT_TRY_VOID(index_name(indexed++));
    return {};
  }

 private:
  Result<void> parse_info() {
    const std::uint64_t info_offset = cursor_.position();
    const std::size_t position = structure_.tensors.size();
    TensorInfo& tensor = structure_.tensors.emplace_back();
    INGOT_TRY_VOID(parse_name(tensor));
    unindexed_[position % unindexed_.size()] = {structure_.tensor_index.prepare(tensor.name),
                                                info_offset};
    INGOT_TRY_VOID(parse_shape(tensor));
    const std::uint64_t type_offset = cursor_.position();
    tensor.type = static_cast<TensorType>(cursor_.u32());
    tensor.data_offset = cursor_.u64();
    if (cursor_.has_failed()) return ends_early(cursor_, tensor.name);
    INGOT_TRY_VOID(set_size(tensor, type_offset));
    if (tensor.data_offset % structure_.alignment != 0) {
      return fail(
          Errc::offset_unaligned, type_offset + 4, std::string(tensor.name),
          found(tensor.data_offset) + ", the alignment is " + std::to_string(structure_.alignment));
    }
    return {};
  }

  Result<void> index_name(std::uint64_t position) {
    const UnindexedName& name = unindexed_[to_size(position % unindexed_.size())];
    const auto duplicate = structure_.tensor_index.insert(
        static_cast<std::uint32_t>(position), name.hash,
        [this](std::uint32_t at) { return structure_.tensors[at].name; });
    if (duplicate) {
      return fail(
          Errc::tensor_duplicate, name.info_offset,
          std::string(structure_.tensors[to_size(position)].name),
          "it is tensor " + std::to_string(*duplicate) + " and tensor " + std::to_string(position));
    }
    return {};
  }

  Result<void> parse_name(TensorInfo& tensor) {
    const std::uint64_t name_offset = cursor_.position();
    const std::uint64_t length_bytes = cursor_.count();
    if (cursor_.has_failed()) return ends_early(cursor_, "tensor name");
    if (length_bytes > max_lenient_name_bytes + 1) {
      return fail(Errc::limit_exceeded, name_offset, "tensor name", found(length_bytes) + " bytes");
    }
    const std::string_view name = strip(structure_, cursor_.take_text(length_bytes));
    if (cursor_.has_failed()) return ends_early(cursor_, "tensor name");
    if (!is_identifier(name)) {
      return fail(Errc::tensor_name_invalid, name_offset, std::string(name));
    }
    if (name.size() > max_lenient_name_bytes) {
      return fail(Errc::limit_exceeded, name_offset, "tensor name", found(name.size()) + " bytes");
    }
    if (name.size() > max_name_bytes && !options_.is_lenient) {
      return fail(Errc::tensor_name_too_long, name_offset, std::string(name), found(name.size()));
    }
    tensor.name = name;
    return {};
  }

  Result<void> parse_shape(TensorInfo& tensor) {
    const std::uint64_t count_offset = cursor_.position();
    const std::uint32_t dimension_count = cursor_.u32();
    if (dimension_count > max_lenient_dimensions) {
      return fail(Errc::dimension_count_invalid, count_offset, std::string(tensor.name),
                  found(dimension_count));
    }
    if (dimension_count > max_dimensions && !options_.is_lenient) {
      return fail(Errc::too_many_dimensions, count_offset, std::string(tensor.name),
                  found(dimension_count));
    }
    const std::size_t first = structure_.dimensions.size();
    for (std::uint32_t i = 0; i < dimension_count; ++i) {
      structure_.dimensions.push_back(cursor_.count());
    }
    tensor.shape = {structure_.dimensions.data() + first, dimension_count};
    return {};
  }

  Result<void> set_size(TensorInfo& tensor, std::uint64_t type_offset) const {
    if (find_type(tensor.type) == nullptr && !options_.is_lenient) {
      const std::string_view removed = removed_type_name(tensor.type);
      const auto id = static_cast<std::uint32_t>(tensor.type);
      return removed.empty()
                 ? fail(Errc::tensor_type_unknown, type_offset, std::string(tensor.name), found(id))
                 : fail(Errc::tensor_type_removed, type_offset, std::string(tensor.name),
                        found(id) + ", once " + std::string(removed));
    }
    Result<TensorSize> size = size_of_tensor(tensor.type, tensor.shape);
    if (!size) {
      return fail(size.error().code, type_offset, std::string(tensor.name), size.error().detail);
    }
    tensor.element_count = size->elements;
    tensor.size_bytes = size->bytes;
    return {};
  }

  Cursor& cursor_;
  const ParseOptions& options_;
  const std::uint64_t count_;
  Structure& structure_;
  /// The index of 100,000 names is larger than most caches. So the names of the last tensors wait
  /// here while the cache fetches their slots of the index.
  struct UnindexedName {
    std::uint64_t hash = 0;
    std::uint64_t info_offset = 0;
  };
  std::array<UnindexedName, 16> unindexed_;
};

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

Result<void> parse_tensor_infos(Cursor& cursor, const ParseOptions& options, std::uint64_t count,
                                Structure& structure) {
  return TensorInfoParser(cursor, options, count, structure).run();
}

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

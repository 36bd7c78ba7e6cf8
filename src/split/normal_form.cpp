// SPDX-License-Identifier: MIT
// Whether a file is exactly what writing its model gives.
#include <algorithm>
#include <vector>

#include "base/checked.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/shard_name.hpp"
#include "ingot/split.hpp"

namespace ingot {
namespace {

/// Whether all bytes of the file between two positions are zero.
Result<bool> is_zero(const Model& model, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t max_bytes = std::uint64_t{64} << 10;
  std::vector<std::byte> piece;
  while (begin < end) {
    piece.resize(static_cast<std::size_t>(std::min(end - begin, max_bytes)));
    INGOT_TRY_VOID(model.read_file_bytes(0, begin, piece));
    if (!std::ranges::all_of(piece, [](std::byte byte) { return byte == std::byte{0}; })) {
      return false;
    }
    begin += piece.size();
  }
  return true;
}

Result<bool> has_other_padding(const Model& model) {
  const ModelFile& file = model.files()[0];
  for (const TensorInfo& tensor : file.tensors) {
    const std::uint64_t end = model.file_offset(tensor) + tensor.size_bytes;
    // Offsets count from the data section, whose beginning is aligned.
    const auto padded = checked_align_up(end - file.data_offset, file.alignment);
    if (!padded) return true;
    INGOT_TRY(const bool is_padding, is_zero(model, end, file.data_offset + *padded));
    if (!is_padding) return true;
  }
  return false;
}

}  // namespace

Result<std::string> describe_abnormal_form(const Model& model) {
  const ModelFile& file = model.files()[0];
  if (model.is_split()) return std::string();
  const bool has_split_keys = std::ranges::any_of(
      file.metadata, [](const KeyValue& entry) { return is_split_key(entry.key); });
  if (has_split_keys) return std::string("keys of a set of shards");
  ModelWriter writer = ModelWriter::with_keys_of(model);
  std::uint64_t next_offset = 0;
  for (const TensorInfo& tensor : model.tensors()) {
    INGOT_TRY_VOID(writer.add_tensor(tensor.name, model, tensor));
    const auto next = checked_align_up(tensor.size_bytes, file.alignment);
    if (tensor.data_offset != next_offset || !next) {
      return std::string("data that is not in the order of the tensors, or has gaps");
    }
    next_offset += *next;
  }
  INGOT_TRY(const std::vector<std::byte> header, writer.serialise_header(WriteFormat::of(model)));
  INGOT_TRY(const std::uint64_t written_bytes, writer.file_bytes(WriteFormat::of(model)));
  if (written_bytes < file.file_bytes) return std::string("bytes after the last tensor");
  if (written_bytes > file.file_bytes) return std::string("no padding after the last tensor");
  std::vector<std::byte> old_header(header.size());
  INGOT_TRY_VOID(model.read_file_bytes(0, 0, old_header));
  if (header != old_header) return std::string("a header with quirks that writing repairs");
  INGOT_TRY(const bool is_other, has_other_padding(model));
  return std::string(is_other ? "padding that is not zero" : "");
}

}  // namespace ingot

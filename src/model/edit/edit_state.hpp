// SPDX-License-Identifier: MIT
// The state of an edit: the changes, and the drafts that are made from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingot/edit.hpp"
#include "io/in_place_file.hpp"
#include "model/open/model_state.hpp"
#include "model/write/name_places.hpp"

namespace ingot {

inline constexpr std::size_t no_position = std::numeric_limits<std::size_t>::max();

/// A key as it will be.
struct KeyEdit {
  std::size_t original = no_position;  ///< The position in the file's table; no_position if it is
                                       ///< new.
  std::string name;
  std::optional<OwnedValue> value = {};  ///< The value that replaces the original one.
  bool is_renamed = false;
  bool is_removed = false;
};

/// A tensor as it will be; the position is that in the file's table.
struct TensorEdit {
  std::string new_name;
  bool is_renamed = false;
  bool is_removed = false;
};

struct ModelEdit::State {
  std::string path;  ///< The path without symbolic links.
  OpenOptions options;
  LockWait wait;
  std::optional<io::InPlaceFile> locked;  ///< Set from opening or saving on.
  std::optional<Model> model;
  std::vector<KeyEdit> keys;
  NamePlaces key_places;
  std::vector<TensorEdit> tensors;
  NamePlaces tensor_places;
  std::optional<std::uint64_t> wanted_slack_bytes;
  bool wants_index = false;

  [[nodiscard]] const LoadedFile& file() const { return ModelAccess::state(*model).loaded[0]; }
  [[nodiscard]] bool removes_tensors() const;
  /// Locks the file. Errc::shard_missing if it is of a set whose replacement was cut off: the next
  /// one puts older files back, and an edit would be lost.
  [[nodiscard]] Result<void> lock();
  /// Opens the model, with or without a lock.
  [[nodiscard]] Result<void> open_model();
};

/// The new header without padding, in two parts, between which the padding key goes.
struct HeaderDraft {
  std::vector<std::byte> keys;   ///< The bytes from the magic to the last key.
  std::vector<std::byte> infos;  ///< The tensor infos.
  detail::ValueEncoding encoding;
  std::uint64_t key_count = 0;
  std::uint64_t tensor_count = 0;
  std::uint64_t alignment = default_alignment;
  // --- of a layout index, whose elements are filled in when all offsets are known
  std::size_t index_elements = 0;  ///< 0: there is none.
  std::size_t index_offset = 0;    ///< The offset of its first element.
  std::vector<std::uint64_t> key_offsets;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return keys.size() + infos.size(); }
  /// Bytes of the padding key with an empty value.
  [[nodiscard]] std::uint64_t padding_overhead() const noexcept;
  /// The header with a padding key that takes `padding_bytes` in all (0: none).
  [[nodiscard]] std::vector<std::byte> assemble(std::uint64_t padding_bytes) const;
  /// Fills in the elements of the index in the assembled header.
  void fill_index(std::vector<std::byte>& header, bool has_padding) const;
};

/// New places of the tensors' data, by position in the file's table.
using NewOffsets = std::vector<std::uint64_t>;

/// Everything that is not changed is taken from `old_header`, the bytes before the data. Empty
/// `offsets`: they stay.
[[nodiscard]] Result<HeaderDraft> draft_header(const ModelEdit::State& state,
                                               std::span<const std::byte> old_header,
                                               const NewOffsets& offsets);

/// The alignment that the file will have.
[[nodiscard]] std::uint64_t new_alignment(const ModelEdit::State& state);

/// A part of the old file that goes into a new one.
struct Segment {
  std::uint64_t file_offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t padded_bytes = 0;  ///< The size with the zeros that follow.
};

struct EditDraft {
  EditPlan plan;
  std::vector<std::byte> header;     ///< The new one, with the zeros that have to follow in place.
  std::vector<Segment> segments;     ///< The segments of a copy.
  std::uint64_t inserted_bytes = 0;  ///< The bytes for insert_range.
  std::uint64_t patch_offset = 0;  ///< The bytes that an edit in place overwrites, in the old file.
  std::vector<std::byte> old_header;  ///< The old bytes, from 0 on; at least to the patch's end.
  std::uint64_t patch_bytes = 0;
};

/// The target of an edit: the file itself, or only a new file at `output`.
struct EditTarget {
  std::string output;
  bool may_change_in_place = true;
};

[[nodiscard]] Result<EditDraft> draft_edit(const ModelEdit::State& state, const EditTarget& target);

}  // namespace ingot

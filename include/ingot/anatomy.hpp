// SPDX-License-Identifier: MIT
// A file explained byte by byte.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ingot/describe.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"

namespace ingot {

enum class Section : std::uint8_t { header, metadata, tensors, data };

[[nodiscard]] INGOT_EXPORT std::string_view name_of(Section section) noexcept;

/// A run of bytes with one meaning.
struct Field {
  Section section = Section::header;
  std::uint64_t file_offset = 0;
  std::uint64_t size_bytes = 0;
  std::string_view name;     ///< "version", "key length", "dimension 0", "padding", ...
  std::string_view subject;  ///< Key or tensor that it belongs to, raw bytes; may be empty.
  std::string_view meaning;  ///< Decoded value; safe to print.
};

template <class Visitor>
void describe(Visitor& visit, const Field& field) {
  visit("offset", field.file_offset, "bytes", "from the beginning of the file");
  visit("size", field.size_bytes, "bytes", "of the field");
  visit("section", field.section, "", "`header`, `metadata`, `tensors` or `data`");
  visit("field", field.name, "", "its kind: `magic`, `key length`, `tensor`, `padding`, ...");
  visit("subject", text_if_any(field.subject), "",
        "the key or the tensor that it belongs to; null if it belongs to none");
  visit("meaning", field.meaning, "",
        "the decoded value, for people: long texts are shortened and escaped");
}

/// Receives the fields in file order; returns whether to go on. The views live for the call.
using FieldVisitor = std::function<bool(const Field&)>;

/// Explains the file `model.files()[file]`: every byte from 0 to the data section belongs to
/// exactly one field, and keys that were skipped (OpenOptions::uses_index) are fields "unread".
/// Then come one field per tensor, one per gap and one for the bytes after the last tensor, so that
/// the sizes of all fields add up to the size of the file. Linear in the fields; memory is bounded
/// by the number of tensors, as they are visited in the order of their offsets.
INGOT_EXPORT void visit_fields(const Model& model, std::size_t file, const FieldVisitor& visit);

}  // namespace ingot

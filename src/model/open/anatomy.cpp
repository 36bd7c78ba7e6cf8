// SPDX-License-Identifier: MIT
#include "ingot/anatomy.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "base/checked.hpp"
#include "base/messages.hpp"
#include "base/ranges.hpp"
#include "format/value_context.hpp"
#include "ingot/text.hpp"
#include "model/open/model_state.hpp"

namespace ingot {
namespace {

using detail::ValueEncoding;

/// Longest text that is put into a meaning, in columns; the bytes themselves are in the file.
constexpr std::size_t max_text_columns = 96;

std::string quoted(std::string_view text) {
  return "\"" + escape_shortened(text, max_text_columns) + "\"";
}

std::string describe(const Value& value) {
  switch (value.type()) {
    case ValueType::string:
      return quoted(*value.get<std::string_view>());
    case ValueType::boolean:
      return std::to_integer<int>(value.bytes()[0]) > 1
                 ? "true, stored as " + std::to_string(std::to_integer<int>(value.bytes()[0]))
             : *value.get<bool>() ? "true"
                                  : "false";
    case ValueType::float32:
      return format_float(*value.get<float>());
    case ValueType::float64:
      return format_float(*value.get<double>());
    default:
      break;
  }
  if (const Result<std::int64_t> number = value.get<std::int64_t>()) return std::to_string(*number);
  return std::to_string(*value.get<std::uint64_t>());
}

std::string describe(TensorType type) {
  const auto id = std::to_string(static_cast<std::uint32_t>(type));
  if (const TensorTypeInfo* info = find_type(type)) return id + " " + std::string(info->name);
  const std::string_view removed = removed_type_name(type);
  return id + (removed.empty() ? " unknown" : " removed type " + std::string(removed));
}

/// Hands out one field after the other; every field begins where the last one ended.
class FieldStream {
 public:
  FieldStream(const LoadedFile& file, const FieldVisitor& visit)
      : begin_(file.structure.context->file_begin),
        context_(*file.structure.context),
        visit_(visit) {}

  [[nodiscard]] bool is_stopped() const noexcept { return is_stopped_; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] const std::byte* data() const noexcept { return begin_ + offset_; }
  [[nodiscard]] const ValueEncoding& encoding() const noexcept { return context_.encoding; }
  [[nodiscard]] std::uint64_t count_here() const noexcept { return encoding().load_count(data()); }
  [[nodiscard]] std::uint32_t u32_here() const noexcept {
    return load<std::uint32_t>(data(), encoding().is_swapped);
  }

  void begin(Section section, std::string_view subject) {
    section_ = section;
    subject_ = subject;
  }
  void field(std::string_view name, std::uint64_t size_bytes, std::string_view meaning) {
    if (!is_stopped_) {
      is_stopped_ = !visit_({.section = section_,
                             .file_offset = offset_,
                             .size_bytes = size_bytes,
                             .name = name,
                             .subject = subject_,
                             .meaning = meaning});
    }
    offset_ += size_bytes;  // also when stopped, as the walk goes on to the end of the record
  }
  void count_field(std::string_view name) {
    field(name, encoding().count_bytes(), std::to_string(count_here()));
  }
  /// A length and the text after it; nothing is shown for the bytes of an empty text.
  void text_fields(std::string_view length_name, std::string_view name) {
    const std::uint64_t length_bytes = count_here();
    count_field(length_name);
    if (length_bytes == 0) return;
    const std::string_view stored(reinterpret_cast<const char*>(data()), to_size(length_bytes));
    field(name, length_bytes, quoted(stored));
  }
  void type_field(std::string_view name) {
    const auto type = static_cast<ValueType>(u32_here());
    field(name, 4, std::to_string(u32_here()) + " " + std::string(name_of(type)));
  }
  void scalar_field(std::string_view name, ValueType type) {
    const std::uint32_t size_bytes = size_bytes_of(type);
    field(name, size_bytes, describe(context_.make(type, type, data(), size_bytes, 1)));
  }

 private:
  const std::byte* begin_;
  const detail::ValueContext& context_;
  const FieldVisitor& visit_;
  Section section_ = Section::header;
  std::string_view subject_;
  std::uint64_t offset_ = 0;
  bool is_stopped_ = false;
};

/// Makes fields of the elements of an array as it is walked over.
struct ElementFields {
  FieldStream& stream;

  void scalars(ValueType type, const std::byte*, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count && !stream.is_stopped(); ++i) {
      stream.scalar_field("element " + std::to_string(i), type);
    }
    text_index = 0;
  }
  void text(const std::byte*, std::uint64_t) {
    if (stream.is_stopped()) return;
    const std::string name = "element " + std::to_string(text_index++);
    stream.text_fields(name + " length", name);
  }
  void begin_array(ValueType, const std::byte*, std::uint64_t) {
    if (stream.is_stopped()) return;
    stream.type_field("inner element type");
    stream.count_field("inner element count");
    text_index = 0;
  }

  std::uint64_t text_index = 0;
};

void visit_header(FieldStream& stream, const format::Structure& structure) {
  stream.begin(Section::header, {});
  stream.field("magic", 4,
               structure.has_old_magic ? "\"FUGG\", the old big-endian magic" : "\"GGUF\"");
  stream.field("version", 4,
               std::to_string(structure.version) +
                   (structure.byte_order == Endian::big ? ", big-endian" : ", little-endian"));
  stream.count_field("tensor count");
  stream.count_field("key count");
}

/// The keys up to an offset that the reader jumped over by the layout index.
void visit_unread(FieldStream& stream, std::uint64_t until) {
  if (stream.is_stopped() || stream.offset() >= until) return;
  stream.begin(Section::metadata, {});
  stream.field("unread", until - stream.offset(), "keys that were not read");
}

void visit_key_value(FieldStream& stream, const KeyValue& entry) {
  stream.begin(Section::metadata, entry.key);
  stream.text_fields("key length", "key");
  stream.type_field("value type");
  if (entry.value.type() == ValueType::string) {
    stream.text_fields("string length", "string");
  } else if (entry.value.is_array()) {
    stream.type_field("element type");
    stream.count_field("element count");
    const Array array = entry.value.as_array();
    detail::walk_array(stream.encoding(), array.element_type(), array.bytes().data(), array.size(),
                       ElementFields{stream});
  } else {
    stream.scalar_field("value", entry.value.type());
  }
}

void visit_tensor_info(FieldStream& stream, const TensorInfo& tensor) {
  stream.begin(Section::tensors, tensor.name);
  stream.text_fields("name length", "name");
  stream.field("dimension count", 4, std::to_string(stream.u32_here()));
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    stream.count_field("dimension " + std::to_string(i));
  }
  stream.field("tensor type", 4, describe(tensor.type));
  stream.field("data offset", 8, std::to_string(tensor.data_offset) + " into the data");
}

std::string describe_data(const TensorInfo& tensor) {
  std::string text;
  const TensorTypeInfo* info = find_type(tensor.type);
  text = info != nullptr ? std::string(info->name) : "type " + describe(tensor.type);
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    text += (i == 0 ? " " : " x ") + std::to_string(tensor.shape[i]);
  }
  return text;
}

std::vector<std::uint32_t> positions_by_offset(std::span<const TensorInfo> tensors) {
  std::vector<std::uint32_t> positions(tensors.size());
  std::iota(positions.begin(), positions.end(), std::uint32_t{0});
  std::ranges::stable_sort(positions, {}, [&](std::uint32_t i) { return tensors[i].data_offset; });
  return positions;
}

/// Visits the bytes between two offsets: padding up to the alignment, then a gap.
void visit_gap(FieldStream& stream, std::uint64_t until, std::uint64_t alignment) {
  if (stream.offset() >= until) return;
  const std::uint64_t size_bytes = until - stream.offset();
  stream.begin(Section::data, {});
  stream.field(size_bytes < alignment ? "padding" : "gap", size_bytes,
               plural(size_bytes, "byte") + (size_bytes == 1 ? " that belongs" : " that belong") +
                   " to no tensor");
}

void visit_data(FieldStream& stream, const LoadedFile& file) {
  const format::Structure& structure = file.structure;
  const auto& tensors = structure.tensors;
  for (const std::uint32_t position : positions_by_offset(tensors)) {
    const TensorInfo& tensor = tensors[position];
    const std::uint64_t data_begin = structure.data_offset + tensor.data_offset;
    if (tensor.size_bytes != 0) visit_gap(stream, data_begin, structure.alignment);
    stream.begin(Section::data, tensor.name);
    if (tensor.size_bytes != 0) stream.field("tensor", tensor.size_bytes, describe_data(tensor));
    if (stream.is_stopped()) return;
  }
  if (stream.offset() >= file.file_bytes) return;
  const std::uint64_t rest_bytes = file.file_bytes - stream.offset();
  const bool is_padding = !tensors.empty() && rest_bytes < structure.alignment;
  stream.begin(Section::data, {});
  stream.field(is_padding ? "padding" : "tail", rest_bytes,
               is_padding ? "up to the alignment" : "bytes after the last tensor");
}

}  // namespace

std::string_view name_of(Section section) noexcept {
  constexpr std::array<std::string_view, 4> names = {"header", "metadata", "tensors", "data"};
  return name_at(names, section);
}

void visit_fields(const Model& model, std::size_t file, const FieldVisitor& visit) {
  const detail::ModelState& state = ModelAccess::state(model);
  if (file >= state.loaded.size()) return;
  const LoadedFile& loaded = state.loaded[file];
  const format::Structure& structure = loaded.structure;
  FieldStream stream(loaded, visit);
  visit_header(stream, structure);
  for (const KeyValue& entry : structure.metadata) {
    visit_unread(stream, structure.context->record_offset(entry.key));
    if (stream.is_stopped()) return;
    visit_key_value(stream, entry);
  }
  visit_unread(stream, structure.infos_offset);
  for (const TensorInfo& tensor : structure.tensors) {
    if (stream.is_stopped()) return;
    visit_tensor_info(stream, tensor);
  }
  if (!structure.tensors.empty()) {
    const std::uint64_t data_offset = std::min(structure.data_offset, loaded.file_bytes);
    if (stream.offset() < data_offset && !stream.is_stopped()) {
      stream.begin(Section::tensors, {});
      stream.field("padding", data_offset - stream.offset(),
                   "up to the alignment of " + std::to_string(structure.alignment));
    }
  }
  if (!stream.is_stopped()) visit_data(stream, loaded);
}

}  // namespace ingot

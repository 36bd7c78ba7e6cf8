// SPDX-License-Identifier: MIT
#include "model/write/writer_content.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/checked.hpp"
#include "format/header_index.hpp"
#include "format/magic.hpp"
#include "format/parse.hpp"

namespace ingot {
namespace {

/// A header must open before it is written: writer and reader share one set of rules.
Result<void> check_header(std::span<const std::byte> header, std::uint64_t file_bytes,
                          bool is_lenient) {
  // Values from the caller are trusted; only a file from elsewhere has to fit a reader's limits.
  constexpr std::uint64_t no_limit = ~std::uint64_t{0};
  const Limits limits{.max_header_bytes = no_limit,
                      .max_keys = no_limit,
                      .max_tensors = no_limit,
                      .max_string_bytes = no_limit,
                      .max_array_elements = no_limit,
                      .max_depth = detail::max_array_depth};
  Result<format::Parsed> parsed =
      format::parse(header, {.is_lenient = is_lenient, .limits = limits, .file_bytes = file_bytes});
  if (!parsed) {
    // An offset in a header that is not in any file would only mislead.
    parsed.error().file_offset = Error::no_offset;
    return fail(std::move(parsed).error());
  }
  if (parsed->is_complete()) return {};
  return fail(Errc::internal, "the header is not complete");
}

/// The bytes of the data section. Tensors lie in order, each at the next multiple of the alignment.
Result<std::uint64_t> size_of_data(const std::vector<PendingTensor>& tensors,
                                   std::uint64_t alignment) {
  std::uint64_t data_bytes = 0;
  for (const PendingTensor& tensor : tensors) {
    const auto end = checked_add(data_bytes, tensor.info->size_bytes);
    // The last tensor is padded too: some readers demand it.
    const auto next = end ? checked_align_up(*end, alignment) : std::nullopt;
    if (!next) return fail(Errc::size_overflow, std::string(tensor.info->name));
    data_bytes = *next;
  }
  return data_bytes;
}

/// The tensor table with its offsets; `size_of_data` has found no overflow.
std::function<TensorInfo(std::size_t)> laid_out(const std::vector<PendingTensor>& tensors,
                                                std::uint64_t alignment) {
  return [&tensors, alignment, offset = std::uint64_t{0}](std::size_t position) mutable {
    TensorInfo tensor = *tensors[position].info;
    tensor.data_offset = offset;
    offset = *checked_align_up(offset + tensor.size_bytes, alignment);
    return tensor;
  };
}

/// The header of these keys and all tensors; `metadata` and `content` must outlive it.
format::HeaderContent describe(const WriterContent& content, WriteFormat format,
                               std::span<const KeyValue> metadata) {
  return {.version = format.version,
          .byte_order = format.byte_order,
          .alignment = content.alignment(),
          .metadata = metadata,
          .tensor_count = content.tensors.size(),
          .tensor_at = laid_out(content.tensors, content.alignment())};
}

/// The bytes of the tensor table, as they will be in the file.
Result<std::vector<std::byte>> serialise_infos(const WriterContent& content, WriteFormat format) {
  const std::uint64_t count_bytes = sizeof(std::uint64_t);
  std::uint64_t infos_bytes = 0;
  const auto encoding = format::encoding_of(format.version, format.byte_order);
  std::vector<std::byte> name;
  for (const PendingTensor& tensor : content.tensors) {
    name.clear();
    INGOT_TRY_VOID(format::append_text(tensor.info->name, encoding, name));
    infos_bytes += name.size() + 4 + count_bytes * tensor.info->shape.size() + 4 + 8;
  }
  format::HeaderContent described = describe(content, format, {});
  described.alignment = 1;  // leaves out the padding behind the table, which can be gigabytes
  INGOT_TRY(std::vector<std::byte> header, format::serialise(described));
  const auto begin = header.begin() + static_cast<std::ptrdiff_t>(8 + 2 * count_bytes);
  return std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(infos_bytes));
}

/// The offsets of all records, the first of which is that of the index.
Result<format::LayoutIndex> lay_out_records(const WriterContent& content, WriteFormat format,
                                            std::span<const KeyValue> others,
                                            std::size_t element_count) {
  const auto encoding = format::encoding_of(format.version, format.byte_order);
  format::LayoutIndex index;
  const std::uint64_t first = 8 + 2 * encoding.count_bytes();
  std::uint64_t position = first + 2 * encoding.count_bytes() + layout_index_key.size() + 4 + 4 +
                           sizeof(std::uint64_t) * element_count;
  index.key_offsets.push_back(first);
  std::vector<std::byte> record;
  for (const KeyValue& entry : others) {
    index.key_offsets.push_back(position);
    record.clear();
    INGOT_TRY_VOID(format::append_text(entry.key, encoding, record));
    INGOT_TRY_VOID(format::append_typed_value(entry.value, encoding, record));
    position += record.size();
  }
  INGOT_TRY(const std::vector<std::byte> infos, serialise_infos(content, format));
  index.infos_offset = position;
  index.infos_bytes = infos.size();
  index.infos_hash = format::hash_of_infos(infos);
  index.data_offset = *checked_align_up(index.infos_end(), content.alignment());
  return index;
}

/// Makes the layout index the first key, if there is to be one; `own` holds its value. It has room
/// for one more key, which an edit may need.
Result<void> put_index_first(const WriterContent& content, WriteFormat format,
                             std::vector<KeyValue>& metadata, KeyTable& own) {
  const auto is_index = [](const KeyValue& entry) { return entry.key == layout_index_key; };
  if (std::erase_if(metadata, is_index) == 0 && !format.has_index) return {};
  if (format.version < 2) {
    return fail(Errc::version_cannot_hold, std::string(layout_index_key),
                "version 1 has no values of 64 bits");
  }
  constexpr std::size_t room = 1;
  const std::size_t element_count = format::layout_index_fields + 1 + metadata.size() + room;
  INGOT_TRY(const format::LayoutIndex index,
            lay_out_records(content, format, metadata, element_count));
  const std::vector<std::uint64_t> elements = format::elements_of(index, room);
  own.set(layout_index_key, OwnedContent::scalars(ValueType::uint64, elements.data(),
                                                  elements.size(), sizeof(std::uint64_t)));
  metadata.insert(metadata.begin(), own.entries().front());
  return {};
}

/// Whether a strict reader has accepted such a value, and reading it again is worth saving.
bool is_large_and_checked(const Value& value) {
  constexpr std::size_t large_bytes = 4096;
  if (value.bytes().size() <= large_bytes) return false;
  if (!value.is_array()) return true;
  // A lenient reader takes bools that a strict one refuses.
  const ValueType element = value.as_array().element_type();
  return element != ValueType::boolean && element != ValueType::array;
}

/// Whether the tensors are those of one model, in its order, with nothing that only a lenient
/// reader takes: no reader can object to their table.
bool is_checked_table(const std::vector<PendingTensor>& tensors) {
  const TensorInfo* last = nullptr;
  return std::all_of(tensors.begin(), tensors.end(), [&](const PendingTensor& tensor) {
    const bool is_next = last == nullptr || std::less<>()(last, tensor.info);
    last = tensor.info;
    return tensor.own == nullptr && is_next && tensor.info->name.size() <= format::max_name_bytes &&
           tensor.info->shape.size() <= format::max_dimensions;
  });
}

/// Parses the header, without large values and tables that a reader has accepted before: they would
/// be held twice.
Result<void> check_content(const WriterContent& content, WriteFormat format,
                           std::uint64_t data_bytes) {
  std::vector<bool> is_borrowed;
  std::vector<KeyValue> metadata = content.keys.entries(is_borrowed);
  KeyTable stand_in;
  stand_in.set("x", {.bytes = {std::byte{0}}});
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    if (is_borrowed[i] && is_large_and_checked(metadata[i].value)) {
      metadata[i].value = *stand_in.find("x");
    }
  }
  KeyTable own;
  INGOT_TRY_VOID(put_index_first(content, format, metadata, own));
  format::HeaderContent described = describe(content, format, metadata);
  if (content.is_of_one_model && is_checked_table(content.tensors)) described.tensor_count = 0;
  INGOT_TRY(const std::vector<std::byte> header, format::serialise(described));
  return check_header(header, header.size() + data_bytes, format.is_lenient);
}

}  // namespace

Failure read_through_index() {
  return fail(Errc::invalid_argument, std::string(layout_index_key),
              "the model was read through its index, without all keys; open it without");
}

Result<std::uint64_t> serialise_content(const WriterContent& content, WriteFormat format,
                                        const format::HeaderSink& sink) {
  std::vector<KeyValue> metadata = content.keys.entries();
  KeyTable own;
  INGOT_TRY_VOID(put_index_first(content, format, metadata, own));
  return format::serialise(describe(content, format, metadata), sink);
}

Result<std::vector<std::byte>> serialise_checked(const WriterContent& content, WriteFormat format) {
  INGOT_TRY(const std::uint64_t data_bytes, size_of_data(content.tensors, content.alignment()));
  if (content.lacks_keys) return read_through_index();
  std::vector<KeyValue> metadata = content.keys.entries();
  KeyTable own;
  INGOT_TRY_VOID(put_index_first(content, format, metadata, own));
  INGOT_TRY(std::vector<std::byte> header, format::serialise(describe(content, format, metadata)));
  INGOT_TRY_VOID(check_header(header, header.size() + data_bytes, format.is_lenient));
  return header;
}

Result<FileParts> measure(const WriterContent& content, WriteFormat format) {
  if (content.lacks_keys) return read_through_index();
  FileParts parts;
  INGOT_TRY(parts.data_bytes, size_of_data(content.tensors, content.alignment()));
  const format::HeaderSink uncollected = [](std::span<const std::byte>) -> Result<void> {
    return {};
  };
  INGOT_TRY(parts.header_bytes, serialise_content(content, format, uncollected));
  INGOT_TRY_VOID(check_content(content, format, parts.data_bytes));
  return parts;
}

}  // namespace ingot

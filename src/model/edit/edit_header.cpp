// SPDX-License-Identifier: MIT
// The new header: bytes of the old one where nothing changes, so that not even an oddity is lost.

#include <string>
#include <utility>

#include "base/byte_order.hpp"
#include "base/checked.hpp"
#include "format/header_index.hpp"
#include "format/magic.hpp"
#include "format/serialise.hpp"
#include "ingot/metadata_keys.hpp"
#include "model/edit/edit_state.hpp"
#include "model/write/key_table.hpp"

namespace ingot {
namespace {

using Bytes = std::span<const std::byte>;

void append(std::vector<std::byte>& to, Bytes bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// The bytes of an entry of the header, which begins with its name.
struct RawEntry {
  Bytes name;  ///< The name with its length.
  Bytes rest;
};

class HeaderWriter {
 public:
  HeaderWriter(const ModelEdit::State& state, Bytes old_header, const NewOffsets& offsets)
      : state_(state), structure_(state.file().structure), old_(old_header), offsets_(offsets) {
    draft_.encoding = format::encoding_of(structure_.version, structure_.byte_order);
    draft_.alignment = new_alignment(state);
  }

  Result<HeaderDraft> write() {
    // Magic and version, as they are; the counts come when they are known.
    const std::size_t counts_offset = 8;
    append(draft_.keys, old_.first(to_size(counts_offset + 2 * draft_.encoding.count_bytes())));
    INGOT_TRY_VOID(write_index());
    for (const KeyEdit& key : state_.keys) {
      if (key.is_removed) continue;
      const bool is_index = key.name == layout_index_key;
      if (is_index || key.name == padding_key) {
        if (!key.value && !key.is_renamed) continue;  // it is made anew, as long as it has to be
        return fail(Errc::edit_impossible, key.name,
                    is_index ? "this key is made by --index, and kept true"
                             : "this key keeps room; reserve sets its size");
      }
      ++draft_.key_count;
      draft_.key_offsets.push_back(draft_.keys.size());
      Result<void> result = write_key(key);
      if (!result) return named(std::move(result).error(), key.name);
    }
    for (std::size_t i = 0; i < state_.tensors.size(); ++i) {
      if (state_.tensors[i].is_removed) continue;
      ++draft_.tensor_count;
      INGOT_TRY_VOID(write_tensor(i));
    }
    return std::move(draft_);
  }

 private:
  static Failure named(Error error, const std::string& subject) {
    error.subject = subject;
    return fail(std::move(error));
  }

  /// The entry at a position of a table, in which `name` is the member with its name; the entries
  /// end at `end`.
  template <class Entry>
  [[nodiscard]] RawEntry raw_entry(const std::vector<Entry>& table, std::size_t position,
                                   std::string_view Entry::*name, std::uint64_t end) const {
    const auto begin_of = [&](std::size_t at) {
      return structure_.context->record_offset(table[at].*name);
    };
    const std::uint64_t begin = begin_of(position);
    const std::uint64_t next = position + 1 < table.size() ? begin_of(position + 1) : end;
    const Bytes entry = old_.subspan(to_size(begin), to_size(next - begin));
    const std::size_t name_bytes =
        to_size(draft_.encoding.count_bytes() + draft_.encoding.load_count(entry.data()));
    return {entry.first(name_bytes), entry.subspan(name_bytes)};
  }

  /// The layout index comes first; it has room for the offset of the padding key.
  Result<void> write_index() {
    bool has_index = state_.wants_index;
    std::size_t keys = 2;
    for (const KeyEdit& key : state_.keys) {
      const bool is_index = key.name == layout_index_key;
      if (is_index && !key.is_removed) has_index = true;
      if (!key.is_removed && !is_index && key.name != padding_key) ++keys;
    }
    if (!has_index) return {};
    if (draft_.encoding.has_narrow_counts) {
      return fail(Errc::version_cannot_hold, std::string(layout_index_key),
                  "version 1 has no values of 64 bits");
    }
    ++draft_.key_count;
    draft_.key_offsets.push_back(draft_.keys.size());
    draft_.index_elements = format::layout_index_fields + keys;
    const std::vector<std::uint64_t> zeros(draft_.index_elements, 0);
    INGOT_TRY_VOID(format::append_text(layout_index_key, draft_.encoding, draft_.keys));
    const OwnedValue value = OwnedValue::array_of(std::span<const std::uint64_t>(zeros));
    INGOT_TRY_VOID(format::append_typed_value(value.value(), draft_.encoding, draft_.keys));
    draft_.index_offset = draft_.keys.size() - sizeof(std::uint64_t) * draft_.index_elements;
    return {};
  }

  Result<void> write_key(const KeyEdit& key) {
    const bool is_new = key.original == no_position;
    const RawEntry raw = is_new ? RawEntry{}
                                : raw_entry(structure_.metadata, key.original, &KeyValue::key,
                                            structure_.infos_offset);
    if (is_new || key.is_renamed) {
      INGOT_TRY_VOID(format::append_text(key.name, draft_.encoding, draft_.keys));
    } else {
      append(draft_.keys, raw.name);
    }
    if (key.value) {
      return format::append_typed_value(key.value->value(), draft_.encoding, draft_.keys);
    }
    append(draft_.keys, raw.rest);
    return {};
  }

  Result<void> write_tensor(std::size_t position) {
    const TensorEdit& tensor = state_.tensors[position];
    const RawEntry raw =
        raw_entry(structure_.tensors, position, &TensorInfo::name, structure_.header_bytes);
    if (tensor.is_renamed) {
      INGOT_TRY_VOID(format::append_text(tensor.new_name, draft_.encoding, draft_.infos));
    } else {
      append(draft_.infos, raw.name);
    }
    append(draft_.infos, raw.rest);
    if (!offsets_.empty()) {
      // The offset is the last field.
      store(&draft_.infos[draft_.infos.size() - sizeof(std::uint64_t)], offsets_[position],
            draft_.encoding.is_swapped);
    }
    return {};
  }

  const ModelEdit::State& state_;
  const format::Structure& structure_;
  Bytes old_;
  const NewOffsets& offsets_;
  HeaderDraft draft_;
};

void store_count(std::byte* to, std::uint64_t count, const detail::ValueEncoding& encoding) {
  if (encoding.has_narrow_counts) {
    store(to, static_cast<std::uint32_t>(count), encoding.is_swapped);
  } else {
    store(to, count, encoding.is_swapped);
  }
}

}  // namespace

std::uint64_t HeaderDraft::padding_overhead() const noexcept {
  // length of the key, key, type, length of the value
  return encoding.count_bytes() + padding_key.size() + 4 + encoding.count_bytes();
}

std::vector<std::byte> HeaderDraft::assemble(std::uint64_t padding_bytes) const {
  std::vector<std::byte> header;
  header.reserve(to_size(size_bytes() + padding_bytes));
  append(header, keys);
  if (padding_bytes != 0) {
    const std::string blanks(to_size(padding_bytes - padding_overhead()), ' ');
    // Every version can hold a text that the limits allow.
    static_cast<void>(format::append_text(padding_key, encoding, header));
    static_cast<void>(
        format::append_typed_value(OwnedValue::string(blanks).value(), encoding, header));
  }
  append(header, infos);
  store_count(&header[8], tensor_count, encoding);
  store_count(&header[to_size(8 + encoding.count_bytes())],
              key_count + (padding_bytes != 0 ? 1 : 0), encoding);
  if (index_elements != 0) fill_index(header, padding_bytes != 0);
  return header;
}

void HeaderDraft::fill_index(std::vector<std::byte>& header, bool has_padding) const {
  format::LayoutIndex index{.infos_offset = header.size() - infos.size(),
                            .infos_bytes = infos.size(),
                            .infos_hash = format::hash_of_infos(infos),
                            .data_offset = *checked_align_up(header.size(), alignment),
                            .key_offsets = key_offsets};
  if (has_padding) index.key_offsets.push_back(keys.size());
  std::vector<std::uint64_t> elements = format::elements_of(index, 0);
  elements.resize(index_elements, 0);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    store(&header[index_offset + i * sizeof(std::uint64_t)], elements[i], encoding.is_swapped);
  }
}

Result<HeaderDraft> draft_header(const ModelEdit::State& state, Bytes old_header,
                                 const NewOffsets& offsets) {
  return HeaderWriter(state, old_header, offsets).write();
}

std::uint64_t new_alignment(const ModelEdit::State& state) {
  const auto place = state.key_places.find(keys::general_alignment);
  if (!place) return default_alignment;
  const KeyEdit& key = state.keys[*place];
  const Value value =
      key.value ? key.value->value() : state.file().structure.metadata[key.original].value;
  return alignment_of(value);
}

}  // namespace ingot

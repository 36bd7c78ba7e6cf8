// SPDX-License-Identifier: MIT
// Values of one's own, and a table of keys with such values, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/value_context.hpp"
#include "ingot/error.hpp"
#include "ingot/metadata.hpp"
#include "ingot/types.hpp"
#include "model/write/name_places.hpp"

namespace ingot {

/// The content of a value, encoded as in memory: this machine's byte order, wide counts.
struct OwnedContent {
  ValueType type = ValueType::uint8;
  ValueType element_type = ValueType::uint8;
  std::uint64_t count = 1;
  std::vector<std::byte> bytes;

  [[nodiscard]] static OwnedContent scalar(ValueType type, const void* value, std::size_t bytes);
  [[nodiscard]] static OwnedContent scalars(ValueType element_type, const void* values,
                                            std::size_t count, std::size_t element_bytes);
  [[nodiscard]] static OwnedContent array(ValueType element_type);
  /// A value of any file; type and bits kept.
  [[nodiscard]] static OwnedContent copy(const Value& value);

  /// The value, valid until the content changes; `context` must outlive it.
  [[nodiscard]] Value view(const detail::ValueContext& context) const noexcept;

  /// Appends an element to an array of strings.
  void append_text(std::string_view text);
};

/// The alignment that a value of `general.alignment` asks for, or the default. A value that makes
/// no sense is refused when the header is checked.
[[nodiscard]] inline std::uint64_t alignment_of(const std::optional<Value>& value) {
  const std::uint64_t alignment = value ? value->get<std::uint32_t>().value_or(0) : 0;
  return alignment != 0 ? alignment : default_alignment;
}

/// Keys in the order in which they were set. A table cannot be copied or moved while values that it
/// handed out are in use.
class KeyTable {
 public:
  /// Adds a key, or replaces its value and keeps its place.
  void set(std::string_view key, OwnedContent content);
  /// Sets a value of a model that stays open for as long as the table is used.
  void borrow(std::string_view key, const Value& value);
  bool remove(std::string_view key);
  /// Fails with Errc::key_not_found or Errc::name_taken.
  [[nodiscard]] Result<void> rename(std::string_view key, std::string_view new_key);

  /// Views that are valid until the table changes.
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;
  [[nodiscard]] std::vector<KeyValue> entries() const;
  /// The entries; `is_borrowed` receives a flag for each, in order.
  [[nodiscard]] std::vector<KeyValue> entries(std::vector<bool>& is_borrowed) const;

 private:
  struct Entry {
    std::string key;
    OwnedContent content;
    std::optional<Value> borrowed = {};  // then there is no content
    bool is_removed = false;
  };
  [[nodiscard]] Entry& enter(std::string_view key);
  [[nodiscard]] Value value_of(const Entry& entry) const noexcept;

  detail::ValueContext context_;
  std::vector<Entry> entries_;
  NamePlaces places_;
};

}  // namespace ingot

// SPDX-License-Identifier: MIT
#include "model/write/key_table.hpp"

#include <cstring>
#include <utility>

#include "format/serialise.hpp"

namespace ingot {

OwnedContent OwnedContent::scalar(ValueType type, const void* value, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(value);
  return {.type = type, .element_type = type, .count = 1, .bytes = {begin, begin + bytes}};
}

OwnedContent OwnedContent::scalars(ValueType element_type, const void* values, std::size_t count,
                                   std::size_t element_bytes) {
  OwnedContent content = scalar(ValueType::array, values, count * element_bytes);
  content.element_type = element_type;
  content.count = count;
  return content;
}

OwnedContent OwnedContent::array(ValueType element_type) {
  return {.type = ValueType::array, .element_type = element_type, .count = 0, .bytes = {}};
}

OwnedContent OwnedContent::copy(const Value& value) {
  OwnedContent content{.type = value.type(), .element_type = value.type(), .count = 1, .bytes = {}};
  if (value.is_array()) {
    content.element_type = value.as_array().element_type();
    content.count = value.as_array().size();
  }
  // Memory holds every value that any version can.
  static_cast<void>(format::append_value(value, detail::ValueEncoding{}, content.bytes));
  return content;
}

Value OwnedContent::view(const detail::ValueContext& context) const noexcept {
  return context.make(type, element_type, bytes.data(), bytes.size(), count);
}

void OwnedContent::append_text(std::string_view text) {
  const std::uint64_t length_bytes = text.size();
  const std::size_t begin = bytes.size();
  bytes.resize(begin + sizeof length_bytes + text.size());
  std::memcpy(&bytes[begin], &length_bytes, sizeof length_bytes);
  if (!text.empty()) std::memcpy(&bytes[begin + sizeof length_bytes], text.data(), text.size());
  ++count;
}

KeyTable::Entry& KeyTable::enter(std::string_view key) {
  const auto [place, is_new] = places_.add(key, entries_.size());
  if (is_new) entries_.push_back({.key = std::string(key), .content = {}});
  return entries_[place];
}

void KeyTable::set(std::string_view key, OwnedContent content) {
  Entry& entry = enter(key);
  entry.content = std::move(content);
  entry.borrowed.reset();
}

void KeyTable::borrow(std::string_view key, const Value& value) {
  Entry& entry = enter(key);
  entry.content = {};
  entry.borrowed = value;
}

bool KeyTable::remove(std::string_view key) {
  const auto place = places_.remove(key);
  if (!place) return false;
  entries_[*place] = {.key = {}, .content = {}, .is_removed = true};
  return true;
}

Result<void> KeyTable::rename(std::string_view key, std::string_view new_key) {
  INGOT_TRY(const std::size_t place, places_.rename(key, new_key, Errc::key_not_found));
  entries_[place].key = new_key;
  return {};
}

std::optional<Value> KeyTable::find(std::string_view key) const {
  const auto place = places_.find(key);
  return place ? std::optional(value_of(entries_[*place])) : std::nullopt;
}

std::vector<KeyValue> KeyTable::entries() const {
  std::vector<bool> ignored;
  return entries(ignored);
}

std::vector<KeyValue> KeyTable::entries(std::vector<bool>& is_borrowed) const {
  std::vector<KeyValue> views;
  views.reserve(places_.size());
  is_borrowed.clear();
  for (const Entry& entry : entries_) {
    if (entry.is_removed) continue;
    views.push_back({entry.key, value_of(entry)});
    is_borrowed.push_back(entry.borrowed.has_value());
  }
  return views;
}

Value KeyTable::value_of(const Entry& entry) const noexcept {
  return entry.borrowed ? *entry.borrowed : entry.content.view(context_);
}

}  // namespace ingot

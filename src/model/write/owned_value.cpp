// SPDX-License-Identifier: MIT
#include "ingot/owned_value.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "format/serialise.hpp"
#include "model/write/key_table.hpp"

namespace ingot {
namespace {

/// The depth of nested arrays: 0 for no array, 1 for an array without arrays in it.
std::size_t depth_of(const Value& value) {
  if (!value.is_array()) return 0;
  std::size_t deepest = 1;
  std::vector<Array::Iterator> levels;  // the levels whose elements are arrays; at most 64
  const auto enter = [&](const Array& array) {
    if (array.element_type() == ValueType::array) levels.push_back(array.begin());
  };
  enter(value.as_array());
  while (!levels.empty()) {
    if (levels.back() == Array::Iterator{}) {
      levels.pop_back();
      continue;
    }
    const Array inner = (*levels.back()).as_array();
    ++levels.back();
    deepest = std::max(deepest, levels.size() + 1);
    enter(inner);
  }
  return deepest;
}

template <class Number>
void append_number(std::vector<std::byte>& bytes, Number number) {
  const auto stored = std::as_bytes(std::span(&number, 1));
  bytes.insert(bytes.end(), stored.begin(), stored.end());
}

}  // namespace

struct OwnedValue::State {
  explicit State(OwnedContent own) : content(std::move(own)) {}
  detail::ValueContext context;
  OwnedContent content;
};

OwnedValue::OwnedValue(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
OwnedValue::OwnedValue(OwnedValue&&) noexcept = default;
OwnedValue& OwnedValue::operator=(OwnedValue&&) noexcept = default;
OwnedValue::~OwnedValue() = default;

OwnedValue OwnedValue::scalar(ValueType type, const void* value, std::size_t bytes) {
  return OwnedValue(std::make_unique<State>(OwnedContent::scalar(type, value, bytes)));
}

OwnedValue OwnedValue::scalars(ValueType element_type, const void* values, std::size_t count,
                               std::size_t element_bytes) {
  return OwnedValue(
      std::make_unique<State>(OwnedContent::scalars(element_type, values, count, element_bytes)));
}

OwnedValue OwnedValue::boolean(bool value) {
  const auto stored = static_cast<std::uint8_t>(value ? 1 : 0);
  return scalar(ValueType::boolean, &stored, sizeof stored);
}

OwnedValue OwnedValue::string(std::string_view value) {
  return scalar(ValueType::string, value.data(), value.size());
}

OwnedValue OwnedValue::array(ValueType element_type) {
  return OwnedValue(std::make_unique<State>(OwnedContent::array(element_type)));
}

OwnedValue OwnedValue::copy_of(const Value& value) {
  return OwnedValue(std::make_unique<State>(OwnedContent::copy(value)));
}

Result<void> OwnedValue::append(const Value& element) {
  OwnedContent& content = state_->content;
  if (content.type != ValueType::array || content.element_type != element.type()) {
    return fail(Errc::wrong_type, {},
                std::string(name_of(element.type())) + " as an element of " +
                    (content.type == ValueType::array
                         ? "an array of " + std::string(name_of(content.element_type))
                         : std::string(name_of(content.type))));
  }
  if (1 + depth_of(element) > detail::max_array_depth) return fail(Errc::nesting_too_deep, {});
  if (element.type() == ValueType::string) {
    content.append_text(element.get<std::string_view>().value_or(std::string_view{}));
    return {};
  }
  if (element.is_array()) {
    append_number(content.bytes, static_cast<std::uint32_t>(element.as_array().element_type()));
    append_number(content.bytes, element.as_array().size());
  }
  INGOT_TRY_VOID(format::append_value(element, detail::ValueEncoding{}, content.bytes));
  ++content.count;
  return {};
}

Value OwnedValue::value() const noexcept { return state_->content.view(state_->context); }

}  // namespace ingot

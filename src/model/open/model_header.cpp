// SPDX-License-Identifier: MIT
#include "model/open/model_header.hpp"

#include "ingot/metadata_keys.hpp"

namespace ingot {
namespace {

std::optional<std::int64_t> number_in(const Value& value) {
  if (value.type() == ValueType::boolean) {
    const Result<bool> flag = value.get<bool>();
    return flag ? std::optional<std::int64_t>(*flag) : std::nullopt;
  }
  if (value.type() == ValueType::string || value.is_array()) return {};
  const Result<std::int64_t> number = value.get<std::int64_t>();
  return number ? std::optional(*number) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> ModelHeader::number(std::string_view key,
                                                std::optional<std::uint64_t> element) const {
  const Value* const value = model_.find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) return number_in(*value);
  const Array array = value->as_array();
  const bool is_of_numbers =
      array.element_type() != ValueType::string && array.element_type() != ValueType::array;
  if (!element || *element >= array.size() || !is_of_numbers) return {};
  return number_in(array[*element]);
}

std::optional<std::string_view> ModelHeader::text(std::string_view key) const {
  const Value* const value = model_.find(key);
  if (value == nullptr || value->type() != ValueType::string) return {};
  const Result<std::string_view> text = value->get<std::string_view>();
  return text ? std::optional(*text) : std::nullopt;
}

std::optional<std::uint64_t> ModelHeader::array_size(std::string_view key) const {
  const Value* const value = model_.find(key);
  if (value == nullptr || !value->is_array()) return {};
  return value->as_array().size();
}

bool ModelHeader::has_key(std::string_view key) const { return model_.find(key) != nullptr; }

bool ModelHeader::has_tensor(std::string_view name) const {
  return model_.find_tensor(name) != nullptr;
}

std::optional<std::int64_t> ModelHeader::tensor_size(std::string_view name,
                                                     std::size_t dimension) const {
  const TensorInfo* const tensor = model_.find_tensor(name);
  if (tensor == nullptr) return {};
  if (dimension >= tensor->shape.size()) return 1;
  const std::uint64_t size = tensor->shape[dimension];
  return size <= std::uint64_t{1} << 40 ? std::optional(static_cast<std::int64_t>(size))
                                        : std::nullopt;
}

std::optional<std::int64_t> ModelHeader::vocabulary() const {
  const auto tokens = array_size(keys::tokenizer_ggml_tokens);
  return tokens ? std::optional(static_cast<std::int64_t>(*tokens)) : std::nullopt;
}

}  // namespace ingot

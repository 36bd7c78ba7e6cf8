// SPDX-License-Identifier: MIT
#include "estimate/header_reader.hpp"

#include <utility>

namespace ingot::estimate {

HeaderReader::HeaderReader(const Model& model, std::string architecture)
    : model_(model), prefix_(std::move(architecture) + ".") {}

Failure HeaderReader::refuse(std::string_view suffix, std::string detail) const {
  const Value* value = model_.find(prefix_ + std::string(suffix));
  const std::uint64_t place = value != nullptr ? value->file_offset() : Error::no_offset;
  return fail(Errc::estimate_impossible, place, prefix_ + std::string(suffix), std::move(detail));
}

Result<std::uint64_t> HeaderReader::number_of(const Value& value, std::string_view suffix) const {
  if (value.type() == ValueType::boolean) {
    INGOT_TRY(const bool flag, value.get<bool>());
    return flag ? 1 : 0;
  }
  const auto number = value.get<std::uint64_t>();
  if (!number) return refuse(suffix, "it must be a number that is not negative");
  if (*number > max_header_number) {
    return refuse(suffix, "found " + std::to_string(*number) + ", which no model has");
  }
  return *number;
}

Result<std::optional<std::uint64_t>> HeaderReader::find_number(std::string_view suffix) const {
  const Value* value = model_.find(prefix_ + std::string(suffix));
  if (value == nullptr) return std::nullopt;
  INGOT_TRY(const std::uint64_t number, number_of(*value, suffix));
  return number;
}

Result<std::uint64_t> HeaderReader::number_or(std::string_view suffix,
                                              std::uint64_t fallback) const {
  INGOT_TRY(const std::optional<std::uint64_t> number, find_number(suffix));
  return number.value_or(fallback);
}

Result<std::optional<std::vector<std::uint64_t>>> HeaderReader::find_per_layer(
    std::string_view suffix, std::uint64_t layers) const {
  const Value* value = model_.find(prefix_ + std::string(suffix));
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) {
    INGOT_TRY(const std::uint64_t number, number_of(*value, suffix));
    return std::vector<std::uint64_t>(static_cast<std::size_t>(layers), number);
  }
  const Array array = value->as_array();
  if (array.size() < layers) {
    return refuse(suffix, "found " + std::to_string(array.size()) + " elements for " +
                              std::to_string(layers) + " layers");
  }
  std::vector<std::uint64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(layers));
  for (const Value element : array) {
    if (numbers.size() == layers) break;
    INGOT_TRY(const std::uint64_t number, number_of(element, suffix));
    numbers.push_back(number);
  }
  return numbers;
}

Result<std::optional<HeaderReader::Flags>> HeaderReader::find_flags(std::string_view suffix,
                                                                    std::uint64_t layers) const {
  const Value* value = model_.find(prefix_ + std::string(suffix));
  if (value == nullptr) return std::nullopt;
  Flags flags;
  if (!value->is_array()) {
    INGOT_TRY(flags.period, find_number(suffix));
    return flags;
  }
  INGOT_TRY(const auto numbers, find_per_layer(suffix, layers));
  for (const std::uint64_t number : *numbers) flags.layers.push_back(number != 0);
  return flags;
}

}  // namespace ingot::estimate

// SPDX-License-Identifier: MIT
#include "formats/safetensors/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/ranges.hpp"
#include "formats/safetensors/safetensors_dtypes.hpp"

namespace ingot::formats {
namespace {

/// A tensor of more dimensions is refused later anyway.
constexpr std::size_t max_dimensions = 64;

/// Handles the events of the JSON parser, without a tree. Refuses content that does not belong in a
/// header where it begins, so that nesting costs nothing.
class HeaderHandler {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit HeaderHandler(std::uint64_t max_tensors) : max_tensors_(max_tensors) {}

  // The functions that the parser calls, by its names.
  bool null() { return refuse("a null"); }
  bool boolean(bool) { return refuse("a boolean"); }
  bool number_integer(number_integer_t) { return refuse("a negative number"); }
  bool number_float(number_float_t, const string_t&) {
    return refuse("a number that is not an integer of 64 bits");
  }
  bool binary(binary_t&) { return refuse("binary"); }

  bool number_unsigned(number_unsigned_t number) {
    if (place_ == Place::shape) {
      auto& shape = header_.tensors.back().shape;
      if (shape.size() == max_dimensions) return refuse("a shape of more than 64 dimensions");
      shape.push_back(number);
      return true;
    }
    if (place_ == Place::offsets && offset_count_ < 2) {
      auto& tensor = header_.tensors.back();
      (offset_count_++ == 0 ? tensor.begin : tensor.end) = number;
      return true;
    }
    return refuse("a number where none belongs");
  }

  bool string(string_t& text) {
    if (place_ == Place::metadata) {
      header_.metadata.emplace_back(std::move(name_), std::move(text));
      return true;
    }
    if (place_ != Place::tensor || field_ != Field::dtype)
      return refuse("a text where none belongs");
    const SafetensorsDtype* dtype = find_dtype(text);
    if (dtype == nullptr) return refuse("the unknown element type \"" + text + "\"");
    header_.tensors.back().dtype = dtype->name;
    return true;
  }

  bool start_object(std::size_t) {
    if (place_ == Place::start) {
      place_ = Place::header;
      return true;
    }
    if (place_ != Place::header) return refuse("an object where none belongs");
    if (name_ == "__metadata__") {
      if (has_metadata_) return refuse(Errc::key_duplicate, {});
      has_metadata_ = true;
      place_ = Place::metadata;
      return true;
    }
    if (header_.tensors.size() == max_tensors_) return refuse(Errc::limit_exceeded, "tensors");
    header_.tensors.emplace_back().name = name_;
    seen_ = {};
    place_ = Place::tensor;
    return true;
  }

  bool key(string_t& name) {
    if (place_ == Place::tensor) return take_field(name);
    name_ = std::move(name);
    return true;
  }

  bool end_object() {
    if (place_ == Place::tensor && seen_ != std::array{true, true, true}) {
      return refuse("a tensor without dtype, shape or data_offsets");
    }
    place_ = place_ == Place::header ? Place::end : Place::header;
    return true;
  }

  bool start_array(std::size_t) {
    if (place_ != Place::tensor || field_ == Field::dtype) {
      return refuse("an array where none belongs");
    }
    place_ = field_ == Field::shape ? Place::shape : Place::offsets;
    offset_count_ = 0;
    return true;
  }

  bool end_array() {
    if (place_ == Place::offsets && offset_count_ != 2)
      return refuse("data_offsets without an end");
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    error_ = Error{Errc::safetensors_header,
                   safetensors_prefix_bytes + position - 1,
                   {},
                   "the text is not JSON from here on"};
    return false;
  }

  [[nodiscard]] Result<SafetensorsHeader> take() {
    if (error_) return fail(*error_);
    return std::move(header_);
  }

 private:
  enum class Place : std::uint8_t { start, header, metadata, tensor, shape, offsets, end };
  enum class Field : std::uint8_t { dtype, shape, offsets };

  bool refuse(std::string found) { return refuse(Errc::safetensors_header, std::move(found)); }
  bool refuse(Errc code, std::string found) {
    error_ = Error{code, Error::no_offset, name_, std::move(found)};
    return false;
  }

  bool take_field(const string_t& name) {
    static constexpr std::pair<std::string_view, Field> fields[] = {
        {"dtype", Field::dtype}, {"shape", Field::shape}, {"data_offsets", Field::offsets}};
    const auto* const known =
        std::ranges::find(fields, name, &std::pair<std::string_view, Field>::first);
    if (known == std::end(fields)) return refuse("the unknown field \"" + name + "\"");
    field_ = known->second;
    bool& is_seen = seen_[static_cast<std::size_t>(field_)];
    if (std::exchange(is_seen, true)) return refuse(Errc::key_duplicate, "the field " + name);
    return true;
  }

  std::uint64_t max_tensors_;
  SafetensorsHeader header_;
  std::optional<Error> error_;
  Place place_ = Place::start;
  std::string name_;              // name of the tensor, or key of the metadata
  Field field_ = Field::dtype;    // whose name was the last
  std::array<bool, 3> seen_{};    // seen fields of the tensor
  std::size_t offset_count_ = 0;  // numbers of data_offsets so far
  bool has_metadata_ = false;
};

/// The bytes of a tensor's elements; nothing if they are no whole number or too many.
std::optional<std::uint64_t> bytes_of(const SafetensorsTensor& tensor) {
  std::uint64_t bits = find_dtype(tensor.dtype)->bits;
  // A dimension of 0 must not hide an overflow of the others.
  std::uint64_t elements = 1;
  for (const std::uint64_t dimension : tensor.shape) {
    const auto product = checked_mul(elements, std::max<std::uint64_t>(dimension, 1));
    if (!product) return std::nullopt;
    elements = *product;
  }
  if (std::ranges::find(tensor.shape, 0u) != tensor.shape.end()) elements = 0;
  const auto product = checked_mul(bits, elements);
  if (!product || *product % 8 != 0) return std::nullopt;
  return *product / 8;
}

/// Tensors fill the data from its first to its last byte, each with the bytes of its shape.
Result<void> check_layout(const SafetensorsHeader& header, std::uint64_t data_bytes) {
  std::uint64_t end = 0;
  for (const SafetensorsTensor& tensor : header.tensors) {
    const auto refuse = [&](std::string found) {
      return fail(Errc::safetensors_layout, tensor.name, std::move(found));
    };
    if (tensor.begin != end || tensor.end < tensor.begin) {
      return refuse("data_offsets " + std::to_string(tensor.begin) + " to " +
                    std::to_string(tensor.end) + " where the data before ends at " +
                    std::to_string(end));
    }
    const auto size_bytes = bytes_of(tensor);
    if (!size_bytes || *size_bytes != tensor.end - tensor.begin) {
      return refuse(std::to_string(tensor.end - tensor.begin) + " bytes, the shape and " +
                    std::string(tensor.dtype) + " need " +
                    (size_bytes ? std::to_string(*size_bytes) : "more than there can be"));
    }
    end = tensor.end;
  }
  if (end == data_bytes) return {};
  return fail(end < data_bytes ? Errc::safetensors_layout : Errc::truncated, {},
              "the tensors have " + std::to_string(end) + " bytes, the file has " +
                  std::to_string(data_bytes));
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                                   std::uint64_t max_tensors) {
  // The reference allows blanks after the text, which align the data, and none before.
  if (!text.starts_with('{')) {
    return fail(Errc::safetensors_header, safetensors_prefix_bytes, {}, "it must begin with {");
  }
  HeaderHandler handler(max_tensors);
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  INGOT_TRY(SafetensorsHeader header, handler.take());
  if (const auto twice = find_duplicate(header.tensors, &SafetensorsTensor::name)) {
    return fail(Errc::tensor_duplicate, *twice);
  }
  if (const auto twice =
          find_duplicate(header.metadata, &std::pair<std::string, std::string>::first)) {
    return fail(Errc::key_duplicate, *twice);
  }
  std::ranges::stable_sort(header.tensors, [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  INGOT_TRY_VOID(check_layout(header, data_bytes));
  return header;
}

}  // namespace ingot::formats

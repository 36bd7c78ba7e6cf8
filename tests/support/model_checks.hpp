// SPDX-License-Identifier: MIT
// What must hold for every model that opened, whatever its bytes are, checked through the public
// interface: for tests and for fuzzing. Nothing here depends on a test framework.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/anatomy.hpp"
#include "ingot/model.hpp"
#include "ingot/text.hpp"

namespace ingot::test {

// ------------------------------------------------------------------------------------------------
// One model in itself
// ------------------------------------------------------------------------------------------------

/// Goes over all that a model hands out; keeps the first thing that is not as it must be.
class ModelChecker {
 public:
  explicit ModelChecker(const Model& model) : model_(model) {
    require(!model.files().empty(), "there is no file", {});
    for (std::size_t i = 0; i < model.files().size() && is_consistent(); ++i) check_file(i);
    check_lookups();
  }

  [[nodiscard]] bool is_consistent() const { return problem_.empty(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void require(bool condition, const char* rule, std::string_view subject) {
    if (!condition && problem_.empty()) problem_ = std::string(rule) + ": " + escape(subject);
  }

  void check_file(std::size_t index) {
    const ModelFile& file = model_.files()[index];
    require(file.version >= 1 && file.version <= 3, "version", {});
    require(file.byte_order == Endian::little || file.version == 3, "big-endian only in 3", {});
    require(file.infos_offset <= file.header_bytes, "sections in order", {});
    require(file.header_bytes <= file.file_bytes, "the header is in the file", {});
    require(file.alignment != 0 && file.data_offset % file.alignment == 0, "aligned data", {});
    require(file.data_offset - file.header_bytes < file.alignment, "no more than padding", {});
    std::uint64_t end = 16;  // the smallest header
    for (const KeyValue& entry : file.metadata) {
      require(is_identifier(entry.key) && !entry.key.empty(), "a key", entry.key);
      require(entry.value.file_offset() >= end, "values in file order", entry.key);
      end = entry.value.file_offset() + entry.value.bytes().size();
      require(end <= file.infos_offset, "values before the tensor infos", entry.key);
      check_value(entry.value, entry.key);
    }
    for (const TensorInfo& tensor : file.tensors) check_tensor(tensor, file);
    check_overlap(file);
    check_fields(index);
  }

  static bool is_identifier(std::string_view name) {
    return is_utf8(name) && name.find('\0') == std::string_view::npos;
  }

  void check_value(const Value& value, std::string_view key) {
    switch (value.type()) {
      case ValueType::array:
        return check_array(value, key);
      case ValueType::boolean:
        return require(value.get<bool>().has_value(), "a bool", key);
      case ValueType::float32:
        return require(is_same_float(value), "a float32", key);
      case ValueType::float64:
        return require(value.get<double>().has_value(), "a float64", key);
      case ValueType::string: {
        const auto text = value.get<std::string_view>();
        return require(text && text->size() == value.bytes().size(), "a string", key);
      }
      default:
        return require(
            value.get<std::int64_t>().has_value() || value.get<std::uint64_t>().has_value(),
            "an integer", key);
    }
  }

  static bool is_same_float(const Value& value) {
    const auto narrow = value.get<float>();
    const auto wide = value.get<double>();
    return narrow && wide && (static_cast<double>(*narrow) == *wide || *wide != *wide);
  }

  /// Every element lies in the array, after the one before, and is what random access gives.
  void check_array(const Value& value, std::string_view key) {
    const Array array = value.as_array();
    const std::byte* const end = array.bytes().data() + array.bytes().size();
    const std::byte* next = array.bytes().data();
    std::uint64_t count = 0;
    Value last;
    for (const Value& element : array) {
      require(element.type() == array.element_type(), "the type of an element", key);
      require(element.bytes().data() >= next, "elements in order", key);
      next = element.bytes().data() + element.bytes().size();
      require(next <= end, "elements within the array", key);
      check_value(element, key);
      last = element;
      ++count;
      if (!is_consistent()) return;
    }
    require(count == array.size(), "as many elements as it says", key);
    if (count == 0) return require(array.bytes().empty(), "an empty array", key);
    const Value at = array[count - 1];
    require(at.bytes().data() == last.bytes().data() && at.bytes().size() == last.bytes().size(),
            "random access", key);
  }

  void check_tensor(const TensorInfo& tensor, const ModelFile& file) {
    require(is_identifier(tensor.name), "a tensor name", tensor.name);
    require(tensor.shape.size() <= 8, "the number of dimensions", tensor.name);
    std::uint64_t elements = 1;
    bool is_too_many = false;
    for (const std::uint64_t dimension : tensor.shape) {
      is_too_many = __builtin_mul_overflow(elements, dimension, &elements) || is_too_many;
    }
    require(elements == tensor.element_count && !is_too_many, "the number of elements",
            tensor.name);
    if (const TensorTypeInfo* type = find_type(tensor.type)) {
      require(tensor.row_elements() % type->block_elements == 0, "whole blocks", tensor.name);
      require(elements / type->block_elements * type->block_bytes == tensor.size_bytes, "the size",
              tensor.name);
    }
    require(tensor.data_offset % file.alignment == 0, "an aligned offset", tensor.name);
    const std::uint64_t begin = model_.file_offset(tensor);
    require(begin == file.data_offset + tensor.data_offset, "the place", tensor.name);
    require(tensor.size_bytes == 0 ||
                (begin <= file.file_bytes && tensor.size_bytes <= file.file_bytes - begin),
            "data within the file", tensor.name);
    check_data(tensor);
  }

  /// Touches the first and the last byte, which a sanitizer or a guard page notices.
  void check_data(const TensorInfo& tensor) {
    const std::span<const std::byte> data = model_.data(tensor);
    if (data.empty() || !is_consistent()) return;
    require(data.size() == tensor.size_bytes, "all of the data", tensor.name);
    std::byte first{0};
    std::byte last{0};
    require(model_.read(tensor, 0, {&first, 1}).has_value() &&
                model_.read(tensor, tensor.size_bytes - 1, {&last, 1}).has_value(),
            "readable data", tensor.name);
    require(first == data.front() && last == data.back(), "the same data", tensor.name);
    require(!model_.read(tensor, tensor.size_bytes, {&last, 1}).has_value(),
            "nothing after the data", tensor.name);
  }

  void check_overlap(const ModelFile& file) {
    std::vector<const TensorInfo*> by_offset;
    by_offset.reserve(file.tensors.size());
    for (const TensorInfo& tensor : file.tensors) {
      if (tensor.size_bytes != 0) by_offset.push_back(&tensor);
    }
    std::sort(by_offset.begin(), by_offset.end(), [](const TensorInfo* a, const TensorInfo* b) {
      return a->data_offset < b->data_offset;
    });
    for (std::size_t i = 1; i < by_offset.size(); ++i) {
      require(
          by_offset[i]->data_offset - by_offset[i - 1]->data_offset >= by_offset[i - 1]->size_bytes,
          "no two tensors share bytes", by_offset[i]->name);
    }
  }

  /// The fields cover [0, file size) without a hole and nothing twice.
  void check_fields(std::size_t index) {
    std::uint64_t next_offset = 0;
    visit_fields(model_, index, [&](const Field& field) {
      require(field.file_offset == next_offset, "fields without hole or overlap", field.name);
      require(field.size_bytes != 0 && !field.name.empty(), "a field", field.name);
      next_offset = field.file_offset + field.size_bytes;
      return is_consistent();
    });
    require(next_offset == model_.files()[index].file_bytes, "fields until the end", {});
  }

  void check_lookups() {
    for (const KeyValue& entry : model_.metadata()) {
      require(model_.find(entry.key) == &entry.value, "a key is found by name", entry.key);
    }
    for (const TensorInfo& tensor : model_.tensors()) {
      require(model_.find_tensor(tensor.name) == &tensor, "a tensor is found by name", tensor.name);
    }
    require(model_.find("no such key") == nullptr || !model_.metadata().empty(), "not found", {});
  }

  const Model& model_;
  std::string problem_;
};

/// The fault of a model; empty if there is none.
[[nodiscard]] inline std::string find_inconsistency(const Model& model) {
  return ModelChecker(model).problem();
}

// ------------------------------------------------------------------------------------------------
// Two models
// ------------------------------------------------------------------------------------------------

/// Whether two values are the same, bit by bit, in whatever version and byte order they stand.
class ValueComparer {
 public:
  explicit ValueComparer(bool is_swapped) : is_swapped_(is_swapped) {}

  [[nodiscard]] bool are_equal(const Value& a, const Value& b) const {
    if (a.type() != b.type()) return false;
    if (a.is_array()) return are_equal(a.as_array(), b.as_array());
    const std::span<const std::byte> left = a.bytes();
    const std::span<const std::byte> right = b.bytes();
    if (!is_swapped_ || a.type() == ValueType::string) {
      return std::equal(left.begin(), left.end(), right.begin(), right.end());
    }
    return std::equal(left.begin(), left.end(), right.rbegin(), right.rend());
  }

 private:
  [[nodiscard]] bool are_equal(const Array& a, const Array& b) const {
    if (a.element_type() != b.element_type() || a.size() != b.size()) return false;
    Array::Iterator right = b.begin();
    for (const Value& left : a) {
      if (!are_equal(left, *right)) return false;
      ++right;
    }
    return true;
  }

  bool is_swapped_;
};

/// Where the content of two models differs, whatever version and byte order they are written in;
/// empty if it is the same.
[[nodiscard]] inline std::string find_difference(const Model& a, const Model& b) {
  const ValueComparer values(a.files()[0].byte_order != b.files()[0].byte_order);
  if (a.metadata().size() != b.metadata().size()) return "number of keys";
  for (std::size_t i = 0; i < a.metadata().size(); ++i) {
    const KeyValue& left = a.metadata()[i];
    const KeyValue& right = b.metadata()[i];
    if (left.key != right.key) return "key " + escape(left.key);
    if (!values.are_equal(left.value, right.value)) return "value of " + escape(left.key);
  }
  if (a.tensors().size() != b.tensors().size()) return "number of tensors";
  for (std::size_t i = 0; i < a.tensors().size(); ++i) {
    const TensorInfo& left = a.tensors()[i];
    const TensorInfo& right = b.tensors()[i];
    const bool is_same =
        left.name == right.name && left.type == right.type &&
        std::equal(left.shape.begin(), left.shape.end(), right.shape.begin(), right.shape.end()) &&
        left.element_count == right.element_count && left.size_bytes == right.size_bytes &&
        left.data_offset == right.data_offset && left.shard == right.shard;
    if (!is_same) return "tensor " + escape(left.name);
  }
  return {};
}

}  // namespace ingot::test

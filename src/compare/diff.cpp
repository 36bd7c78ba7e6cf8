// SPDX-License-Identifier: MIT
#include "ingot/diff.hpp"

#include <algorithm>
#include <cstddef>

#include "compare/stored_bytes.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/shard_name.hpp"

namespace ingot {
namespace {

/// Whether the strings of a model have a NUL each that does not count.
bool has_trailing_nuls(const Model& model) {
  return std::ranges::any_of(model.notices(), [](const Error& notice) {
    return notice.code == Errc::trailing_nul_stripped;
  });
}

bool has_same_encoding(const Model& a, const Model& b) {
  const ModelFile& first = a.files()[0];
  const ModelFile& second = b.files()[0];
  if (has_trailing_nuls(a) || has_trailing_nuls(b)) return false;
  return first.byte_order == second.byte_order && (first.version == 1) == (second.version == 1);
}

/// The value as it would be in a file of version 3.
std::vector<std::byte> encoded(const Value& value) {
  ModelWriter writer;
  writer.set_value("value", value);
  // Version 3 holds every value; a key and a value make no header that could be refused.
  return writer.serialise_header().value_or(std::vector<std::byte>());
}

bool is_same_value(const Value& a, const Value& b, bool is_same_encoding) {
  if (a.type() != b.type()) return false;
  if (a.is_array()) {
    const Array first = a.as_array();
    const Array second = b.as_array();
    if (first.element_type() != second.element_type() || first.size() != second.size()) {
      return false;
    }
  }
  if (is_same_encoding || a.type() == ValueType::string) {
    return std::ranges::equal(a.bytes(), b.bytes());
  }
  return encoded(a) == encoded(b);
}

bool is_same_tensor(const TensorInfo& a, const TensorInfo& b) {
  return a.type == b.type && std::ranges::equal(a.shape, b.shape);
}

void compare_keys(const Model& a, const Model& b, ModelDifference& difference) {
  const bool is_same_encoding = has_same_encoding(a, b);
  const Value* last_value = nullptr;
  for (const KeyValue& entry : a.metadata()) {
    if (is_split_key(entry.key)) continue;
    const Value* other = b.find(entry.key);
    if (other == nullptr || !is_same_value(entry.value, *other, is_same_encoding)) {
      difference.keys.push_back({entry.key, &entry.value, other});
    }
    if (other == nullptr) continue;
    // The values of a model lie in its table in the order of its keys.
    if (last_value != nullptr && other < last_value) difference.has_other_key_order = true;
    last_value = other;
  }
  for (const KeyValue& entry : b.metadata()) {
    if (is_split_key(entry.key) || a.find(entry.key) != nullptr) continue;
    difference.keys.push_back({entry.key, nullptr, &entry.value});
  }
}

/// Returns the pairs whose stored bytes can be compared.
std::vector<TensorPair> compare_tensors(const Model& a, const Model& b,
                                        ModelDifference& difference) {
  std::vector<TensorPair> pairs;
  const TensorInfo* last_tensor = nullptr;
  for (const TensorInfo& tensor : a.tensors()) {
    const TensorInfo* other = b.find_tensor(tensor.name);
    if (other == nullptr || !is_same_tensor(tensor, *other)) {
      difference.tensors.push_back({tensor.name, &tensor, other});
    } else {
      pairs.push_back({&tensor, other});
    }
    if (other == nullptr) continue;
    if (last_tensor != nullptr && other < last_tensor) difference.has_other_tensor_order = true;
    last_tensor = other;
  }
  for (const TensorInfo& tensor : b.tensors()) {
    if (a.find_tensor(tensor.name) != nullptr) continue;
    difference.tensors.push_back({tensor.name, nullptr, &tensor});
  }
  return pairs;
}

}  // namespace

Result<ModelDifference> find_differences(const Model& a, const Model& b,
                                         const DiffOptions& options) {
  ModelDifference difference;
  compare_keys(a, b, difference);
  const std::vector<TensorPair> pairs = compare_tensors(a, b, difference);
  if (!options.with_data) return difference;
  INGOT_TRY(difference.data,
            detail::compare_stored_bytes(a, b, pairs, options.thread_count, options.progress));
  difference.has_data = true;
  difference.compared_tensors = pairs.size();
  return difference;
}

std::vector<TensorPair> find_pairs(const Model& a, const Model& b) {
  std::vector<TensorPair> pairs;
  for (const TensorInfo& tensor : a.tensors()) {
    const TensorInfo* other = b.find_tensor(tensor.name);
    if (other != nullptr && std::ranges::equal(tensor.shape, other->shape)) {
      pairs.push_back({&tensor, other});
    }
  }
  return pairs;
}

}  // namespace ingot

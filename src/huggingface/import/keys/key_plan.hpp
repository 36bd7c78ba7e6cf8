// SPDX-License-Identifier: MIT
// The keys of the result, each with the place that its value comes from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingot/metadata.hpp"
#include "ingot/model_writer.hpp"

namespace ingot::huggingface {

/// Keys in the order in which they were first set; a key that is set again keeps its place and gets
/// the new value.
class KeyPlan {
 public:
  /// The place that the values of the keys set from now on come from: "config.json".
  void from(std::string origin) { origin_ = std::move(origin); }

  void set_bool(std::string_view key, bool value) { note(key), writer_.set_bool(key, value); }
  void set_string(std::string_view key, std::string_view value) {
    note(key), writer_.set_string(key, value);
  }
  /// Numbers; the C++ type decides the stored type.
  template <class T>
  void set(std::string_view key, T value) {
    note(key), writer_.set(key, value);
  }
  /// Arrays of numbers, texts (std::string, std::string_view) and bool.
  template <class T>
  void set_array(std::string_view key, std::span<const T> values) {
    note(key), writer_.set_array(key, values);
  }
  void set_value(std::string_view key, const Value& value) {
    note(key), writer_.set_value(key, value);
  }
  void remove(std::string_view key) { writer_.remove(key); }

  /// Sets all keys of another plan, in its order, with their origins.
  void add(const KeyPlan& other);

  [[nodiscard]] std::optional<Value> find(std::string_view key) const { return writer_.find(key); }
  [[nodiscard]] std::vector<KeyValue> entries() const { return writer_.metadata(); }
  [[nodiscard]] std::string origin_of(std::string_view key) const;

  /// The writer that holds the keys, to which tensors are added.
  [[nodiscard]] ModelWriter& writer() noexcept { return writer_; }
  [[nodiscard]] const ModelWriter& writer() const noexcept { return writer_; }

 private:
  void note(std::string_view key) { origins_.insert_or_assign(std::string(key), origin_); }

  ModelWriter writer_;
  std::string origin_;
  std::unordered_map<std::string, std::string> origins_;
};

}  // namespace ingot::huggingface

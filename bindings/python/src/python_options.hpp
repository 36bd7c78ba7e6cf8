// SPDX-License-Identifier: MIT
// Described options, set from a dict.
#pragma once

#include <ingot/convert.hpp>
#include <ingot/describe.hpp>
#include <ingot/estimate.hpp>
#include <ingot/folder_export.hpp>
#include <ingot/quantize.hpp>
#include <ingot/recipe.hpp>

#include "python_bindings.hpp"

namespace ingot::python {

/// The words for the values of an enumeration.
template <class T>
using Choice = std::pair<std::string_view, T>;

template <class T>
inline constexpr Choice<T> choices_of[1] = {};
template <>
inline constexpr Choice<BumpCodes> choices_of<BumpCodes>[] = {{"doc", BumpCodes::doc},
                                                              {"engine", BumpCodes::engine}};
template <>
inline constexpr Choice<Effort> choices_of<Effort>[] = {
    {"reference", Effort::reference}, {"best", Effort::best}, {"auto", Effort::automatic}};
template <>
inline constexpr Choice<Endian> choices_of<Endian>[] = {{"little", Endian::little},
                                                        {"big", Endian::big}};
template <>
inline constexpr Choice<FolderPacking> choices_of<FolderPacking>[] = {
    {"none", FolderPacking::none}, {"mlx", FolderPacking::mlx}, {"gptq", FolderPacking::gptq}};
template <>
inline constexpr Choice<FlashAttention> choices_of<FlashAttention>[] = {
    {"auto", FlashAttention::automatic}, {"on", FlashAttention::on}, {"off", FlashAttention::off}};

/// The visitor that sets the options that a dict names, and are not None. Throws a TypeError for a
/// value that an option cannot hold, Failed for a word that it does not know.
class OptionSetter {
 public:
  explicit OptionSetter(const py::dict& options) : options_(options) {}

  template <class T>
  void operator()(const char* name, T& target) const {
    if (!options_.contains(name) || options_[name].is_none()) return;
    const py::object value = options_[name];
    try {
      set(name, value, target);
    } catch (const py::cast_error&) {
      refuse_option(name, value);
    }
  }

  /// The value that a word stands for.
  template <class T>
  static T choice(const char* name, const std::string& word) {
    std::string known;
    for (const auto& [choice, value] : choices_of<T>) {
      if (word == choice) return value;
      known += (known.empty() ? "" : ", ") + std::string(choice);
    }
    refuse_word(word, std::string(name) + " is one of " + known);
  }

 private:
  template <class T>
  static void set(const char* name, const py::handle& value, T& target) {
    if constexpr (ingot::detail::is_optional<T>) {
      set(name, value, target.emplace());
    } else if constexpr (std::is_same_v<T, TensorType>) {
      target = type_from(py::cast<std::string>(value));
    } else if constexpr (std::is_enum_v<T>) {
      target = choice<T>(name, py::cast<std::string>(value));
    } else {
      target = py::cast<T>(value);
    }
  }
  static void set(const char* name, const py::handle& value, std::optional<std::uint64_t>& target);
  static void set(const char* name, const py::handle& value, std::vector<Device>& target);
  static void set(const char* name, const py::handle& value, std::vector<TypePattern>& target);
  static void set(const char* name, const py::handle& value, const Recipe*& target);
  static void set(const char* name, const py::handle& value, RenameTensors& target);

  [[noreturn]] static void refuse_word(const std::string& word, std::string detail);

  const py::dict& options_;
};

/// Options with the values that a dict names.
template <class T>
[[nodiscard]] T options_from(const py::dict& options) {
  T to;
  const OptionSetter set(options);
  describe_options(set, to);
  return to;
}

}  // namespace ingot::python

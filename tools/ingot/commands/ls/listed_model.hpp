// SPDX-License-Identifier: MIT
// One line about a model, wherever it was opened from.
#pragma once

#include <cstdint>
#include <ingot/describe.hpp>
#include <ingot/model.hpp>
#include <optional>
#include <span>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

/// A row of `ingot ls`. Texts are raw bytes of the file.
struct ListedModel {
  std::string file;  ///< The file as the user would name it.
  std::optional<std::string> name;
  std::optional<std::string> architecture;
  std::optional<std::uint64_t> parameter_count;  ///< Nothing if the model was not opened.
  std::string type;  ///< The mixture that the file names, else the tensor type of most bytes.
  std::optional<double> bits_per_weight;
  std::uint64_t file_bytes = 0;  ///< The size of all shards that exist.
  std::optional<std::uint64_t> context_length;
  bool is_verified = true;  ///< The file was not read through a layout index.
};

template <class Visitor>
void describe(Visitor& visit, const ListedModel& model) {
  visit("file", model.file, "", "the file as the user would name it");
  visit("name", model.name, "", "`general.name`");
  visit("architecture", model.architecture, "", "`general.architecture`");
  visit("parameters", model.parameter_count, "weights", "elements of all tensors");
  visit("type", text_if_any(model.type), "",
        "what the file says of itself, else the tensor type of most bytes");
  visit("bits_per_weight", model.bits_per_weight, "bits", "over all tensors");
  visit("file_size", model.file_bytes, "bytes", "of all shards that exist");
  visit("context_length", model.context_length, "tokens", "that the model was trained for");
}

/// `foreign` if the file is of another format than GGUF.
[[nodiscard]] ListedModel list_model(const std::string& file, const Model& model,
                                     const ForeignFile* foreign);

/// Prints one line per model: a table for people, or one for a model card.
void print_models(Console& console, std::span<const ListedModel> models);
void print_models_markdown(Console& console, std::span<const ListedModel> models);

}  // namespace ingot::cli

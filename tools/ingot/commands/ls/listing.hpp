// SPDX-License-Identifier: MIT
// The models of files and folders, one line each.
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

/// Models, one line each, or pairs: models with the projectors that belong to them.
enum class ListStyle : std::uint8_t { table, markdown, pairs };

/// A model and a projector beside each other. Names as in a listing.
struct ListedPair {
  std::optional<std::string> model;  ///< Nothing: the projector has none here.
  std::string projector;
  std::string_view match;  ///< Empty without a model.
};

template <class Visitor>
void describe(Visitor& visit, const ListedPair& pair) {
  visit("model", pair.model, "", "the file; null if none of the files belongs to the projector");
  visit("projector", pair.projector, "", "the file");
  visit("match", text_if_any(pair.match), "",
        "`same`: a name or a base model is the same; `related`: `general.basename` is; `unnamed`: "
        "the widths are equal, one has no name, and no other file is in question; null without a "
        "model");
}

/// The order of a listing: as it was found, or with the largest first but for names.
enum class ListOrder : std::uint8_t { found, name, size, parameters, context, date };

struct ListRequest {
  ListStyle style = ListStyle::table;
  ListOrder order = ListOrder::found;
  std::uint64_t limit = 0;  ///< 0: all.
  std::string pattern;      ///< Of names and architectures; empty: all.
  bool has_digests = false;
  bool finds_duplicates = false;
};

/// Whether the headers of the models in a repository on a server are fetched, or its listing is
/// all.
enum class RepositoryHeads : std::uint8_t { left, fetched };

/// Lists the models of the places: files, folders with the folders below them, among them those of
/// Hugging Face, and repositories. A model that does not open is a row, too, and sets the status;
/// the error of a file that was named is printed, those of a folder are counted.
void list_places(Console& console, std::span<const std::string> places,
                 const ListRequest& request = {}, RepositoryHeads heads = RepositoryHeads::left);

}  // namespace ingot::cli

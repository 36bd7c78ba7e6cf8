// SPDX-License-Identifier: MIT
// The facts of a model card: of metadata, of estimates, and of results of `ingot evaluate`.
#pragma once

#include <cstdint>
#include <ingot/error.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

/// What a card is made from, apart from the models.
struct CardRequest {
  std::vector<std::string> files;
  std::string title;                     ///< Empty: by the metadata.
  std::vector<std::string> base_models;  ///< The models that were quantized; none: by the metadata.
  std::string results;                   ///< A file of `ingot evaluate --json`; may be empty.
};

/// A divergence from the base, with its standard error.
struct CardQuality {
  double divergence = 0;
  double divergence_error = 0;  ///< Not a number where it is unknown.
  std::optional<double> same_top;
};

/// A model of the card.
struct CardModel {
  std::string name;  ///< The name of its first file, without a folder.
  std::uint64_t file_count = 1;
  std::uint64_t size_bytes = 0;  ///< The size of all files.
  std::string type = {};         ///< "Q4_K_M"
  std::optional<double> bits_per_weight = {};
  std::vector<std::optional<std::uint64_t>> contexts = {};  ///< The longest that fits each card.
  std::optional<CardQuality> quality = {};
};

/// The content of a card. Texts are raw bytes of files.
struct CardFacts {
  std::string title;
  std::string license;
  std::string license_name;
  std::string license_link;
  std::vector<std::string> base_models;  ///< Repositories of a hub, ORG/NAME.
  bool is_quantized = false;  ///< The files are the base models in other types, no further work.
  std::vector<std::string> languages;
  std::string pipeline_tag;
  std::vector<std::string> tags;
  std::string quantized_by;
  std::string prompt_format;
  std::vector<std::uint64_t> card_bytes;  ///< The cards of the table, as they are sold.
  std::vector<CardModel> models;
  std::string results_basis;  ///< "512 tokens of wiki.txt"; empty without results.
};

/// ORG/NAME of the hub, of such a name or of its address; empty for all else.
[[nodiscard]] std::string repository_of(std::string_view text);

/// Reads what `ingot evaluate --json` has found about each file, by its name.
[[nodiscard]] Result<void> read_results(const std::string& path, CardFacts& facts);

/// Reads the headers of the models and the results. Failures are printed.
[[nodiscard]] ExitCode gather_card(const CardRequest& request, Console& console, CardFacts& facts);

}  // namespace ingot::cli

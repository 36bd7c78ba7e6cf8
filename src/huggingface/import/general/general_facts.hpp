// SPDX-License-Identifier: MIT
// The facts that a model folder states about its model, before they become keys.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_tree.hpp"
#include "ingot/error.hpp"
#include "ingot/model_card.hpp"

namespace ingot::huggingface {

/// Facts by the name of their key without "general.".
using Facts = std::map<std::string, std::string, std::less<>>;

struct GeneralFacts {
  Facts texts;  ///< "name", "license.link", "source.url", ...
  /// The base models and the training data. Nothing if the card does not state them, which differs
  /// from an empty list.
  std::optional<std::vector<Facts>> base_models;
  std::optional<std::vector<Facts>> datasets;
  std::optional<std::vector<std::string>> tags;
  std::optional<std::vector<std::string>> languages;

  /// Sets a fact that is not known yet.
  void offer(std::string_view name, std::string_view text);
  void offer_if(std::string_view name, const std::optional<std::string>& text) {
    if (text) offer(name, *text);
  }
  /// Fills the gaps from a model card.
  void offer_card(const CardValue& card, std::int64_t parameter_count);
  /// Fills the gaps from a name: "org/Base-7B".
  void offer_id(std::string_view id, std::int64_t parameter_count);
  /// Replaces facts by the members of an object with whole names of keys.
  Result<void> replace(JsonView members, const std::string& file);
};

/// The facts of a base model or a data set that may be keys, in the order of the keys.
[[nodiscard]] const std::vector<std::string_view>& source_fact_names();

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
// The keys of a network, checked as they are read.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "evaluation/settings.hpp"
#include "model/open/model_header.hpp"

namespace ingot::evaluation {

// Bounds that no network reaches, so that no product of three of them exceeds 64 bits.
inline constexpr std::uint64_t max_size = std::uint64_t{1} << 20;
inline constexpr std::uint64_t max_layers = 10000;
inline constexpr std::uint64_t max_tokens = std::uint64_t{1} << 40;

/// Reads keys `<architecture>.<suffix>`.
class KeyReader {
 public:
  KeyReader(const Model& model, std::string prefix) : model_(model), prefix_(std::move(prefix)) {}

  [[nodiscard]] bool has(std::string_view suffix) const {
    return model_.find(prefix_ + std::string(suffix)) != nullptr;
  }

  [[nodiscard]] Result<std::uint64_t> number(std::string_view suffix, std::uint64_t lowest,
                                             std::uint64_t highest) const {
    const std::string key = prefix_ + std::string(suffix);
    INGOT_TRY(const auto number, model_.get<std::uint64_t>(key));
    if (number < lowest || number > highest) {
      return refuse(key, "it is " + std::to_string(number) + "; " + std::to_string(lowest) +
                             " to " + std::to_string(highest) + " are supported");
    }
    return number;
  }
  [[nodiscard]] Result<std::uint64_t> number_or(std::string_view suffix, std::uint64_t fallback,
                                                std::uint64_t highest) const {
    return has(suffix) ? number(suffix, 0, highest) : Result<std::uint64_t>(fallback);
  }
  [[nodiscard]] Result<std::size_t> size(std::string_view suffix) const {
    return number(suffix, 1, max_size);
  }
  /// A number from 1; the fallback if the key is missing or 0.
  [[nodiscard]] Result<std::size_t> size_or(std::string_view suffix, std::size_t fallback) const {
    INGOT_TRY(const std::uint64_t found, number_or(suffix, 0, max_size));
    return found == 0 ? fallback : static_cast<std::size_t>(found);
  }
  /// That of a layer, where each may have its own.
  [[nodiscard]] Result<std::size_t> layer_size_or(std::string_view suffix, std::size_t layer,
                                                  std::size_t fallback) const {
    const std::string key = prefix_ + std::string(suffix);
    const ModelHeader header(model_);
    if (!header.has_key(key)) return fallback;
    if (!header.array_size(key)) return size_or(suffix, 0);
    const auto found = header.number(key, layer);
    if (!found || *found < 0 || static_cast<std::uint64_t>(*found) > max_size) {
      return refuse(key, "it has no fitting number for layer " + std::to_string(layer));
    }
    return static_cast<std::size_t>(*found);
  }

  [[nodiscard]] Result<bool> flag_or(std::string_view suffix, bool fallback) const {
    return has(suffix) ? model_.get<bool>(prefix_ + std::string(suffix)) : Result<bool>(fallback);
  }

  [[nodiscard]] Result<double> real(std::string_view suffix) const {
    const std::string key = prefix_ + std::string(suffix);
    INGOT_TRY(const auto real, model_.get<double>(key));
    if (!std::isfinite(real)) return refuse(key, "it is not a finite number");
    return real;
  }
  [[nodiscard]] Result<double> real_or(std::string_view suffix, double fallback) const {
    return has(suffix) ? real(suffix) : Result<double>(fallback);
  }
  /// A factor: the fallback if the key is missing or 0.
  [[nodiscard]] Result<float> factor_or(std::string_view suffix, double fallback) const {
    INGOT_TRY(const double found, real_or(suffix, 0.0));
    return static_cast<float>(found == 0.0 ? fallback : found);
  }

 private:
  const Model& model_;
  std::string prefix_;
};

/// Reads how positions are scaled and turned, into the settings.
[[nodiscard]] Result<void> read_rope(const Model& model, const KeyReader& keys, Settings& settings);

}  // namespace ingot::evaluation

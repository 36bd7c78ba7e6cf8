// SPDX-License-Identifier: MIT
// Numbers of a model's header, each checked before it counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/model.hpp"

namespace ingot::estimate {

/// Largest number that a key may hold; beyond it no product of three is meaningful.
inline constexpr std::uint64_t max_header_number = std::uint64_t{1} << 32;

/// Layers that are considered, as in the engine's own limit with room to spare.
inline constexpr std::uint64_t max_layers = 10000;

/// Reads keys `<architecture>.<suffix>`.
class HeaderReader {
 public:
  /// `model` must outlive the reader.
  HeaderReader(const Model& model, std::string architecture);

  /// Nothing if the key is missing; Errc::estimate_impossible if it is no number within the limits.
  [[nodiscard]] Result<std::optional<std::uint64_t>> find_number(std::string_view suffix) const;
  [[nodiscard]] Result<std::uint64_t> number_or(std::string_view suffix,
                                                std::uint64_t fallback) const;

  /// One number for each layer: the key's array, or its number for all of them. Nothing if the key
  /// is missing; Errc::estimate_impossible if the array is too short.
  [[nodiscard]] Result<std::optional<std::vector<std::uint64_t>>> find_per_layer(
      std::string_view suffix, std::uint64_t layers) const;

  /// Flags for each layer: the key's array of bools or numbers. A single number is a period, and
  /// returned as such.
  struct Flags {
    std::optional<std::uint64_t> period;
    std::vector<bool> layers;
  };
  [[nodiscard]] Result<std::optional<Flags>> find_flags(std::string_view suffix,
                                                        std::uint64_t layers) const;

  /// Errc::estimate_impossible for a key.
  [[nodiscard]] Failure refuse(std::string_view suffix, std::string detail) const;

 private:
  [[nodiscard]] Result<std::uint64_t> number_of(const Value& value, std::string_view suffix) const;

  const Model& model_;
  std::string prefix_;
};

}  // namespace ingot::estimate

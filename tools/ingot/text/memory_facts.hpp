// SPDX-License-Identifier: MIT
// The memory that a model takes to run, in a few numbers.
#pragma once

#include <cstdint>
#include <ingot/model.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/json_stream.hpp"

namespace ingot::cli {

struct MemoryFacts {
  std::uint64_t weights_bytes = 0;
  std::uint64_t cache_growth_bytes = 0;        ///< The growth for each 1,024 tokens of context, in
                                               ///< F16.
  std::uint64_t context = 0;                   ///< The context of the next member.
  std::optional<std::uint64_t> smallest_card;  ///< The smallest card that holds everything, in its
                                               ///< nominal size.
  std::uint64_t own_context = 0;  ///< The model's own context, which `fit` assumes; 0: not known.
  std::optional<std::uint64_t> card_for_own;  ///< The same for the model's own context.
};

/// The facts about memory; nothing if the architecture is unknown or the header lacks facts.
[[nodiscard]] std::optional<MemoryFacts> memory_facts(const Model& model);

/// The memory of a whole model on one device, for one context.
struct MemoryRun {
  std::uint64_t context = 0;
  std::uint64_t weights_bytes = 0;
  std::uint64_t cache_bytes = 0;
  std::uint64_t compute_bytes = 0;
  std::optional<std::uint64_t> smallest_card;
};

/// The runs for contexts from 2,048 tokens to the model's own; empty without facts.
[[nodiscard]] std::vector<MemoryRun> memory_runs(const Model& model);

/// "24 GB": the size of a card as it is sold, which is in powers of 1024.
[[nodiscard]] std::string card_text(std::uint64_t bytes);

/// The facts as the value of a key; null without.
void write_memory_facts(JsonStream& json, const Model& model);

}  // namespace ingot::cli

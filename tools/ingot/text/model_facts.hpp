// SPDX-License-Identifier: MIT
// Facts about a model that take a little work to find.
#pragma once

#include <cstdint>
#include <ingot/model.hpp>
#include <ingot/summary.hpp>
#include <ingot/weight_grid.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// A token with a part to play: `tokenizer.ggml.<role>_token_id`.
struct SpecialToken {
  std::string_view role;  ///< "bos", "eos", ...; raw bytes
  std::uint64_t id = 0;
  std::optional<std::string_view> text;  ///< Raw bytes; nothing if the vocabulary has no such id.
};
[[nodiscard]] std::vector<SpecialToken> special_tokens(const Model& model);

/// The word for a role: a key of the format misspells one.
[[nodiscard]] std::string_view role_label(std::string_view role) noexcept;

/// One file of a split model, which may be missing.
struct ShardFact {
  std::optional<std::string> path;  ///< Nothing if the names of the other files do not show it.
  std::uint32_t index = 0;
  bool is_present = false;
  std::uint64_t file_bytes = 0;
};
/// All shards by index; empty if the model is not split.
[[nodiscard]] std::vector<ShardFact> shard_facts(const Model& model);

/// The sizes of all files of the model that are there.
[[nodiscard]] std::uint64_t total_file_bytes(const Model& model);

/// Bytes after the last tensor and its padding, over all files.
[[nodiscard]] std::uint64_t trailing_bytes(const Model& model);

/// The digest of all names, types and shapes, and of a few bytes of some of the weights. Models
/// with the same weights have the same one, and hardly any others. Nothing without weights.
[[nodiscard]] std::optional<std::string> sample_digest(const Model& model);

/// The lattice that matrices of floats lie on, by a sample of some of them. Nothing if they are on
/// none or on several, or if the weights are not at hand: those of a remote file are not fetched.
[[nodiscard]] std::optional<WeightGrid> usual_grid(const Model& model);

/// The value of a key if it is a string that is not empty.
[[nodiscard]] std::optional<std::string_view> find_text(const Model& model, std::string_view key);

/// The value of a key of the architecture, without its prefix, if it is an integer.
[[nodiscard]] std::optional<std::uint64_t> architecture_number(const Model& model,
                                                               std::string_view suffix);

/// The stored size of a head, or the width divided by the number of heads; nothing if layers
/// differ.
[[nodiscard]] std::optional<std::uint64_t> head_size(const Model& model, const Summary& summary);

/// The value of a float key of the architecture, as text with the digits of its precision.
[[nodiscard]] std::optional<std::string> architecture_float(const Model& model,
                                                            std::string_view suffix);

}  // namespace ingot::cli

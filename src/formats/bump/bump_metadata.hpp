// SPDX-License-Identifier: MIT
// The numbers of a model that a bump file needs, read from the keys of a GGUF file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ingot/convert.hpp"
#include "ingot/error.hpp"
#include "ingot/model.hpp"

namespace ingot::formats {

/// A fact of the metadata; nothing where it is absent.
struct BumpMetadata {
  std::string architecture;  ///< The value of `model_type`; may be any text.
  std::optional<std::uint64_t> layers;
  std::optional<std::uint64_t> embedding;
  std::optional<std::uint64_t> feed_forward;
  std::optional<std::uint64_t> heads;
  std::optional<std::uint64_t> kv_heads;
  std::optional<std::uint64_t> context;
  std::optional<double> rope_theta;
  std::optional<double> epsilon;
  std::string prefix;  ///< The prefix of the keys, for messages.
};

/// Reads the keys `<prefix>.<name>`. The prefix is the model's architecture, and the epsilon of the
/// norms is `attention.layer_norm_rms_epsilon` (or, if that is missing, `norm_rms_eps`).
///
/// Strictly as the original converter: its prefixes, in its order, whatever the
/// architecture is, and for the prefix `llama` the epsilon only as `norm_rms_eps`, which is no key
/// of GGUF.
///
/// Errc::bump_cannot_hold for numbers that make no sense: negative, above 32 bits, different from
/// layer to layer, NaN or infinite.
[[nodiscard]] Result<BumpMetadata> read_bump_metadata(const Model& model,
                                                      const BumpOptions& options, BumpCodes codes);

}  // namespace ingot::formats

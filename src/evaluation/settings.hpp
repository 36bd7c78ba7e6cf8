// SPDX-License-Identifier: MIT
// The numbers of a network, read from the keys of a model and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/parts.hpp"
#include "ingot/model.hpp"

namespace ingot::evaluation {

/// The error of keys and tensors that contradict each other: Errc::network_invalid.
[[nodiscard]] Failure refuse(std::string_view subject, std::string detail);
/// The error of a network of a kind that is not known: Errc::network_unsupported.
[[nodiscard]] Failure refuse_kind(std::string_view subject, std::string detail);

struct RopeSettings {
  std::size_t rotated = 0;         ///< Elements of a head; even.
  double base = 10000.0;           ///< The base of the frequencies.
  double scale = 1.0;              ///< Factor of positions.
  std::size_t window_rotated = 0;  ///< Elements of a head in layers with a window.
  double window_base = 0.0;        ///< The base of the frequencies in layers with a window.
  double window_scale = 1.0;
  double magnitude = 1.0;  ///< Factor of rotated elements.
  double window_magnitude = 1.0;
  std::uint64_t original_context = 0;  ///< Tokens; longer texts take the factors for long ones.
  bool is_yarn = false;                ///< Only slow frequencies are scaled.
  double fast_turns = 32.0;       ///< Frequencies with more turns in the original context are not.
  double slow_turns = 1.0;        ///< Those with fewer are scaled in full.
  std::vector<bool> fixed_pairs;  ///< True for those that do not rotate; may be empty.
};

struct ExpertSettings {
  Routing routing = Routing::softmax;
  bool are_normalised = false;
  std::size_t used = 0;    ///< The number of experts that each token uses.
  std::size_t groups = 1;  ///< Experts are chosen from a few of so many groups.
  std::size_t groups_used = 1;
  float scale = 1.0F;  ///< Factor of the shares.
};

/// The numbers of xielu in a layer.
struct CurveSettings {
  float negative = 0.0F;
  float positive = 0.0F;
  float beta = 0.0F;
  float epsilon = 0.0F;
};

/// How the states of the tokens of a text become one vector: the values of `pooling_type`.
enum class Pooling : std::uint8_t {
  none,  ///< Each token has its own.
  mean,
  first,
  last,
  rank,  ///< What the head of a classifier reads: the first token.
  unknown
};

struct Settings {
  const Architecture* row = nullptr;
  Parts parts;
  std::string prefix;  ///< "llama."
  std::size_t width = 0;
  std::size_t layer_count = 0;
  std::size_t key_size = 0;          ///< By the keys; the tensors of a layer may tell another.
  std::size_t window_key_size = 0;   ///< The same of layers with a window; 0: no other.
  std::uint64_t context_length = 0;  ///< Tokens; 0 if unknown.
  float epsilon = 0.0F;
  float clamp = 0.0F;          ///< The bound of projections; 0: none
  float largest_bias = 0.0F;   ///< Of ALiBi; 0: none
  float attention_cap = 0.0F;  ///< 0: none
  float logit_cap = 0.0F;      ///< 0: none
  float embedding_scale = 1.0F;
  float residual_scale = 1.0F;
  std::size_t halving_period = 0;  ///< Layers after which states are halved; 0: they are not.
  float logit_scale = 1.0F;        ///< Factor.
  float attention_scale = 0.0F;    ///< 0: by the size of a head.
  float attention_factor = 1.0F;   ///< Multiplies the scale of a head.
  std::size_t cooling = 0;         ///< Tokens after which queries grow; 0: they do not.
  std::size_t cooling_offset = 0;  ///< Tokens that count before the first.
  float cooling_rate = 0.0F;
  ExpertSettings experts;
  std::size_t window = 0;                          ///< Tokens that a layer with a window sees.
  std::size_t own_cache_layers = ~std::size_t{0};  ///< Later layers use the keys of earlier ones.
  std::vector<bool> windows;                       ///< The layers that have one.
  std::vector<CurveSettings> curves;               ///< The numbers of each layer, for xielu.
  bool has_windows = false;                        ///< Some layer has one.
  bool is_parallel = false;                        ///< Both parts of a layer read its input.
  RopeSettings rope;
  bool is_causal = true;    ///< Tokens see no later ones.
  bool is_encoder = false;  ///< It predicts no tokens.
  Pooling pooling = Pooling::none;
  bool rounds_cache = false;  ///< See EvaluationOptions.

  /// Elements of a key of a layer, by the keys.
  [[nodiscard]] std::size_t key_size_of(std::size_t layer) const noexcept {
    return windows[layer] && window_key_size > 0 ? window_key_size : key_size;
  }
  /// Elements of its heads that rotate.
  [[nodiscard]] std::size_t rotated_of(std::size_t layer) const noexcept {
    return windows[layer] ? rope.window_rotated : rope.rotated;
  }
  [[nodiscard]] bool is_rotated(std::size_t layer) const noexcept {
    const PositionFacts& positions = parts.positions;
    if (positions.rotates_only_windows && has_windows) return windows[layer];
    return positions.pairing != Pairing::none && rope.rotated > 0 &&
           (positions.unrotated_period == 0 || (layer + 1) % positions.unrotated_period != 0);
  }
};

/// Reads the keys of a model.
/// @return  errors that name the key: unknown architecture, a missing key, a number out of range,
///          a kind of rotation that is unknown.
[[nodiscard]] Result<Settings> read_settings(const Model& model);

/// A number of a layer, from 0 to that of elements of the largest network; the fallback if the key
/// is missing.
[[nodiscard]] Result<std::size_t> read_layer_size(const Model& model, const Settings& settings,
                                                  std::string_view suffix, std::size_t layer,
                                                  std::size_t fallback);

}  // namespace ingot::evaluation

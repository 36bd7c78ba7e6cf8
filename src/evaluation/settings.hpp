// SPDX-License-Identifier: MIT
// The numbers of a network, read from the keys of a model and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "evaluation/architecture.hpp"
#include "ingot/model.hpp"

namespace ingot::evaluation {

/// The error of keys and tensors that contradict each other: Errc::network_invalid.
[[nodiscard]] Failure refuse(std::string_view subject, std::string detail);
/// The error of a network of a kind that is not known: Errc::network_unsupported.
[[nodiscard]] Failure refuse_kind(std::string_view subject, std::string detail);

struct RopeSettings {
  std::size_t rotated = 0;   ///< Elements of a head; even.
  double base = 10000.0;     ///< The base of the frequencies.
  double scale = 1.0;        ///< Factor of positions.
  double window_base = 0.0;  ///< The base of the frequencies in layers with a window.
  double window_scale = 1.0;
  double magnitude = 1.0;              ///< Factor of rotated elements.
  std::uint64_t original_context = 0;  ///< Tokens; longer texts take the factors for long ones.
};

struct Settings {
  Architecture kind;
  std::string prefix;  ///< "llama."
  std::size_t width = 0;
  std::size_t layer_count = 0;
  std::size_t head_count = 0;
  std::size_t kv_head_count = 0;
  std::size_t key_size = 0;    ///< Elements of a query and of a key.
  std::size_t value_size = 0;  ///< Elements of a value.
  std::size_t feed_forward = 0;
  std::size_t expert_count = 0;  ///< 0: no experts
  std::size_t experts_used = 0;  ///< The number of experts that each token uses.
  std::size_t expert_feed_forward = 0;
  std::size_t shared_feed_forward = 0;
  std::uint64_t context_length = 0;  ///< Tokens; 0 if unknown.
  float epsilon = 0.0F;
  float attention_scale = 0.0F;
  float attention_cap = 0.0F;  ///< 0: none
  float logit_cap = 0.0F;      ///< 0: none
  float embedding_scale = 1.0F;
  float residual_scale = 1.0F;
  float logit_scale = 1.0F;  ///< Factor.
  float expert_scale = 1.0F;
  std::size_t window = 0;         ///< Tokens that a layer with a window sees; 0: no layer has one.
  std::size_t window_period = 0;  ///< See Architecture.
  RopeSettings rope;
  bool rounds_cache = false;  ///< See EvaluationOptions.

  [[nodiscard]] std::size_t query_size() const noexcept { return head_count * key_size; }
  [[nodiscard]] bool has_window(std::size_t layer) const noexcept {
    return window > 0 && layer % window_period + 1 < window_period;
  }
  [[nodiscard]] bool is_rotated(std::size_t layer) const noexcept {
    return kind.unrotated_period == 0 || (layer + 1) % kind.unrotated_period != 0;
  }
};

/// Reads the keys of a model.
/// @return  errors that name the key: unknown architecture, a missing key, a number out of range,
///          a kind of rotation that is unknown.
[[nodiscard]] Result<Settings> read_settings(const Model& model);

}  // namespace ingot::evaluation

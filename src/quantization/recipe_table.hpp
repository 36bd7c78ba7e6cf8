// SPDX-License-Identifier: MIT
// The types that a recipe gives to tensors, as data.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ingot/recipe.hpp"

namespace ingot::quantization {

/// The properties of a tensor that rules test. A set of bits, so that conditions can be joined with
/// |.
enum Fact : std::uint32_t {
  always = 0,
  is_falcon = 1u << 0,
  is_grouped = 1u << 1,         ///< four or more query heads for each key-value head
  has_four_experts = 1u << 2,   ///< four or more
  has_eight_experts = 1u << 3,  ///< exactly eight
  is_weighted = 1u << 4,        ///< there is an importance matrix
  is_unweighted = 1u << 5,
  is_stacked = 1u << 6,  ///< third dimension above 1: one matrix per expert
  // The position of the tensor among those of its role:
  in_first_two = 1u << 7,
  in_first_four = 1u << 8,
  in_first_sixteenth = 1u << 9,
  in_first_eighth = 1u << 10,
  in_middle = 1u << 11,      ///< neither in the first nor in the last eighth
  gets_more_bits = 1u << 12  ///< first eighth, last eighth, and every third between
};
constexpr Fact operator|(Fact a, Fact b) {
  return static_cast<Fact>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

/// Stands for the base type of the recipe.
inline constexpr TensorType base_type{~std::uint32_t{0}};

struct Case {
  Fact when = always;
  TensorType type = base_type;
};

/// The first case whose facts all hold decides; without one it is the base type.
class Rule {
 public:
  constexpr Rule() = default;
  constexpr Rule(TensorType type) : cases_{Case{always, type}}, count_(1) {}
  template <class... Cases>
  constexpr Rule(Case first, Cases... rest) : cases_{first, rest...}, count_(1 + sizeof...(rest)) {}

  [[nodiscard]] constexpr bool is_empty() const noexcept { return count_ == 0; }
  [[nodiscard]] constexpr TensorType choose(std::uint32_t facts) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if ((facts & cases_[i].when) == cases_[i].when) return cases_[i].type;
    }
    return base_type;
  }

 private:
  std::array<Case, 4> cases_{};
  std::size_t count_ = 0;
};

struct Mixture {
  Recipe recipe;
  Rule output = TensorType::q6_k;  ///< `output.weight`, or the embeddings if these are used for it
  Rule embedding = {};
  Rule value = {};
  Rule key = {};
  Rule query = {};
  Rule attention_output = {};
  Rule down = {};
  Rule up = {};    ///< and gate
  Rule rest = {};  ///< whatever has no rule above
  /// Whether keys and values of models with eight experts get Q8_0, as they cost little and matter
  /// much, and values of llama models with 80 layers get Q5_K instead of Q3_K and Q4_K.
  bool spares_values = true;
  /// Whether a down projection is counted by its layer where there are experts.
  bool counts_layers = true;
};

[[nodiscard]] std::span<const Mixture> mixtures() noexcept;
/// The recipes of the mixtures, alone.
[[nodiscard]] std::span<const Recipe> recipe_list() noexcept;

}  // namespace ingot::quantization

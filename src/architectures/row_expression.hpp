// SPDX-License-Identifier: MIT
// Whole numbers and conditions over the keys of a header. What cannot be told is unknown.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/architectures.hpp"

namespace ingot::architectures {

/// The deepest expression, and the longest chain of lets.
inline constexpr int most_depth = 48;

struct Expression {
  enum class Op : std::uint8_t {
    number,
    name,  ///< `text` is a let, or else a key
    layer,
    vocabulary,
    element,     ///< of the key `text`
    is_text,     ///< the key or text `text` is `literal`
    is_variant,  ///< the text `text` is one that the row describes
    has_tensor,
    size,  ///< the dimension `number` of the tensor `text`
    given,
    is_array,
    array_size,
    logical_or,
    logical_and,
    logical_not,
    equal,
    unequal,
    less,
    less_equal,
    greater,
    greater_equal,
    otherwise,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    least,
    greatest
  };
  Op op = Op::number;
  std::int64_t number = 0;
  std::string text = {};
  std::string literal = {};
  bool is_of_model = false;  ///< `has_tensor` and `size` of a tensor of the model.
  std::vector<Expression> parts = {};
};

/// Takes the longest expression off the front of `text`. The error is a sentence.
[[nodiscard]] tl::expected<Expression, std::string> take_expression(std::string_view& text);

/// Calls use(name, is a tensor) for every name in it.
void for_each_name(const Expression& expression, const std::function<void(const Expression&)>& use);

/// What names stand for.
class Scope {
 public:
  virtual ~Scope() = default;
  /// The meaning of a name; nullptr if it is a key.
  [[nodiscard]] virtual const Expression* meaning_of(std::string_view name) const = 0;
  /// The name of the key in the file.
  [[nodiscard]] virtual std::string key_name(std::string_view key) const = 0;
  /// Whether the row describes the variant that this text of `name` stands for.
  [[nodiscard]] virtual bool is_variant(std::string_view /*name*/,
                                        std::string_view /*text*/) const {
    return false;
  }
};

/// The text of a key, or of a let that stands for keys: `a ?? b`. Nothing if none is there.
[[nodiscard]] std::optional<std::string_view> text_of(std::string_view name, const Scope& scope,
                                                      const ArchitectureHeader& header);

/// Unknown where a key is missing, a number too large, or a divisor 0.
[[nodiscard]] std::optional<std::int64_t> evaluate(const Expression& expression, const Scope& scope,
                                                   const ArchitectureHeader& header,
                                                   std::optional<std::uint64_t> layer);

/// The name of a tensor in the file: "attn_q" is "blk.3.attn_q.weight", "ssm_a." is "blk.3.ssm_a".
/// Without a layer, `is_of_layer` names have "{i}" for it.
[[nodiscard]] std::string tensor_name(std::string_view name, bool is_of_layer,
                                      std::optional<std::uint64_t> layer);

}  // namespace ingot::architectures

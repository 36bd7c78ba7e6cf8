// SPDX-License-Identifier: MIT
// The tree of a parsed expression.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ingot::huggingface {

/// The scope in which a name is looked up.
enum class NameScope : std::uint8_t { config, rope, rope_root, rope_swa, target, generation };

struct ExpressionNode {
  enum class Kind : std::uint8_t {
    literal,      ///< `literal`
    name,         ///< the first of `names` that is there, in `scope`
    operation,    ///< `text` is the operator; two operands
    conditional,  ///< operands: the value, the condition, the other value
    call,         ///< `text` is the function; its arguments
  };
  Kind kind = Kind::literal;
  NameScope scope = NameScope::config;
  bool is_optional = false;
  std::string text = {};
  nlohmann::json literal = {};
  std::vector<std::string> names = {};
  std::vector<ExpressionNode> operands = {};
};

}  // namespace ingot::huggingface

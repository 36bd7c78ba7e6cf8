// SPDX-License-Identifier: MIT
// The expressions of the rules: values that are computed from config.json.
//
//   head_dim ?? hidden_size // num_attention_heads
//   int(rotary_pct * (hidden_size // num_attention_heads))
//   'linear' if factor? or rope_root:factor? else 'none'
//
// A name is a member of config.json; `a|b` is the first of them that is there, `a.b` is a member of
// a member; `rope:a` looks into the rotary parameters of full attention, `rope_swa:a` of sliding
// attention, `rope_root:a` at their top; `target:a` is a member of the config.json of the model
// that a draft belongs to, `generation:a` one of generation_config.json. `a?` may be absent (null),
// `a ?? b` is `a` unless it is absent. Operators have the meaning that they have in Python, `[a,
// b]` is a list. `each(a)` is the list of the values of `a` for all layers, whose number is
// `layer()`; `at(list, i)` is an element, or a letter of a text, and absent beyond the end.
// `as_reference()` is true where the defects of the reference converter are wanted, too.
// `number_in(name)` is the first number of a tensor of one axis, in whose name `{layer}` is the
// layer; `zero_rows(name, first)` are the rows of a matrix from `first` on that hold zeros alone;
// `listed_tokens()` is the number of tokens of tokenizer.json without the added ones.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "huggingface/folder/config.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// A tensor of the folder, as expressions see it.
struct NamedShape {
  std::string name = {};
  std::vector<std::uint64_t> shape = {};
};

/// What expressions may ask of a folder beside config.json.
class FolderLookup {
 public:
  virtual ~FolderLookup() = default;

  /// The first number of the tensor of one axis that has a name; nothing without such a tensor.
  [[nodiscard]] virtual Result<std::optional<double>> first_number(
      const std::string& name) const = 0;
  /// The rows of a matrix, from `first` on, that hold zeros alone; none without the matrix.
  [[nodiscard]] virtual Result<std::vector<std::uint64_t>> zero_rows(const std::string& name,
                                                                     std::uint64_t first) const = 0;
  /// The tokens of tokenizer.json without the added ones; nothing without the file.
  [[nodiscard]] virtual Result<std::optional<std::uint64_t>> listed_tokens() const = 0;
};

/// The facts that expressions use. Borrowed.
struct RuleContext {
  const Config& config;
  std::uint32_t file_type = 0;
  bool as_reference = false;  ///< The result is that of the reference converter, defects included.
  std::optional<std::uint64_t> layer = {};     ///< The layer that the value is for.
  std::span<const NamedShape> tensors = {};    ///< The tensors of the folder, where known.
  const FolderLookup* lookup = nullptr;        ///< For the folder, where known.
  const Config* target = nullptr;              ///< That of the model that a draft belongs to.
  const nlohmann::json* generation = nullptr;  ///< generation_config.json, where known.
};

struct ExpressionNode;

/// A parsed expression; immutable, cheap to copy.
class Expression {
 public:
  /// The constant null.
  Expression() = default;
  [[nodiscard]] static Result<Expression> parse(std::string_view text);

  /// The value; null if it depends on something optional that is absent.
  [[nodiscard]] Result<nlohmann::json> evaluate(const RuleContext& context) const;

  /// A whole number above 0. `what` is its meaning in messages.
  [[nodiscard]] Result<std::uint64_t> evaluate_count(const RuleContext& context,
                                                     std::string_view what) const;

  [[nodiscard]] bool is_set() const noexcept { return root_ != nullptr; }

  /// The tree, for code that undoes the expression; nullptr if it is not set.
  [[nodiscard]] const ExpressionNode* root() const noexcept { return root_.get(); }

 private:
  std::shared_ptr<const ExpressionNode> root_;
};

/// Whether Python takes a value for true.
[[nodiscard]] bool is_truthy(const nlohmann::json& value);

}  // namespace ingot::huggingface

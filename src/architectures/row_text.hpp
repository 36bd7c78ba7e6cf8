// SPDX-License-Identifier: MIT
// The statements of rows: rows/README.md describes the language.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "architectures/row_expression.hpp"
#include "ingot/architectures.hpp"

namespace ingot {

/// A row, as its statements say it.
struct ArchitectureRow {
  using Expression = architectures::Expression;
  struct Key {
    std::string name = {};
    ValueType type = ValueType::uint32;
    bool is_array = false;
    bool is_per_layer = false;
    bool is_required = false;
    std::optional<Expression> condition = {};
    bool names_variant = false;  ///< Its text tells the variants of the row apart.
    bool is_list = false;        ///< The sample has a list of the values.
    std::vector<std::variant<Expression, double, std::string>> values = {};  ///< In the sample.
  };
  struct Tensor {
    std::string name = {};  ///< The name as the row writes it.
    bool is_of_layers = false;
    std::vector<Expression> shape = {};
    bool is_optional = false;
    std::optional<Expression> condition = {};
    bool is_sampled = true;
    std::optional<Expression> sampled = {};  ///< The layers that have it.
  };
  struct Fact {
    std::string name = {};
    Expression value = {};
    std::optional<Expression> condition = {};
    bool is_memory = false;  ///< A number for `fit`, not for people.
  };
  /// What the engine does not load, and why.
  struct Refusal {
    Expression condition = {};
    std::string sentence = {};
  };
  /// The texts of a key, or of a let of keys, that the engine knows.
  struct Variants {
    std::string name = {};
    std::vector<std::string> described = {};  ///< The row has what they need.
    std::vector<std::string> others = {};
    std::optional<Expression> condition = {};
  };
  std::map<std::string, Expression, std::less<>> lets = {};
  std::vector<Key> keys = {};
  std::vector<Tensor> tensors =
      {};                        ///< Those of one name stand together, the last that holds counts.
  std::vector<Fact> facts = {};  ///< Likewise, the last that holds counts.
  std::vector<Variants> variants = {};
  std::vector<Refusal> refusals = {};
};

namespace architectures {

/// A text without blanks at its ends.
inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// A table of words and what they stand for.
template <class Enumerator, std::size_t n>
using Words = std::array<std::pair<std::string_view, Enumerator>, n>;

/// Takes the first word off a text.
inline std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

/// Reads a statement of what a model of the row keeps in memory, or of its vocabulary. Returns what
/// is wrong with it, or nothing.
[[nodiscard]] std::string read_memory_statement(std::string_view word, std::string_view text,
                                                Architecture& row);

/// Whether a statement "memory" can tell a number of this name.
[[nodiscard]] bool is_memory_number(std::string_view name) noexcept;

/// A file of rows.
struct RowText {
  std::string_view file;
  std::string_view text;
};

/// The statements of all files, found by the name of their row or group; rows are read when they
/// are asked for.
class House {
 public:
  /// A fault of the files as a whole is among `faults`.
  explicit House(std::span<const RowText> texts);

  [[nodiscard]] const std::vector<std::string_view>& names() const noexcept { return names_; }
  /// Reads a row. The error is "FILE:LINE: sentence".
  [[nodiscard]] tl::expected<Architecture, std::string> read(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& faults() const noexcept { return faults_; }

 private:
  friend class RowReader;
  struct Statement {
    std::string_view file;
    std::size_t line = 0;
    std::string_view text;
  };
  struct Block {
    bool is_row = false;
    std::size_t first = 0;
    std::size_t last = 0;
  };
  std::vector<Statement> statements_;
  std::map<std::string_view, Block> blocks_;
  std::vector<std::string_view> names_;
  std::vector<std::string> faults_;
};

/// The house that is compiled into the library.
[[nodiscard]] const House& house();

}  // namespace architectures
}  // namespace ingot

// SPDX-License-Identifier: MIT
// Patterns of tensor names: literal text with a few placeholders.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"

namespace ingot::huggingface {

/// The texts that the placeholders of a pattern stood for.
struct NameParts {
  std::string_view base = {};
  std::optional<std::uint64_t> layer = {};
  std::optional<std::uint64_t> expert = {};
  std::string_view part = {};
};

/// `*` and `{base}` stand for any text, `{layer}` and `{expert}` for a number, `{part}` for one of
/// a list of texts. A pattern fits a whole name.
class NamePattern {
 public:
  [[nodiscard]] static Result<NamePattern> parse(std::string_view text);

  [[nodiscard]] std::optional<NameParts> match(std::string_view name,
                                               std::span<const std::string> parts = {}) const;

  /// The text that was parsed, e.g. for fill_pattern.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  enum class Kind : std::uint8_t { literal, any, base, layer, expert, part };
  struct Piece {
    Kind kind;
    std::string literal;
  };
  [[nodiscard]] bool match_from(std::size_t piece, std::string_view rest,
                                std::span<const std::string> parts, NameParts& found) const;

  std::string text_;
  std::vector<Piece> pieces_;
};

/// The pattern with its placeholders filled in. `{layer}` without a number in `parts` is the first
/// part between dots of `name` that is a number. Errc::import_refused if there is none.
[[nodiscard]] Result<std::string> fill_pattern(std::string_view pattern, const NameParts& parts,
                                               std::string_view name);

/// Whether a name ends with one of some texts.
[[nodiscard]] inline bool ends_with_one(std::string_view name,
                                        std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

/// A number of at most nine digits that is all of `text`.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view text) noexcept;

/// The first part between dots of a name that is a number.
[[nodiscard]] std::optional<std::uint64_t> layer_of(std::string_view name) noexcept;

}  // namespace ingot::huggingface

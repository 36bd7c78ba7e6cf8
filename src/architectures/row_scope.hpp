// SPDX-License-Identifier: MIT
// The expressions of a row beside a header.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "architectures/row_expression.hpp"
#include "architectures/row_text.hpp"

namespace ingot::architectures {

/// The names of a row.
class RowScope : public Scope {
 public:
  explicit RowScope(const Architecture& architecture) : architecture_(architecture) {}
  const Expression* meaning_of(std::string_view name) const override {
    const auto found = architecture_.row->lets.find(name);
    return found == architecture_.row->lets.end() ? nullptr : &found->second;
  }
  std::string key_name(std::string_view key) const override {
    for (const std::string_view whole : {"tokenizer.", "general.", "xielu."}) {
      if (key.starts_with(whole)) return std::string(key);
    }
    return architecture_.name + "." + std::string(key);
  }
  bool is_variant(std::string_view name, std::string_view text) const override {
    return std::ranges::any_of(architecture_.row->variants, [&](const auto& variants) {
      return variants.name == name && std::ranges::count(variants.described, text) != 0;
    });
  }

 private:
  const Architecture& architecture_;
};

/// Whether a condition holds; nothing if that cannot be told.
inline std::optional<bool> holds(const std::optional<Expression>& condition, const Scope& scope,
                                 const ArchitectureHeader& header,
                                 std::optional<std::uint64_t> layer) {
  if (!condition) return true;
  const auto number = evaluate(*condition, scope, header, layer);
  return number ? std::optional(*number != 0) : std::nullopt;
}

}  // namespace ingot::architectures

// SPDX-License-Identifier: MIT
// The names of a template, each once.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "chat/compile/syntax_tree.hpp"
#include "chat/values/arena.hpp"

namespace ingot::chat {

class NameTable {
 public:
  /// The Name of a text, which is kept by reference.
  [[nodiscard]] const Name* intern(std::string_view text, Arena& arena);

  /// Null if the template has no such name.
  [[nodiscard]] const Name* find(std::string_view text) const;

  [[nodiscard]] const std::vector<const Name*>& names() const noexcept { return names_; }

 private:
  std::unordered_map<std::string_view, const Name*> by_text_;
  std::vector<const Name*> names_;
};

}  // namespace ingot::chat

// SPDX-License-Identifier: MIT
// A template that is ready to run. Nothing in it changes afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/compile/name_table.hpp"
#include "chat/compile/scopes.hpp"
#include "chat/values/arena.hpp"
#include "ingot/chat.hpp"

namespace ingot::chat {

/// A place in the text of a template.
struct SourcePlace {
  std::uint32_t line = 0;    ///< from 1
  std::uint32_t column = 0;  ///< characters, from 1
};

/// The text of a template.
class TemplateSource {
 public:
  /// Line ends become LF; one at the end is dropped, as the reference engine does.
  explicit TemplateSource(std::string text);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// The places of bytes that are in order, in one walk.
  [[nodiscard]] std::vector<SourcePlace> places_of(std::span<const std::uint32_t> offsets) const;
  [[nodiscard]] SourcePlace place_of(std::uint32_t offset) const;
  [[nodiscard]] std::string_view line_at(std::uint32_t offset) const noexcept;

 private:
  std::string text_;
};

struct CompiledTemplate {
  CompiledTemplate(std::string text, std::string template_name)
      : given_text(text), source(std::move(text)), name(std::move(template_name)) {}

  std::string given_text;
  TemplateSource source;
  std::string name;
  Arena arena;
  NameTable names;
  Program program;
  std::vector<std::pair<std::string, ChatValue>> special_tokens;  ///< variables of the model
};

}  // namespace ingot::chat

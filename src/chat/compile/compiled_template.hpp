// SPDX-License-Identifier: MIT
// A template that is ready to run. Nothing in it changes afterwards.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "chat/compile/name_table.hpp"
#include "chat/compile/scopes.hpp"
#include "chat/compile/template_source.hpp"
#include "chat/values/arena.hpp"
#include "ingot/chat.hpp"

namespace ingot::chat {

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

// SPDX-License-Identifier: MIT
// The features of a model's default chat template, for people and for JSON.
#pragma once

#include <ingot/model.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

struct ChatFacts {
  std::string problem;  ///< Why no conversation can be rendered; empty if one can. Safe to print.
  bool reached_limit = false;  ///< Some trial conversations took too long.
  std::string_view format;     ///< The name of the prompt format, "ChatML"; static. Empty: unknown.
  std::vector<std::string_view> features;  ///< "system", "tools", ...; static
};

/// The facts of the model's chat template; nothing if it has no default template. Takes about a
/// millisecond.
[[nodiscard]] std::optional<ChatFacts> chat_facts(const Model& model);

}  // namespace ingot::cli

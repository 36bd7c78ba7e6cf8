// SPDX-License-Identifier: MIT
#include "commands/convert/bump_hint.hpp"

#include <string>

namespace ingot::cli {

std::string_view bump_hint(const Error& error) {
  if (error.code == Errc::would_be_lost) return " (--allow-loss)";
  const auto says = [&](const char* text) { return error.detail.find(text) != std::string::npos; };
  const bool helps_engine = says("the engine's codes");
  if (says("can be widened")) {
    return helps_engine ? " (--dtype-codes engine, or --widen)" : " (--widen)";
  }
  if (helps_engine) return " (--dtype-codes engine)";
  if (says("give the context")) return " (--context)";
  return {};
}

}  // namespace ingot::cli

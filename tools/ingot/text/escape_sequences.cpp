// SPDX-License-Identifier: MIT
#include "text/escape_sequences.hpp"

#include <charconv>

namespace ingot::cli {
namespace {

struct Escape {
  char letter;
  char meaning;
};
constexpr Escape escapes[] = {{'n', '\n'},  {'t', '\t'},  {'r', '\r'},
                              {'\\', '\\'}, {'\'', '\''}, {'"', '"'}};

}  // namespace

Result<std::string> resolve_escapes(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    const std::string_view rest = text.substr(i + 1);
    const Escape* known = nullptr;
    for (const Escape& one : escapes) {
      if (rest.starts_with(one.letter)) known = &one;
    }
    unsigned byte = 0;
    const bool is_hex =
        rest.size() >= 3 && rest[0] == 'x' &&
        std::from_chars(rest.data() + 1, rest.data() + 3, byte, 16).ptr == rest.data() + 3;
    if (known == nullptr && !is_hex) {
      return fail(Errc::invalid_argument, "-e",
                  "\"" + std::string(text.substr(i, 4)) +
                      "\" is no escape; \\n, \\t, \\r, \\\\, \\', \\\" and \\x41 are");
    }
    result += known != nullptr ? known->meaning : static_cast<char>(byte);
    i += known != nullptr ? 1 : 3;
  }
  return result;
}

}  // namespace ingot::cli

// SPDX-License-Identifier: MIT
// Property: any line of a shell has words, the last of which begins with what bash keeps of it; and
// words that are quoted, in one way or the other, come back as they were.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/completion/shell_words.hpp"

namespace {

using namespace ingot::cli;

void require(bool condition) {
  if (!condition) std::abort();
}

/// 'it'\''s'
std::string in_single_quotes(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::string with_backslashes(std::string_view word) {
  std::string text;
  for (const char c : word) {
    text += '\\';
    text += c;
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ShellLine line = split_shell_line(text, "=:");
  require(!line.words.empty() && line.words.back().starts_with(line.kept));
  require(line.kept.empty() || line.kept.back() == '=' || line.kept.back() == ':');
  std::string again;
  for (const std::string& word : line.words) {
    if (!again.empty()) again += ' ';
    again += word.size() % 2 == 0 ? in_single_quotes(word) : with_backslashes(word);
  }
  require(split_shell_line(again, "").words == line.words);
  return 0;
}

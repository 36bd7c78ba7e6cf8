// SPDX-License-Identifier: MIT
#include "text/whole_file.hpp"

#include <ingot/text.hpp>

#include "cli/text_input.hpp"

namespace ingot::cli {
namespace {

/// Far more than any template or conversation.
constexpr std::size_t max_bytes = std::size_t{256} << 20;

Result<std::string> read_all(const std::string& path) {
  INGOT_TRY(TextInput input, TextInput::open(path));
  return input.read_all(max_bytes);
}

}  // namespace

Result<std::string> read_whole(const std::string& path) {
  if (path != "-") return read_all(path);
  static const Result<std::string> input = read_all(path);
  return input;
}

void write_raw(Console& console, std::string_view text) {
  if (!console.is_terminal()) return console.out().write(text);
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\n\t\\");
    console.out().write(escape(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    console.out().put(text[end]);
    text.remove_prefix(end + 1);
  }
}

}  // namespace ingot::cli

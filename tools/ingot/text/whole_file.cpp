// SPDX-License-Identifier: MIT
#include "text/whole_file.hpp"

#include <ingot/text.hpp>

#include "cli/text_input.hpp"

namespace ingot::cli {
namespace {

Result<std::string> read_all(const std::string& path, std::size_t max_bytes) {
  INGOT_TRY(TextInput input, TextInput::open(path));
  return input.read_all(max_bytes);
}

}  // namespace

Result<std::string> read_whole(const std::string& path, std::size_t max_bytes) {
  if (path != "-") return read_all(path, max_bytes);
  static const Result<std::string> input = read_all(path, max_bytes);
  return input;
}

Result<std::string> read_whole(const std::string& path) { return read_whole(path, max_text_bytes); }

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

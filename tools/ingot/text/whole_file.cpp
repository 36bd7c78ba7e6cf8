// SPDX-License-Identifier: MIT
#include "text/whole_file.hpp"

#include <cerrno>
#include <fstream>
#include <ingot/text.hpp>
#include <iostream>
#include <optional>
#include <system_error>

namespace ingot::cli {
namespace {

/// Far more than any template or conversation.
constexpr std::size_t max_bytes = std::size_t{256} << 20;

Result<std::string> read_stream(std::istream& stream, const std::string& path) {
  std::string content;
  std::string piece(std::size_t{1} << 16, '\0');
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
         stream.gcount() > 0) {
    content.append(piece, 0, static_cast<std::size_t>(stream.gcount()));
    if (content.size() > max_bytes) {
      return fail(Errc::limit_exceeded, path, "it has more than " + format_bytes(max_bytes));
    }
  }
  if (stream.bad()) return fail(Errc::io_error, path, std::generic_category().message(errno));
  return content;
}

}  // namespace

Result<std::string> read_whole(const std::string& path) {
  if (path == "-") {
    static std::optional<Result<std::string>> input;
    if (!input) input = read_stream(std::cin, path);
    return *input;
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return fail(Errc::io_error, path, std::generic_category().message(errno));
  return read_stream(file, path);
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

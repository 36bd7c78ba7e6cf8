// SPDX-License-Identifier: MIT
#include "chat/compile/template_source.hpp"

#include <algorithm>
#include <utility>

#include "base/line_feeds.hpp"

namespace ingot::chat {
namespace {

bool begins_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80; }

}  // namespace

TemplateSource::TemplateSource(std::string text) : text_(with_line_feeds(std::move(text))) {
  if (text_.ends_with('\n')) text_.pop_back();
}

SourcePlace TemplateSource::place_of(std::uint32_t offset) const noexcept {
  const auto before = text().substr(0, std::min<std::size_t>(offset, text_.size()));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto in_line = before.substr(line_start);
  return {static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<std::uint32_t>(std::ranges::count_if(in_line, begins_character)) + 1};
}

std::string_view TemplateSource::line_at(std::uint32_t offset) const noexcept {
  const std::size_t place = std::min<std::size_t>(offset, text_.size());
  const std::size_t start = text().substr(0, place).rfind('\n') + 1;
  const std::size_t end = text().find('\n', start);
  return text().substr(start, end == std::string_view::npos ? end : end - start);
}

}  // namespace ingot::chat

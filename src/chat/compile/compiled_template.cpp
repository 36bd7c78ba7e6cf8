// SPDX-License-Identifier: MIT
#include "chat/compile/compiled_template.hpp"

#include <algorithm>
#include <utility>

#include "base/strings.hpp"

namespace ingot::chat {
namespace {

bool begins_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80; }

}  // namespace

TemplateSource::TemplateSource(std::string text) : text_(with_line_feeds(std::move(text))) {
  if (text_.ends_with('\n')) text_.pop_back();
}

std::vector<SourcePlace> TemplateSource::places_of(std::span<const std::uint32_t> offsets) const {
  std::vector<SourcePlace> places;
  SourcePlace place = {1, 1};
  std::size_t at = 0;
  for (const std::uint32_t offset : offsets) {
    for (; at < std::min<std::size_t>(offset, text_.size()); ++at) {
      if (text_[at] == '\n') {
        ++place.line;
        place.column = 1;
      } else if (begins_character(text_[at])) {
        ++place.column;
      }
    }
    places.push_back(place);
  }
  return places;
}

SourcePlace TemplateSource::place_of(std::uint32_t offset) const {
  return places_of({&offset, 1})[0];
}

std::string_view TemplateSource::line_at(std::uint32_t offset) const noexcept {
  const std::size_t place = std::min<std::size_t>(offset, text_.size());
  const std::size_t start = text().substr(0, place).rfind('\n') + 1;
  const std::size_t end = text().find('\n', start);
  return text().substr(start, end == std::string_view::npos ? end : end - start);
}

}  // namespace ingot::chat

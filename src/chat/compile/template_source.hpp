// SPDX-License-Identifier: MIT
// The text of a template, and places in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::chat {

struct SourcePlace {
  std::uint32_t line = 0;    ///< from 1
  std::uint32_t column = 0;  ///< characters, from 1
};

class TemplateSource {
 public:
  /// Line ends become LF; one at the end is dropped, as the reference engine does.
  explicit TemplateSource(std::string text);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// The places of bytes that are in order, in one walk.
  [[nodiscard]] std::vector<SourcePlace> places_of(std::span<const std::uint32_t> offsets) const;
  [[nodiscard]] SourcePlace place_of(std::uint32_t offset) const;
  [[nodiscard]] std::string_view line_at(std::uint32_t offset) const noexcept;

 private:
  std::string text_;
};

}  // namespace ingot::chat

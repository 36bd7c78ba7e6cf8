// SPDX-License-Identifier: MIT
// Images and sounds as a projector takes them.
#pragma once

#include <cstdint>
#include <ingot/error.hpp>
#include <ingot/estimate.hpp>
#include <string>
#include <string_view>

namespace ingot::cli {

struct ImagePixels {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

/// "1024x768". The fault names the option.
[[nodiscard]] Result<ImagePixels> parse_image_size(const std::string& option,
                                                   std::string_view text);

/// "12.5", a number above 0. The fault names the option.
[[nodiscard]] Result<double> parse_seconds(const std::string& option, std::string_view text);

/// "3 of 1,024 x 768 pixels, 3,072 of 8,192 tokens of context"
[[nodiscard]] std::string images_text(const RunOptions& options, const MemoryEstimate& estimate);

/// "12.5 seconds, 310 of 8,192 tokens of context"
[[nodiscard]] std::string sound_text(const RunOptions& options, const MemoryEstimate& estimate);

}  // namespace ingot::cli

// SPDX-License-Identifier: MIT
#include "commands/image_facts.hpp"

#include <fmt/core.h>

#include <charconv>
#include <ingot/projectors.hpp>
#include <ingot/text.hpp>

#include "text/value_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {

Result<ImagePixels> parse_image_size(const std::string& option, std::string_view text) {
  ImagePixels pixels;
  const char* const end = text.data() + text.size();
  const auto [middle, width_error] = std::from_chars(text.data(), end, pixels.width);
  const bool has_x = middle != end && (*middle == 'x' || *middle == 'X');
  const auto [last, height_error] = std::from_chars(has_x ? middle + 1 : end, end, pixels.height);
  const auto is_side = [](std::uint32_t side) { return side > 0 && side <= max_image_side; };
  if (width_error == std::errc() && height_error == std::errc() && last == end &&
      is_side(pixels.width) && is_side(pixels.height)) {
    return pixels;
  }
  return fail(Errc::invalid_argument, option,
              "\"" + escape_shortened(text, 40) +
                  "\" is not a size in pixels like 1024x768, a side at most " +
                  format_digits(max_image_side));
}

Result<double> parse_seconds(const std::string& option, std::string_view text) {
  const auto [seconds, size] = leading_decimal(text);
  if (size != 0 && size == text.size() && seconds > 0 && seconds <= max_sound_seconds) {
    return seconds;
  }
  return fail(Errc::invalid_argument, option,
              "\"" + escape_shortened(text, 40) + "\" is no number of seconds up to " +
                  format_digits(max_sound_seconds));
}

std::string images_text(const RunOptions& options, const MemoryEstimate& estimate) {
  const std::uint64_t context = estimate.context_per_sequence;
  std::string text =
      fmt::format("{} of {} x {} pixels, {} of {} tokens of context", format_digits(options.images),
                  options.image_size[0], options.image_size[1],
                  format_digits(estimate.image_tokens), format_digits(context));
  if (estimate.image_tokens >= context) text += ": the context is too small";
  return text;
}

std::string sound_text(const RunOptions& options, const MemoryEstimate& estimate) {
  return fmt::format("{} seconds, {} of {} tokens of context", options.audio_seconds,
                     format_digits(estimate.audio_tokens),
                     format_digits(estimate.context_per_sequence));
}

}  // namespace ingot::cli

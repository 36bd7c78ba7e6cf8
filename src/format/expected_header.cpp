// SPDX-License-Identifier: MIT
#include "format/expected_header.hpp"

#include <algorithm>

namespace ingot::format {
namespace {

/// The assumed growth of strings: later ones are longer than those at the beginning.
constexpr double slack = 1.03;
/// The assumed size of a string when none was read yet: its length and eight characters.
constexpr double usual_string_bytes = 16;
/// The size of a usual tensor info: name, two dimensions, type and offset.
constexpr double usual_info_bytes = 64;
/// The size of a key with a small value.
constexpr double usual_key_bytes = 64;
/// Room behind a vocabulary for a chat template and for strings that are longer than expected. Too
/// few bytes cost another round trip; this many do not matter.
constexpr double usual_tail_bytes = 1 << 16;
/// The size of a token's score or type.
constexpr double token_number_bytes = 4;
/// Byte-pair vocabularies have nearly as many merges as tokens, each with a space in the middle.
constexpr double merges_for_tokens = 1.2;

/// The mean size of the elements that were read, or `usual`. Sums are in double, so that numbers
/// from a file cannot overflow them.
double mean(std::uint64_t bytes, std::uint64_t count, double usual) noexcept {
  return count == 0 ? usual : static_cast<double>(bytes) / static_cast<double>(count);
}

}  // namespace

std::uint64_t expected_bytes(const HeaderProgress& progress, std::uint64_t most_bytes) noexcept {
  double expected = static_cast<double>(progress.missing_bytes);
  const auto strings_left = static_cast<double>(progress.strings_left);
  if (progress.strings_left != 0) {
    expected += strings_left * slack *
                mean(progress.strings_read_bytes, progress.strings_read, usual_string_bytes);
  }
  const auto tokens = static_cast<double>(progress.tokens);
  expected += tokens * token_number_bytes * static_cast<double>(progress.token_numbers);
  if (progress.tokens != 0 && progress.keys_left != 0) expected += usual_tail_bytes;
  if (progress.has_merges) {
    expected += tokens * merges_for_tokens *
                mean(progress.tokens_read_bytes, progress.tokens_read, usual_string_bytes);
  }
  expected += static_cast<double>(progress.keys_left) * usual_key_bytes;
  expected += static_cast<double>(progress.tensors_left) *
              mean(progress.infos_read_bytes, progress.tensors_read, usual_info_bytes);
  if (!(expected < static_cast<double>(most_bytes))) return most_bytes;
  return std::clamp(static_cast<std::uint64_t>(expected), progress.missing_bytes, most_bytes);
}

}  // namespace ingot::format

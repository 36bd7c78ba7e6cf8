// SPDX-License-Identifier: MIT
// Exact sums: pairs of multiples of powers of two, which doubles add up without rounding.
#include <algorithm>
#include <cmath>
#include <utility>

#include "formats/imatrix/imatrix_state.hpp"

namespace ingot::formats {

Result<void> ImatrixFile::read_doubles(std::uint64_t file_offset, std::span<double> dst) const {
  INGOT_TRY_VOID(read(file_offset, std::as_writable_bytes(dst)));
  for (double& number : is_swapped ? dst : std::span<double>()) {
    number = std::bit_cast<double>(byteswap(std::bit_cast<std::uint64_t>(number)));
  }
  return {};
}

Result<void> read_exact_sums(const std::vector<ImatrixPart>& parts, std::uint64_t first,
                             std::span<double> coarse, std::span<double> fine) {
  std::vector<double> numbers(coarse.size());
  for (const auto& [dst, is_fine] : {std::pair(coarse, false), std::pair(fine, true)}) {
    std::ranges::fill(dst, 0.0);
    for (const ImatrixPart& part : parts) {
      const std::uint64_t before = (is_fine ? part.value_count : 0) + first;
      INGOT_TRY_VOID(
          part.file->read_doubles(*part.exact_offset + before * sizeof(double), numbers));
      for (std::size_t i = 0; i < numbers.size(); ++i) dst[i] += numbers[i];
    }
  }
  return {};
}

Result<void> check_exact_sums(const ImatrixPart& part, const std::string& name) {
  constexpr std::uint64_t read_values = 4096;
  std::vector<double> numbers;
  const std::uint64_t count = part.exact_offset ? 2 * part.value_count : 0;
  for (std::uint64_t done = 0; done < count; done += numbers.size()) {
    numbers.resize(static_cast<std::size_t>(std::min<std::uint64_t>(read_values, count - done)));
    const std::uint64_t from = *part.exact_offset + done * sizeof(double);
    INGOT_TRY_VOID(part.file->read_doubles(from, numbers));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (std::isfinite(numbers[i])) continue;
      return fail(Errc::imatrix_invalid, from + i * sizeof(double), name,
                  "an exact sum is no finite number");
    }
  }
  return {};
}

}  // namespace ingot::formats

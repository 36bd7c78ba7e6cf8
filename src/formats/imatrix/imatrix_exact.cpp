// SPDX-License-Identifier: MIT
// Exact sums: pairs of multiples of powers of two, which doubles add up without rounding.
#include <algorithm>
#include <cmath>

#include "formats/imatrix/imatrix_state.hpp"

namespace ingot::formats {
namespace {

/// Below it, doubles add multiples of 2^-8 exactly.
constexpr double max_coarse_sum = 0x1p45;
/// What a square leaves of the coarse part is at most 2^-9, and sums of multiples of 2^-40 are
/// exact up to 2^13: that is for so many tokens.
constexpr double max_exact_tokens = 0x1p22;
constexpr double max_fine_sum = max_exact_tokens * 0x1p-9;

}  // namespace

Result<void> ImatrixFile::read_doubles(std::uint64_t file_offset, std::span<double> dst) const {
  INGOT_TRY_VOID(read(file_offset, std::as_writable_bytes(dst)));
  if (is_swapped) swap_bytes(dst);
  return {};
}

Result<void> read_exact_sums(const std::vector<ImatrixPart>& parts, const std::string& name,
                             std::uint64_t first, std::span<double> coarse,
                             std::span<double> fine) {
  std::ranges::fill(coarse, 0.0);
  std::ranges::fill(fine, 0.0);
  std::vector<float> sums(coarse.size());
  std::vector<double> heads(coarse.size());
  std::vector<double> rests(coarse.size());
  for (const ImatrixPart& part : parts) {
    const std::uint64_t from = *part.exact_offset + first * sizeof(double);
    INGOT_TRY_VOID(part.file->read_floats(part.values_offset + first * sizeof(float), sums));
    INGOT_TRY_VOID(part.file->read_doubles(from, heads));
    INGOT_TRY_VOID(part.file->read_doubles(from + part.value_count * sizeof(double), rests));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      // The exact sum stands for the other one, which readers check. NaN is not within limits.
      const bool is_within =
          heads[i] >= 0.0 && heads[i] < max_coarse_sum && std::abs(rests[i]) <= max_fine_sum;
      if (!is_within || static_cast<float>(heads[i] + rests[i]) != sums[i]) {
        return fail(Errc::imatrix_invalid, from + i * sizeof(double), name,
                    "exact sum " + std::to_string(first + i) + " is " + std::to_string(heads[i]) +
                        " + " + std::to_string(rests[i]) + ", but the sum beside it " +
                        std::to_string(sums[i]));
      }
      coarse[i] += heads[i];
      fine[i] += rests[i];
    }
  }
  return {};
}

Result<void> check_exact_limits(const std::vector<double>& counts, std::span<const double> coarse,
                                const std::string& name) {
  const auto is_long = [](double count) { return count > max_exact_tokens; };
  const auto is_large = [](double sum) { return sum >= max_coarse_sum; };
  if (std::ranges::none_of(counts, is_long) && std::ranges::none_of(coarse, is_large)) return {};
  return fail(Errc::invalid_argument, name,
              "sums are exact for at most 2^22 tokens, and below 2^45; sums without --part have no "
              "such limits");
}

Result<void> check_exact_sums(const ImatrixPart& part, const std::string& name) {
  constexpr std::uint64_t read_values = 4096;
  std::vector<double> coarse;
  std::vector<double> fine;
  const std::uint64_t count = part.exact_offset ? part.value_count : 0;
  for (std::uint64_t done = 0; done < count; done += coarse.size()) {
    coarse.resize(static_cast<std::size_t>(std::min<std::uint64_t>(read_values, count - done)));
    fine.resize(coarse.size());
    INGOT_TRY_VOID(read_exact_sums({part}, name, done, coarse, fine));
  }
  return {};
}

}  // namespace ingot::formats

// SPDX-License-Identifier: MIT
#include "compare/fine_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ingot::detail {
namespace {

constexpr std::uint32_t sign_bin = 0x8000;
constexpr std::uint32_t infinity_bin = 0x7f80;  // and above: NaN

double magnitude_of(std::uint32_t bin) noexcept {
  return static_cast<double>(std::bit_cast<float>(bin << 16));
}

/// Takes the fine bins in ascending order and notes how many numbers are below each edge.
class Spreader {
 public:
  Spreader(double low, double high, std::size_t bin_count)
      : low_(low), width_((high - low) / static_cast<double>(bin_count)), below_(bin_count + 1) {}

  /// `count` numbers from `first` up to `last`.
  void add(double first, double last, std::uint64_t count) {
    if (count == 0) return;
    while (next_ + 1 < below_.size() && edge(next_) < last) {
      const double share = std::clamp((edge(next_) - first) / (last - first), 0.0, 1.0);
      below_[next_++] =
          total_ + static_cast<std::uint64_t>(std::floor(share * static_cast<double>(count) + 0.5));
    }
    total_ += count;
  }

  std::vector<std::uint64_t> finish() {
    std::fill(below_.begin() + static_cast<std::ptrdiff_t>(next_), below_.end(), total_);
    std::vector<std::uint64_t> counts(below_.size() - 1);
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = below_[i + 1] - below_[i];
    return counts;
  }

 private:
  [[nodiscard]] double edge(std::size_t i) const noexcept {
    return low_ + width_ * static_cast<double>(i);
  }

  double low_;
  double width_;
  std::vector<std::uint64_t> below_;  ///< Numbers below each edge; below_[0] is 0.
  std::size_t next_ = 1;
  std::uint64_t total_ = 0;
};

/// Whether the histogram needs no choice of bins; fills it then.
bool is_trivial(const Statistics& statistics, std::size_t bin_count, Histogram& histogram) {
  if (statistics.count == 0 || bin_count == 0) return true;
  histogram.low = statistics.min;
  histogram.high = statistics.max;
  if (statistics.min != statistics.max) return false;
  histogram.counts = {statistics.count};
  return true;
}

}  // namespace

void FineCounts::add(std::span<const float> numbers) noexcept {
  std::uint32_t* const counts = counts_.data();
  for (const float number : numbers) ++counts[std::bit_cast<std::uint32_t>(number) >> 16];
}

void FineCounts::move_to(std::span<std::uint64_t> totals) noexcept {
  for (std::size_t i = 0; i < fine_bin_count; ++i) totals[i] += counts_[i];
  std::fill(counts_.begin(), counts_.end(), 0);
}

Histogram spread_over_bins(std::span<const std::uint64_t> totals, const Statistics& statistics,
                           std::size_t bin_count) {
  Histogram histogram;
  if (is_trivial(statistics, bin_count, histogram)) return histogram;
  Spreader spreader(histogram.low, histogram.high, bin_count);
  for (std::uint32_t bin = infinity_bin - 1; bin > 0; --bin) {
    spreader.add(-magnitude_of(bin + 1), -magnitude_of(bin), totals[sign_bin + bin]);
  }
  // Zero and minus zero are the same number, and belong into one bin.
  spreader.add(0.0, magnitude_of(1), totals[sign_bin] + totals[0]);
  for (std::uint32_t bin = 1; bin < infinity_bin; ++bin) {
    spreader.add(magnitude_of(bin), magnitude_of(bin + 1), totals[bin]);
  }
  histogram.counts = spreader.finish();
  return histogram;
}

Histogram count_exactly(std::span<const float> numbers, const Statistics& statistics,
                        std::size_t bin_count) {
  Histogram histogram;
  if (is_trivial(statistics, bin_count, histogram)) return histogram;
  histogram.counts.resize(bin_count);
  const double scale = static_cast<double>(bin_count) / (histogram.high - histogram.low);
  for (const float number : numbers) {
    if (!std::isfinite(number)) continue;
    const double place = (static_cast<double>(number) - histogram.low) * scale;
    ++histogram.counts[std::min(static_cast<std::size_t>(place), bin_count - 1)];
  }
  return histogram;
}

}  // namespace ingot::detail

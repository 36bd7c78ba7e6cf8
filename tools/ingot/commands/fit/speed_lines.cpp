// SPDX-License-Identifier: MIT
#include "commands/fit/speed_lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/text.hpp>

namespace ingot::cli {
namespace {

/// A place that weights are read from for each token.
struct Reading {
  const std::string* name;
  std::uint64_t bytes = 0;
  double bandwidth = 0;  ///< Bytes a second; 0: unknown.

  [[nodiscard]] double seconds() const {
    return bandwidth > 0 ? static_cast<double>(bytes) / bandwidth : 0;
  }
};

std::vector<Reading> readings_of(const FitResult& result, std::span<const std::string> names) {
  std::vector<Reading> readings;
  const std::vector<MemoryUse>& devices = result.estimate.devices;
  for (std::size_t i = 0; i <= devices.size(); ++i) {
    const bool is_host = i == devices.size();
    const MemoryUse& use = is_host ? result.estimate.host : devices[i];
    const double bandwidth =
        is_host ? result.options.host_bandwidth : result.options.devices[i].bandwidth;
    if (use.weights_read_bytes > 0)
      readings.push_back({&names[i], use.weights_read_bytes, bandwidth});
  }
  return readings;
}

/// "each token reads 20.1 GiB of weights: 4.10 GiB in rtx-4090 (4.37 ms), 16.0 GiB in host"
std::string reads_text(const std::vector<Reading>& readings) {
  std::uint64_t all = 0;
  std::string places;
  for (const Reading& reading : readings) {
    all += reading.bytes;
    places += fmt::format("{}{} in {}", places.empty() ? "" : ", ", format_bytes(reading.bytes),
                          *reading.name);
    if (reading.bandwidth > 0) places += fmt::format(" ({:.3g} ms)", 1000 * reading.seconds());
  }
  return fmt::format("each token reads {} of weights: {}", format_bytes(all), places);
}

std::string faster_text(const FitResult& result, const std::vector<Reading>& readings) {
  const bool host_reads = result.estimate.host.weights_read_bytes > 0;
  if (host_reads && readings.size() > 1) {
    return "faster: fewer bytes on the host, by more layers on devices or a smaller type";
  }
  return "twice as fast: half the bytes, by a smaller type, or twice the bandwidth";
}

}  // namespace

std::vector<std::string> speed_lines(const FitResult& result, std::span<const std::string> names) {
  const std::vector<Reading> readings = readings_of(result, names);
  if (readings.empty()) return {};
  const auto is_known = [](const Reading& reading) { return reading.bandwidth > 0; };
  if (std::ranges::none_of(readings, is_known)) {
    return {reads_text(readings), "--bandwidth and --host-bandwidth tell how fast that can be"};
  }
  std::string bound =
      "not bounded: the bandwidth of a place is not known; --bandwidth and "
      "--host-bandwidth tell it";
  if (const MemoryEstimate& estimate = result.estimate; estimate.bound_at_start) {
    bound = fmt::format("at most {:.1f} tokens/s, {:.1f} with a full cache: bandwidth bound",
                        *estimate.bound_at_start, *estimate.bound_at_end);
  }
  return {std::move(bound), reads_text(readings), faster_text(result, readings)};
}

}  // namespace ingot::cli

// SPDX-License-Identifier: MIT
// bench_codec_statistics [TYPE]...: statistics of encoded weights beside decoding the same weights
// into a buffer that stays in the cache, on one core, in turns. CPU times, medians of 9, in
// nanoseconds a weight, and their ratio. The weights are normal ones, encoded by Ingot.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "ingot/quantize.hpp"
#include "ingot/statistics.hpp"
#include "ingot/types.hpp"

namespace {

using namespace ingot;

/// The number of weights that `tensors --stats` reads at once.
constexpr std::size_t weight_count = 1U << 19;
/// Weights that are decoded at once, as many as the statistics decode: 16 KiB, for the first cache.
constexpr std::size_t buffer_elements = 4096;
constexpr int repeats = 8;
constexpr int rounds = 9;

double nanoseconds_of(const std::function<void()>& work) {
  timespec begin{}, end{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  for (int i = 0; i < repeats; ++i) work();
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  const double seconds = static_cast<double>(end.tv_sec - begin.tv_sec) +
                         static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-9;
  return seconds * 1e9 / (repeats * static_cast<double>(weight_count));
}

double median(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

bool encode(const TensorTypeInfo& info, std::vector<std::byte>& blocks) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> weights(weight_count);
  for (float& weight : weights) weight = normal(random);
  const std::vector<float> ones(weight_count / 64, 1.0F);
  blocks.resize(static_cast<std::size_t>(info.bytes_of(weight_count)));
  return quantize(info.type, weights, ones.size(), blocks, {.importance = ones}).has_value();
}

void run(const TensorTypeInfo& info) {
  std::vector<std::byte> blocks;
  if (!encode(info, blocks)) return;
  const std::span<const std::byte> all = blocks;
  const auto piece_bytes = static_cast<std::size_t>(info.bytes_of(buffer_elements));
  std::vector<float> buffer(buffer_elements);
  double sum = 0.0;
  bool is_done = true;
  std::vector<double> decoding, statistics;
  for (int round = 0; round < rounds; ++round) {
    decoding.push_back(nanoseconds_of([&] {
      for (std::size_t at = 0; at < all.size(); at += piece_bytes) {
        is_done &= dequantize(info.type, all.subspan(at, piece_bytes), buffer,
                              {.stores = OutputStores::cached})
                       .has_value();
        sum += static_cast<double>(buffer[0]);
      }
    }));
    statistics.push_back(nanoseconds_of([&] {
      const auto result = compute_statistics(info.type, all);
      is_done &= result.has_value();
      if (result) sum += result->mean;
    }));
  }
  if (!is_done) return;
  const double decoded = median(decoding);
  const double added = median(statistics);
  std::printf("%-8s %5.2f bits  decode %.4f ns  statistics %.4f ns  %.2f times%s\n",
              std::string(info.name).c_str(),
              static_cast<double>(info.bytes_of(weight_count)) * 8.0 / weight_count, decoded, added,
              added / decoded, sum == 0.5 ? " " : "");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> names(argv + 1, argv + argc);
  for (const TensorTypeInfo& info : live_tensor_types) {
    if (names.empty() || std::find(names.begin(), names.end(), info.name) != names.end()) run(info);
  }
  return 0;
}

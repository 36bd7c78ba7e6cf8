// SPDX-License-Identifier: MIT
// Encoding rows of 4096 normally distributed floats, one thread, with every kernel; first each is
// compared with the scalar reference, which is timed in the same run. Counters, from medians of the
// thread's CPU time:
//   weights/s        elements encoded
//   x_reference      how many times as fast as the scalar reference
//   x_memcpy         for the types without a search: time in units of copying the input
//   x_ggml           how many times as fast as ggml's encoder, where INGOT_GGML is the path of its
//                    libggml-base.so (bench/install_ggml fetches one)
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/foreign_library.hpp"
#include "codec/codec.hpp"
#include "support/forced_target.hpp"

namespace {

using namespace ingot;

constexpr std::size_t row_elements = 4096;

/// splitmix64
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// At least 0, below 1.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

/// Nearly normal: sums of twelve uniform numbers.
const std::vector<float>& inputs() {
  static const std::vector<float> floats = [] {
    std::vector<float> made(std::size_t{1} << 20);
    Random random(1);
    for (float& value : made) {
      double sum = 0.0;
      for (int i = 0; i < 12; ++i) sum += random.uniform();
      value = static_cast<float>(sum - 6.0);
    }
    return made;
  }();
  return floats;
}

const std::vector<float>& importances() {
  static const std::vector<float> floats = [] {
    std::vector<float> made(row_elements);
    Random random(99);
    for (float& value : made) value = static_cast<float>(1.0 + random.uniform());
    return made;
  }();
  return floats;
}

/// How much of the input a type gets: what it does in some milliseconds.
std::size_t element_count_of(const TensorTypeInfo& info) {
  const std::string name(info.name);
  if (name.starts_with("IQ1")) return 4 * row_elements;
  if (name.starts_with("IQ2") || name.starts_with("IQ3")) return 16 * row_elements;
  const bool is_searched = name.ends_with("_K") || name.starts_with("IQ4");
  return is_searched && name != "Q8_K" ? 64 * row_elements : inputs().size();
}

/// Whether its kernel should be about as fast as copying.
bool is_compared_with_copying(TensorType type) {
  static constexpr std::array types = {TensorType::f16,  TensorType::bf16, TensorType::q4_0,
                                       TensorType::q4_1, TensorType::q5_0, TensorType::q5_1,
                                       TensorType::q8_0};
  return std::find(types.begin(), types.end(), type) != types.end();
}

double thread_seconds() {
  std::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
double seconds_of(const Work& work) {
  const double begin = thread_seconds();
  work();
  return thread_seconds() - begin;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Case {
  TensorTypeInfo info;
  std::int64_t target;
  bool has_weights;
};

struct ReferenceResult {
  std::vector<std::byte> blocks;
  double seconds;
};

codec::FloatRows rows_of(const Case& c, std::vector<std::byte>& blocks) {
  const std::size_t elements = element_count_of(c.info);
  blocks.assign(c.info.bytes_of(elements), std::byte{0xA5});
  return {.src = inputs().data(),
          .dst = blocks.data(),
          .row_elements = row_elements,
          .row_count = elements / row_elements,
          .importances = c.has_weights ? importances().data() : nullptr};
}

const ReferenceResult& reference_of(const Case& c) {
  static std::map<std::pair<std::uint32_t, bool>, ReferenceResult> results;
  const auto key = std::pair(static_cast<std::uint32_t>(c.info.type), c.has_weights);
  const auto found = results.find(key);
  if (found != results.end()) return found->second;
  ReferenceResult& result = results[key];
  const codec::FloatRows rows = rows_of(c, result.blocks);
  std::vector<double> seconds;
  for (int i = 0; i < 3; ++i) {
    seconds.push_back(seconds_of([&] { codec::find_codec(c.info.type)->quantize_ref(rows); }));
  }
  result.seconds = median(seconds);
  return result;
}

/// Its function ends the process for types that it only computes with.
bool is_encoded_by_ggml(TensorType type) {
  static constexpr std::array others = {TensorType::i8,   TensorType::i16, TensorType::i32,
                                        TensorType::i64,  TensorType::f64, TensorType::q8_1,
                                        TensorType::q8_k, TensorType::f32};
  return std::find(others.begin(), others.end(), type) == others.end();
}

/// The time that ggml takes for the same rows, seconds.
std::optional<double> ggml_seconds_of(const Case& c) {
  if (bench::ggml_quantize() == nullptr || !is_encoded_by_ggml(c.info.type)) return std::nullopt;
  static std::map<std::pair<std::uint32_t, bool>, double> results;
  const auto key = std::pair(static_cast<std::uint32_t>(c.info.type), c.has_weights);
  if (const auto found = results.find(key); found != results.end()) return found->second;
  std::vector<std::byte> blocks;
  const codec::FloatRows rows = rows_of(c, blocks);
  const auto encode = [&] {
    bench::ggml_quantize()(static_cast<int>(c.info.type), rows.src, rows.dst, 0,
                           static_cast<std::int64_t>(rows.row_count),
                           static_cast<std::int64_t>(rows.row_elements),
                           c.has_weights ? importances().data() : nullptr);
  };
  encode();  // makes tables of some types
  std::vector<double> seconds;
  for (int i = 0; i < 3; ++i) seconds.push_back(seconds_of(encode));
  return results[key] = median(seconds);
}

void quantize(benchmark::State& state, const Case& c) {
  const ReferenceResult& reference = reference_of(c);
  const codec::Codec& codec = *codec::find_codec(c.info.type);
  const test::ForcedTarget forced(c.target);
  std::vector<std::byte> blocks;
  const codec::FloatRows rows = rows_of(c, blocks);
  codec.quantize(rows);
  if (blocks != reference.blocks) {
    state.SkipWithError("differs from the reference");
    return;
  }
  const std::size_t elements = rows.row_elements * rows.row_count;
  std::vector<float> copy(elements);
  std::vector<double> seconds;
  std::vector<double> copy_seconds;
  for (auto _ : state) {
    seconds.push_back(seconds_of([&] { codec.quantize(rows); }));
    benchmark::ClobberMemory();
    if (c.has_weights || !is_compared_with_copying(c.info.type)) continue;
    state.PauseTiming();
    copy_seconds.push_back(seconds_of([&] {
      std::memcpy(copy.data(), rows.src, elements * sizeof(float));
      benchmark::ClobberMemory();
    }));
    state.ResumeTiming();
  }
  const double time = median(seconds);
  state.counters["weights/s"] = static_cast<double>(elements) / time;
  state.counters["x_reference"] = reference.seconds / time;
  if (const auto ggml_seconds = ggml_seconds_of(c)) {
    state.counters["x_ggml"] = *ggml_seconds / time;
  }
  if (!copy_seconds.empty()) state.counters["x_memcpy"] = time / median(copy_seconds);
}

void add(const Case& c) {
  const std::string name = "quantize/" + std::string(c.info.name) + "/" +
                           test::target_name(c.target) + (c.has_weights ? "/weights" : "");
  benchmark::RegisterBenchmark(name.c_str(), [c](benchmark::State& state) { quantize(state, c); })
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.1);
}

const bool is_registered = [] {
  for (const TensorTypeInfo& info : live_tensor_types) {
    for (const std::int64_t target : test::cpu_targets()) {
      if (info.weights != ImportanceWeights::required) add({info, target, false});
      if (info.weights != ImportanceWeights::unused) add({info, target, true});
    }
  }
  return true;
}();

}  // namespace

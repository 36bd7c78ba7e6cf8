// SPDX-License-Identifier: MIT
// What the effort `best` gains over the reference, for each type, on one fixed input of 4 rows of
// 1024 heavy-tailed weights: without importances, and with heavy ones.
//
//   E      sum u * (x - y)^2 / sum u * x^2, as part of the reference's, before and after the
//          slope is corrected
//   A      E if the slope of all were made 1, as part of the reference's, before and after
//   slope  sum u * x * y / sum u * x^2, of the reference's result and of this one
//   ns     for a weight, one thread
//   time   as part of ggml's encoder with importances, where INGOT_GGML is the path of its
//          libggml-base.so (bench/install_ggml fetches one); else of Ingot's reference kernel
//
//   bench_codec_best [--plain] [TYPE...]
//
// --plain searches with plain weights in all types: E and A of the search itself. The default of
// types with few bits has balanced ones, which cost E and gain a model.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "bench/foreign_library.hpp"
#include "codec/best/best.hpp"

namespace {

using namespace ingot;

constexpr std::size_t columns = 1024;
constexpr std::size_t row_count = 4;

/// splitmix64, state 2026 at the start.
class Numbers {
 public:
  double unit() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<double>((z ^ (z >> 31)) >> 40) / 16777216.0;
  }

 private:
  std::uint64_t state_ = 2026;
};

struct Input {
  std::vector<float> x;
  std::vector<float> u;
};

Input make_input() {
  Input input;
  Numbers numbers;
  for (std::size_t i = 0; i < row_count * columns; ++i) {
    double t = 0.0;
    for (int k = 0; k < 12; ++k) t += numbers.unit();
    t -= 6.0;
    input.x.push_back(static_cast<float>(0.02 * t * (1.0 + 0.25 * t * t)));
  }
  for (std::size_t i = 0; i < columns; ++i) {
    const double t = numbers.unit();
    input.u.push_back(static_cast<float>(1.0 / ((0.05 + t) * (0.05 + t))));
  }
  return input;
}

struct Quality {
  double error;
  double angle;
  double slope;
};

Quality measure(const TensorTypeInfo& info, const std::vector<std::byte>& blocks,
                const Input& input, bool has_importance) {
  std::vector<float> y(input.x.size());
  codec::find_codec(info.type)->dequantize(blocks.data(), y.data(),
                                           blocks.size() / info.block_bytes, codec::Stores::cached);
  double xx = 0.0;
  double xy = 0.0;
  double yy = 0.0;
  double ee = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double u = has_importance ? double{input.u[i % columns]} : 1.0;
    const double e = double{input.x[i]} - double{y[i]};
    xx += u * input.x[i] * input.x[i];
    xy += u * input.x[i] * y[i];
    yy += u * y[i] * y[i];
    ee += u * e * e;
  }
  return {ee / xx, xx * yy / (xy * xy) - 1.0, xy / xx};
}

double thread_seconds() {
  std::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The least of some runs, in nanoseconds for a weight.
double nanoseconds_of(const std::function<void()>& work) {
  double least = std::numeric_limits<double>::infinity();
  work();  // makes tables of some types
  double total = 0.0;
  for (int run = 0; run < 200 && total < 0.03; ++run) {
    const double begin = thread_seconds();
    work();
    const double seconds = thread_seconds() - begin;
    least = std::min(least, seconds);
    total += seconds;
  }
  return 1e9 * least / static_cast<double>(row_count * columns);
}

void run(const TensorTypeInfo& info, const Input& input, bool is_plain, bench::GgmlQuantize ggml) {
  codec::BestEncoder encoder = *codec::find_best_encoder(info.type);
  if (is_plain) encoder.weights = codec::SearchWeights::plain;
  const codec::Codec& codec = *codec::find_codec(info.type);
  std::vector<std::byte> reference(info.bytes_of(input.x.size()));
  std::vector<std::byte> best(reference.size());
  for (const bool has_importance : {false, true}) {
    codec::FloatRows rows = {.src = input.x.data(),
                             .dst = reference.data(),
                             .row_elements = columns,
                             .row_count = row_count,
                             .importances = has_importance ? input.u.data() : nullptr};
    // Those that need importances get ones.
    const std::vector<float> ones(columns, 1.0f);
    if (!has_importance && info.weights == ImportanceWeights::required) {
      rows.importances = ones.data();
    }
    codec.quantize(rows);
    double reference_time = nanoseconds_of([&] { codec.quantize(rows); });
    if (ggml != nullptr) {
      std::vector<std::byte> scratch(reference.size());
      reference_time = nanoseconds_of([&] {
        ggml(static_cast<int>(info.type), rows.src, scratch.data(), 0, row_count, columns,
             input.u.data());
      });
    }
    rows.dst = best.data();
    const double time = nanoseconds_of([&] { codec::quantize_best(encoder, rows); });
    const Quality old_quality = measure(info, reference, input, has_importance);
    const Quality new_quality = measure(info, best, input, has_importance);
    codec::BestEncoder uncorrected = encoder;  // of both blocks the one with the lower error
    uncorrected.rescale = nullptr;
    uncorrected.shortening = 0.0;
    codec::quantize_best(uncorrected, rows);
    const Quality found_quality = measure(info, best, input, has_importance);
    std::printf(
        "%-8s %-10s E %.3f -> %.3f  A %.3f -> %.3f  slope %.4f -> %.4f  %7.1f ns  time %.2f\n",
        std::string(info.name).c_str(), has_importance ? "importance" : "-",
        found_quality.error / old_quality.error, new_quality.error / old_quality.error,
        found_quality.angle / old_quality.angle, new_quality.angle / old_quality.angle,
        old_quality.slope, new_quality.slope, time, time / reference_time);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto plain = std::find(words.begin(), words.end(), "--plain");
  const bool is_plain = plain != words.end();
  if (is_plain) words.erase(plain);
  const Input input = make_input();
  const bench::GgmlQuantize ggml = bench::ggml_quantize();
  for (const TensorTypeInfo& info : live_tensor_types) {
    if (codec::find_best_encoder(info.type) == nullptr) continue;
    const bool is_named = std::find(words.begin(), words.end(), info.name) != words.end();
    if (words.empty() || is_named) run(info, input, is_plain, ggml);
  }
  return 0;
}

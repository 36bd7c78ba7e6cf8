// SPDX-License-Identifier: MIT
// Memory estimates: reading a profile, one estimate, the advice with its bisections, and a grid of
// contexts and quantizations. The header is that of a llama of 80 layers.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "ingot/estimate.hpp"
#include "support/header_sketch.hpp"

namespace {

using namespace ingot;

const Model& model() {
  static const Model opened = [] {
    const test::AttentionShape shape = {.layers = 80,
                                        .embedding = 8192,
                                        .heads = 64,
                                        .kv_heads = 8,
                                        .head_width = 128,
                                        .feed_forward = 28672,
                                        .vocabulary = 128256,
                                        .context = 131072};
    test::HeaderSketch sketch("llama");
    test::set_attention(sketch, shape);
    test::add_llama_tensors(sketch, shape);
    Result<Model> made = sketch.open();
    if (!made) std::abort();
    return *std::move(made);
  }();
  return opened;
}

RunOptions options() {
  RunOptions run;
  run.context = 32768;
  run.devices = {{"a", std::uint64_t{24} << 30, 1e12}, {"b", std::uint64_t{24} << 30, 1e12}};
  run.host_bytes = std::uint64_t{64} << 30;
  return run;
}

void read_profile(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(MemoryProfile::read(model()));
}
BENCHMARK(read_profile)->Unit(benchmark::kMicrosecond);

void estimate_run(benchmark::State& state) {
  const MemoryProfile profile = *MemoryProfile::read(model());
  const RunOptions run = options();
  for (auto _ : state) benchmark::DoNotOptimize(profile.estimate(run));
}
BENCHMARK(estimate_run)->Unit(benchmark::kMicrosecond);

void advise(benchmark::State& state) {
  const MemoryProfile profile = *MemoryProfile::read(model());
  const RunOptions run = options();
  for (auto _ : state) benchmark::DoNotOptimize(profile.advise(run));
}
BENCHMARK(advise)->Unit(benchmark::kMicrosecond);

/// Ten contexts for ten sets of types, the profiles read anew for each set.
void estimate_grid(benchmark::State& state) {
  const std::vector<TensorType> types(model().tensors().size(), TensorType::q8_0);
  for (auto _ : state) {
    for (int row = 0; row < 10; ++row) {
      const MemoryProfile profile = *MemoryProfile::read(model(), types);
      RunOptions run = options();
      for (run.context = 1024; run.context <= 1024 << 9; run.context *= 2) {
        benchmark::DoNotOptimize(profile.estimate(run));
      }
    }
  }
}
BENCHMARK(estimate_grid)->Unit(benchmark::kMicrosecond);

}  // namespace

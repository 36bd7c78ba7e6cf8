// SPDX-License-Identifier: MIT
// Decoding blocks to floats, beside the least that memory asks for: loops that store the same
// number of bytes, plainly and past the caches; memcpy of as much; and a loop that reads as many
// encoded bytes and writes as many floats the same way. All run in turns, so that whatever
// else the machine does falls on all alike.
//
//   dequantize/<TYPE>/<CPU>/in_cache/threads:<n>       64 Ki floats for each thread, cached stores
//   dequantize/<TYPE>/<CPU>/out_of_cache/threads:<n>   64 Mi floats together, streamed stores
//
// Times are CPU times of the slowest thread, medians. Blocks are random bytes with finite scales.
// Counters:
//   floats/s, output_B/s, encoded_B/s
//   of_store, of_stream, of_memcpy, of_read_and_write   speed / speed of that loop; 1 is the limit

#include <benchmark/benchmark.h>
#include <hwy/targets.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/memory_limits.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"
#include "support/block_scales.hpp"

namespace {

using namespace ingot;

/// The unit of work: what is in the cache, and repeated when it is not.
constexpr std::size_t tile_elements = 64 * 1024;
constexpr std::size_t tile_output_bytes = tile_elements * sizeof(float);
constexpr std::size_t out_of_cache_tiles = 1024;
/// In the cache a tile takes microseconds, so it is decoded that often for one time.
constexpr std::size_t in_cache_repeats = 64;
constexpr std::int64_t in_cache_rounds = 61;
constexpr std::int64_t out_of_cache_rounds = 7;

// ------------------------------------------------------------------------------------------------
// Blocks
// ------------------------------------------------------------------------------------------------

/// Gives a number whose last byte this is an exponent that makes neither infinities nor denormals.
void tame(std::byte& last, types::Holds holds) {
  switch (holds) {
    case types::Holds::e8m0:
      last = (last & std::byte{0x3F}) | std::byte{0x40};
      break;
    case types::Holds::f16:
    case types::Holds::f16_in_nibbles:
    case types::Holds::bf16:
      last &= std::byte{0xBF};
      break;
    case types::Holds::f32:
    case types::Holds::f64:
      last = (last & std::byte{0x80}) | std::byte{0x3F};
      break;
    default:
      break;
  }
}

std::vector<std::byte> random_tile(const TensorTypeInfo& info) {
  std::vector<std::byte> tile(info.bytes_of(tile_elements));
  std::uint64_t state = 7;
  for (std::byte& byte : tile) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(state >> 56);
  }
  test::for_each_scale(info, tile, tame);
  return tile;
}

// ------------------------------------------------------------------------------------------------
// Memory and threads
// ------------------------------------------------------------------------------------------------

/// Memory in huge pages where there are any, kept between benchmarks.
class Pages {
 public:
  std::byte* at_least(std::size_t bytes) {
    if (bytes <= bytes_) return begin_;
    if (begin_ != nullptr) ::munmap(begin_, bytes_);
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (pages == MAP_FAILED) std::abort();
    static_cast<void>(::madvise(pages, bytes, MADV_HUGEPAGE));
    std::memset(pages, 1, bytes);
    begin_ = static_cast<std::byte*>(pages);
    bytes_ = bytes;
    return begin_;
  }

 private:
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

double cpu_seconds() {
  timespec time;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Runs work(thread) on all threads at once; the longest CPU time of a thread.
double seconds_of(std::size_t thread_count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> waiting = thread_count;
  std::vector<double> times(thread_count);
  const auto run = [&](std::size_t thread) {
    for (--waiting; waiting != 0;) std::this_thread::yield();
    const double begin = cpu_seconds();
    work(thread);
    times[thread] = cpu_seconds() - begin;
  };
  std::vector<std::thread> others;
  for (std::size_t thread = 1; thread < thread_count; ++thread) others.emplace_back(run, thread);
  run(0);
  for (std::thread& other : others) other.join();
  return *std::max_element(times.begin(), times.end());
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// ------------------------------------------------------------------------------------------------
// Benchmarks
// ------------------------------------------------------------------------------------------------

struct Case {
  TensorTypeInfo info;
  std::int64_t target;
  bool is_in_cache;
  std::size_t thread_count;
};

/// Everything that is timed, each with a share of the same buffers for each thread.
class Work {
 public:
  explicit Work(const Case& chosen)
      : case_(chosen),
        tile_(random_tile(chosen.info)),
        thread_tiles_(chosen.is_in_cache ? 1 : out_of_cache_tiles / chosen.thread_count),
        repeats_(chosen.is_in_cache ? in_cache_repeats : 1) {
    static Pages encoded_pages, output_pages, copied_pages;
    const std::size_t tiles = thread_tiles_ * chosen.thread_count;
    encoded_ = encoded_pages.at_least(tiles * tile_.size());
    output_ = output_pages.at_least(tiles * tile_output_bytes);
    copied_ = copied_pages.at_least(tiles * tile_output_bytes);
    for (std::size_t i = 0; i < tiles; ++i) {
      std::memcpy(encoded_ + i * tile_.size(), tile_.data(), tile_.size());
    }
  }

  /// The work of one call of a function below: decoded, copied or stored.
  [[nodiscard]] double floats() const {
    return static_cast<double>(repeats_ * thread_tiles_ * case_.thread_count * tile_elements);
  }
  [[nodiscard]] double encoded_bytes() const {
    return floats() / static_cast<double>(tile_elements) * static_cast<double>(tile_.size());
  }

  [[nodiscard]] bool is_right() {
    std::vector<float> expected(tile_elements);
    const codec::Codec& codec = *codec::find_codec(case_.info.type);
    codec.dequantize_ref(tile_.data(), expected.data(), tile_elements / case_.info.block_elements);
    std::memset(output_, 1, thread_tiles_ * case_.thread_count * tile_output_bytes);
    decode();
    for (std::size_t i = 0; i < thread_tiles_ * case_.thread_count; ++i) {
      const std::byte* actual = output_ + i * tile_output_bytes;
      if (case_.info.type == TensorType::f16) {
        // A NaN of one CPU need not be that of another.
        const auto* floats = reinterpret_cast<const float*>(actual);
        if (!std::equal(expected.begin(), expected.end(), floats)) return false;
      } else if (std::memcmp(actual, expected.data(), tile_output_bytes) != 0) {
        return false;
      }
    }
    return true;
  }

  double decode() {
    const codec::Codec& codec = *codec::find_codec(case_.info.type);
    const auto stores = case_.is_in_cache ? codec::Stores::cached : codec::Stores::streamed;
    const std::size_t block_count = thread_tiles_ * tile_elements / case_.info.block_elements;
    return run([&](const std::byte* src, float* dst, std::size_t) {
      codec.dequantize(src, dst, block_count, stores);
    });
  }
  double store(const bench::MemoryLimits& limits) {
    return run([&](const std::byte*, float* dst, std::size_t bytes) { limits.store(dst, bytes); });
  }
  double stream(const bench::MemoryLimits& limits) {
    return run([&](const std::byte*, float* dst, std::size_t bytes) { limits.stream(dst, bytes); });
  }
  double read_and_write(const bench::MemoryLimits& limits) {
    const auto loop = case_.is_in_cache ? limits.read_and_store : limits.read_and_stream;
    return run([&](const std::byte* src, float* dst, std::size_t bytes) {
      benchmark::DoNotOptimize(loop(src, thread_tiles_ * tile_.size(), dst, bytes));
    });
  }
  double copy() {
    return run([&](const std::byte*, float* dst, std::size_t bytes) {
      std::memcpy(dst, copied_ + (reinterpret_cast<std::byte*>(dst) - output_), bytes);
    });
  }

 private:
  template <class Function>
  double run(const Function& function) {
    return seconds_of(case_.thread_count, [&](std::size_t thread) {
      const std::size_t first_tile = thread * thread_tiles_;
      const std::byte* src = encoded_ + first_tile * tile_.size();
      auto* dst = reinterpret_cast<float*>(output_ + first_tile * tile_output_bytes);
      for (std::size_t i = 0; i < repeats_; ++i) {
        function(src, dst, thread_tiles_ * tile_output_bytes);
        benchmark::ClobberMemory();
      }
    });
  }

  Case case_;
  std::vector<std::byte> tile_;
  std::size_t thread_tiles_;
  std::size_t repeats_;
  std::byte* encoded_ = nullptr;
  std::byte* output_ = nullptr;
  std::byte* copied_ = nullptr;
};

void dequantize(benchmark::State& state, const Case& chosen) {
  codec::force_cpu_targets(0);
  const bench::MemoryLimits limits = bench::memory_limits();
  codec::force_cpu_targets(chosen.target);
  Work work(chosen);
  if (!work.is_right()) return state.SkipWithError("not the floats of the reference");

  std::vector<double> decode, store, stream, copy, read_and_write;
  for (auto _ : state) {
    store.push_back(work.store(limits));
    decode.push_back(work.decode());
    stream.push_back(work.stream(limits));
    copy.push_back(work.copy());
    read_and_write.push_back(work.read_and_write(limits));
    state.SetIterationTime(decode.back());
  }
  codec::force_cpu_targets(0);

  const double time = median(decode);
  state.counters["floats/s"] = work.floats() / time;
  state.counters["output_B/s"] = work.floats() * sizeof(float) / time;
  state.counters["encoded_B/s"] = work.encoded_bytes() / time;
  state.counters["of_store"] = median(store) / time;
  state.counters["of_stream"] = median(stream) / time;
  state.counters["of_memcpy"] = median(copy) / time;
  state.counters["of_read_and_write"] = median(read_and_write) / time;
}

void register_case(const Case& chosen) {
  const std::string name = "dequantize/" + std::string(chosen.info.name) + "/" +
                           hwy::TargetName(chosen.target) +
                           (chosen.is_in_cache ? "/in_cache" : "/out_of_cache") +
                           "/threads:" + std::to_string(chosen.thread_count);
  benchmark::RegisterBenchmark(name.c_str(),
                               [chosen](benchmark::State& state) { dequantize(state, chosen); })
      ->UseManualTime()
      ->Iterations(chosen.is_in_cache ? in_cache_rounds : out_of_cache_rounds)
      ->Unit(benchmark::kMicrosecond);
}

bool register_all() {
  std::vector<std::size_t> thread_counts = {1};
  const std::size_t cores = std::thread::hardware_concurrency();
  if (cores > 1) thread_counts.push_back(cores);
  for (const TensorTypeInfo& info : live_tensor_types) {
    for (std::int64_t rest = codec::usable_cpu_targets(); rest != 0; rest &= rest - 1) {
      for (const bool is_in_cache : {true, false}) {
        for (const std::size_t thread_count : thread_counts) {
          register_case({info, rest & -rest, is_in_cache, thread_count});
        }
      }
    }
  }
  return true;
}

const bool is_registered = register_all();

}  // namespace

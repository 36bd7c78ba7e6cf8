// SPDX-License-Identifier: MIT
// Opening models, beside the least that any reader can do: a walk over the header that checks every
// bound, reads every length and keeps nothing. Both open, map, read, unmap and close, in turns, so
// that whatever else the machine does falls on both alike.
//
// Times are CPU times of the thread, kernel included; the files are in the page cache. Counters:
//   median_us, walk_us   Ingot and the walk, medians
//   ratio                median of Ingot / median of the walk
//   allocs, alloc_KB     allocations of one open
//   MB/s                 bytes of the header

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "ingot/edit.hpp"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "support/watched_memory.hpp"

namespace {

namespace fs = std::filesystem;
using namespace ingot;

// ------------------------------------------------------------------------------------------------
// The walk
// ------------------------------------------------------------------------------------------------

/// The items that a walk has seen, to prove that it has seen all.
struct Seen {
  std::uint64_t keys = 0;
  std::uint64_t strings = 0;
  std::uint64_t tensors = 0;
  std::uint64_t header_bytes = 0;
  bool is_valid = false;
};

/// Little-endian version 3 without arrays of arrays, which is what the measured files are.
class Walk {
 public:
  Walk(const unsigned char* data, std::size_t size)
      : begin_(data), next_(data), end_(data + size) {}

  Seen run() {
    if (end_ - next_ < 24 || std::memcmp(next_, "GGUF\3\0\0\0", 8) != 0) return {};
    next_ += 8;
    seen_.tensors = u64();
    seen_.keys = u64();
    for (std::uint64_t i = 0; i < seen_.keys; ++i) {
      if (!skip_string() || !skip_value()) return {};
    }
    for (std::uint64_t i = 0; i < seen_.tensors; ++i) {
      if (!skip_string() || !has(4)) return {};
      const std::uint32_t dimensions = u32();
      if (dimensions > 4 || !skip(dimensions * std::uint64_t{8} + 12)) return {};
    }
    seen_.header_bytes = static_cast<std::uint64_t>(next_ - begin_);
    seen_.is_valid = true;
    return seen_;
  }

 private:
  static constexpr std::array<std::uint8_t, 13> sizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

  [[nodiscard]] bool has(std::uint64_t bytes) const {
    return bytes <= static_cast<std::uint64_t>(end_ - next_);
  }
  bool skip(std::uint64_t bytes) {
    if (!has(bytes)) return false;
    next_ += bytes;
    return true;
  }
  std::uint32_t u32() {
    std::uint32_t value;
    std::memcpy(&value, next_, sizeof value);
    next_ += sizeof value;
    return value;
  }
  std::uint64_t u64() {
    std::uint64_t value;
    std::memcpy(&value, next_, sizeof value);
    next_ += sizeof value;
    return value;
  }
  bool skip_string() { return has(8) && skip(u64()); }
  bool skip_value() {
    if (!has(4)) return false;
    const std::uint32_t type = u32();
    if (type == 8) {
      ++seen_.strings;
      return skip_string();
    }
    if (type != 9) return type < sizes.size() && skip(sizes[type]);
    if (!has(12)) return false;
    const std::uint32_t element_type = u32();
    const std::uint64_t count = u64();
    if (element_type == 8) {
      for (std::uint64_t i = 0; i < count; ++i) {
        if (!skip_string()) return false;
      }
      seen_.strings += count;
      return true;
    }
    if (element_type >= sizes.size() || sizes[element_type] == 0) return false;
    const std::uint64_t left = static_cast<std::uint64_t>(end_ - next_);
    return count <= left / sizes[element_type] && skip(count * sizes[element_type]);
  }

  const unsigned char* begin_;
  const unsigned char* next_;
  const unsigned char* end_;
  Seen seen_;
};

Seen walk_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  void* map = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  Seen seen;
  if (map != MAP_FAILED) {
    seen = Walk(static_cast<const unsigned char*>(map), size).run();
    ::munmap(map, size);
  }
  ::close(descriptor);
  return seen;
}

// ------------------------------------------------------------------------------------------------
// Files
// ------------------------------------------------------------------------------------------------

/// A folder for files made here, gone at the end.
class Workplace {
 public:
  Workplace() {
    std::string pattern = fs::temp_directory_path() / "bench_model_open.XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() { fs::remove_all(folder_); }

  /// The path of a model, written at the first call.
  template <class Make>
  std::string model(const std::string& name, Make&& make) {
    const std::string path = folder_ / name;
    if (!fs::exists(path)) {
      const Result<void> written = make().write(path);
      if (!written) {
        std::fprintf(stderr, "%s\n", written.error().message().c_str());
        std::abort();
      }
    }
    return path;
  }

 private:
  fs::path folder_;
};

Workplace& workplace() {
  static Workplace place;
  return place;
}

/// A token with as many bytes as real tokens have: 2 to 11, 6.5 on average.
std::string token(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string("abcdefghij").substr(0, 1 + number % 10) + digits.substr(0, 1);
}

ModelWriter vocabulary_of_256k() {
  constexpr std::uint64_t count = 256 * 1024;
  std::vector<std::string> tokens;
  std::vector<std::string> merges;
  for (std::uint64_t i = 0; i < count; ++i) {
    tokens.push_back(token(i));
    merges.push_back(token(i).substr(1) + " " + token(i / 3));
  }
  ModelWriter writer;
  writer.set_string("general.architecture", "llama");
  writer.set_string("tokenizer.ggml.model", "gpt2");
  writer.set_array("tokenizer.ggml.tokens", std::span<const std::string>(tokens));
  writer.set_array("tokenizer.ggml.scores", std::span<const float>(std::vector<float>(count, -1)));
  writer.set_array("tokenizer.ggml.token_type",
                   std::span<const std::int32_t>(std::vector<std::int32_t>(count, 1)));
  writer.set_array("tokenizer.ggml.merges", std::span<const std::string>(merges));
  return writer;
}

std::string tensor_name(std::uint64_t number) {
  return "blk." + std::to_string(number / 8) + ".ffn_part_" + std::to_string(number % 8) +
         ".weight";
}

ModelWriter many_tensors(std::uint64_t count) {
  ModelWriter writer;
  writer.set_string("general.architecture", "llama");
  const std::array<std::uint64_t, 2> shape = {8, 1};
  for (std::uint64_t i = 0; i < count; ++i) {
    static_cast<void>(
        writer.add_tensor(tensor_name(i), TensorType::f32, shape, [](const DataSink& sink) {
          static constexpr std::array<std::byte, 32> zeros{};
          return sink(zeros);
        }));
  }
  return writer;
}

// ------------------------------------------------------------------------------------------------
// Benchmarks
// ------------------------------------------------------------------------------------------------

double cpu_seconds() {
  timespec time;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class Function>
double seconds_of(Function&& function) {
  const double begin = cpu_seconds();
  function();
  return cpu_seconds() - begin;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Whether an open model is the one that the walk saw; a wrong answer is not worth timing.
bool is_right(const Result<Model>& model, const Seen& seen) {
  if (!model || !seen.is_valid) return false;
  std::uint64_t strings = 0;
  for (const KeyValue& entry : model->metadata()) {
    if (model->find(entry.key) != &entry.value) return false;
    const Array array = entry.value.as_array();
    if (entry.value.type() == ValueType::string) ++strings;
    if (array.element_type() == ValueType::string) strings += array.size();
  }
  for (const TensorInfo& tensor : model->tensors()) {
    if (model->find_tensor(tensor.name) != &tensor) return false;
  }
  return model->metadata().size() == seen.keys && model->tensors().size() == seen.tensors &&
         strings == seen.strings && model->files()[0].header_bytes == seen.header_bytes;
}

void open_and_walk(benchmark::State& state, const std::string& path, FileAccess access) {
  const OpenOptions options{.access = access};
  const Seen seen = walk_file(path);
  if (!is_right(Model::open(path, options), seen)) return state.SkipWithError("a wrong answer");
  const test::Allocations allocations =
      test::allocations_of([&] { benchmark::DoNotOptimize(Model::open(path, options)); });

  std::vector<double> open_times;
  std::vector<double> walk_times;
  for (auto _ : state) {
    walk_times.push_back(seconds_of([&] { benchmark::DoNotOptimize(walk_file(path)); }));
    open_times.push_back(seconds_of([&] { benchmark::DoNotOptimize(Model::open(path, options)); }));
    state.SetIterationTime(open_times.back());
  }
  const double open_time = median(open_times);
  const double walk_time = median(walk_times);
  state.counters["median_us"] = 1e6 * open_time;
  state.counters["walk_us"] = 1e6 * walk_time;
  state.counters["ratio"] = open_time / walk_time;
  state.counters["allocs"] = static_cast<double>(allocations.count);
  state.counters["alloc_KB"] = static_cast<double>(allocations.bytes) / 1e3;
  state.counters["MB/s"] = static_cast<double>(seen.header_bytes) / open_time / 1e6;
  if (seen.tensors != 0) {
    state.counters["ns/tensor"] = 1e9 * open_time / static_cast<double>(seen.tensors);
  }
}

/// A file through its layout index and by the walk, in turns; the ratio is that of the medians.
void open_indexed(benchmark::State& state, FileAccess access) {
  const std::string path = workplace().model("256k_index.gguf", vocabulary_of_256k);
  auto edit = ModelEdit::open(path);
  if (edit) edit->add_index();
  if (!edit || !edit->save()) return state.SkipWithError("no index");
  const OpenOptions whole{.access = access};
  OpenOptions indexed = whole;
  indexed.uses_index = true;
  const Result<Model> model = Model::open(path, indexed);
  if (!model || model->is_verified()) return state.SkipWithError("a wrong answer");
  std::vector<double> open_times;
  std::vector<double> whole_times;
  for (auto _ : state) {
    whole_times.push_back(seconds_of([&] { benchmark::DoNotOptimize(Model::open(path, whole)); }));
    open_times.push_back(seconds_of([&] { benchmark::DoNotOptimize(Model::open(path, indexed)); }));
    state.SetIterationTime(open_times.back());
  }
  state.counters["median_us"] = 1e6 * median(open_times);
  state.counters["walk_us"] = 1e6 * median(whole_times);
  state.counters["ratio"] = median(open_times) / median(whole_times);
}

void find_tensors(benchmark::State& state, std::uint64_t count) {
  const std::string path =
      workplace().model(std::to_string(count) + ".gguf", [&] { return many_tensors(count); });
  const Result<Model> model = Model::open(path);
  // In an order that has nothing to do with that of the table, and not from its own strings.
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < count; ++i) names.push_back(tensor_name(i * 7919 % count));
  for (std::uint64_t i = 0; model && i < count; ++i) {
    const TensorInfo* tensor = model->find_tensor(names[i]);
    if (tensor != &model->tensors()[i * 7919 % count]) return state.SkipWithError("a wrong answer");
  }
  std::vector<double> times;
  for (auto _ : state) {
    times.push_back(seconds_of([&] {
      for (const std::string& name : names) benchmark::DoNotOptimize(model->find_tensor(name));
    }));
    state.SetIterationTime(times.back());
  }
  state.counters["ns/look-up"] = 1e9 * median(times) / static_cast<double>(count);
}

void register_open(const std::string& name, FileAccess access,
                   const std::function<std::string()>& path) {
  const char* prefix = access == FileAccess::map ? "open_mapped/" : "open_read/";
  benchmark::RegisterBenchmark(
      (prefix + name).c_str(),
      [=](benchmark::State& state) { open_and_walk(state, path(), access); })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

bool register_all() {
  const auto register_both = [](const std::string& name, const std::function<std::string()>& path) {
    register_open(name, FileAccess::map, path);
    register_open(name, FileAccess::read, path);
  };
  const char* shared = std::getenv("INGOT_SHARED");
  const fs::path models = fs::path(shared != nullptr ? shared : "../shared") / "models";
  std::vector<fs::path> files;
  if (fs::is_directory(models)) {
    for (const auto& entry : fs::directory_iterator(models)) {
      if (entry.path().extension() == ".gguf") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) register_both(file.stem(), [=] { return file.string(); });

  register_both("vocabulary_256k",
                [] { return workplace().model("256k.gguf", vocabulary_of_256k); });
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    const char* name = access == FileAccess::map ? "open_indexed_mapped" : "open_indexed_read";
    benchmark::RegisterBenchmark(name,
                                 [=](benchmark::State& state) { open_indexed(state, access); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  for (const std::uint64_t count : {1'000u, 10'000u, 100'000u}) {
    const std::string name = "tensors_" + std::to_string(count);
    register_both(name, [=] {
      return workplace().model(std::to_string(count) + ".gguf",
                               [=] { return many_tensors(count); });
    });
  }
  for (const std::uint64_t count : {1'000u, 100'000u}) {
    benchmark::RegisterBenchmark(("find_tensor/" + std::to_string(count)).c_str(),
                                 [=](benchmark::State& state) { find_tensors(state, count); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  return true;
}

const bool is_registered = register_all();

}  // namespace

// SPDX-License-Identifier: MIT
// bench_python_limits HEADER TOKENS: what bench_python.py measures, done in C++: the least that
// Python could take. Prints a line "NAME MILLISECONDS" for each, CPU time, the best of some runs.
//
//   open        the file HEADER: each value visited, the bytes of all strings copied
//   iterate     the tokens of TOKENS copied to texts
//   dequantize  4096 x 4096 of Q4_K to floats, on one thread
//   quantize    256 x 4096 floats to Q4_K, on one thread
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/model.hpp"
#include "ingot/quantize.hpp"

namespace {

constexpr int runs = 5;
constexpr std::size_t columns = 4096;

double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

template <class Work>
void measure(const char* name, Work work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    const double start = cpu_milliseconds();
    if (!work()) std::exit(1);
    best = std::min(best, cpu_milliseconds() - start);
  }
  std::printf("%s %.6f\n", name, best);
}

std::vector<std::string> texts_of(const ingot::Array& array) {
  std::vector<std::string> texts;
  if (array.element_type() != ingot::ValueType::string) return texts;
  texts.reserve(array.size());
  for (const ingot::Value value : array) {
    texts.emplace_back(value.get<std::string_view>().value_or(""));
  }
  return texts;
}

bool read_all(const char* path) {
  const auto model = ingot::Model::open(path);
  if (!model) return false;
  std::size_t texts = 0;
  for (const ingot::KeyValue& entry : model->metadata()) {
    texts += texts_of(entry.value.as_array()).size();
  }
  return texts > 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  measure("open", [&] { return read_all(argv[1]); });
  const auto model = ingot::Model::open(argv[2]);
  if (!model) return 1;
  for (const ingot::KeyValue& entry : model->metadata()) {
    if (entry.key == "tokenizer.ggml.tokens") {
      measure("iterate", [&] { return !texts_of(entry.value.as_array()).empty(); });
    }
  }
  const ingot::TensorTypeInfo& type = *ingot::find_type(ingot::TensorType::q4_k);
  std::vector<float> numbers(columns * columns);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i));
  std::vector<std::byte> blocks(type.bytes_of(numbers.size()));
  const std::span<const float> rows = std::span(numbers).first(256 * columns);
  const std::span<std::byte> first = std::span(blocks).first(type.bytes_of(rows.size()));
  measure("quantize", [&] { return ingot::quantize(type.type, rows, columns, first).has_value(); });
  for (std::size_t done = first.size(); done < blocks.size(); done += first.size()) {
    std::copy(first.begin(), first.end(), blocks.begin() + static_cast<std::ptrdiff_t>(done));
  }
  measure("dequantize", [&] { return ingot::dequantize(type.type, blocks, numbers).has_value(); });
  return 0;
}

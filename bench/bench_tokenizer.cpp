// SPDX-License-Identifier: MIT
// bench_tokenizer MODEL TEXT...: encodes files on one thread, and prints for each, as JSON, the
// CPU milliseconds of the fastest of some runs and the number of ids; and how long the tokenizer
// takes to make. bench/bench_tokenizer.py compares it with other engines.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include "ingot/tokenizer.hpp"

namespace {

constexpr int runs = 5;

/// CPU milliseconds of the fastest run: other processes disturb them least.
template <class Work>
double best_of(const Work& work) {
  double best = 1e300;
  for (int i = 0; i < runs; ++i) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ingot;
  if (argc < 2) return 2;
  const auto model = Model::open(argv[1]);
  if (!model) return 3;
  const auto tokenizer = Tokenizer::make(*model);
  if (!tokenizer) return 3;
  const double make = best_of([&] { (void)Tokenizer::make(*model); });
  std::printf("{\"make_ms\": %.3f, \"texts\": [", make);
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    std::size_t count = 0;
    const double time =
        best_of([&] { count = tokenizer->encode(text, {.add_special = false}).value().size(); });
    std::printf("%s{\"ms\": %.3f, \"ids\": %zu}", i == 2 ? "" : ", ", time, count);
  }
  std::printf("]}\n");
  return 0;
}

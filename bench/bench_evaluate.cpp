// SPDX-License-Identifier: MIT
// The forward pass of a model on all cores, beside the peak of the machine's matrix products, in
// turns; medians of the rounds, by the clock and for a second of CPU time. The latter counts what
// other programs take from neither, so that its ratios hold on a machine with other work, too.
//
//   pass    GFLOP/s of `ingot::evaluate`, of products of matrices and attention alone
//   kernel  GFLOP/s of the library's own product, its data in the second cache
//   BLAS    GFLOP/s of cblas_sgemm for 2048 x 2048 x 512, where INGOT_BLAS is the path of an
//           OpenBLAS
//
//   bench_evaluate MODEL [CHUNKS [ROUNDS]]
//
// A model with the shape of one with 0.5 B weights:
//
//   ingot sample big.gguf --arch qwen2 --layers 24 --embedding 896 --feed-forward 4864
//   ingot quantize big.gguf model.gguf Q4_K_M
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/foreign_library.hpp"
#include "evaluation/kernels/product.hpp"
#include "evaluation/panels.hpp"
#include "ingot/evaluate.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/parallel.hpp"

namespace {

using namespace ingot;

constexpr std::size_t chunk_tokens = 512;

/// GFLOP/s, or the seconds of some work.
struct Measured {
  double by_clock = 0.0;
  double by_cpu_time = 0.0;  ///< The rate by CPU time of all threads.

  [[nodiscard]] Measured rate_of(double work) const {
    return {1e-9 * work / by_clock, 1e-9 * work / by_cpu_time};
  }
};

double cpu_seconds() {
  std::timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Measured seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = cpu_seconds();
  work();
  const double cpu = cpu_seconds() - cpu_begin;
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), cpu};
}

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "bench_evaluate: %s\n", message.c_str());
  std::exit(2);
}

/// Multiplications and additions of the products of a forward pass. Of outputs, those of scored
/// tokens count; of attention, the tokens before each.
double work_of(const Model& model, std::size_t tokens, std::size_t scored_tokens) {
  double work = 0.0;
  bool has_output = false;
  for (const TensorInfo& tensor : model.tensors()) {
    if (tensor.shape.size() != 2) continue;
    const bool is_embedding = tensor.name == "token_embd.weight";
    const bool is_output = tensor.name == "output.weight";
    has_output = has_output || is_output;
    if (is_embedding) continue;
    work += 2.0 * static_cast<double>(tensor.element_count) *
            static_cast<double>(is_output ? scored_tokens : tokens);
  }
  const TensorInfo* embedding = model.find_tensor("token_embd.weight");
  if (embedding == nullptr) stop("the model has no token_embd.weight");
  if (!has_output) {
    work +=
        2.0 * static_cast<double>(embedding->element_count) * static_cast<double>(scored_tokens);
  }
  const std::string architecture(model.get_or(keys::general_architecture, std::string_view("?")));
  const auto layers =
      model.get_or(architecture + "." + std::string(suffixes::block_count), std::uint64_t{0});
  const auto width =
      model.get_or(architecture + "." + std::string(suffixes::embedding_length), std::uint64_t{0});
  const double pairs = 0.5 * static_cast<double>(tokens) * static_cast<double>(chunk_tokens + 1);
  return work + 4.0 * static_cast<double>(layers) * static_cast<double>(width) * pairs;
}

/// One call of the product after another, on each thread for itself.
Measured kernel_rate(unsigned thread_count) {
  constexpr std::size_t rows = 96;
  constexpr std::size_t columns = 256;  // as many as the forward pass multiplies at a time
  constexpr int calls = 4000;
  std::vector<std::thread> threads;
  const Measured seconds = seconds_of([&] {
    for (unsigned i = 0; i < thread_count; ++i) {
      threads.emplace_back([] {
        evaluation::AlignedFloats weights(rows * columns);
        evaluation::AlignedFloats x(columns * evaluation::panel_tokens);
        evaluation::AlignedFloats y(rows * evaluation::panel_tokens);
        std::fill_n(weights.data(), rows * columns, 0.5F);
        std::fill_n(x.data(), columns * evaluation::panel_tokens, 0.25F);
        for (int call = 0; call < calls; ++call) {
          evaluation::multiply_panel({weights.data(), columns, rows}, columns, x.data(), y.data(),
                                     false);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  return seconds.rate_of(2.0 * rows * columns * evaluation::panel_tokens * calls * thread_count);
}

/// cblas_sgemm(order, transposition of a and b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc).
using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                       float, float*, int);

/// The BLAS on as many threads as it likes.
Measured blas_rate(Sgemm sgemm) {
  constexpr int rows = 2048;
  constexpr int inner = 2048;
  constexpr int columns = 512;
  constexpr int row_major = 101;
  constexpr int as_it_is = 111;
  const std::vector<float> a(std::size_t{rows} * inner, 0.5F);
  const std::vector<float> b(std::size_t{inner} * columns, 0.25F);
  std::vector<float> c(std::size_t{rows} * columns);
  const auto multiply = [&] {
    sgemm(row_major, as_it_is, as_it_is, rows, columns, inner, 1.0F, a.data(), inner, b.data(),
          columns, 0.0F, c.data(), columns);
  };
  multiply();
  constexpr int calls = 10;
  const Measured seconds = seconds_of([&] {
    for (int call = 0; call < calls; ++call) multiply();
  });
  return seconds.rate_of(2.0 * rows * double{inner} * columns * calls);
}

double median(const std::vector<Measured>& all, double Measured::*member) {
  std::vector<double> values;
  for (const Measured& one : all) values.push_back(one.*member);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void print(const char* name, const std::vector<Measured>& rates,
           const std::vector<Measured>& pass) {
  if (rates.empty()) return;
  std::printf("%-7s", name);
  for (const auto member : {&Measured::by_clock, &Measured::by_cpu_time}) {
    const double rate = median(rates, member);
    std::printf("  %7.1f GFLOP/s, pass: %.2f of it", rate, median(pass, member) / rate);
  }
  std::printf("\n");
}

/// Tokens spread over the vocabulary: which they are does not change the work.
TextChunks make_text(const Model& model, std::size_t chunk_count) {
  const TensorInfo* embedding = model.find_tensor("token_embd.weight");
  if (embedding == nullptr || embedding->shape.size() != 2) stop("no token_embd.weight");
  TextChunks text;
  text.chunk_tokens = chunk_tokens;
  for (std::size_t i = 0; i < chunk_count * chunk_tokens; ++i) {
    text.ids.push_back(static_cast<TokenId>(i * 7919 % embedding->shape[1]));
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) stop("usage: bench_evaluate MODEL [CHUNKS [ROUNDS]]");
  const auto chunk_count = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 1);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  const Result<Model> model = Model::open(argv[1]);
  if (!model) stop(model.error().message());
  const TextChunks text = make_text(*model, chunk_count);
  const Sgemm sgemm = bench::foreign_function<Sgemm>("INGOT_BLAS", "cblas_sgemm");
  const unsigned thread_count = threads_for(0, 1U << 16);
  std::vector<Measured> pass;
  std::vector<Measured> kernel;
  std::vector<Measured> blas;
  std::vector<Measured> tokens;
  for (int round = 0; round < rounds; ++round) {
    std::optional<Result<Evaluation>> found;
    const Measured seconds = seconds_of([&] { found = evaluate(*model, {}, text); });
    if (!*found) stop(found->error().message());
    pass.push_back(seconds.rate_of(work_of(*model, text.ids.size(), (*found)->scored_tokens)));
    tokens.push_back(seconds.rate_of(1e9 * static_cast<double>(text.ids.size())));
    kernel.push_back(kernel_rate(thread_count));
    if (sgemm != nullptr) blas.push_back(blas_rate(sgemm));
  }
  std::printf("%zu x %zu tokens, %u threads, medians of %d rounds, by the clock and of a core\n",
              chunk_count, chunk_tokens, thread_count, rounds);
  print("pass", pass, pass);
  print("kernel", kernel, pass);
  print("BLAS", blas, pass);
  std::printf("%.1f tokens/s by the clock\n", median(tokens, &Measured::by_clock));
  return 0;
}

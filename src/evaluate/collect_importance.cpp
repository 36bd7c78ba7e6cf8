// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "base/byte_order.hpp"
#include "evaluate/chunk_runner.hpp"
#include "ingot/evaluate.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/model_writer.hpp"

namespace ingot {
namespace {

using evaluation::Batch;
using evaluation::ChunkRunner;
using evaluation::ForwardPass;
using evaluation::panel_tokens;
using evaluation::Panels;

constexpr std::string_view output_name = "output.weight";

/// Sums of one weight tensor. They run in float32 from token to token, as those of llama.cpp: where
/// few different inputs are repeated (layer 0), its rounding adds up to some 1e-4 of a sum.
struct ColumnSums {
  std::size_t columns = 0;
  std::vector<float> squares;  ///< Of the first expert, then of the next.
  std::vector<float> counts;   ///< Tokens; a number for each expert.
};

/// Bytes that own themselves, as a source.
class OwnedBytes final : public Source {
 public:
  explicit OwnedBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept override { return bytes_; }
  [[nodiscard]] Result<void> read(std::uint64_t offset,
                                  std::span<std::byte> destination) const override {
    if (offset > bytes_.size() || destination.size() > bytes_.size() - offset) {
      return fail(Errc::truncated, offset, {});
    }
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), destination.size(),
                destination.begin());
    return {};
  }

 private:
  std::vector<std::byte> bytes_;
};

/// The sums of all tensors, by name.
class Collector {
 public:
  explicit Collector(bool includes_output) : includes_output_(includes_output) {}

  void add(const TensorInfo& tensor, std::size_t expert, const Panels& inputs,
           std::span<const std::uint8_t> tokens) {
    const bool is_wanted = parse_layer_name(tensor.name).has_value() ||
                           (includes_output_ && tensor.name == output_name);
    if (!is_wanted) return;
    ColumnSums& sums = sums_of(tensor);
    float* squares = sums.squares.data() + expert * sums.columns;
    for (std::size_t panel = 0; panel < inputs.panel_count(); ++panel) {
      for (std::size_t column = 0; column < sums.columns; ++column) {
        const float* x = inputs.row(panel, column);
        for (std::size_t t = 0; t < tokens[panel]; ++t) squares[column] += x[t] * x[t];
      }
      sums.counts[expert] += static_cast<float>(tokens[panel]);
    }
  }

  /// A GGUF file of all sums, as llama.cpp writes it.
  [[nodiscard]] Result<std::vector<std::byte>> serialise(const TextChunks& text,
                                                         const std::string& dataset) const {
    ModelWriter writer;
    writer.set_string(keys::general_type, "imatrix");
    writer.set_array("imatrix.datasets", std::span(&dataset, 1));
    writer.set("imatrix.chunk_count", static_cast<std::uint32_t>(text.chunk_count()));
    writer.set("imatrix.chunk_size", static_cast<std::uint32_t>(text.chunk_tokens));
    for (const auto& [name, sums] : sums_) {
      const std::uint64_t experts = sums.counts.size();
      INGOT_TRY_VOID(add_tensor(writer, name + ".in_sum2", {sums.columns, experts}));
      INGOT_TRY_VOID(add_tensor(writer, name + ".counts", {1, experts}));
    }
    INGOT_TRY(std::vector<std::byte> bytes, writer.serialise_header());
    for (const auto& [name, sums] : sums_) {
      append(bytes, sums.squares);
      append(bytes, sums.counts);
    }
    return bytes;
  }

 private:
  ColumnSums& sums_of(const TensorInfo& tensor) {
    ColumnSums& sums = sums_[std::string(tensor.name)];
    if (sums.columns == 0) {
      const std::uint64_t experts = tensor.shape.size() > 2 ? tensor.shape[2] : 1;
      sums.columns = static_cast<std::size_t>(tensor.row_elements());
      sums.squares.resize(sums.columns * experts);
      sums.counts.resize(experts);
    }
    return sums;
  }

  static Result<void> add_tensor(ModelWriter& writer, const std::string& name,
                                 const std::array<std::uint64_t, 2>& shape) {
    const std::size_t dimensions = shape[1] > 1 ? 2 : 1;
    // The data is appended to the header by hand: it goes to memory, not to a file.
    return writer.add_tensor(name, TensorType::f32, std::span(shape).first(dimensions),
                             [](const DataSink&) -> Result<void> { return {}; });
  }

  /// A tensor's data, and the padding behind it.
  static void append(std::vector<std::byte>& bytes, std::span<const float> numbers) {
    const std::size_t begin = bytes.size();
    bytes.resize(evaluation::rounded_up(begin + numbers.size() * sizeof(float), default_alignment));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      store(bytes.data() + begin + i * sizeof(float), std::bit_cast<std::uint32_t>(numbers[i]),
            std::endian::native != std::endian::little);
    }
  }

  bool includes_output_;
  std::map<std::string, ColumnSums> sums_;
};

}  // namespace

Result<ImportanceMatrix> collect_importance(const Model& model, const TextChunks& text,
                                            const ImportanceOptions& options) {
  INGOT_TRY_VOID(ChunkRunner::check(text));
  Collector collector(options.includes_output);
  INGOT_TRY(ForwardPass pass,
            ForwardPass::make(model, options.run,
                              [&](const TensorInfo& tensor, std::size_t expert,
                                  const Panels& inputs, std::span<const std::uint8_t> tokens) {
                                collector.add(tensor, expert, inputs, tokens);
                              }));
  ChunkRunner runner(text, options.run, pass.network().layers.size());
  INGOT_TRY_VOID(runner.check_memory(pass.memory_for(runner.largest_batch())));
  const auto run = [&](const Batch& batch, std::size_t first_chunk) -> Result<void> {
    INGOT_TRY(const Panels states, runner.run(pass, batch, first_chunk));
    std::vector<std::uint8_t> tokens;
    for (std::size_t panel = 0; panel < batch.panel_count(); ++panel) {
      tokens.push_back(static_cast<std::uint8_t>(batch.tokens_of(panel)));
    }
    pass.work().observe(pass.network().output, 0, states, tokens);
    return {};
  };
  INGOT_TRY_VOID(runner.for_each_batch(run));
  INGOT_TRY(std::vector<std::byte> bytes, collector.serialise(text, options.dataset));
  return ImportanceMatrix::open_source(std::make_unique<OwnedBytes>(std::move(bytes)));
}

}  // namespace ingot

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <map>
#include <type_traits>

#include "base/byte_order.hpp"
#include "base/checked.hpp"
#include "evaluation/chunk_runner.hpp"
#include "evaluation/second_moments.hpp"
#include "evaluation/settings.hpp"
#include "ingot/evaluate.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/model_writer.hpp"

namespace ingot {
namespace {

using namespace evaluation;

constexpr std::string_view output_name = "output.weight";

/// Columns whose squares one thread adds at a time.
constexpr std::size_t columns_of_piece = 128;

/// Sums of one weight tensor. Unless they are to be exact, they run in float32 from token to token,
/// as those of llama.cpp: where few different inputs are repeated (layer 0), its rounding adds up
/// to some 1e-4 of a sum.
struct ColumnSums {
  std::size_t columns = 0;
  std::vector<float> squares;               ///< The squares of the first expert, then of the next.
  std::vector<double> coarse, fine;         ///< The same, exactly: their sums; or empty.
  std::vector<float> counts;                ///< Tokens; a number for each expert.
  std::vector<SecondMoments> moments = {};  ///< The moments of each expert; may be empty.
};

/// Adds squares without any rounding of sums, so that neither their order nor the parts that they
/// are added in make a difference. Each is rounded by itself, to a multiple of 2^-8 and, of what
/// that leaves, to one of 2^-40, as adding and taking away a number with such a last bit does. Sums
/// of multiples of 2^-8 are exact below 2^45, those of the rest, at most 2^-9, for 2^22 tokens.
void add_exactly(std::span<const float> x, double& coarse, double& fine) noexcept {
  constexpr double to_coarse = 0x1.8p44;
  constexpr double to_fine = 0x1.8p12;
  for (const float value : x) {
    const double square = double{value} * double{value};
    const double head = (square + to_coarse) - to_coarse;
    coarse += head;
    fine += ((square - head) + to_fine) - to_fine;
  }
}

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
  /// @param free_bytes  for second moments.
  Collector(const ImportanceOptions& options, std::uint64_t free_bytes)
      : options_(options), free_bytes_(free_bytes), team_(options.run.thread_count) {}

  void add(const TensorInfo& tensor, std::size_t expert, const Panels& inputs,
           std::span<const std::uint8_t> tokens) {
    const bool is_wanted = parse_layer_name(tensor.name).has_value() ||
                           (options_.includes_output && tensor.name == output_name);
    if (!is_wanted) return;
    ColumnSums& sums = sums_of(tensor);
    const std::size_t first_value = expert * sums.columns;
    float* squares = sums.squares.data() + first_value;
    const auto add_columns = [&](std::uint64_t begin, std::uint64_t count) -> Result<void> {
      const std::size_t first = to_size(begin);
      for (std::size_t panel = 0; panel < inputs.panel_count(); ++panel) {
        for (std::size_t column = first; column < first + count; ++column) {
          const std::span<const float> x(inputs.row(panel, column), tokens[panel]);
          if (options_.has_exact_sums) {
            add_exactly(x, sums.coarse[first_value + column], sums.fine[first_value + column]);
            continue;
          }
          for (const float value : x) squares[column] += value * value;
        }
      }
      return {};
    };
    (void)team_.spread(sums.columns, columns_of_piece, add_columns);  // no column can fail
    for (std::size_t panel = 0; panel < inputs.panel_count(); ++panel) {
      sums.counts[expert] += static_cast<float>(tokens[panel]);
    }
    if (sums.moments.empty()) return;
    sums.moments[expert].add(inputs, tokens, buffers_, team_);
  }

  /// Fails with Errc::limit_exceeded if there was no room for second moments.
  [[nodiscard]] Result<void> check_memory() const {
    if (!is_full_) return {};
    return fail(Errc::limit_exceeded, "memory",
                "second moments need more than the " +
                    std::to_string(options_.run.max_memory_bytes) +
                    " bytes that are allowed; smaller blocks need less");
  }

  /// A GGUF file of all sums, as llama.cpp writes it.
  /// The second moments are gone afterwards.
  [[nodiscard]] Result<std::vector<std::byte>> serialise(const TextChunks& text) {
    ModelWriter writer;
    writer.set_string(keys::general_type, "imatrix");
    writer.set_array("imatrix.datasets", std::span(&options_.dataset, 1));
    writer.set("imatrix.chunk_count", static_cast<std::uint32_t>(text.chunk_count()));
    writer.set("imatrix.chunk_size", static_cast<std::uint32_t>(text.chunk_tokens));
    for (const auto& [name, sums] : sums_) {
      const std::uint64_t experts = sums.counts.size();
      const std::size_t dimensions = experts > 1 ? 2 : 1;
      const std::uint64_t shape[] = {options_.moment_columns, sums.columns, experts};
      const std::uint64_t counts_shape[] = {1, experts};
      INGOT_TRY_VOID(
          add_tensor(writer, name + ".in_sum2", std::span(shape).subspan(1, dimensions)));
      INGOT_TRY_VOID(
          add_tensor(writer, name + ".counts", std::span(counts_shape).first(dimensions)));
      if (options_.has_exact_sums) {
        const std::uint64_t exact_shape[] = {sums.columns * experts, 2};
        INGOT_TRY_VOID(add_tensor(writer, name + ".in_sum2_exact", exact_shape, TensorType::f64));
      }
      if (sums.moments.empty()) continue;
      INGOT_TRY_VOID(
          add_tensor(writer, name + ".in_moment", std::span(shape).first(dimensions + 1)));
    }
    INGOT_TRY(std::vector<std::byte> bytes, writer.serialise_header());
    bytes.reserve(bytes.size() + data_bytes());
    for (auto& [name, sums] : sums_) {
      for (std::size_t i = 0; i < sums.coarse.size(); ++i) {
        sums.squares[i] = static_cast<float>(sums.coarse[i] + sums.fine[i]);
      }
      append<float>(bytes, sums.squares);
      append<float>(bytes, sums.counts);
      if (options_.has_exact_sums) {
        append_numbers<double>(bytes, sums.coarse);
        append<double>(bytes, sums.fine);
      }
      append_moments(bytes, sums);
      sums.moments.clear();
    }
    return bytes;
  }

 private:
  ColumnSums& sums_of(const TensorInfo& tensor) {
    ColumnSums& sums = sums_[std::string(tensor.name)];
    if (sums.columns == 0) {
      const std::size_t experts = tensor.shape.size() > 2 ? to_size(tensor.shape[2]) : 1;
      sums.columns = static_cast<std::size_t>(tensor.row_elements());
      sums.squares.resize(sums.columns * experts);
      if (options_.has_exact_sums) {
        sums.coarse.resize(sums.squares.size());
        sums.fine.resize(sums.squares.size());
      }
      sums.counts.resize(experts);
      add_room_for_moments(sums);
    }
    return sums;
  }

  void add_room_for_moments(ColumnSums& sums) {
    const std::size_t block = options_.moment_columns;
    if (block == 0 || is_full_) return;
    const std::uint64_t bytes = SecondMoments::memory_for(sums.columns, block) * sums.counts.size();
    is_full_ = bytes > free_bytes_;
    if (is_full_) return;
    free_bytes_ -= bytes;
    for (std::size_t i = 0; i < sums.counts.size(); ++i) {
      sums.moments.emplace_back(sums.columns, block);
    }
  }

  static Result<void> add_tensor(ModelWriter& writer, const std::string& name,
                                 std::span<const std::uint64_t> shape,
                                 TensorType type = TensorType::f32) {
    // The data is appended to the header by hand: it goes to memory, not to a file.
    return writer.add_tensor(name, type, shape, [](const DataSink&) -> Result<void> { return {}; });
  }

  [[nodiscard]] std::size_t data_bytes() const {
    std::size_t floats = 0;
    for (const auto& [name, sums] : sums_) {
      const std::size_t moments = sums.moments.empty() ? 0 : options_.moment_columns;
      floats += sums.squares.size() * (1 + moments) + sums.counts.size() + 4 * default_alignment +
                4 * sums.coarse.size();
    }
    return floats * sizeof(float);
  }

  void append_moments(std::vector<std::byte>& bytes, const ColumnSums& sums) const {
    std::vector<float> rows;
    const std::size_t block = options_.moment_columns;
    for (std::size_t expert = 0; expert < sums.moments.size(); ++expert) {
      rows.resize(sums.columns * block);
      for (std::size_t column = 0; column < sums.columns; ++column) {
        sums.moments[expert].read_means(column, sums.counts[expert],
                                        std::span(rows).subspan(column * block, block));
      }
      append_numbers<float>(bytes, rows);
    }
    pad(bytes);
  }

  /// A tensor's data, and the padding behind it.
  template <class Number>
  static void append(std::vector<std::byte>& bytes, std::span<const Number> numbers) {
    append_numbers(bytes, numbers);
    pad(bytes);
  }

  static void pad(std::vector<std::byte>& bytes) {
    bytes.resize(evaluation::rounded_up(bytes.size(), default_alignment));
  }

  template <class Number>
  static void append_numbers(std::vector<std::byte>& bytes, std::span<const Number> numbers) {
    using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
    const std::size_t begin = bytes.size();
    bytes.resize(begin + numbers.size_bytes());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      store(bytes.data() + begin + i * sizeof(Number), std::bit_cast<Bits>(numbers[i]),
            std::endian::native != std::endian::little);
    }
  }

  const ImportanceOptions& options_;
  std::uint64_t free_bytes_;
  bool is_full_ = false;
  BufferPool buffers_;
  ThreadTeam team_;
  std::map<std::string, ColumnSums> sums_;
};

}  // namespace

Result<ImportanceMatrix> collect_importance(const Model& model, const TextChunks& text,
                                            const ImportanceOptions& options) {
  INGOT_TRY_VOID(ChunkRunner::check(text));
  if (options.moment_columns > max_moment_columns) {
    return fail(Errc::invalid_argument, "moment_columns",
                std::to_string(options.moment_columns) + "; at most " +
                    std::to_string(max_moment_columns) + " are supported");
  }
  Collector* observing = nullptr;
  INGOT_TRY(ForwardPass pass,
            ForwardPass::make(model, options.run,
                              [&](const TensorInfo& tensor, std::size_t expert,
                                  const Panels& inputs, std::span<const std::uint8_t> tokens) {
                                observing->add(tensor, expert, inputs, tokens);
                              }));
  ChunkRunner runner(text, options.run, pass.network().layers.size());
  const std::uint64_t activations = pass.memory_for(runner.largest_batch());
  INGOT_TRY_VOID(runner.check_memory(activations));
  Collector collector(options, options.run.max_memory_bytes - activations);
  observing = &collector;
  const auto run = [&](const Batch& batch, std::size_t first_chunk) -> Result<void> {
    INGOT_TRY(const Panels states, runner.run(pass, batch, first_chunk));
    std::vector<std::uint8_t> tokens;
    for (std::size_t panel = 0; panel < batch.panel_count(); ++panel) {
      tokens.push_back(static_cast<std::uint8_t>(batch.tokens_of(panel)));
    }
    pass.work().observe(pass.network().output, 0, states, tokens);
    return collector.check_memory();
  };
  INGOT_TRY_VOID(runner.for_each_batch(run));
  INGOT_TRY(std::vector<std::byte> bytes, collector.serialise(text));
  return ImportanceMatrix::open_source(std::make_unique<OwnedBytes>(std::move(bytes)));
}

}  // namespace ingot

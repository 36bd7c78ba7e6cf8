// SPDX-License-Identifier: MIT
#include "base/checked.hpp"
#include "evaluation/chunk_runner.hpp"
#include "ingot/evaluate.hpp"
#include "ingot/parallel.hpp"

namespace ingot {
namespace {

using namespace evaluation;

/// Writes the logits of a batch, one row of the vocabulary a token.
class LogitWriter {
 public:
  LogitWriter(ForwardPass& pass, const Batch& batch, const Panels& states, std::span<float> logits)
      : pass_(pass), batch_(batch), states_(states), logits_(logits) {}

  Result<void> write() {
    const auto& output = pass_.network().output;
    return pass_.work().team().spread(output.row_count, MatrixWork::tile_rows(output),
                                      [&](std::uint64_t first, std::uint64_t count) {
                                        return write_rows(to_size(first), to_size(count));
                                      });
  }

 private:
  Result<void> write_rows(std::size_t first, std::size_t count) {
    const auto& output = pass_.network().output;
    BufferPool::Loan tile(pass_.work().buffers(), MatrixWork::tile_floats(output));
    BufferPool::Loan tokens(pass_.work().buffers(), count * panel_tokens);
    INGOT_TRY(const auto rows, pass_.work().decode_tile(output, first, count, tile.data()));
    for (std::size_t panel = 0; panel < batch_.panel_count(); ++panel) {
      pass_.make_logits(rows, first, states_.row(panel, 0), tokens.data());
      const std::size_t token =
          panel / batch_.panels_of_chunk() * batch_.chunk_tokens + batch_.position_of(panel);
      for (std::size_t lane = 0; lane < batch_.tokens_of(panel); ++lane) {
        float* row = logits_.data() + (token + lane) * output.row_count + first;
        for (std::size_t i = 0; i < count; ++i) row[i] = tokens.data()[i * panel_tokens + lane];
      }
    }
    return {};
  }

  ForwardPass& pass_;
  const Batch& batch_;
  const Panels& states_;
  std::span<float> logits_;
};

}  // namespace

Result<std::vector<float>> compute_logits(const Model& model, const TextChunks& text,
                                          const EvaluationOptions& options) {
  INGOT_TRY_VOID(ChunkRunner::check(text));
  INGOT_TRY(ForwardPass pass, ForwardPass::make(model, options));
  INGOT_TRY_VOID(check_predicts(pass.network()));
  ChunkRunner runner(text, options, pass.network().layers.size());
  const std::size_t vocabulary = pass.network().vocabulary_size();
  const CheckedNumber bytes = CheckedNumber(text.ids.size()) * vocabulary * sizeof(float) +
                              pass.memory_for(runner.largest_batch());
  INGOT_TRY_VOID(runner.check_memory(bytes.value().value_or(~std::uint64_t{0})));
  std::vector<float> logits(text.ids.size() * vocabulary);
  const auto write = [&](const Batch& batch, std::size_t first_chunk) -> Result<void> {
    INGOT_TRY(const Panels states, runner.run(pass, batch, first_chunk));
    return LogitWriter(pass, batch, states,
                       std::span(logits).subspan(first_chunk * text.chunk_tokens * vocabulary))
        .write();
  };
  INGOT_TRY_VOID(runner.for_each_batch(write));
  return logits;
}

}  // namespace ingot

// SPDX-License-Identifier: MIT
// Carries out the plan of a merge: each changed tensor is decoded, changed and encoded in pieces.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/messages.hpp"
#include "base/paths.hpp"
#include "ingot/lora.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"
#include "lora/lora_names.hpp"
#include "work/streams/row_pieces.hpp"
#include "work/threads/ordered_pipeline.hpp"

namespace ingot {
namespace {

/// The number of elements of a piece, and of the rank rows of a half that one piece needs.
constexpr std::uint64_t lora_piece_elements = std::uint64_t{1} << 18;

/// The scratch memory of one thread.
struct LoraScratch {
  std::vector<std::byte> stored;
  std::vector<float> weights;
  std::vector<float> delta;
  std::vector<float> rows;     ///< Rows of the half that has those of the piece.
  std::vector<float> columns;  ///< Some ranks of the other half.
};

/// A piece of the result.
struct LoraResult {
  std::vector<std::byte> bytes;
  std::optional<Error> error;
};

/// The number of ranks that are added in one pass over a row.
constexpr std::uint64_t ranks_at_once = 4;

/// Decodes elements of a tensor; both ends are whole blocks.
Result<void> decode(const Model& model, const TensorInfo& tensor, std::uint64_t first_element,
                    std::span<float> floats, std::vector<std::byte>& stored) {
  const TensorTypeInfo& type = *find_type(tensor.type);
  stored.resize(static_cast<std::size_t>(type.bytes_of(floats.size())));
  INGOT_TRY_VOID(model.read(tensor, type.bytes_of(first_element), stored));
  return dequantize(
      type.type, stored, floats,
      {.byte_order = model.files()[tensor.shard].byte_order, .stores = OutputStores::cached});
}

/// delta += left[rows][ranks] * right[ranks][columns] for some consecutive ranks, each product and
/// each sum rounded, in ascending order.
void add_products(const float* left, std::size_t left_stride, const float* right,
                  std::size_t rank_count, std::size_t rows, std::size_t columns, float* delta) {
  for (std::size_t row = 0; row < rows; ++row) {
    const float* const factors = left + row * left_stride;
    float* const sums = delta + row * columns;
    if (rank_count == ranks_at_once) {
      const float f0 = factors[0], f1 = factors[1], f2 = factors[2], f3 = factors[3];
      const float* const r1 = right + columns;
      const float* const r2 = r1 + columns;
      const float* const r3 = r2 + columns;
      for (std::size_t i = 0; i < columns; ++i) {
        sums[i] = (((sums[i] + f0 * right[i]) + f1 * r1[i]) + f2 * r2[i]) + f3 * r3[i];
      }
      continue;
    }
    for (std::size_t k = 0; k < rank_count; ++k) {
      for (std::size_t i = 0; i < columns; ++i) sums[i] += factors[k] * right[k * columns + i];
    }
  }
}

/// Adds the product of the piece's rows of B and all of A.
Result<void> multiply(const LoraTerm& term, const RowPiece& piece, LoraScratch& scratch) {
  const LoraChange& change = *term.change;
  const std::uint64_t rank = change.rank;
  const std::uint64_t first_row = piece.matrix * change.row_count() + piece.first_row;
  scratch.rows.resize(static_cast<std::size_t>(piece.row_count * rank));
  INGOT_TRY_VOID(
      term.adapter->dequantize_rows(*change.b, first_row, piece.row_count, scratch.rows));
  for (std::uint64_t k = 0; k < rank; k += ranks_at_once) {
    const std::uint64_t count = std::min(ranks_at_once, rank - k);
    scratch.columns.resize(static_cast<std::size_t>(count * piece.column_count));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t row = piece.matrix * rank + k + i;
      INGOT_TRY_VOID(decode(*term.adapter, *change.a,
                            row * change.row_elements() + piece.first_column,
                            std::span(scratch.columns)
                                .subspan(static_cast<std::size_t>(i * piece.column_count),
                                         static_cast<std::size_t>(piece.column_count)),
                            scratch.stored));
    }
    add_products(scratch.rows.data() + k, static_cast<std::size_t>(rank), scratch.columns.data(),
                 static_cast<std::size_t>(count), static_cast<std::size_t>(piece.row_count),
                 static_cast<std::size_t>(piece.column_count), scratch.delta.data());
  }
  return {};
}

/// Adds the product for embeddings of tokens: A holds the rows, and B [width, rank] holds a row for
/// each column.
Result<void> multiply_embedding(const LoraTerm& term, const RowPiece& piece, LoraScratch& scratch) {
  const LoraChange& change = *term.change;
  const auto rank = static_cast<std::size_t>(change.rank);
  const auto columns = static_cast<std::size_t>(piece.column_count);
  const auto rows = static_cast<std::size_t>(piece.row_count);
  scratch.rows.resize(rows * rank);
  INGOT_TRY_VOID(
      term.adapter->dequantize_rows(*change.a, piece.first_row, piece.row_count, scratch.rows));
  scratch.columns.resize(rank);
  for (std::size_t column = 0; column < columns; ++column) {
    INGOT_TRY_VOID(
        term.adapter->dequantize_rows(*change.b, piece.first_column + column, 1, scratch.columns));
    for (std::size_t row = 0; row < rows; ++row) {
      float sum = 0.0f;
      for (std::size_t k = 0; k < rank; ++k) {
        sum += scratch.rows[row * rank + k] * scratch.columns[k];
      }
      scratch.delta[row * columns + column] = sum;
    }
  }
  return {};
}

Result<void> add_term(const LoraTerm& term, const RowPiece& piece, LoraScratch& scratch) {
  scratch.delta.assign(scratch.weights.size(), 0.0f);
  if (term.change->is_whole()) {
    INGOT_TRY_VOID(
        decode(*term.adapter, *term.change->a, piece.first_column, scratch.delta, scratch.stored));
    // At a scale of 1 the result is the norm of the adapter, to the bit.
    for (std::size_t i = 0; i < scratch.weights.size(); ++i) {
      const float weight = scratch.weights[i];
      scratch.weights[i] = term.factor == 1.0f ? scratch.delta[i]
                                               : weight + term.factor * (scratch.delta[i] - weight);
    }
    return {};
  }
  INGOT_TRY_VOID(is_token_embedding(term.change->name) ? multiply_embedding(term, piece, scratch)
                                                       : multiply(term, piece, scratch));
  for (std::size_t i = 0; i < scratch.weights.size(); ++i) {
    scratch.weights[i] += term.factor * scratch.delta[i];
  }
  return {};
}

/// The pieces of a tensor; an unchanged one has none.
RowPieces lora_pieces(const MergedTensor& tensor) noexcept {
  const TensorInfo& source = *tensor.source;
  if (tensor.terms.empty() || source.element_count == 0) return {};
  std::uint64_t widest = source.row_elements();
  for (const LoraTerm& term : tensor.terms) widest = std::max(widest, term.change->rank);
  return {source, std::min(source.row_elements(), lora_piece_elements),
          lora_piece_elements / widest};
}

/// Makes one piece: decodes, adds the terms, encodes in the byte order of the result. Thread-safe.
Result<void> make_lora_piece(const Model& model, const MergedTensor& tensor, const RowPiece& piece,
                             LoraScratch& scratch, std::vector<std::byte>& bytes) {
  const TensorInfo& source = *tensor.source;
  const std::uint64_t count = piece.element_count();
  scratch.weights.resize(static_cast<std::size_t>(count));
  INGOT_TRY_VOID(decode(model, source, piece.first_element, scratch.weights, scratch.stored));
  for (const LoraTerm& term : tensor.terms) INGOT_TRY_VOID(add_term(term, piece, scratch));
  const auto bad =
      std::ranges::find_if_not(scratch.weights, [](float weight) { return std::isfinite(weight); });
  if (bad != scratch.weights.end()) {
    const auto at = piece.first_element + static_cast<std::uint64_t>(bad - scratch.weights.begin());
    return fail(Errc::weight_not_finite, std::string(source.name),
                "element " + std::to_string(at) + ", after the merge");
  }
  bytes.resize(static_cast<std::size_t>(find_type(tensor.type)->bytes_of(count)));
  return quantize(tensor.type, scratch.weights, static_cast<std::size_t>(piece.column_count), bytes,
                  {.byte_order = model.files()[0].byte_order});
}

/// The pieces of all changed tensors, made by many threads and handed out in order.
class LoraStream {
 public:
  LoraStream(const Model& model, const LoraMergePlan& plan, unsigned thread_count)
      : model_(model), plan_(plan) {
    for (const MergedTensor& tensor : plan.tensors) {
      pieces_.push_back(lora_pieces(tensor));
      firsts_.push_back(firsts_.back() + pieces_.back().count());
    }
    pipeline_ =
        std::make_unique<Pipeline>(firsts_.back(), threads_for(thread_count, firsts_.back()),
                                   [this](std::uint64_t item, LoraResult& result,
                                          LoraScratch& scratch) { make(item, result, scratch); });
  }

  /// Gives the bytes of a tensor to `sink`; must be called for the tensors in their order.
  Result<void> stream(std::size_t tensor, const DataSink& sink) {
    for (std::uint64_t item = firsts_[tensor]; item < firsts_[tensor + 1]; ++item) {
      LoraResult& result = pipeline_->next();
      if (result.error) return fail(*std::move(result.error));
      INGOT_TRY_VOID(sink(result.bytes));
      pipeline_->release();
    }
    return {};
  }

 private:
  using Pipeline = work::OrderedPipeline<LoraResult, LoraScratch>;

  void make(std::uint64_t item, LoraResult& result, LoraScratch& scratch) const {
    const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), item);
    const auto tensor = static_cast<std::size_t>(after - firsts_.begin()) - 1;
    auto made =
        make_lora_piece(model_, plan_.tensors[tensor],
                        pieces_[tensor].piece(item - firsts_[tensor]), scratch, result.bytes);
    result.error = made ? std::nullopt : std::optional(std::move(made).error());
  }

  const Model& model_;
  const LoraMergePlan& plan_;
  std::vector<RowPieces> pieces_;  // the pieces of each tensor
  // The first piece of each tensor; the last element is the number of pieces.
  std::vector<std::uint64_t> firsts_ = {0};
  // Declared last: its threads end before the members that they use.
  std::unique_ptr<Pipeline> pipeline_;
};

/// Whether a path is one of the files of a model.
bool has_file(const Model& model, const std::string& path) {
  return std::ranges::any_of(model.files(),
                             [&](const ModelFile& file) { return is_same_file(file.path, path); });
}

/// @param stream must be set before the writer writes.
Result<ModelWriter> make_writer(const Model& model, const LoraMergePlan& plan,
                                const std::unique_ptr<LoraStream>& stream) {
  ModelWriter writer = ModelWriter::with_keys_of(model);
  if (plan.file_type) writer.set(keys::general_file_type, *plan.file_type);
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const MergedTensor& tensor = plan.tensors[i];
    const TensorInfo& source = *tensor.source;
    if (tensor.terms.empty()) {
      INGOT_TRY_VOID(writer.add_tensor(source.name, model, source));
    } else {
      INGOT_TRY_VOID(writer.add_tensor(
          source.name, tensor.type, source.shape,
          [&stream, i](const DataSink& sink) { return stream->stream(i, sink); }));
    }
  }
  return writer;
}

}  // namespace

Result<void> merge_lora(const Model& model, const LoraMergePlan& plan,
                        const LoraMergeOptions& options, const std::string& path, bool replace,
                        const LoraProgress& progress) {
  if (has_file(model, path)) return fail(Errc::same_file, path);
  for (const MergedTensor& tensor : plan.tensors) {
    for (const LoraTerm& term : tensor.terms) {
      if (has_file(*term.adapter, path)) return fail(Errc::same_file, path);
    }
  }
  std::unique_ptr<LoraStream> stream;
  INGOT_TRY(const ModelWriter writer, make_writer(model, plan, stream));
  stream = std::make_unique<LoraStream>(model, plan, options.thread_count);
  return with_subject(path, writer.write(path, WriteFormat::of(model), replace, progress));
}

Result<std::uint64_t> merged_lora_bytes(const Model& model, const LoraMergePlan& plan) {
  const std::unique_ptr<LoraStream> stream;
  INGOT_TRY(const ModelWriter writer, make_writer(model, plan, stream));
  return writer.file_bytes(WriteFormat::of(model));
}

}  // namespace ingot

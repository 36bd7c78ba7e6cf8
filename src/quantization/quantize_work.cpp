// SPDX-License-Identifier: MIT
#include "quantization/quantize_work.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/checked.hpp"
#include "ingot/error_feedback.hpp"
#include "ingot/quantize.hpp"
#include "ingot/text.hpp"
#include "quantization/error_sums.hpp"

namespace ingot::quantization {
namespace {

/// Types whose weighted quantizers look at the whole row.
bool needs_whole_rows(TensorType type) noexcept {
  return type == TensorType::q4_0 || type == TensorType::q4_1 || type == TensorType::q5_0 ||
         type == TensorType::q5_1;
}

/// Makes a buffer as long as it has to be, without room for more.
template <class Buffer>
void fit(Buffer& buffer, std::uint64_t count) {
  if (buffer.capacity() < count) buffer = {};
  buffer.resize(static_cast<std::size_t>(count));
}

/// Sums that are no numbers, of weights that are none, do not count.
void add_outputs(const OutputEnergy& outputs, TensorError& error) noexcept {
  if (!std::isfinite(outputs.error) || !std::isfinite(outputs.signal)) return;
  error.output_error += outputs.error;
  error.output_signal += outputs.signal;
}

}  // namespace

std::uint64_t matrix_count(const TensorInfo& tensor) noexcept {
  return tensor.shape.size() > 2 ? tensor.shape[2] : 1;
}

Effort effort_of(const QuantizeModelOptions& options, TensorType type,
                 const std::optional<WeightGrid>& grid) noexcept {
  return options.effort == Effort::automatic ? effort_for(type, grid) : options.effort;
}

const ImatrixEntry* find_importance(const ImportanceMatrix* matrix,
                                    const TensorInfo& tensor) noexcept {
  const ImatrixEntry* entry = matrix == nullptr ? nullptr : matrix->find(tensor.name);
  if (entry == nullptr) return nullptr;
  return entry->value_count == tensor.row_elements() * matrix_count(tensor) ? entry : nullptr;
}

bool TensorTarget::is_alike(const TensorTarget& other) const noexcept {
  return planned->choice.type == other.planned->choice.type &&
         planned->effort == other.planned->effort &&
         planned->has_importance == other.planned->has_importance &&
         planned->has_feedback == other.planned->has_feedback &&
         options->importance == other.options->importance &&
         options->allows_nan == other.options->allows_nan;
}

const ImatrixEntry* TensorTarget::importance() const noexcept {
  return planned->has_importance ? options->importance->find(planned->source->name) : nullptr;
}

MomentStore::Key TensorTarget::moments(std::uint64_t matrix) const noexcept {
  const ImatrixEntry* entry =
      planned->is_copied() ? nullptr : find_importance(options->importance, *planned->source);
  if (!has_moments(entry, *planned->source)) return {};
  return {options->importance, entry, matrix, planned->has_feedback};
}

ChunkedTensor::ChunkedTensor(std::span<const TensorTarget> targets) {
  for (const TensorTarget& target : targets) {
    const auto alike = std::ranges::find_if(
        targets_, [&](const TensorTarget& other) { return other.is_alike(target); });
    if (alike == targets_.end()) {
      targets_.push_back(target);
    } else {
      alike->results.insert(alike->results.end(), target.results.begin(), target.results.end());
    }
  }
  if (targets_.empty() || source().element_count == 0) return;
  const TensorInfo& tensor = source();
  const std::uint64_t columns = tensor.row_elements();
  const bool is_whole = std::ranges::any_of(targets_, [](const TensorTarget& target) {
    return (target.importance() != nullptr && needs_whole_rows(target.planned->choice.type) &&
            !target.planned->is_copied()) ||
           target.moments(0).entry != nullptr;
  });
  chunks_ = {tensor, is_whole ? columns : std::min(columns, chunk_elements),
             chunk_elements / columns};
}

RowPiece ChunkedTensor::chunk(std::uint64_t index) const noexcept {
  RowPiece piece = chunks_.piece(index);
  piece.matrix %= matrix_count(source());
  return piece;
}

/// Error feedback searches in many rows at once.
std::uint64_t ChunkedTensor::run_length(const RowPiece& chunk) const noexcept {
  const bool is_whole = std::ranges::any_of(
      targets_, [](const TensorTarget& target) { return target.planned->has_feedback; });
  const std::uint64_t most = is_whole ? chunk_elements : run_elements;
  return std::max<std::uint64_t>(1, most / chunk.column_count) * chunk.column_count;
}

Result<void> ChunkQuantizer::run(const ChunkedTensor& tensor, const RowPiece& chunk,
                                 QuantizedChunk& result, QuantizeScratch& scratch) const {
  INGOT_TRY_VOID(read(tensor, chunk, scratch));
  const std::span<const TensorTarget> targets = tensor.targets();
  result.parts.resize(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const TensorTypeInfo& type = *find_type(targets[i].planned->choice.type);
    fit(result.parts[i].bytes, type.bytes_of(chunk.element_count()));
    result.parts[i].error = {};
  }
  const bool has_floats = std::ranges::any_of(targets, [](const TensorTarget& target) {
    return !target.planned->is_copied() || !target.options->allows_nan;
  });
  if (has_floats) INGOT_TRY_VOID(encode_all(tensor, chunk, result, scratch));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].planned->is_copied()) {
      INGOT_TRY_VOID(copy(tensor, scratch, result.parts[i]));
    }
  }
  return {};
}

/// The stored bytes of a chunk, and the importance of its columns.
Result<void> ChunkQuantizer::read(const ChunkedTensor& tensor, const RowPiece& chunk,
                                  QuantizeScratch& scratch) const {
  const TensorTypeInfo& type = *find_type(tensor.source().type);
  fit(scratch.stored, type.bytes_of(chunk.element_count()));
  INGOT_TRY_VOID(model_.read(tensor.source(), type.bytes_of(chunk.first_element), scratch.stored));
  return read_inputs(tensor, chunk, scratch);
}

Result<void> ChunkQuantizer::read_inputs(const ChunkedTensor& tensor, const RowPiece& chunk,
                                         QuantizeScratch& scratch) const {
  const std::span<const TensorTarget> targets = tensor.targets();
  scratch.moments.assign(targets.size(), nullptr);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const MomentStore::Key key = targets[i].moments(chunk.matrix);
    if (key.entry == nullptr) continue;
    const auto users = std::ranges::count_if(
        targets, [&](const TensorTarget& target) { return target.moments(chunk.matrix) == key; });
    const std::uint64_t uses = static_cast<std::uint64_t>(users) * tensor.chunks_per_matrix();
    INGOT_TRY(scratch.moments[i], moments_.get(key, uses));
  }
  scratch.weights.resize(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    scratch.weights[i].clear();
    const ImatrixEntry* entry = targets[i].importance();
    if (entry == nullptr) continue;
    const std::uint64_t columns = tensor.source().row_elements();
    scratch.weights[i].resize(to_size(chunk.column_count));
    INGOT_TRY_VOID(targets[i].options->importance->read_weights(
        *entry, chunk.matrix * columns + chunk.first_column, scratch.weights[i]));
  }
  return {};
}

/// Run by run, so that the floats of a run are decoded once and stay in the caches.
Result<void> ChunkQuantizer::encode_all(const ChunkedTensor& tensor, const RowPiece& chunk,
                                        QuantizedChunk& result, QuantizeScratch& scratch) const {
  const TensorTypeInfo& from = *find_type(tensor.source().type);
  const Endian stored_order = model_.files()[tensor.source().shard].byte_order;
  const std::uint64_t total = chunk.element_count();
  const std::uint64_t most = std::min(total, tensor.run_length(chunk));
  fit(scratch.source, most);
  for (std::uint64_t done = 0; done < total; done += most) {
    const std::uint64_t count = std::min(most, total - done);
    const std::span floats = std::span(scratch.source).first(to_size(count));
    INGOT_TRY_VOID(
        dequantize(from.type,
                   std::span(scratch.stored)
                       .subspan(to_size(from.bytes_of(done)), to_size(from.bytes_of(count))),
                   floats, {.byte_order = stored_order, .stores = OutputStores::cached}));
    const Run run{chunk, done, floats};
    for (std::size_t i = 0; i < tensor.targets().size(); ++i) {
      const TensorTarget& target = tensor.targets()[i];
      if (!target.planned->is_copied()) {
        const Inputs inputs{scratch.weights[i], scratch.moments[i].get()};
        INGOT_TRY_VOID(encode(target, run, inputs, result.parts[i], scratch.decoded));
      } else if (!target.options->allows_nan) {
        const auto position = find_not_finite(floats);
        if (position) return not_finite(target, run, *position, false);
      }
    }
  }
  return {};
}

Result<void> ChunkQuantizer::encode(const TensorTarget& target, const Run& run,
                                    const Inputs& inputs, QuantizedPart& part,
                                    std::vector<float>& decoded) const {
  const TensorTypeInfo& to = *find_type(target.planned->choice.type);
  const std::size_t count = run.floats.size();
  const auto blocks =
      std::span(part.bytes).subspan(to_size(to.bytes_of(run.first)), to_size(to.bytes_of(count)));
  TensorError error;
  INGOT_TRY_VOID(encode_blocks(target, run, inputs, blocks, error));
  fit(decoded, count);
  INGOT_TRY_VOID(dequantize(to.type, blocks, decoded,
                            {.byte_order = byte_order_, .stores = OutputStores::cached}));
  error.plain = measure_error(run.floats, decoded);
  if (error.plain.count != count && !target.options->allows_nan) {
    const auto in_source = find_not_finite(run.floats);
    const auto position = in_source ? in_source : find_not_finite(decoded);
    return not_finite(target, run, *position, !in_source.has_value());
  }
  if (inputs.weights.empty()) {
    add_products(run.floats, decoded, error);
  } else {
    add_weighted(run.floats, decoded, inputs.weights, error);
  }
  if (inputs.moments != nullptr && !target.planned->has_feedback) {
    INGOT_TRY(const OutputEnergy energy, measure_outputs(run.floats, decoded, *inputs.moments));
    add_outputs(energy, error);
  }
  part.error.add(error);
  return {};
}

Result<void> ChunkQuantizer::encode_blocks(const TensorTarget& target, const Run& run,
                                           const Inputs& inputs, std::span<std::byte> blocks,
                                           TensorError& error) const {
  const TensorTypeInfo& to = *find_type(target.planned->choice.type);
  if (!target.planned->has_feedback) {
    return quantize(to.type, run.floats, to_size(run.chunk.column_count), blocks,
                    {.importance = inputs.weights,
                     .byte_order = byte_order_,
                     .effort = target.planned->effort});
  }
  INGOT_TRY(const OutputEnergy outputs,
            quantize_with_feedback(to.type, run.floats, blocks, *inputs.moments, inputs.weights));
  add_outputs(outputs, error);
  return byte_order_ == Endian::big ? swap_byte_order(to.type, blocks) : Result<void>();
}

Result<void> ChunkQuantizer::copy(const ChunkedTensor& tensor, const QuantizeScratch& scratch,
                                  QuantizedPart& part) const {
  std::ranges::copy(scratch.stored, part.bytes.begin());
  const Endian stored_order = model_.files()[tensor.source().shard].byte_order;
  if (stored_order == byte_order_) return {};
  return swap_byte_order(tensor.source().type, part.bytes);
}

Failure ChunkQuantizer::not_finite(const TensorTarget& target, const Run& run,
                                   std::uint64_t position, bool is_result) {
  const TensorInfo& tensor = *target.planned->source;
  const std::uint64_t element = run.chunk.first_element + run.first + position;
  const std::uint64_t columns = tensor.row_elements();
  std::string detail = "element " + std::to_string(element) + " (row " +
                       std::to_string(element / columns) + ", column " +
                       std::to_string(element % columns) + ") is " +
                       format_float(run.floats[to_size(position)]);
  if (is_result) {
    detail += ", too large for " + std::string(find_type(target.planned->choice.type)->name);
  }
  return fail(Errc::weight_not_finite, std::string(tensor.name), std::move(detail));
}

}  // namespace ingot::quantization

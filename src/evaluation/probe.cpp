// SPDX-License-Identifier: MIT
#include "evaluation/probe.hpp"

#include <string>

#include "base/checked.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"

namespace ingot::evaluation {
namespace {

/// Rows that a thread encodes at a time.
constexpr std::uint64_t piece_rows = 16;

/// Sums over some rows.
struct ErrorSums {
  double errors = 0.0;
  double squares = 0.0;
  double weighted_errors = 0.0;
  double weighted_squares = 0.0;

  void add(const ErrorSums& other) noexcept {
    errors += other.errors;
    squares += other.squares;
    weighted_errors += other.weighted_errors;
    weighted_squares += other.weighted_squares;
  }
};

ErrorSums measure(std::span<const float> source, std::span<const float> decoded,
                  std::span<const float> weights) noexcept {
  ErrorSums sums;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const double x = static_cast<double>(source[i]);
    const double error = static_cast<double>(decoded[i]) - x;
    const double weight = weights.empty() ? 0.0 : static_cast<double>(weights[i]);
    sums.errors += error * error;
    sums.squares += x * x;
    sums.weighted_errors += weight * error * error;
    sums.weighted_squares += weight * x * x;
  }
  return sums;
}

/// Encodes the rows of one tensor.
class ProbeMaker {
 public:
  ProbeMaker(const Model& model, const TensorInfo& tensor, const ImportanceMatrix* importance)
      : model_(model),
        tensor_(tensor),
        importance_(importance),
        entry_(importance == nullptr ? nullptr : importance->find(tensor.name)),
        columns_(static_cast<std::size_t>(tensor.row_elements())),
        row_count_(tensor.element_count / tensor.row_elements()),
        type_(*find_type(*probe_type(tensor))),
        row_bytes_(static_cast<std::size_t>(type_.bytes_of(columns_))) {}

  Result<Probe> make(unsigned thread_count) {
    const std::uint64_t experts = tensor_.shape.size() > 2 ? tensor_.shape[2] : 1;
    if (entry_ != nullptr && entry_->value_count != columns_ * experts) {
      return fail(Errc::imatrix_mismatch, entry_->name,
                  "it has " + std::to_string(entry_->value_count) + " values, the tensor " +
                      std::to_string(columns_ * experts) + " columns");
    }
    blocks_.resize(to_size(row_count_ * row_bytes_));
    sums_.resize(to_size((row_count_ + piece_rows - 1) / piece_rows));
    INGOT_TRY_VOID(spread(
        row_count_, piece_rows, thread_count,
        [&](std::uint64_t first, std::uint64_t count) { return encode_rows(first, count); }));
    ErrorSums total;
    for (const ErrorSums& sums : sums_) total.add(sums);
    Probe probe;
    probe.substitute = {&tensor_, type_.type, std::move(blocks_)};
    if (total.squares > 0.0) probe.relative_error = total.errors / total.squares;
    if (total.weighted_squares > 0.0) {
      probe.weighted_error = total.weighted_errors / total.weighted_squares;
    }
    return probe;
  }

 private:
  Result<void> encode_rows(std::uint64_t first, std::uint64_t count) {
    std::vector<float> source(columns_);
    std::vector<float> decoded(columns_);
    std::vector<float> weights(entry_ == nullptr ? 0 : columns_);
    const std::uint64_t matrix_rows = tensor_.shape.size() > 1 ? tensor_.shape[1] : 1;
    for (std::uint64_t row = first; row < first + count; ++row) {
      INGOT_TRY_VOID(model_.dequantize_rows(tensor_, row, 1, source));
      if (entry_ != nullptr) {
        INGOT_TRY_VOID(importance_->read_weights(*entry_, row / matrix_rows * columns_, weights));
      }
      const auto blocks = std::span(blocks_).subspan(to_size(row * row_bytes_), row_bytes_);
      INGOT_TRY_VOID(quantize(type_.type, source, columns_, blocks, {.importance = weights}));
      INGOT_TRY_VOID(dequantize(type_.type, blocks, decoded));
      sums_[to_size(first / piece_rows)].add(measure(source, decoded, weights));
    }
    return {};
  }

  const Model& model_;
  const TensorInfo& tensor_;
  const ImportanceMatrix* importance_;
  const ImatrixEntry* entry_;
  std::size_t columns_;
  std::uint64_t row_count_;
  const TensorTypeInfo& type_;
  std::size_t row_bytes_;
  std::vector<std::byte> blocks_;
  // The sums of each piece, so that the number of threads does not matter.
  std::vector<ErrorSums> sums_;
};

}  // namespace

std::optional<TensorType> probe_type(const TensorInfo& tensor) noexcept {
  for (const TensorType type : {TensorType::q2_k, TensorType::q4_0}) {
    if (tensor.row_elements() % find_type(type)->block_elements == 0) return type;
  }
  return std::nullopt;
}

Result<Probe> make_probe(const Model& model, const TensorInfo& tensor,
                         const ImportanceMatrix* importance, unsigned thread_count) {
  return ProbeMaker(model, tensor, importance).make(thread_count);
}

}  // namespace ingot::evaluation

// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/type_choice.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <string>

#include "base/strings.hpp"
#include "huggingface/import/tensors/piece_source.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"
#include "ingot/quantize_exactly.hpp"

namespace ingot::huggingface {
namespace {

/// The type of a tensor whose type is not that of the weights.
std::optional<TensorType> required_type(const TensorTask& task, const ImportedTensor& tensor,
                                        std::optional<TensorType> wanted) {
  using enum TensorType;
  if (wanted == i32 || wanted == i64) return wanted;
  if (tensor.shape.size() < 2 || tensor.name.ends_with("_norm.weight")) return f32;
  for (const TypeRule& rule : task.architecture.types) {
    if (!fits_one(rule.names, tensor.name)) continue;
    if (rule.is_as_weights) return std::nullopt;
    return rule.is_half_if_asked && task.type == f16 ? f16 : rule.type;
  }
  const bool is_weight = ends_with_one(tensor.name, {".weight", ".lora_a", ".lora_b"});
  if (!is_weight || (!wanted && fits_one(task.table.always_f32(), tensor.name))) return f32;
  return std::nullopt;
}

/// The type of weights, where it is chosen by name and shape.
TensorType usual_type(const TensorTask& task, const ImportedTensor& tensor,
                      std::optional<TensorType> wanted, std::vector<Error>& remarks) {
  using enum TensorType;
  const TensorType type = wanted.value_or(task.type);
  const bool is_table = tensor.name == "token_embd.weight" || tensor.name == "output.weight";
  if (is_table && (type == tq1_0 || type == tq2_0)) return f16;
  if (tensor.shape[0] % find_type(type)->block_elements == 0) return type;
  remarks.push_back({.code = Errc::type_does_not_fit,
                     .subject = tensor.name,
                     .detail = "F16 instead of " + std::string(find_type(type)->name)});
  return f16;
}

/// Makes all pieces of a view, which tells whether a type holds them.
Result<bool> holds(const TensorView& view, TensorType type, unsigned thread_count) {
  const auto pieces = pieces_of(view, type, Rounding::none);
  const auto made = spread(pieces->piece_count(), 1, thread_count,
                           [&](std::uint64_t piece, std::uint64_t) -> Result<void> {
                             PieceMemory memory;
                             std::vector<std::byte> bytes;
                             return pieces->make(piece, memory, bytes);
                           });
  if (!made && made.error().code != Errc::would_be_lost) return fail(made.error());
  return made.has_value();
}

/// The first of exact_types that holds all numbers of a view. Each type that fails late costs a
/// reading; few do.
Result<TensorType> find_exact_type(const TensorView& view, unsigned thread_count) {
  for (const TensorType type : exact_types) {
    if (type == TensorType::f32) break;
    if (view.shape.back() % find_type(type)->block_elements != 0) continue;
    INGOT_TRY(const bool is_held, holds(view, type, thread_count));
    if (is_held) return type;
  }
  return TensorType::f32;
}

/// The largest difference that a type makes to the numbers of a view.
Result<double> measure_largest_error(const TensorView& view, TensorType type,
                                     unsigned thread_count) {
  const auto numbers = pieces_of(view, TensorType::f32);
  const auto encoded = pieces_of(view, type);
  std::mutex mutex;
  double largest = 0;
  const auto measure = [&](std::uint64_t piece, std::uint64_t) -> Result<void> {
    PieceMemory memory;
    std::vector<std::byte> bytes;
    INGOT_TRY_VOID(numbers->make(piece, memory, bytes));
    std::vector<float> before(bytes.size() / sizeof(float));
    INGOT_TRY_VOID(dequantize(TensorType::f32, bytes, before));
    INGOT_TRY_VOID(encoded->make(piece, memory, bytes));
    std::vector<float> after(before.size());
    INGOT_TRY_VOID(dequantize(type, bytes, after));
    double most = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      most = std::max(most, std::abs(double{after[i]} - double{before[i]}));
    }
    const std::lock_guard lock(mutex);
    largest = std::max(largest, most);
    return {};
  };
  INGOT_TRY_VOID(spread(numbers->piece_count(), 1, thread_count, measure));
  return largest;
}

/// A type that engines want is taken, and its error measured; weights that are stored as they are
/// keep their type; the values of others decide.
Result<void> choose_exact_type(const TensorTask& task, const TensorView& view, bool is_stored,
                               ImportedTensor& tensor) {
  using enum TensorType;
  const TensorType numbers = view.parts.front().source->type();
  const auto required = required_type(task, tensor, view.type);
  tensor.exact = true;
  tensor.max_error = 0;
  if (!required && !(is_stored && is_import_type(numbers))) {
    // Numbers of F64 are read as F32.
    tensor.exact = numbers != f64;
    INGOT_TRY(tensor.type, find_exact_type(view, task.thread_count));
    return {};
  }
  tensor.type = required.value_or(numbers);
  const bool is_wider = tensor.type == f32 && (numbers == f16 || numbers == bf16);
  if (tensor.type == numbers || is_wider) return {};
  INGOT_TRY(tensor.max_error, measure_largest_error(view, tensor.type, task.thread_count));
  tensor.exact = tensor.max_error == 0 && numbers != f64;
  return {};
}

}  // namespace

Result<void> choose_type(const TensorTask& task, const TensorView& view, bool is_stored,
                         ImportedTensor& tensor, std::vector<Error>& remarks) {
  if (task.is_exact) return choose_exact_type(task, view, is_stored, tensor);
  const auto required = required_type(task, tensor, view.type);
  tensor.type = required ? *required : usual_type(task, tensor, view.type, remarks);
  return {};
}

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
#include "huggingface/import/run/tensor_lookup.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "huggingface/rules/name_pattern.hpp"

namespace ingot::huggingface {
namespace {

/// Whether a tensor is of one axis, whatever axes of one position it has beside it.
bool is_list(const SourceTensor& tensor) {
  return std::ranges::count_if(tensor.shape, [](std::uint64_t size) { return size != 1; }) <= 1;
}

/// Whether a row has zeros alone. A piece of it is read at a time.
Result<bool> is_zero_row(const NumberSource& source, std::uint64_t row, std::uint64_t columns) {
  constexpr std::uint64_t piece = 1 << 14;
  std::vector<std::byte> scratch;
  std::vector<float> numbers;
  for (std::uint64_t begin = 0; begin < columns; begin += piece) {
    numbers.resize(static_cast<std::size_t>(std::min(piece, columns - begin)));
    INGOT_TRY_VOID(read_floats(source, row * columns + begin, scratch, numbers));
    if (std::ranges::any_of(numbers, [](float number) { return number != 0; })) return false;
  }
  return true;
}

}  // namespace

TensorLookup::TensorLookup(const ModelFolder& folder, const std::vector<SourceTensor>& tensors)
    : folder_(folder) {
  for (const SourceTensor& tensor : tensors) {
    const bool has_numbers = std::ranges::find(tensor.shape, 0U) == tensor.shape.end();
    const bool is_matrix = tensor.shape.size() == 2 && !layer_of(tensor.name);
    if (has_numbers && (is_list(tensor) || is_matrix)) tensors_.emplace(tensor.name, tensor);
  }
}

Result<std::optional<double>> TensorLookup::first_number(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end() || !is_list(found->second)) return std::optional<double>();
  INGOT_TRY(const auto source, found->second.numbers());
  std::vector<std::byte> scratch;
  float number = 0;
  INGOT_TRY_VOID(read_floats(*source, 0, scratch, std::span(&number, 1)));
  return std::optional(static_cast<double>(number));
}

Result<std::vector<std::uint64_t>> TensorLookup::zero_rows(const std::string& name,
                                                           std::uint64_t first) const {
  std::vector<std::uint64_t> rows;
  const auto found = tensors_.find(name);
  if (found == tensors_.end() || found->second.shape.size() != 2) return rows;
  INGOT_TRY(const auto source, found->second.numbers());
  for (std::uint64_t row = first; row < found->second.shape.front(); ++row) {
    INGOT_TRY(const bool is_zero, is_zero_row(*source, row, found->second.shape.back()));
    if (is_zero) rows.push_back(row);
  }
  return rows;
}

Result<std::optional<std::uint64_t>> TensorLookup::listed_tokens() const {
  INGOT_TRY(const JsonTree tokenizer, read_tree(folder_, file_names::tokenizer));
  const JsonView tokens = tokenizer.root()["model"]["vocab"];
  return tokens.exists() ? std::optional<std::uint64_t>(tokens.size()) : std::nullopt;
}

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
// Property: any bytes open as an importance matrix or are refused; of what opens, every value can
// be read, checked and merged with itself, and no error is `internal`.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "ingot/imatrix.hpp"

namespace {

using ingot::ImatrixEntry;
using ingot::ImportanceMatrix;
using ingot::Result;

template <class T>
bool is_fine(const Result<T>& result) {
  if (!result && result.error().code == ingot::Errc::internal) std::abort();
  return result.has_value();
}

void read_moments(const ImportanceMatrix& matrix, const ImatrixEntry& entry) {
  const std::uint64_t size = entry.moment_columns;
  if (size == 0) return;
  const std::uint64_t last = (entry.column_count() - 1) / size;
  const std::uint64_t columns = entry.column_count() - last * size;
  std::vector<float> moments(columns * columns);
  if (!is_fine(matrix.read_moments(entry, entry.expert_count - 1, last, moments))) std::abort();
  if (is_fine(matrix.read_moments(entry, 0, last + 1, moments))) std::abort();
  if (is_fine(matrix.read_moments(entry, entry.expert_count, 0, moments))) std::abort();
}

void read_all(const ImportanceMatrix& matrix) {
  std::vector<float> weights;
  for (const ImatrixEntry& entry : matrix.entries()) {
    if (entry.value_count == 0 || entry.expert_count == 0) std::abort();
    if (matrix.find(entry.name) != &entry) std::abort();
    weights.resize(entry.value_count < 1000 ? entry.value_count : 1000);
    // The data that opening the file promised is there.
    if (!is_fine(matrix.read_weights(entry, 0, weights))) std::abort();
    if (!is_fine(matrix.read_weights(entry, entry.value_count - weights.size(), weights))) {
      std::abort();
    }
    if (is_fine(matrix.read_weights(entry, entry.value_count, weights))) std::abort();
    const auto counts = matrix.read_counts(entry);
    if (!is_fine(counts) || counts->size() != entry.expert_count) std::abort();
    const auto summary = matrix.summarize(entry);
    if (!is_fine(summary) || summary->unused_experts > entry.expert_count) std::abort();
    read_moments(matrix, entry);
  }
  is_fine(matrix.check_values());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  Result<ImportanceMatrix> matrix = ImportanceMatrix::open_source(ingot::borrow_memory(bytes));
  if (!is_fine(matrix)) return 0;
  read_all(*matrix);
  Result<ImportanceMatrix> again = ImportanceMatrix::open_source(ingot::borrow_memory(bytes));
  if (!is_fine(again) || !is_fine(matrix->merge(std::move(*again)))) std::abort();
  read_all(*matrix);
  return 0;
}

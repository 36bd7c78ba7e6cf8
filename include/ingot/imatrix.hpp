// SPDX-License-Identifier: MIT
// Importance matrices: how much each column of a weight tensor matters (target ingot::convert).
//
// For each weight tensor and each of its columns a file holds the sum of the squares of the inputs
// that met the column while a text was processed, and over how many tokens it was taken. Two
// formats are in use: GGUF (llama.cpp since July 2025), and an older one that is known by its
// ending .dat.
//
// A GGUF file may also hold second moments, which other readers ignore: for each weight tensor W a
// tensor W.in_moment of binary32 numbers, [b, columns], with one such matrix for each expert. Its
// column j is row j mod b of a diagonal block of b columns of the mean of a a^T over all inputs a:
// how inputs go together, where the importance of a column is only the diagonal.
//
// W.in_sum2_exact, which other readers ignore, too, holds the sums without rounding, so that those
// of parts of a text add up to those of the whole, to the bit: binary64 numbers [columns times
// experts, 2], first multiples of 2^-8, then of 2^-40 for what these leave. That holds for sums
// below 2^45 of at most 2^22 tokens; a file beyond these limits is not written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/source.hpp"

namespace ingot {

/// The most columns of a block of second moments.
inline constexpr std::uint64_t max_moment_columns = 4096;

enum class ImatrixFormat : std::uint8_t {
  gguf,
  legacy  ///< .dat: one count for all experts of a tensor
};

/// One weight tensor in a set of files.
struct ImatrixEntry {
  std::string name;                  ///< The name of the weight tensor, e.g.
                                     ///< "blk.0.ffn_down.weight".
  std::uint64_t value_count = 0;     ///< Columns times experts.
  std::uint64_t expert_count = 1;    ///< Runs of columns that have counts of their own.
  std::uint64_t moment_columns = 0;  ///< The columns of a block of second moments; 0: there are
                                     ///< none.

  [[nodiscard]] std::uint64_t column_count() const noexcept { return value_count / expert_count; }
};

template <class Visitor>
void describe(Visitor& visit, const ImatrixEntry& entry) {
  visit("name", entry.name, "", "the weight tensor");
  visit("columns", entry.column_count(), "", "of the tensor");
  visit("experts", entry.expert_count, "", "runs of columns that have counts of their own");
  visit("moment_columns", entry.moment_columns, "",
        "columns of a block of second moments; 0: there are none");
}

/// The data of an entry at a glance.
struct ImatrixSummary {
  double token_count = 0.0;  ///< The tokens of the busiest expert.
  std::uint64_t unused_experts = 0;
  double mean = 0.0;     ///< The mean of the importances of all columns.
  double largest = 0.0;  ///< The largest of them.
};

template <class Visitor>
void describe(Visitor& visit, const ImatrixSummary& summary) {
  visit("tokens", summary.token_count, "tokens", "of the busiest expert");
  visit("unused_experts", summary.unused_experts, "", "experts that no token met");
  visit("mean", summary.mean, "", "of the mean squares of all columns");
  visit("max", summary.largest, "", "the largest of them");
}

/// One or several files of importance data, combined. Only names and sizes are held in memory;
/// values are read when they are asked for. Movable; const members are thread-safe.
class INGOT_EXPORT ImportanceMatrix {
 public:
  /// Opens a file of either format.
  /// Errc::imatrix_unknown if it is neither; Errc::imatrix_invalid if it breaks its format.
  [[nodiscard]] static Result<ImportanceMatrix> open(const std::string& path);
  [[nodiscard]] static Result<ImportanceMatrix> open_source(std::unique_ptr<Source> source);

  ImportanceMatrix(ImportanceMatrix&&) noexcept;
  ImportanceMatrix& operator=(ImportanceMatrix&&) noexcept;
  ~ImportanceMatrix();

  /// Adds the data of other files, as if both had been collected in one run: sums and counts are
  /// added. Errc::imatrix_mismatch if a tensor has another size there; then nothing is added.
  /// Second moments of a tensor remain where all files have them, in blocks of one size.
  [[nodiscard]] Result<void> merge(ImportanceMatrix other);

  /// Removes the entries whose name `is_kept` refuses.
  void keep_if(const std::function<bool(std::string_view name)>& is_kept);

  /// The entries by ascending name.
  [[nodiscard]] std::span<const ImatrixEntry> entries() const noexcept;
  /// The entry for a weight tensor; nullptr if there is none. O(log n).
  [[nodiscard]] const ImatrixEntry* find(std::string_view name) const noexcept;

  [[nodiscard]] ImatrixFormat format() const noexcept;                   ///< The format of the
                                                                         ///< first file.
  [[nodiscard]] std::span<const std::string> datasets() const noexcept;  ///< Raw bytes.
  [[nodiscard]] std::uint64_t chunk_count() const noexcept;              ///< The number of chunks
                                                                         ///< of text; 0 if unknown.
  [[nodiscard]] std::uint64_t chunk_size() const noexcept;               ///< Tokens; 0 if unknown.

  /// The importance of columns: mean squares, ready for `quantize`. Columns of experts that were
  /// never used get 1.
  ///
  /// @param entry  of this matrix.
  /// @param first  of the entry's values, from 0.
  /// @return  Errc::index_out_of_range; errors of reading.
  [[nodiscard]] Result<void> read_weights(const ImatrixEntry& entry, std::uint64_t first,
                                          std::span<float> dst) const;

  /// The number of tokens that each expert has seen (for files without a chunk size: taken as 512 a
  /// chunk).
  [[nodiscard]] Result<std::vector<double>> read_counts(const ImatrixEntry& entry) const;

  /// Reads all values and counts of an entry. Errors as of read_weights.
  [[nodiscard]] Result<ImatrixSummary> summarize(const ImatrixEntry& entry) const;

  /// Second moments of the inputs of one expert, for a block of columns: means of products, row by
  /// row. The last block may have fewer columns than the others. An expert that was never used gets
  /// the identity.
  ///
  /// @param entry  of this matrix.
  /// @param block  its first column is block * entry.moment_columns.
  /// @param dst    as many numbers as the square of the columns of the block.
  /// @return  Errc::index_out_of_range, also if there are no moments; Errc::size_mismatch; errors
  /// of
  ///          reading.
  [[nodiscard]] Result<void> read_moments(const ImatrixEntry& entry, std::uint64_t expert,
                                          std::uint64_t block, std::span<float> dst) const;

  /// Reads everything once. Errc::imatrix_invalid if a value is negative, NaN or infinite; products
  /// of different columns may be negative.
  [[nodiscard]] Result<void> check_values() const;

  /// Writes all as one file, atomically. A legacy file cannot hold counts of single experts: it
  /// gets the largest, and means; and no second moments. Errc::already_exists unless `replace`.
  [[nodiscard]] Result<void> write(const std::string& path, ImatrixFormat format,
                                   bool replace = false) const;

 private:
  struct State;
  explicit ImportanceMatrix(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace ingot

// SPDX-License-Identifier: MIT
// Second moments: blocks on the diagonal of the mean of a a^T, from one file or several.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked.hpp"
#include "formats/imatrix/imatrix_state.hpp"

namespace ingot {

using formats::ImatrixPart;

namespace formats {

std::uint64_t common_moment_columns(const std::vector<ImatrixPart>& parts) noexcept {
  const std::uint64_t first = parts[0].moment_columns;
  const bool is_common = std::ranges::all_of(parts, [&](const ImatrixPart& part) {
    return part.moment_columns == first && part.expert_count == parts[0].expert_count;
  });
  return is_common ? first : 0;
}

Result<void> check_moments(const ImatrixPart& part, const std::string& name) {
  const std::uint64_t columns = part.value_count / part.expert_count;
  std::vector<float> row(to_size(part.moment_columns));
  if (row.empty()) return {};
  for (std::uint64_t i = 0; i < part.value_count; ++i) {
    const std::uint64_t offset = part.moments_offset + i * row.size() * sizeof(float);
    INGOT_TRY_VOID(part.file->read_floats(offset, row));
    const std::size_t diagonal = to_size(i % columns) % row.size();
    const auto is_wrong = [](float moment) { return !std::isfinite(moment); };
    const auto wrong = std::ranges::find_if(row, is_wrong);
    if (wrong == row.end() && row[diagonal] >= 0.0F) continue;
    const auto position =
        wrong != row.end() ? static_cast<std::size_t>(wrong - row.begin()) : diagonal;
    return fail(Errc::imatrix_invalid, offset + position * sizeof(float), name,
                "the second moment " + std::to_string(position) + " of column " +
                    std::to_string(i % columns) + " is " + std::to_string(row[position]) +
                    "; it must be finite, and that of a column with itself not negative");
  }
  return {};
}

}  // namespace formats

namespace {

/// The rows of a block as a file has them.
Result<void> read_block(const ImatrixPart& part, std::uint64_t first_value, std::size_t columns,
                        std::span<float> dst) {
  const std::uint64_t size = part.moment_columns;
  for (std::size_t row = 0; row < columns; ++row) {
    const std::uint64_t offset = part.moments_offset + (first_value + row) * size * sizeof(float);
    INGOT_TRY_VOID(part.file->read_floats(offset, dst.subspan(row * columns, columns)));
  }
  return {};
}

}  // namespace

Result<void> ImportanceMatrix::read_moments(const ImatrixEntry& entry, std::uint64_t expert,
                                            std::uint64_t block, std::span<float> dst) const {
  const std::vector<ImatrixPart>* parts = state_->parts_of(entry);
  const std::uint64_t size = entry.moment_columns;
  if (parts == nullptr || size == 0 || expert >= entry.expert_count ||
      block >= (entry.column_count() + size - 1) / size) {
    return fail(Errc::index_out_of_range, entry.name);
  }
  const auto columns =
      static_cast<std::size_t>(std::min(size, entry.column_count() - block * size));
  if (dst.size() != columns * columns) return fail(Errc::size_mismatch, entry.name);
  const std::uint64_t first_value = expert * entry.column_count() + block * size;
  std::vector<double> sums(parts->size() > 1 ? dst.size() : 0, 0.0);
  double total = 0.0;
  for (const ImatrixPart& part : *parts) {
    std::array<float, 1> count{};
    INGOT_TRY_VOID(part.file->read_floats(part.counts_offset + expert * sizeof(float), count));
    if (!(count[0] > 0.0F)) continue;
    INGOT_TRY_VOID(read_block(part, first_value, columns, dst));
    if (sums.empty()) return {};  // there is nothing to round
    total += static_cast<double>(count[0]);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += static_cast<double>(dst[i]) * static_cast<double>(count[0]);
    }
  }
  for (std::size_t i = 0; i < dst.size(); ++i) {
    const float identity = i % (columns + 1) == 0 ? 1.0F : 0.0F;
    dst[i] = total > 0.0 ? static_cast<float>(sums[i] / total) : identity;
  }
  return {};
}

}  // namespace ingot

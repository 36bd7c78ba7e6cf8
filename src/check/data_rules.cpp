// SPDX-License-Identifier: MIT
// Rules about the weights, over what data_scan found.
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/messages.hpp"
#include "check/rules.hpp"
#include "ingot/text.hpp"

namespace ingot::check::rules {
namespace {

bool is_plain(TensorType type) noexcept { return is_float(type) || is_integer(type); }

/// Reports what is not finite in tensors of plain types, or of the others.
void report_not_finite(Inspection& inspection, bool of_plain_types, std::string_view noun) {
  for (const TensorScan& scan : inspection.scans) {
    const TensorInfo& tensor = *scan.tensor;
    if (scan.bad_count == 0 || is_plain(tensor.type) != of_plain_types) continue;
    const std::uint64_t begin = inspection.model().file_offset(tensor);
    inspection.report(
        {.file_offset = begin + scan.first_bad_offset, .tensor = tensor.name, .file = tensor.shard},
        plural(scan.bad_count, noun) + (scan.bad_count == 1 ? " is" : " are") + " NaN or infinite");
  }
}

/// Smaller ones, norms for instance, are alike by nature.
constexpr std::uint64_t large_bytes = std::uint64_t{64} << 10;

}  // namespace

void data_not_finite(Inspection& inspection) { report_not_finite(inspection, true, "weight"); }

void scale_impossible(Inspection& inspection) { report_not_finite(inspection, false, "scale"); }

void data_all_zero(Inspection& inspection) {
  for (const TensorScan& scan : inspection.scans) {
    if (!scan.is_all_zero || scan.tensor->shape.size() < 2 || scan.tensor->size_bytes < 64)
      continue;
    inspection.report_tensor(*scan.tensor,
                             "all its " + format_bytes(scan.tensor->size_bytes) + " are zero");
  }
}

void data_duplicate(Inspection& inspection) {
  std::vector<const TensorScan*> large;
  for (const TensorScan& scan : inspection.scans) {
    if (scan.tensor->size_bytes >= large_bytes && !scan.is_all_zero) large.push_back(&scan);
  }
  const auto identity = [](const TensorScan* scan) {
    return std::tuple(scan->tensor->type, scan->tensor->size_bytes, scan->digest[0],
                      scan->digest[1]);
  };
  // Stable: equal ones stay in the order of the table, so the later names the earlier one.
  std::ranges::stable_sort(
      large, [&](const TensorScan* a, const TensorScan* b) { return identity(a) < identity(b); });
  for (std::size_t i = 1; i < large.size(); ++i) {
    if (identity(large[i]) != identity(large[i - 1])) continue;
    inspection.report_tensor(
        *large[i]->tensor, "it holds the same bytes as " + quoted_name(large[i - 1]->tensor->name));
  }
}

/// The reference encoder of Q4_0 makes the largest weight of a block the level -8. Of the integers
/// -7 to 7, whose largest is 7 in nearly every group, it makes 8 / 7 of them, rounded: never 4 or
/// -4, which other weights have nearly as often as the mean of 3 and 5.
void lattice_rounded(Inspection& inspection) {
  constexpr std::size_t block_bytes = 18;  // the scale, and two codes in each of 16 bytes
  std::vector<std::byte> buffer(std::size_t{2048} * block_bytes);
  for (const TensorScan& scan : inspection.scans) {
    if (scan.tensor->type != TensorType::q4_0) continue;
    const auto size = std::min<std::uint64_t>(buffer.size(), scan.tensor->size_bytes);
    const auto blocks = inspection.model().fetch(
        *scan.tensor, 0, std::span(buffer).first(static_cast<std::size_t>(size)));
    if (!blocks) continue;
    std::array<std::uint64_t, 16> counts = {};
    for (std::size_t i = 0; i < blocks->size(); ++i) {
      if (i % block_bytes < 2) continue;
      ++counts[std::to_integer<std::size_t>((*blocks)[i] & std::byte{15})];
      ++counts[std::to_integer<std::size_t>((*blocks)[i] >> 4)];
    }
    // Code 8 is the level 0.
    const std::uint64_t fours = counts[4] + counts[12];
    const std::uint64_t beside = counts[3] + counts[5] + counts[11] + counts[13];
    if (beside < 512 || 8 * fours >= beside) continue;
    inspection.report_tensor(*scan.tensor, std::to_string(fours) + " of its levels are 4 or -4, " +
                                               std::to_string(beside) +
                                               " are 3, 5, -3 or -5: it was made of integers from "
                                               "-7 to 7, about 8 % off");
  }
}

void data_not_checked(Inspection& inspection) {
  if (!inspection.unreadable.empty()) inspection.report_model(inspection.unreadable);
}

}  // namespace ingot::check::rules

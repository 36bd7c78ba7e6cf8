// SPDX-License-Identifier: MIT
// Rules about the weights, over what data_scan found.
#include <algorithm>
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
/// -4, which other weights have nearly as often as the mean of 3 and 5. Other ranges around 0 leave
/// such gaps, too.
void lattice_rounded(Inspection& inspection) {
  for (const TensorScan& scan : inspection.scans) {
    if (scan.levels_beside < 512 || 8 * scan.levels_of_four >= scan.levels_beside) continue;
    inspection.report_tensor(
        *scan.tensor, std::to_string(scan.levels_of_four) + " of its levels are 4 or -4, " +
                          std::to_string(scan.levels_beside) +
                          " are 3, 5, -3 or -5: it was made of integers of a range around 0, such "
                          "as -7 to 7, and rounded again, some 8 % off");
  }
}

void data_not_checked(Inspection& inspection) {
  if (!inspection.unreadable.empty()) inspection.report_model(inspection.unreadable);
}

}  // namespace ingot::check::rules

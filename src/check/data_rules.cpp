// SPDX-License-Identifier: MIT
// Rules about the weights, over what data_scan found.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "check/rules.hpp"
#include "ingot/text.hpp"

namespace ingot::check::rules {
namespace {

bool is_plain(TensorType type) noexcept { return is_float(type) || is_integer(type); }

void report_bad(Inspection& inspection, const TensorScan& scan, std::string_view what) {
  const Model& model = inspection.model();
  inspection.report({.file_offset = model.file_offset(*scan.tensor) + scan.first_bad_offset,
                     .tensor = scan.tensor->name,
                     .file = scan.tensor->shard},
                    format_digits(scan.bad_count) + " " + std::string(what));
}

/// Smaller ones, norms for instance, are alike by nature.
constexpr std::uint64_t large_bytes = std::uint64_t{64} << 10;

}  // namespace

void data_not_finite(Inspection& inspection) {
  for (const TensorScan& scan : inspection.scans) {
    if (scan.bad_count == 0 || !is_plain(scan.tensor->type)) continue;
    report_bad(inspection, scan,
               scan.bad_count == 1 ? "weight is NaN or infinite" : "weights are NaN or infinite");
  }
}

void scale_impossible(Inspection& inspection) {
  for (const TensorScan& scan : inspection.scans) {
    if (scan.bad_count == 0 || is_plain(scan.tensor->type)) continue;
    report_bad(inspection, scan,
               scan.bad_count == 1 ? "scale is NaN or infinite" : "scales are NaN or infinite");
  }
}

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
  std::stable_sort(large.begin(), large.end(), [&](const TensorScan* a, const TensorScan* b) {
    return identity(a) < identity(b);
  });
  for (std::size_t i = 1; i < large.size(); ++i) {
    if (identity(large[i]) != identity(large[i - 1])) continue;
    inspection.report_tensor(*large[i]->tensor, "it holds the same bytes as \"" +
                                                    escape(large[i - 1]->tensor->name) + "\"");
  }
}

void data_not_checked(Inspection& inspection) {
  if (!inspection.unreadable.empty()) inspection.report_model(inspection.unreadable);
}

}  // namespace ingot::check::rules

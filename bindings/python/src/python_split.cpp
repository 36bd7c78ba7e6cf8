// SPDX-License-Identifier: MIT
// One model in several files, and back.
#include <ingot/shard_name.hpp>
#include <ingot/split.hpp>

#include "python_facts.hpp"

namespace ingot::python {
namespace {

SplitLimits limits_from(std::uint64_t max_bytes, std::uint64_t max_tensors, std::uint32_t shards,
                        bool is_first_without_tensors) {
  return {max_bytes, max_tensors, shards, is_first_without_tensors};
}

/// The files of a plan. Writes them unless `is_dry_run`.
py::list split_model(const OpenModel& self, const py::str& prefix, std::uint64_t max_bytes,
                     std::uint64_t max_tensors, std::uint32_t shards, bool is_first_without_tensors,
                     bool may_replace, bool is_dry_run, const py::object& progress) {
  const std::string name = to_bytes(prefix);
  const SplitLimits limits = limits_from(max_bytes, max_tensors, shards, is_first_without_tensors);
  const SplitPlan plan =
      run(py::none(), [&](const Report&) { return plan_split(self.model(), limits); });
  if (!is_dry_run) {
    run(progress, [&](const Report& report) {
      return write_shards(self.model(), plan, name, {may_replace, report});
    });
  }
  py::list files;
  const auto count = static_cast<std::uint32_t>(plan.shards.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    py::dict file = facts_of(plan.shards[i]);
    file["file"] = to_str(shard_file_name(name, i, count));
    files.append(file);
  }
  return files;
}

std::uint64_t merge_model(const OpenModel& self, const py::str& path, bool may_replace,
                          bool is_dry_run, const py::object& progress) {
  const std::string target = to_bytes(path);
  const std::uint64_t bytes = run(py::none(), [&](const Report&) -> Result<std::uint64_t> {
    INGOT_TRY_VOID(check_mergeable(self.model()));
    return merged_bytes(self.model());
  });
  if (!is_dry_run) {
    run(progress, [&](const Report& report) {
      return merge(self.model(), target, {may_replace, report});
    });
  }
  return bytes;
}

}  // namespace

void add_split(py::module_& module) {
  module.def("split", &split_model);
  module.def("merge", &merge_model);
}

}  // namespace ingot::python

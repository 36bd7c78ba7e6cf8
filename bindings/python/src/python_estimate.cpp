// SPDX-License-Identifier: MIT
// The memory that a run of a model takes.
#include <ingot/estimate.hpp>

#include "python_facts.hpp"
#include "python_options.hpp"

namespace ingot::python {
namespace {

py::dict fit(const OpenModel& self, const py::dict& options,
             const std::vector<std::shared_ptr<OpenModel>>& companions) {
  const auto run_options = options_from<RunOptions>(options);
  std::optional<Result<RunReport>> report;
  MemoryProfile profile = take(MemoryProfile::read(self.model()));
  for (const auto& companion : companions) take(profile.add_companion(companion->model()));
  {
    const py::gil_scoped_release release;
    report.emplace(profile.report(run_options));
  }
  return facts_of(take(*std::move(report)));
}

}  // namespace

void add_estimate(py::module_& module) { module.def("fit", &fit); }

}  // namespace ingot::python

// SPDX-License-Identifier: MIT
// The memory that a run of a model takes, the tokens of images, and pairs of files.
#include <ingot/estimate.hpp>
#include <ingot/projectors.hpp>

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

py::dict image_tokens(const OpenModel& projector, std::uint32_t width, std::uint32_t height) {
  return facts_of(take(take(ProjectorImages::read(projector.model())).count(width, height)));
}

py::dict sound_tokens(const OpenModel& projector, double seconds) {
  return facts_of(take(take(ProjectorSounds::read(projector.model())).count(seconds)));
}

/// Positions of models and projectors, and how well they fit.
py::list pairs(const std::vector<std::shared_ptr<OpenModel>>& files) {
  std::vector<PairFacts> facts;
  for (const auto& file : files) facts.push_back(pair_facts(file->model()));
  py::list found;
  for (const ProjectorPair& pair : find_pairs(facts)) {
    found.append(py::make_tuple(pair.model, pair.projector, to_str(name_of(pair.strength))));
  }
  return found;
}

}  // namespace

void add_estimate(py::module_& module) {
  module.def("fit", &fit);
  module.def("image_tokens", &image_tokens);
  module.def("sound_tokens", &sound_tokens);
  module.def("pairs", &pairs);
}

}  // namespace ingot::python

// SPDX-License-Identifier: MIT
// The memory that a run of a model takes.
#include <ingot/estimate.hpp>

#include "python_facts.hpp"

namespace ingot::python {
namespace {

RunOptions run_options_from(const py::dict& options) {
  RunOptions to;
  set_option(options, "context", to.context);
  set_option(options, "batch", to.batch);
  set_option(options, "micro_batch", to.micro_batch);
  set_option(options, "sequences", to.sequences);
  to.key_type = find_type_option(options, "key_type").value_or(to.key_type);
  to.value_type = find_type_option(options, "value_type").value_or(to.value_type);
  set_choice(options, "flash_attention",
             {{"automatic", FlashAttention::automatic},
              {"on", FlashAttention::on},
              {"off", FlashAttention::off}},
             to.flash_attention);
  set_option(options, "unified_cache", to.is_cache_unified);
  set_option(options, "full_windows", to.keeps_full_windows);
  set_option(options, "offload_cache", to.offloads_cache);
  set_option(options, "embeddings", to.wants_embeddings);
  set_option(options, "map_file", to.maps_file);
  set_option(options, "repack", to.repacks_weights);
  set_option(options, "gpu_layers", to.gpu_layers);
  set_option(options, "tensor_split", to.tensor_split);
  set_option(options, "experts_on_host", to.experts_on_host);
  std::vector<std::string> devices;
  set_option(options, "devices", devices);
  for (const std::string& device : devices) to.devices.push_back(take(parse_device(device)));
  if (const auto text = find_option<std::string>(options, "host")) {
    to.host_bytes = parse_memory_size(*text);
    if (!to.host_bytes) {
      throw Failed{
          Error{Errc::invalid_argument, Error::no_offset, *text, "a size such as 64G is meant"}};
    }
  }
  set_option(options, "host_bandwidth", to.host_bandwidth);
  return to;
}

py::dict fit(const OpenModel& self, const py::dict& options,
             const std::vector<std::shared_ptr<OpenModel>>& companions) {
  const RunOptions run_options = run_options_from(options);
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

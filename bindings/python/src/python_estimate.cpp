// SPDX-License-Identifier: MIT
// The memory that a run of a model takes.
#include <ingot/estimate.hpp>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

using namespace py::literals;

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

py::dict use_facts(const MemoryUse& use) {
  return py::dict("name"_a = use.name, "first_layer"_a = use.first_layer,
                  "layer_count"_a = use.layer_count, "has_output"_a = use.has_output,
                  "weights_bytes"_a = use.weights_bytes, "mapped_bytes"_a = use.mapped_bytes,
                  "cache_bytes"_a = use.cache_bytes, "compute_bytes"_a = use.compute_bytes,
                  "output_bytes"_a = use.output_bytes, "projector_bytes"_a = use.projector_bytes,
                  "total_bytes"_a = use.total_bytes, "capacity_bytes"_a = use.capacity_bytes,
                  "verdict"_a = std::string(name_of(use.verdict)));
}

py::dict estimate_facts(const MemoryEstimate& estimate) {
  py::list devices;
  for (const MemoryUse& use : estimate.devices) devices.append(use_facts(use));
  return py::dict(
      "context"_a = estimate.context, "context_per_sequence"_a = estimate.context_per_sequence,
      "sequences"_a = estimate.sequences, "gpu_layers"_a = estimate.gpu_layers,
      "weights_bytes"_a = estimate.weights_bytes, "cache_bytes"_a = estimate.cache_bytes,
      "output_bytes"_a = estimate.output_bytes, "devices"_a = devices,
      "host"_a = use_facts(estimate.host), "verdict"_a = std::string(name_of(estimate.verdict)),
      "tokens_per_second_at_start"_a = estimate.bound_at_start,
      "tokens_per_second_at_end"_a = estimate.bound_at_end);
}

py::dict fit(const OpenModel& self, const py::dict& options,
             const std::vector<std::shared_ptr<OpenModel>>& companions) {
  const RunOptions run_options = run_options_from(options);
  std::optional<Result<MemoryEstimate>> estimate;
  std::optional<Result<Advice>> advice;
  MemoryProfile profile = take(MemoryProfile::read(self.model()));
  for (const auto& companion : companions) take(profile.add_companion(companion->model()));
  {
    const py::gil_scoped_release release;
    estimate.emplace(profile.estimate(run_options));
    advice.emplace(profile.advise(run_options));
  }
  py::dict facts = estimate_facts(take(*std::move(estimate)));
  const Advice found = take(*std::move(advice));
  facts["most_gpu_layers"] = found.gpu_layers;
  facts["longest_context"] = found.context;
  facts["architecture"] = to_str(profile.architecture());
  facts["is_known_architecture"] = profile.is_known_architecture();
  py::list notes;
  for (const std::string& note : profile.notes()) notes.append(to_str(note));
  facts["notes"] = notes;
  return facts;
}

}  // namespace

void add_estimate(py::module_& module) { module.def("fit", &fit); }

}  // namespace ingot::python

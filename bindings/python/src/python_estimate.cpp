// SPDX-License-Identifier: MIT
// The memory that a run of a model takes.
#include <ingot/estimate.hpp>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

template <class T>
void set_option(const py::dict& options, const char* name, T& target) {
  if (options.contains(name)) target = py::cast<T>(options[name]);
}

FlashAttention attention_from(const std::string& name) {
  if (name == "on") return FlashAttention::on;
  if (name == "off") return FlashAttention::off;
  return FlashAttention::automatic;
}

RunOptions options_from(const py::dict& options) {
  RunOptions to;
  set_option(options, "context", to.context);
  set_option(options, "batch", to.batch);
  set_option(options, "micro_batch", to.micro_batch);
  set_option(options, "sequences", to.sequences);
  if (options.contains("key_type"))
    to.key_type = type_from(py::cast<std::string>(options["key_type"]));
  if (options.contains("value_type")) {
    to.value_type = type_from(py::cast<std::string>(options["value_type"]));
  }
  if (options.contains("flash_attention")) {
    to.flash_attention = attention_from(py::cast<std::string>(options["flash_attention"]));
  }
  set_option(options, "unified_cache", to.is_cache_unified);
  set_option(options, "full_windows", to.keeps_full_windows);
  set_option(options, "offload_cache", to.offloads_cache);
  set_option(options, "embeddings", to.wants_embeddings);
  set_option(options, "map_file", to.maps_file);
  set_option(options, "repack", to.repacks_weights);
  set_option(options, "gpu_layers", to.gpu_layers);
  set_option(options, "tensor_split", to.tensor_split);
  set_option(options, "experts_on_host", to.experts_on_host);
  if (options.contains("devices")) {
    for (const py::handle& device : options["devices"]) {
      to.devices.push_back(take(parse_device(py::cast<std::string>(device))));
    }
  }
  if (options.contains("host")) {
    const auto text = py::cast<std::string>(options["host"]);
    to.host_bytes = parse_memory_size(text);
    if (!to.host_bytes) {
      throw Failed{
          Error{Errc::invalid_argument, Error::no_offset, text, "a size such as 64G is meant"}};
    }
  }
  set_option(options, "host_bandwidth", to.host_bandwidth);
  return to;
}

template <class T>
py::object maybe(const std::optional<T>& value) {
  if (!value) return py::none();
  return py::cast(*value);
}

py::dict use_facts(const MemoryUse& use) {
  py::dict facts;
  facts["name"] = use.name;
  facts["first_layer"] = use.first_layer;
  facts["layer_count"] = use.layer_count;
  facts["has_output"] = use.has_output;
  facts["weights_bytes"] = use.weights_bytes;
  facts["mapped_bytes"] = use.mapped_bytes;
  facts["cache_bytes"] = use.cache_bytes;
  facts["compute_bytes"] = use.compute_bytes;
  facts["output_bytes"] = use.output_bytes;
  facts["projector_bytes"] = use.projector_bytes;
  facts["total_bytes"] = use.total_bytes;
  facts["capacity_bytes"] = maybe(use.capacity_bytes);
  facts["verdict"] = std::string(name_of(use.verdict));
  return facts;
}

py::dict estimate_facts(const MemoryEstimate& estimate) {
  py::dict facts;
  facts["context"] = estimate.context;
  facts["context_per_sequence"] = estimate.context_per_sequence;
  facts["sequences"] = estimate.sequences;
  facts["gpu_layers"] = estimate.gpu_layers;
  facts["weights_bytes"] = estimate.weights_bytes;
  facts["cache_bytes"] = estimate.cache_bytes;
  facts["output_bytes"] = estimate.output_bytes;
  py::list devices;
  for (const MemoryUse& use : estimate.devices) devices.append(use_facts(use));
  facts["devices"] = devices;
  facts["host"] = use_facts(estimate.host);
  facts["verdict"] = std::string(name_of(estimate.verdict));
  facts["tokens_per_second_at_start"] = maybe(estimate.bound_at_start);
  facts["tokens_per_second_at_end"] = maybe(estimate.bound_at_end);
  return facts;
}

py::dict fit(const OpenModel& self, const py::dict& options,
             const std::vector<std::shared_ptr<OpenModel>>& companions) {
  const RunOptions run_options = options_from(options);
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
  facts["most_gpu_layers"] = maybe(found.gpu_layers);
  facts["longest_context"] = maybe(found.context);
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

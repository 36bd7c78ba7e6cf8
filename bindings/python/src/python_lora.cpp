// SPDX-License-Identifier: MIT
// LoRA adapters in GGUF.
#include <ingot/lora.hpp>

#include "python_facts.hpp"
#include "python_options.hpp"

namespace ingot::python {
namespace {

/// An adapter, and the model that holds it.
struct Adapter {
  std::shared_ptr<OpenModel> model;
  LoraAdapter adapter;
};

using AdapterPointer = std::shared_ptr<Adapter>;

AdapterPointer read_adapter(const std::shared_ptr<OpenModel>& model) {
  return std::make_shared<Adapter>(
      Adapter{model, run(py::none(), [&](const Report&) { return read_lora(model->model()); })});
}

/// The names of the tensors that change, and the bytes of the file. Writes it unless `is_dry_run`.
py::tuple merge_adapters(const OpenModel& model, const std::vector<AdapterPointer>& adapters,
                         const std::vector<double>& scales, const py::str& path,
                         const py::dict& options, bool may_replace, bool is_dry_run,
                         const py::object& progress) {
  if (scales.size() != adapters.size()) throw py::value_error("a scale is needed for each adapter");
  const std::string target = to_bytes(path);
  std::vector<ScaledLora> scaled;
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    scaled.push_back({&adapters[i]->adapter, scales[i]});
  }
  const auto to = options_from<LoraMergeOptions>(options);
  const LoraMergePlan plan =
      run(py::none(), [&](const Report&) { return plan_lora_merge(model.model(), scaled, to); });
  if (!is_dry_run) {
    run(progress, [&](const Report& report) {
      return merge_lora(model.model(), plan, to, target, may_replace, report);
    });
  }
  py::list changed;
  for (const MergedTensor& tensor : plan.tensors) {
    if (!tensor.terms.empty()) changed.append(to_str(tensor.source->name));
  }
  return py::make_tuple(changed, take(merged_lora_bytes(model.model(), plan)));
}

}  // namespace

void add_lora(py::module_& module) {
  py::class_<Adapter, AdapterPointer>(module, "LoraAdapter")
      .def(py::init(&read_adapter))
      .def("facts", [](const Adapter& self) { return facts_of(self.adapter); });
  module.def("merge_lora", &merge_adapters);
}

}  // namespace ingot::python

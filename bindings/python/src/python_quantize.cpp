// SPDX-License-Identifier: MIT
// Quantizing whole models.
#include <ingot/quantize_model.hpp>
#include <ingot/recipe.hpp>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

/// The plan of one model, and all that it stands on.
struct QuantizeJob {
  std::shared_ptr<OpenModel> model;
  std::shared_ptr<ImportanceMatrix> importance;
  QuantizeModelOptions options;
  QuantizePlan plan;
};

std::optional<TensorType> type_option(const py::dict& options, const char* name) {
  if (!options.contains(name) || options[name].is_none()) return std::nullopt;
  return type_from(py::cast<std::string>(options[name]));
}

bool flag_option(const py::dict& options, const char* name) {
  return options.contains(name) && py::cast<bool>(options[name]);
}

QuantizeModelOptions options_from(const py::dict& options) {
  QuantizeModelOptions to;
  if (options.contains("recipe")) {
    const auto name = py::cast<std::string>(options["recipe"]);
    to.recipe = find_recipe(std::string_view(name));
    if (to.recipe == nullptr) {
      throw Failed{Error{Errc::invalid_argument, Error::no_offset, name, "no recipe of this name"}};
    }
  }
  if (options.contains("bits_per_weight")) {
    to.target_bits_per_weight = py::cast<double>(options["bits_per_weight"]);
  }
  if (options.contains("file_bytes")) {
    to.target_file_bytes = py::cast<std::uint64_t>(options["file_bytes"]);
  }
  to.types.is_pure = flag_option(options, "pure");
  to.types.leaves_output = flag_option(options, "leave_output");
  to.types.output_type = type_option(options, "output_type");
  to.types.token_embedding_type = type_option(options, "token_embedding_type");
  if (options.contains("patterns")) {
    for (const auto& [pattern, type] : py::cast<py::dict>(options["patterns"])) {
      to.types.patterns.push_back(
          {py::cast<std::string>(pattern), type_from(py::cast<std::string>(type))});
    }
  }
  to.keeps_shards = flag_option(options, "keep_shards");
  to.allows_requantize = flag_option(options, "allow_requantize");
  to.allows_nan = flag_option(options, "allow_nan");
  if (options.contains("threads")) to.thread_count = py::cast<unsigned>(options["threads"]);
  return to;
}

std::unique_ptr<QuantizeJob> make_plan(const std::shared_ptr<OpenModel>& model,
                                       const py::dict& options,
                                       const std::shared_ptr<ImportanceMatrix>& importance,
                                       const std::string& importance_name,
                                       const py::object& progress) {
  auto job =
      std::make_unique<QuantizeJob>(QuantizeJob{model, importance, options_from(options), {}});
  job->options.importance = importance.get();
  job->options.importance_name = importance_name;
  job->plan = run(progress, [&](const Report& report) {
    return plan_quantization(model->model(), job->options, report);
  });
  return job;
}

/// name, from, to, bytes, reason
py::list rows_of(const QuantizeJob& self) {
  py::list rows;
  for (const PlannedTensor& tensor : self.plan.tensors) {
    rows.append(py::make_tuple(to_str(tensor.source->name), type_name(tensor.source->type),
                               type_name(tensor.choice.type), tensor.size_bytes,
                               to_str(explain(tensor.choice, *tensor.source, self.options.types))));
  }
  return rows;
}

py::list error_rows(const QuantizeJob& self, const std::vector<TensorError>& errors) {
  py::list rows;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    rows.append(py::make_tuple(to_str(self.plan.tensors[i].source->name), errors[i].plain.count,
                               errors[i].plain.rmse(), errors[i].relative()));
  }
  return rows;
}

py::list write_plan(const QuantizeJob& self, const py::list& paths, bool may_replace,
                    const py::object& progress) {
  std::vector<QuantizedShard> shards(1);
  if (self.options.keeps_shards) shards = kept_shards(self.model->model(), self.plan);
  if (shards.size() != paths.size()) {
    throw Failed{Error{Errc::invalid_argument, Error::no_offset, "paths",
                       std::to_string(shards.size()) + " files are to be written"}};
  }
  for (std::size_t i = 0; i < shards.size(); ++i) {
    shards[i].path = to_bytes(py::cast<py::str>(paths[i]));
  }
  const std::vector<TensorError> errors = run(progress, [&](const Report& report) {
    if (shards.size() == 1) {
      return quantize_model(self.model->model(), self.plan, self.options, shards[0], may_replace,
                            report);
    }
    return quantize_set(self.model->model(), self.plan, self.options, shards, may_replace, report);
  });
  return error_rows(self, errors);
}

}  // namespace

void add_quantize(py::module_& module) {
  py::class_<QuantizeJob>(module, "QuantizeJob")
      .def(py::init(&make_plan))
      .def("tensors", &rows_of)
      .def("file_type", [](const QuantizeJob& self) { return self.plan.file_type; })
      .def("source_bytes", [](const QuantizeJob& self) { return self.plan.source_bytes; })
      .def("size_bytes", [](const QuantizeJob& self) { return self.plan.size_bytes; })
      .def("element_count", [](const QuantizeJob& self) { return self.plan.element_count; })
      .def("file_count",
           [](const QuantizeJob& self) {
             return self.options.keeps_shards ? kept_shards(self.model->model(), self.plan).size()
                                              : 1;
           })
      .def("write", &write_plan);
}

}  // namespace ingot::python

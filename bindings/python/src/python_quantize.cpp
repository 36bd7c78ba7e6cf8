// SPDX-License-Identifier: MIT
// Quantizing whole models.
#include <cmath>
#include <ingot/quantize_model.hpp>
#include <ingot/recipe.hpp>
#include <tuple>

#include "python_facts.hpp"
#include "python_options.hpp"

namespace ingot::python {
namespace {

/// The plan of one model, and all that it stands on.
struct QuantizeJob {
  std::shared_ptr<OpenModel> model;
  std::shared_ptr<ImportanceMatrix> importance;
  std::vector<TensorSensitivity> sensitivities;
  QuantizeModelOptions options;
  QuantizePlan plan;
};

/// name, kl, kl_error, relative_error, weighted_error
using SensitivityRow = std::tuple<py::str, double, std::optional<double>, double, double>;

bool is_amount(double number) { return std::isfinite(number) && number >= 0.0; }

TensorSensitivity sensitivity_from(const SensitivityRow& row) {
  const auto& [name, divergence, divergence_error, relative_error, weighted_error] = row;
  if (!is_amount(divergence) || !is_amount(weighted_error) || !is_amount(relative_error) ||
      relative_error == 0.0) {
    throw Failed{Error{Errc::invalid_argument, Error::no_offset, to_bytes(name),
                       "kl and errors are finite and at least 0, and relative_error is above 0"}};
  }
  return {to_bytes(name), divergence, divergence_error.value_or(std::nan("")), relative_error,
          weighted_error};
}

std::unique_ptr<QuantizeJob> make_quantize_job(const std::shared_ptr<OpenModel>& model,
                                               const py::dict& options,
                                               const std::shared_ptr<ImportanceMatrix>& importance,
                                               const std::string& importance_name,
                                               const py::object& progress) {
  auto job = std::make_unique<QuantizeJob>(
      QuantizeJob{model, importance, {}, options_from<QuantizeModelOptions>(options), {}});
  std::vector<SensitivityRow> rows;
  OptionSetter{options}("sensitivities", rows);
  for (const SensitivityRow& row : rows) job->sensitivities.push_back(sensitivity_from(row));
  job->options.sensitivities = job->sensitivities;
  job->options.importance = importance.get();
  job->options.importance_name = importance_name;
  job->plan = run(progress, [&](const Report& report) {
    return plan_quantization(model->model(), job->options, report);
  });
  return job;
}

py::list error_rows(const QuantizeJob& self, const std::vector<TensorError>& errors) {
  py::list rows;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    py::dict row = facts_of(errors[i]);
    row["name"] = to_str(self.plan.tensors[i].source->name);
    rows.append(row);
  }
  return rows;
}

/// The files of a plan, with a path for each.
std::vector<QuantizedShard> shards_of(const QuantizeJob& job, const std::vector<py::str>& paths) {
  std::vector<QuantizedShard> shards(1);
  if (job.options.keeps_shards) shards = kept_shards(job.model->model(), job.plan);
  if (shards.size() != paths.size()) {
    throw Failed{Error{Errc::invalid_argument, Error::no_offset, "paths",
                       std::to_string(shards.size()) + " files are to be written"}};
  }
  for (std::size_t i = 0; i < shards.size(); ++i) shards[i].path = to_bytes(paths[i]);
  return shards;
}

/// Writes several plans of one model, which is read once.
py::list write_together(const std::vector<const QuantizeJob*>& jobs,
                        const std::vector<std::vector<py::str>>& paths, bool may_replace,
                        const py::object& progress) {
  std::vector<std::vector<QuantizedShard>> shards;
  std::vector<PlannedResult> results;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i]->model != jobs[0]->model) {
      throw Failed{Error{Errc::invalid_argument, Error::no_offset, "plans",
                         "they are of different models; open the model once"}};
    }
    shards.push_back(shards_of(*jobs[i], paths[i]));
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    results.push_back({&jobs[i]->plan, &jobs[i]->options, shards[i]});
  }
  if (results.empty()) return py::list();
  const auto errors = run(progress, [&](const Report& report) {
    return quantize_together(jobs[0]->model->model(), results, may_replace, report);
  });
  py::list rows;
  for (std::size_t i = 0; i < jobs.size(); ++i) rows.append(error_rows(*jobs[i], errors[i]));
  return rows;
}

py::list write_plan(const QuantizeJob& self, const std::vector<py::str>& paths, bool may_replace,
                    const py::object& progress) {
  const std::vector<QuantizedShard> shards = shards_of(self, paths);
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
      .def(py::init(&make_quantize_job))
      .def("facts", [](const QuantizeJob& self) { return facts_of(self.plan); })
      .def("tensors",
           [](const QuantizeJob& self) {
             return list_of(self.plan.tensors, &facts_of<PlannedTensor>);
           })
      .def("file_count",
           [](const QuantizeJob& self) {
             return self.options.keeps_shards ? kept_shards(self.model->model(), self.plan).size()
                                              : 1;
           })
      .def("write", &write_plan);
  module.def("quantize_together", &write_together);
  module.def("alpha", [](const SensitivityRow& row, bool is_weighted) {
    return sensitivity_from(row).alpha(is_weighted);
  });
}

}  // namespace ingot::python

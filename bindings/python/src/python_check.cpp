// SPDX-License-Identifier: MIT
// Checking and repairing.
#include <ingot/check.hpp>
#include <ingot/check_folder.hpp>
#include <ingot/repair.hpp>
#include <ingot/store.hpp>

#include "python_facts.hpp"

namespace ingot::python {
namespace {

/// The findings of a path, or of a model that is open.
py::object check(const py::object& source, bool with_data, const std::vector<std::string>& rules,
                 std::uint64_t max_findings, const OpenModel* projector, unsigned threads,
                 const py::object& progress) {
  CheckOptions options;
  if (projector != nullptr) options.projector = &projector->model();
  options.with_data = with_data;
  options.thread_count = threads;
  options.max_findings_per_rule = max_findings;
  if (!rules.empty()) {
    options.is_wanted = [&](const CheckRule& rule) {
      return std::find(rules.begin(), rules.end(), rule.name) != rules.end();
    };
  }
  std::vector<Finding> findings;
  const FindingSink sink = [&](const Finding& finding) { findings.push_back(finding); };
  if (py::isinstance<py::str>(source)) {
    const std::string path = to_bytes(py::reinterpret_borrow<py::str>(source));
    run(progress, [&](const Report& report) {
      options.progress = report;
      if (has_model_to_import(file_system(), path)) {
        return check_folder(file_system(), path, options, sink);
      }
      return check_file(path, {}, options, sink);
    });
  } else {
    const auto& model = py::cast<const OpenModel&>(source);
    options.is_foreign = model.opened.format != FileFormat::gguf;
    run(progress, [&](const Report& report) {
      options.progress = report;
      return check_model(model.model(), options, sink);
    });
  }
  return fact_of(findings);
}

py::dict repair(const py::str& path, const py::str& target, bool drops_broken, bool may_replace,
                bool is_dry_run, unsigned threads, const py::object& progress) {
  const std::string from = to_bytes(path);
  const std::string to = to_bytes(target);
  RepairOptions options;
  options.drops_broken = drops_broken;
  options.may_replace = may_replace;
  options.is_dry_run = is_dry_run;
  options.thread_count = threads;
  return facts_of(run(progress, [&](const Report& go_on) {
    options.progress = go_on;
    return repair_model(from, to, options);
  }));
}

}  // namespace

void add_check(py::module_& module) {
  module.def("check", &check);
  module.def("repair", &repair);
  module.def("identify_content", [](const py::object& head, std::uint64_t file_bytes) {
    return std::string(identify_content(Buffer(head).bytes(), file_bytes));
  });
}

}  // namespace ingot::python

// SPDX-License-Identifier: MIT
// Checking and repairing.
#include <ingot/check.hpp>
#include <ingot/check_folder.hpp>
#include <ingot/repair.hpp>
#include <ingot/store.hpp>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

py::object offset_of(std::uint64_t offset) {
  if (offset == Error::no_offset) return py::none();
  return py::int_(offset);
}

py::list finding_rows(const std::vector<Finding>& findings) {
  py::list rows;
  for (const Finding& finding : findings) {
    rows.append(py::make_tuple(std::string(finding.rule->name),
                               std::string(name_of(finding.rule->severity)),
                               std::string(name_of(finding.rule->category)),
                               to_str(finding.message), offset_of(finding.file_offset),
                               to_str(finding.key), to_str(finding.tensor), to_str(finding.file)));
  }
  return rows;
}

/// Checks a path or an open model.
py::list check(const py::object& source, bool with_data, const std::vector<std::string>& rules,
               std::uint64_t max_findings, unsigned threads, const py::object& progress) {
  CheckOptions options;
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
  return finding_rows(findings);
}

py::list step_rows(const std::vector<RepairStep>& steps) {
  py::list rows;
  for (const RepairStep& step : steps) {
    rows.append(py::make_tuple(to_str(step.what), to_str(step.key), to_str(step.tensor)));
  }
  return rows;
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
  const RepairReport report = run(progress, [&](const Report& go_on) {
    options.progress = go_on;
    return repair_model(from, to, options);
  });
  py::dict facts;
  facts["steps"] = step_rows(report.steps);
  facts["losses"] = step_rows(report.losses);
  facts["kept_tensors"] = report.kept_tensors;
  facts["dropped_tensors"] = report.dropped_tensors;
  facts["is_written"] = report.is_written;
  return facts;
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

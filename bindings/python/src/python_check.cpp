// SPDX-License-Identifier: MIT
// Checking and repairing.
#include <ingot/check.hpp>
#include <ingot/check_folder.hpp>
#include <ingot/repair.hpp>
#include <ingot/shard_name.hpp>
#include <ingot/store.hpp>
#ifdef INGOT_HAS_REMOTE
#include <ingot/remote.hpp>
#endif

#include "python_facts.hpp"

namespace ingot::python {
namespace {

#ifdef INGOT_HAS_REMOTE
/// Checks the model that a reference means; one that is refused is a finding.
Result<void> check_remote(const Reference& reference, const RemoteOptions& remote,
                          const CheckOptions& options, const FindingSink& sink) {
  INGOT_TRY(const RemoteStore store, RemoteStore::open(reference, remote));
  if (options.with_data) {
    for (const RemoteFile& file : store.model_files()) {
      store.allow_more_bytes(file.size_bytes.value_or(0));
    }
  }
  const Result<OpenedModel> opened = store.open_model();
  if (opened) {
    CheckOptions own = options;
    own.is_foreign = opened->format != FileFormat::gguf;
    INGOT_TRY_VOID(check_model(opened->model, own, sink));
    return {};
  }
  const ErrorCategory category = category_of(opened.error().code);
  if (category != ErrorCategory::input && category != ErrorCategory::lenient) {
    return fail(opened.error());
  }
  sink(explain_refusal({}, opened.error()));
  return {};
}

/// Checks what a reference means: the folder of a model, every GGUF model of a repository, whose
/// findings name its file, or one model.
Result<void> check_reference(const std::string& text, const RemoteOptions& remote,
                             const CheckOptions& options, const FindingSink& sink) {
  INGOT_TRY(Reference reference, parse_reference(text));
  const bool is_hub =
      reference.kind == ReferenceKind::hub || reference.kind == ReferenceKind::model_scope;
  if (!is_hub || !reference.path.empty() || !reference.quantization.empty()) {
    return check_remote(reference, remote, options, sink);
  }
  INGOT_TRY(const RemoteStore store, RemoteStore::open_repository(reference, remote));
  if (has_model_to_import(store, {})) {
    if (options.with_data) {
      for (const RemoteFile& file : store.files()) {
        store.allow_more_bytes(file.size_bytes.value_or(0));
      }
    }
    INGOT_TRY_VOID(check_folder(store, {}, options, sink));
    return {};
  }
  if (!store.commit().empty()) reference.revision = store.commit();
  bool has_models = false;
  for (const RemoteFile& file : store.files()) {
    const std::optional<ShardName> shard = parse_shard_name(file.name);
    if (!file.name.ends_with(".gguf") || (shard && shard->index != 0)) continue;
    has_models = true;
    reference.path = file.name;
    INGOT_TRY_VOID(check_remote(reference, remote, options, [&](Finding finding) {
      if (finding.file.empty()) finding.file = file.name;
      sink(finding);
    }));
  }
  if (has_models) return {};
  return fail(Errc::invalid_argument, text, "the repository holds no model that could be checked");
}
#endif

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
    run(progress, [&](const Report& report) -> Result<void> {
      options.progress = report;
#ifdef INGOT_HAS_REMOTE
      if (is_remote_reference(path)) {
        RemoteOptions remote = remote_options();
        remote.should_stop = [report] { return !report(0); };
        return check_reference(path, remote, options, sink);
      }
#endif
      if (has_model_to_import(file_system(), path)) {
        INGOT_TRY_VOID(check_folder(file_system(), path, options, sink));
      } else {
        INGOT_TRY_VOID(check_file(path, {}, options, sink));
      }
      return {};
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
  module.def("has_model_to_import", [](const py::str& folder) {
    return has_model_to_import(file_system(), to_bytes(folder));
  });
  module.def("repair", &repair);
  module.def("identify_content", [](const py::object& head, std::uint64_t file_bytes) {
    return std::string(identify_content(Buffer(head).bytes(), file_bytes));
  });
}

}  // namespace ingot::python

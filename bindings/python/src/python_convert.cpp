// SPDX-License-Identifier: MIT
// Models in other formats.
#include <ingot/convert.hpp>
#include <ingot/folder_export.hpp>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

BumpOptions bump_from(const py::dict& options) {
  BumpOptions bump;
  set_option(options, "bump_version", bump.version);
  set_choice(options, "bump_codes", {{"doc", BumpCodes::doc}, {"engine", BumpCodes::engine}},
             bump.codes);
  bump.context = find_option<std::uint64_t>(options, "bump_context");
  bump.config_path = find_option<std::string>(options, "bump_config");
  bump.manifest_path = find_option<std::string>(options, "bump_manifest");
  set_option(options, "allow_loss", bump.allow_loss);
  set_option(options, "widen", bump.widen);
  set_option(options, "strictly_original", bump.is_strictly_original);
  return bump;
}

ConvertOptions convert_options_from(const py::dict& options) {
  ConvertOptions to;
  to.type = find_type_option(options, "type");
  set_option(options, "all_tensors", to.all_tensors);
  set_choice<RenameTensors>(options, "names", {{"keep", {}}, {"hf", rename_as_in_folders}},
                            to.rename);
  set_option(options, "max_file_bytes", to.max_file_bytes);
  to.version = find_option<std::uint32_t>(options, "version");
  set_choice(options, "byte_order", {{"little", Endian::little}, {"big", Endian::big}},
             to.byte_order);
  to.alignment = find_option<std::uint32_t>(options, "alignment");
  to.bump = bump_from(options);
  set_option(options, "replace", to.replace);
  set_option(options, "threads", to.thread_count);
  return to;
}

std::optional<FileFormat> find_format(const std::string& name, const std::string& path) {
  if (name.empty()) return format_by_ending(path);
  for (const FileFormatInfo& info : file_formats) {
    if (info.name == name) return info.format;
  }
  return std::nullopt;
}

/// Runs a conversion, unless `is_dry_run`, and tells of it.
py::dict run_conversion(const Conversion& conversion, bool is_dry_run, const py::object& progress) {
  if (!is_dry_run) {
    run(progress, [&](const Report& report) { return conversion.run(report); });
  }
  py::dict facts;
  py::list outputs;
  for (const std::string& output : conversion.outputs()) outputs.append(to_str(output));
  facts["outputs"] = outputs;
  facts["remarks"] = error_list(conversion.remarks());
  facts["warnings"] = error_list(conversion.warnings());
  facts["total_bytes"] = conversion.total_bytes();
  return facts;
}

py::dict convert_model(const OpenModel& self, const py::str& path, const std::string& format_name,
                       const py::dict& options, bool is_dry_run, const py::object& progress) {
  const std::string target = to_bytes(path);
  const std::optional<FileFormat> format = find_format(format_name, target);
  if (!format) {
    throw Failed{Error{Errc::invalid_argument, Error::no_offset, target,
                       "name the format; the ending tells none"}};
  }
  ConvertOptions to = convert_options_from(options);
  to.inputs = self.opened.paths;
  const std::unique_ptr<Conversion> conversion = run(py::none(), [&](const Report&) {
    return plan_conversion(self.model(), *format, target, to);
  });
  return run_conversion(*conversion, is_dry_run, progress);
}

py::dict export_folder(const OpenModel& self, const py::str& folder, const py::dict& options,
                       bool is_dry_run, const py::object& progress) {
  const std::string target = to_bytes(folder);
  FolderExportOptions to;
  to.type = find_type_option(options, "type");
  set_option(options, "max_file_bytes", to.max_file_bytes);
  set_option(options, "strict", to.is_strict);
  set_option(options, "replace", to.replace);
  set_option(options, "threads", to.thread_count);
  const std::unique_ptr<Conversion> conversion =
      run(py::none(), [&](const Report&) { return plan_folder_export(self.model(), target, to); });
  return run_conversion(*conversion, is_dry_run, progress);
}

}  // namespace

void add_convert(py::module_& module) {
  module.def("convert", &convert_model);
  module.def("export_folder", &export_folder);
  module.def("exportable_architectures", [] { return take(exportable_architectures()); });
  module.def("format_by_ending", [](const py::str& path) -> std::optional<std::string> {
    const std::optional<FileFormat> format = format_by_ending(to_bytes(path));
    if (!format) return std::nullopt;
    return std::string(name_of(*format));
  });
}

}  // namespace ingot::python

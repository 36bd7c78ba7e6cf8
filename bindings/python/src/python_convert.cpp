// SPDX-License-Identifier: MIT
// Models in other formats.
#include <ingot/convert.hpp>
#include <ingot/folder_export.hpp>

#include "python_options.hpp"

namespace ingot::python {
namespace {

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
  facts["outputs"] = list_of(conversion.outputs(), &to_str);
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
  auto to = options_from<ConvertOptions>(options);
  to.inputs = self.opened.paths;
  const std::unique_ptr<Conversion> conversion = run(py::none(), [&](const Report&) {
    return plan_conversion(self.model(), *format, target, to);
  });
  return run_conversion(*conversion, is_dry_run, progress);
}

py::dict export_folder(const OpenModel& self, const py::str& folder, const py::dict& options,
                       bool is_dry_run, const py::object& progress) {
  const std::string target = to_bytes(folder);
  const auto to = options_from<FolderExportOptions>(options);
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

// SPDX-License-Identifier: MIT
// Models in other formats.
#include <ingot/convert.hpp>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

template <class T>
std::optional<T> optional_from(const py::dict& options, const char* name) {
  if (!options.contains(name) || options[name].is_none()) return std::nullopt;
  return py::cast<T>(options[name]);
}

BumpOptions bump_from(const py::dict& options) {
  BumpOptions bump;
  bump.version = optional_from<std::uint32_t>(options, "bump_version").value_or(bump.version);
  if (const auto codes = optional_from<std::string>(options, "bump_codes")) {
    bump.codes = *codes == "engine" ? BumpCodes::engine : BumpCodes::doc;
  }
  bump.context = optional_from<std::uint64_t>(options, "bump_context");
  bump.config_path = optional_from<std::string>(options, "bump_config");
  bump.manifest_path = optional_from<std::string>(options, "bump_manifest");
  bump.allow_loss = optional_from<bool>(options, "allow_loss").value_or(false);
  bump.widen = optional_from<bool>(options, "widen").value_or(false);
  bump.is_strictly_original = optional_from<bool>(options, "strictly_original").value_or(false);
  return bump;
}

ConvertOptions options_from(const py::dict& options) {
  ConvertOptions to;
  if (const auto type = optional_from<std::string>(options, "type")) to.type = type_from(*type);
  to.all_tensors = optional_from<bool>(options, "all_tensors").value_or(false);
  to.names = optional_from<std::string>(options, "names").value_or("keep") == "hf"
                 ? NameStyle::hf
                 : NameStyle::keep;
  to.max_file_bytes = optional_from<std::uint64_t>(options, "max_file_bytes").value_or(0);
  to.version = optional_from<std::uint32_t>(options, "version");
  if (const auto order = optional_from<std::string>(options, "byte_order")) {
    to.byte_order = *order == "big" ? Endian::big : Endian::little;
  }
  to.alignment = optional_from<std::uint32_t>(options, "alignment");
  to.bump = bump_from(options);
  to.replace = optional_from<bool>(options, "replace").value_or(false);
  to.thread_count = optional_from<unsigned>(options, "threads").value_or(0);
  return to;
}

py::list error_list(const std::vector<Error>& errors) {
  py::list list;
  for (const Error& error : errors) list.append(error_object(error));
  return list;
}

std::optional<FileFormat> find_format(const std::string& name, const std::string& path) {
  if (name.empty()) return format_by_ending(path);
  for (const FileFormatInfo& info : file_formats) {
    if (info.name == name) return info.format;
  }
  return std::nullopt;
}

py::dict convert_model(const OpenModel& self, const py::str& path, const std::string& format_name,
                       const py::dict& options, bool is_dry_run, const py::object& progress) {
  const std::string target = to_bytes(path);
  const std::optional<FileFormat> format = find_format(format_name, target);
  if (!format) {
    throw Failed{Error{Errc::invalid_argument, Error::no_offset, target,
                       "name the format; the ending tells none"}};
  }
  ConvertOptions to = options_from(options);
  to.inputs = self.opened.paths;
  const std::unique_ptr<Conversion> conversion = run(py::none(), [&](const Report&) {
    return plan_conversion(self.model(), *format, target, to);
  });
  if (!is_dry_run) {
    run(progress, [&](const Report& report) { return conversion->run(report); });
  }
  py::dict facts;
  py::list outputs;
  for (const std::string& output : conversion->outputs()) outputs.append(to_str(output));
  facts["outputs"] = outputs;
  facts["remarks"] = error_list(conversion->remarks());
  facts["warnings"] = error_list(conversion->warnings());
  facts["total_bytes"] = conversion->total_bytes();
  return facts;
}

}  // namespace

void add_convert(py::module_& module) { module.def("convert", &convert_model); }

}  // namespace ingot::python

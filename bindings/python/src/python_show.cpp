// SPDX-License-Identifier: MIT
// The document of `ingot show --json`, which is the program's own.
#include "python_bindings.hpp"
#include "text/show_json.hpp"

namespace ingot::python {
namespace {

py::str show(const OpenModel& self, const std::string& file) {
  std::string document;
  {
    const py::gil_scoped_release release;
    cli::Output out([&](std::string_view text) {
      document.append(text);
      return 0;
    });
    std::optional<cli::ForeignFile> foreign;
    if (self.opened.format != FileFormat::gguf) {
      foreign = {name_of(self.opened.format), self.opened.file_bytes, self.opened.facts,
                 self.opened.paths, self.opened.data_offsets};
    }
    cli::JsonStream json(out);
    write_show_json(json, file, self.model(), foreign ? &*foreign : nullptr);
    static_cast<void>(out.flush());
  }
  return document;
}

}  // namespace

void add_show(py::module_& module) { module.def("show", &show); }

}  // namespace ingot::python

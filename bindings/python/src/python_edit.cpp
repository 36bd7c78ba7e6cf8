// SPDX-License-Identifier: MIT
// Editing model files.
#include <ingot/edit.hpp>

#include "python_facts.hpp"

namespace ingot::python {
namespace {

std::unique_ptr<ModelEdit> open_edit(const py::str& path, bool is_lenient, double wait_seconds) {
  const std::string name = to_bytes(path);
  OpenOptions options;
  options.is_lenient = is_lenient;
  EditOptions edit_options;
  // The values that a block of `with` reads are those that it changes: the file is locked
  // meanwhile.
  edit_options.lock = EditLock::at_open;
  if (wait_seconds >= 0) {
    edit_options.wait =
        LockWait{std::chrono::milliseconds(static_cast<std::int64_t>(wait_seconds * 1000)), {}};
  }
  std::optional<Result<ModelEdit>> edit;
  {
    const py::gil_scoped_release release;
    edit.emplace(ModelEdit::open(name, options, edit_options));
  }
  return std::make_unique<ModelEdit>(take(*std::move(edit)));
}

py::dict save(ModelEdit& self, const std::optional<py::str>& output, bool may_replace,
              const py::object& progress) {
  const std::string target = output ? to_bytes(*output) : std::string();
  return facts_of(run(progress, [&](const Report& report) {
    return target.empty() ? self.save(report) : self.save_as(target, may_replace, report);
  }));
}

}  // namespace

void add_edit(py::module_& module) {
  py::class_<ModelEdit>(module, "Edit")
      .def(py::init(&open_edit))
      .def("keys",
           [](const ModelEdit& self) { return list_of(self.model().metadata(), &KeyValue::key); })
      .def("tensor_names",
           [](const ModelEdit& self) { return list_of(self.model().tensors(), &TensorInfo::name); })
      .def("architecture",
           [](const ModelEdit& self) {
             const std::optional<Value> value = self.find("general.architecture");
             const auto text = value ? value->get<std::string_view>().value_or("") : "";
             return to_str(text);
           })
      .def("find",
           [](const ModelEdit& self, const py::str& key) -> py::object {
             const std::optional<Value> value = self.find(to_bytes(key));
             if (!value) throw py::key_error(to_bytes(key));
             // A value that is not changed has the byte order of the file.
             return to_python(*value, self.model().files().front().byte_order, py::none());
           })
      .def("type_of",
           [](const ModelEdit& self, const py::str& key) -> std::string {
             const std::optional<Value> value = self.find(to_bytes(key));
             return value ? type_text(*value) : std::string();
           })
      .def("set", [](ModelEdit& self, const py::str& key, const py::object& value,
                     const std::string& type) { self.set(to_bytes(key), to_owned(value, type)); })
      .def("remove_key",
           [](ModelEdit& self, const py::str& key) { take(self.remove_key(to_bytes(key))); })
      .def("rename_key",
           [](ModelEdit& self, const py::str& key, const py::str& name) {
             take(self.rename_key(to_bytes(key), to_bytes(name)));
           })
      .def("remove_tensor",
           [](ModelEdit& self, const py::str& name) { take(self.remove_tensor(to_bytes(name))); })
      .def("rename_tensor",
           [](ModelEdit& self, const py::str& name, const py::str& new_name) {
             take(self.rename_tensor(to_bytes(name), to_bytes(new_name)));
           })
      .def("reserve", &ModelEdit::reserve)
      .def("plan",
           [](const ModelEdit& self, const std::optional<py::str>& output) {
             return facts_of(take(self.plan(output ? to_bytes(*output) : std::string())));
           })
      .def("save", &save);
}

}  // namespace ingot::python

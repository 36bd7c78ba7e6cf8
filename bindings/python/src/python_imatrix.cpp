// SPDX-License-Identifier: MIT
// Importance matrices.
#include <ingot/imatrix.hpp>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

using Matrices = py::class_<ImportanceMatrix, std::shared_ptr<ImportanceMatrix>>;

std::shared_ptr<ImportanceMatrix> open_matrix(const py::str& path) {
  const std::string name = to_bytes(path);
  return std::make_shared<ImportanceMatrix>(
      run(py::none(), [&](const Report&) { return ImportanceMatrix::open(name); }));
}

const ImatrixEntry& entry_of(const ImportanceMatrix& self, const py::str& name) {
  const ImatrixEntry* entry = self.find(to_bytes(name));
  if (entry == nullptr) throw py::key_error(to_bytes(name));
  return *entry;
}

/// Mean squares, one row for each expert.
py::array_t<float> weights_of(const ImportanceMatrix& self, const py::str& name) {
  const ImatrixEntry& entry = entry_of(self, name);
  py::array_t<float> weights({static_cast<py::ssize_t>(entry.expert_count),
                              static_cast<py::ssize_t>(entry.column_count())});
  const std::span<float> numbers(weights.mutable_data(), static_cast<std::size_t>(weights.size()));
  Result<void> outcome;
  {
    const py::gil_scoped_release release;
    outcome = self.read_weights(entry, 0, numbers);
  }
  take(std::move(outcome));
  return weights;
}

}  // namespace

void add_imatrix(py::module_& module) {
  Matrices(module, "ImportanceMatrix")
      .def(py::init(&open_matrix))
      .def("merge",
           [](ImportanceMatrix& self, const py::str& path) {
             ImportanceMatrix other = std::move(*open_matrix(path));
             take(self.merge(std::move(other)));
           })
      .def("entries",
           [](const ImportanceMatrix& self) {
             py::list entries;
             for (const ImatrixEntry& entry : self.entries()) {
               entries.append(
                   py::make_tuple(to_str(entry.name), entry.expert_count, entry.column_count()));
             }
             return entries;
           })
      .def("weights", &weights_of)
      .def("counts",
           [](const ImportanceMatrix& self, const py::str& name) {
             return take(self.read_counts(entry_of(self, name)));
           })
      .def("format",
           [](const ImportanceMatrix& self) {
             return std::string(self.format() == ImatrixFormat::gguf ? "gguf" : "legacy");
           })
      .def("datasets",
           [](const ImportanceMatrix& self) {
             py::list datasets;
             for (const std::string& dataset : self.datasets()) datasets.append(to_str(dataset));
             return datasets;
           })
      .def("chunk_count", &ImportanceMatrix::chunk_count)
      .def("chunk_size", &ImportanceMatrix::chunk_size)
      .def("check",
           [](const ImportanceMatrix& self) {
             run(py::none(), [&](const Report&) { return self.check_values(); });
           })
      .def("write", [](const ImportanceMatrix& self, const py::str& path, const std::string& format,
                       bool may_replace) {
        const std::string target = to_bytes(path);
        const ImatrixFormat to = format == "legacy" ? ImatrixFormat::legacy : ImatrixFormat::gguf;
        run(py::none(), [&](const Report&) { return self.write(target, to, may_replace); });
      });
}

}  // namespace ingot::python

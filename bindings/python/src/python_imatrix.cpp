// SPDX-License-Identifier: MIT
// Importance matrices.
#include <algorithm>
#include <ingot/imatrix.hpp>

#include "python_facts.hpp"

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

/// A matrix that `read` fills, without the GIL.
template <class Read>
py::array_t<float> read_matrix(std::uint64_t rows, std::uint64_t columns, Read read) {
  py::array_t<float> matrix({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)});
  const std::span<float> numbers(matrix.mutable_data(), static_cast<std::size_t>(matrix.size()));
  Result<void> outcome;
  {
    const py::gil_scoped_release release;
    outcome = read(numbers);
  }
  take(std::move(outcome));
  return matrix;
}

/// Mean squares, one row for each expert.
py::array_t<float> weights_of(const ImportanceMatrix& self, const py::str& name) {
  const ImatrixEntry& entry = entry_of(self, name);
  return read_matrix(entry.expert_count, entry.column_count(), [&](std::span<float> numbers) {
    return self.read_weights(entry, 0, numbers);
  });
}

/// Means of products of the columns of a block.
py::array_t<float> moments_of(const ImportanceMatrix& self, const py::str& name,
                              std::uint64_t expert, std::uint64_t block) {
  const ImatrixEntry& entry = entry_of(self, name);
  const std::uint64_t size = entry.moment_columns;
  // The library refuses a block that is not there.
  const bool exists = size != 0 && block <= entry.column_count() / size;
  const std::uint64_t columns = exists ? std::min(size, entry.column_count() - block * size) : 0;
  return read_matrix(columns, columns, [&](std::span<float> numbers) {
    return self.read_moments(entry, expert, block, numbers);
  });
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
             return list_of(self.entries(), &facts_of<ImatrixEntry>);
           })
      .def("summary",
           [](const ImportanceMatrix& self, const py::str& name) {
             const ImatrixEntry& entry = entry_of(self, name);
             const ImatrixSummary found =
                 run(py::none(), [&](const Report&) { return self.summarize(entry); });
             FactDict members;
             describe(members, entry);
             describe(members, found);
             return members.facts;
           })
      .def("weights", &weights_of)
      .def("moments", &moments_of)
      .def("moment_columns",
           [](const ImportanceMatrix& self, const py::str& name) {
             return entry_of(self, name).moment_columns;
           })
      .def("counts",
           [](const ImportanceMatrix& self, const py::str& name) {
             return take(self.read_counts(entry_of(self, name)));
           })
      .def("format",
           [](const ImportanceMatrix& self) {
             return std::string(self.format() == ImatrixFormat::gguf ? "gguf" : "legacy");
           })
      .def("datasets",
           [](const ImportanceMatrix& self) { return list_of(self.datasets(), &to_str); })
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

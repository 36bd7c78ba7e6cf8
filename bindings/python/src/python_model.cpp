// SPDX-License-Identifier: MIT
// An open model: its keys, tensors and files.
#include <ingot/anatomy.hpp>
#include <ingot/parallel.hpp>
#include <ingot/quantize.hpp>
#include <ingot/summary.hpp>

#include "python_facts.hpp"

namespace ingot::python {
namespace {

using ModelClass = py::class_<OpenModel, std::shared_ptr<OpenModel>>;

/// The type of a key at a position, and its value.
py::object value_at(const py::object& self, std::size_t index) {
  const Model& model = py::cast<const OpenModel&>(self).model();
  return to_python(model.metadata()[index].value, model.files().front().byte_order, self);
}

const KeyValue& key_at(const OpenModel& self, std::size_t index) {
  const std::span<const KeyValue> keys = self.model().metadata();
  if (index >= keys.size()) throw py::index_error("no such key");
  return keys[index];
}

py::object find_key_index(const OpenModel& self, const py::str& key) {
  const std::string bytes = to_bytes(key);
  const Value* value = self.model().find(bytes);
  if (value == nullptr) return py::none();
  // A value is a member of its row of the table.
  const std::span<const KeyValue> keys = self.model().metadata();
  const auto offset = reinterpret_cast<const std::byte*>(value) -
                      reinterpret_cast<const std::byte*>(&keys.front().value);
  return py::int_(static_cast<std::size_t>(offset) / sizeof(KeyValue));
}

/// The bytes of a tensor as an array of uint8: a view where they are in memory, else a copy.
py::array tensor_bytes(const py::object& self, std::size_t index) {
  const auto& model = py::cast<const OpenModel&>(self);
  const TensorInfo& tensor = model.tensor(index);
  const std::span<const std::byte> bytes = model.model().data(tensor);
  const auto count = static_cast<py::ssize_t>(tensor.size_bytes);
  if (!bytes.empty()) {
    py::array view(py::dtype::of<std::uint8_t>(), {count}, bytes.data(), self);
    view.attr("setflags")(py::arg("write") = false);
    return view;
  }
  py::array_t<std::uint8_t> copy(count);
  const std::span destination(reinterpret_cast<std::byte*>(copy.mutable_data()),
                              static_cast<std::size_t>(count));
  Result<void> read;
  {
    const py::gil_scoped_release release;
    read = model.model().read(tensor, 0, destination);
  }
  take(std::move(read));
  copy.attr("setflags")(py::arg("write") = false);
  return copy;
}

/// Decodes rows on several threads into `out`.
void dequantize_rows(const OpenModel& self, std::size_t index, std::uint64_t first_row,
                     std::uint64_t row_count, const py::object& out, unsigned threads) {
  const TensorInfo& tensor = self.tensor(index);
  const Buffer buffer(out, true);
  const std::span<float> floats = buffer.writable_floats();
  const std::uint64_t row = tensor.row_elements();
  if (row != 0 && floats.size() / row != row_count) {
    throw Failed{Error{Errc::size_mismatch, Error::no_offset, std::string(tensor.name), "out"}};
  }
  // Pieces of some 256 KiB of floats keep the caches busy and the threads apart.
  const std::uint64_t piece =
      std::max<std::uint64_t>(1, (std::uint64_t{1} << 16) / std::max<std::uint64_t>(row, 1));
  Result<void> outcome;
  {
    const py::gil_scoped_release release;
    outcome =
        threads == 1
            ? self.model().dequantize_rows(tensor, first_row, row_count, floats)
            : spread(row_count, piece, threads, [&](std::uint64_t first, std::uint64_t count) {
                return self.model().dequantize_rows(tensor, first_row + first, count,
                                                    floats.subspan(first * row, count * row));
              });
  }
  take(std::move(outcome));
}

py::dict file_facts(const ModelFile& file) {
  py::dict facts;
  facts["file"] = to_str(file.path);
  facts["shard"] = file.index;
  facts["version"] = file.version;
  facts["endian"] = file.byte_order == Endian::big ? "big" : "little";
  facts["alignment"] = file.alignment;
  facts["file_size"] = file.file_bytes;
  facts["header_bytes"] = file.header_bytes;
  facts["data_offset"] = file.data_offset;
  facts["metadata_count"] = file.metadata.size();
  facts["tensor_count"] = file.tensors.size();
  return facts;
}

py::list fields_of(const OpenModel& self, std::size_t file) {
  py::list fields;
  if (file >= self.model().files().size()) throw py::index_error("no such file");
  visit_fields(self.model(), file, [&](const Field& field) {
    fields.append(facts_of(field));
    return true;
  });
  return fields;
}

void add_keys(ModelClass& models) {
  models.def("key_count", [](const OpenModel& self) { return self.model().metadata().size(); })
      .def("find_key", &find_key_index)
      .def("key",
           [](const OpenModel& self, std::size_t index) { return to_str(key_at(self, index).key); })
      .def("keys",
           [](const OpenModel& self) { return list_of(self.model().metadata(), &KeyValue::key); })
      .def("value_type", [](const OpenModel& self,
                            std::size_t index) { return type_text(key_at(self, index).value); })
      .def("value_offset",
           [](const OpenModel& self, std::size_t index) {
             return key_at(self, index).value.file_offset();
           })
      .def("value_bytes",
           [](const OpenModel& self, std::size_t index) {
             const std::span<const std::byte> bytes = key_at(self, index).value.bytes();
             return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
           })
      .def("value", [](const py::object& self, std::size_t index) {
        key_at(py::cast<const OpenModel&>(self), index);
        return value_at(self, index);
      });
}

void add_tensors(ModelClass& models) {
  models.def("tensor_count", [](const OpenModel& self) { return self.model().tensors().size(); })
      .def("find_tensor",
           [](const OpenModel& self, const py::str& name) -> py::object {
             const TensorInfo* tensor = self.model().find_tensor(to_bytes(name));
             if (tensor == nullptr) return py::none();
             return py::int_(tensor - self.model().tensors().data());
           })
      .def("tensor_names",
           [](const OpenModel& self) { return list_of(self.model().tensors(), &TensorInfo::name); })
      .def("tensor",
           [](const OpenModel& self, std::size_t index) {
             const TensorInfo& tensor = self.tensor(index);
             return py::make_tuple(to_str(tensor.name), shape_tuple(tensor.shape),
                                   type_name(tensor.type), static_cast<unsigned>(tensor.type),
                                   tensor.element_count, tensor.size_bytes, tensor.data_offset,
                                   tensor.shard, self.model().file_offset(tensor));
           })
      .def("tensor_bytes", &tensor_bytes)
      .def("dequantize_rows", &dequantize_rows);
}

}  // namespace

const TensorInfo& OpenModel::tensor(std::size_t index) const {
  const std::span<const TensorInfo> tensors = model().tensors();
  if (index >= tensors.size()) throw py::index_error("no such tensor");
  return tensors[index];
}

std::string type_name(TensorType type) {
  if (const TensorTypeInfo* info = find_type(type)) return std::string(info->name);
  if (const std::string_view removed = removed_type_name(type); !removed.empty()) {
    return std::string(removed);
  }
  return std::to_string(static_cast<unsigned>(type));
}

py::tuple shape_tuple(std::span<const std::uint64_t> shape) {
  py::tuple tuple(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) tuple[i] = shape[i];
  return tuple;
}

void add_models(py::module_& module) {
  ModelClass models(module, "OpenModel");
  add_keys(models);
  add_tensors(models);
  models
      .def("is_complete",
           [](const OpenModel& self) {
             return self.model().files().size() == self.model().shard_count();
           })
      .def("is_verified", [](const OpenModel& self) { return self.model().is_verified(); })
      .def("format", [](const OpenModel& self) { return std::string(name_of(self.opened.format)); })
      .def("paths",
           [](const OpenModel& self) {
             return self.opened.paths.empty() ? list_of(self.model().files(), &ModelFile::path)
                                              : list_of(self.opened.paths, &to_str);
           })
      .def("facts",
           [](const OpenModel& self) {
             py::dict facts;
             for (const FileFact& fact : self.opened.facts)
               facts[to_str(fact.name)] = to_str(fact.value);
             return facts;
           })
      .def("files",
           [](const OpenModel& self) { return list_of(self.model().files(), &file_facts); })
      .def("notices", [](const OpenModel& self) { return error_list(self.model().notices()); })
      .def("fields", &fields_of)
      .def("summary", [](const OpenModel& self) { return facts_of(summarize(self.model())); });
}

}  // namespace ingot::python

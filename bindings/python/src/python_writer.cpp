// SPDX-License-Identifier: MIT
// Writing models.
#include <ingot/model_writer.hpp>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

/// A writer, and the buffers, iterables and models that it borrows until it is destroyed (with the
/// GIL).
struct Writer {
  ModelWriter writer;
  std::vector<std::shared_ptr<void>> lenders;
  std::exception_ptr exception;  ///< The exception of a Python producer.
};

WriteFormat format_from(unsigned version, const std::string& byte_order, bool is_lenient) {
  return {version, byte_order == "big" ? Endian::big : Endian::little, is_lenient};
}

std::vector<std::uint64_t> shape_from(const py::handle& shape) {
  std::vector<std::uint64_t> numbers;
  for (const py::handle& number : shape) numbers.push_back(py::cast<std::uint64_t>(number));
  return numbers;
}

void add_bytes(Writer& self, const py::str& name, const std::string& type, const py::tuple& shape,
               const py::object& data) {
  const auto buffer = std::make_shared<Buffer>(data);
  self.lenders.push_back(buffer);
  take(self.writer.add_tensor(
      to_bytes(name), type_from(type), shape_from(shape),
      [bytes = buffer->bytes()](const DataSink& sink) { return sink(bytes); }));
}

/// Hands the pieces that an iterable of Python makes to a sink, which runs without the GIL.
Result<void> send_pieces(Writer& self, const py::object& make, const DataSink& sink) {
  const py::gil_scoped_acquire acquire;
  try {
    for (const py::handle& piece : make()) {
      const Buffer buffer(piece);
      Result<void> sent;
      {
        const py::gil_scoped_release release;
        sent = sink(buffer.bytes());
      }
      if (!sent) return sent;
    }
    return {};
  } catch (...) {
    self.exception = std::current_exception();
    return fail(Errc::interrupted, "");
  }
}

/// `make` returns an iterable of pieces each time that the model is written.
void add_pieces(Writer& self, const py::str& name, const std::string& type, const py::tuple& shape,
                const py::object& make) {
  const auto maker = std::make_shared<py::object>(make);
  self.lenders.push_back(maker);
  take(self.writer.add_tensor(to_bytes(name), type_from(type), shape_from(shape),
                              [&self, maker = maker.get()](const DataSink& sink) {
                                return send_pieces(self, *maker, sink);
                              }));
}

void add_from(Writer& self, const py::str& name, const std::shared_ptr<OpenModel>& model,
              std::size_t index) {
  self.lenders.push_back(model);
  take(self.writer.add_tensor(to_bytes(name), model->model(), model->tensor(index)));
}

void write(Writer& self, const py::str& path, unsigned version, const std::string& byte_order,
           bool is_lenient, bool may_replace, const py::object& progress) {
  const std::string target = to_bytes(path);
  const WriteFormat format = format_from(version, byte_order, is_lenient);
  self.exception = nullptr;
  try {
    run(progress, [&](const Report& report) {
      return self.writer.write(target, format, may_replace, report);
    });
  } catch (const Failed&) {
    if (self.exception) std::rethrow_exception(std::exchange(self.exception, nullptr));
    throw;
  }
}

}  // namespace

void add_writer(py::module_& module) {
  py::class_<Writer>(module, "Writer")
      .def(py::init<>())
      .def("set",
           [](Writer& self, const py::str& key, const py::object& value, const std::string& type) {
             self.writer.set_value(to_bytes(key), to_owned(value, type).value());
           })
      .def("copy_keys",
           [](Writer& self, const OpenModel& model) {
             const ModelWriter keys = ModelWriter::with_keys_of(model.model());
             for (const KeyValue& entry : keys.metadata()) {
               self.writer.set_value(entry.key, entry.value);
             }
           })
      .def("get",
           [](const Writer& self, const py::str& key) -> py::object {
             const std::optional<Value> value = self.writer.find(to_bytes(key));
             if (!value) throw py::key_error(to_bytes(key));
             return to_python(*value, Endian::little, py::none());
           })
      .def("keys",
           [](const Writer& self) { return list_of(self.writer.metadata(), &KeyValue::key); })
      .def("remove",
           [](Writer& self, const py::str& key) { return self.writer.remove(to_bytes(key)); })
      .def("rename",
           [](Writer& self, const py::str& key, const py::str& name) {
             take(self.writer.rename(to_bytes(key), to_bytes(name)));
           })
      .def("add_bytes", &add_bytes)
      .def("add_pieces", &add_pieces)
      .def("add_from", &add_from)
      .def("header",
           [](const Writer& self, unsigned version, const std::string& byte_order) {
             const std::vector<std::byte> header =
                 take(self.writer.serialise_header(format_from(version, byte_order, false)));
             return py::bytes(reinterpret_cast<const char*>(header.data()), header.size());
           })
      .def("file_bytes",
           [](const Writer& self, unsigned version, const std::string& byte_order) {
             return take(self.writer.file_bytes(format_from(version, byte_order, false)));
           })
      .def("write", &write);
}

}  // namespace ingot::python

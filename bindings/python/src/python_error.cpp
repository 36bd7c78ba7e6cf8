// SPDX-License-Identifier: MIT
// Errors of the library as exceptions, and texts that may be no UTF-8.
#include <ingot/chat.hpp>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

std::string_view category_name(ErrorCategory category) noexcept {
  switch (category) {
    case ErrorCategory::input:
      return "input";
    case ErrorCategory::lenient:
      return "lenient";
    case ErrorCategory::usage:
      return "usage";
    case ErrorCategory::notice:
      return "notice";
    case ErrorCategory::system:
      break;
  }
  return "system";
}

}  // namespace

py::object error_object(const Error& error, const py::object& kind) {
  const py::object offset = error.file_offset == Error::no_offset
                                ? py::object(py::none())
                                : py::object(py::int_(error.file_offset));
  py::dict attributes;
  attributes["code"] = std::string(name_of(error.code));
  attributes["number"] = static_cast<unsigned>(error.code);
  attributes["offset"] = offset;
  attributes["subject"] = to_str(error.subject);
  attributes["detail"] = to_str(error.detail);
  attributes["remedy"] = std::string(name_of(error.remedy));
  attributes["line"] = error.line;
  attributes["column"] = error.column;
  attributes["context"] = list_of(error.context, &to_str);
  return py::module_::import("ingot._errors")
      .attr("make_error")(to_str(chat_error_text(error)),
                          std::string(category_name(category_of(error.code))), error.system_number,
                          attributes, kind);
}

py::list error_list(std::span<const Error> errors) {
  return list_of(errors, [](const Error& error) { return error_object(error); });
}

py::str to_str(std::string_view bytes) {
  PyObject* text =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

std::string to_bytes(const py::str& text) {
  PyObject* encoded = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (encoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::bytes>(encoded);
}

std::string text_from(const py::handle& object) {
  if (py::isinstance<py::str>(object)) return to_bytes(py::reinterpret_borrow<py::str>(object));
  const Buffer buffer(object);
  return {reinterpret_cast<const char*>(buffer.bytes().data()), buffer.bytes().size()};
}

void refuse_option(const char* name, const py::handle& value) {
  throw py::type_error(std::string(name) + " cannot be " + to_bytes(py::repr(value)));
}

void add_errors(py::module_& module) {
  // A template of the library of C++ cannot be an exception of Python: the package has the classes.
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const Failed& failed) {
      if (failed.error.code == Errc::out_of_memory) {
        PyErr_NoMemory();
        return;
      }
      const py::object error = error_object(failed.error);
      PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
    }
  });
  py::list errors;
#define INGOT_ERROR(number, name, constant, category, sentence)                                    \
  errors.append(py::make_tuple(number, #name, std::string(category_name(ErrorCategory::category)), \
                               sentence));
#include <ingot/errors.def>
#undef INGOT_ERROR
  module.attr("errors") = errors;
}

}  // namespace ingot::python

// SPDX-License-Identifier: MIT
// Helpers that the files of the module ingot._core share. The module is thin: each class and
// function of the library as it is, over NumPy arrays and bytes. The names, the defaults and the
// conveniences that users see are in the Python files of the package.
//
// The GIL: every call into the library that reads, decodes, encodes or writes runs without it
// (`py::gil_scoped_release`), on this thread or, for work that can be stopped, on another
// (`run_job`).
#pragma once

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ingot/error.hpp>
#include <ingot/interop.hpp>
#include <ingot/metadata.hpp>
#include <ingot/model.hpp>
#include <ingot/owned_value.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace ingot::python {

// --- errors -------------------------------------------------------------------------------------

/// An Error on its way to Python, where it becomes ingot.Error (python_error.cpp).
struct Failed {
  Error error;
};

/// The value of a Result; throws Failed for an error.
template <class T>
T take(Result<T>&& result) {
  if (!result.has_value()) throw Failed{std::move(result).error()};
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// An error as ingot.Error, for lists of remarks.
[[nodiscard]] py::object error_object(const Error& error, const py::object& kind = py::none());
[[nodiscard]] py::list error_list(std::span<const Error> errors);

// --- texts --------------------------------------------------------------------------------------

/// UTF-8 as str; bytes that are none become surrogates, as in names of files (PEP 383).
[[nodiscard]] py::str to_str(std::string_view bytes);
/// The reverse.
[[nodiscard]] std::string to_bytes(const py::str& text);
/// The bytes of a str, or of an object with a buffer of them.
[[nodiscard]] std::string text_from(const py::handle& object);

/// The list of what `make` makes of each element of a range: texts or objects. It may be a pointer
/// to a member.
template <class Range, class Make>
py::list list_of(const Range& range, Make make) {
  py::list list;
  for (const auto& element : range) {
    if constexpr (std::is_invocable_r_v<std::string_view, Make, decltype(element)>) {
      list.append(to_str(std::invoke(make, element)));
    } else {
      list.append(std::invoke(make, element));
    }
  }
  return list;
}

/// The tensor type of an id or a name; throws Failed.
[[nodiscard]] TensorType type_from(const std::string& name);
[[nodiscard]] std::string type_name(TensorType type);
[[nodiscard]] py::tuple shape_tuple(std::span<const std::uint64_t> shape);

// --- options ------------------------------------------------------------------------------------

/// Throws a TypeError that names the option and shows its value.
[[noreturn]] void refuse_option(const char* name, const py::handle& value);

// --- memory -------------------------------------------------------------------------------------

/// The bytes of a contiguous buffer of Python, kept alive. Made and destroyed with the GIL.
class Buffer {
 public:
  explicit Buffer(const py::handle& object, bool is_writable = false);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  [[nodiscard]] std::span<std::byte> writable() const noexcept;
  /// The bytes as floats; throws a ValueError if they are not whole and aligned floats.
  [[nodiscard]] std::span<const float> floats() const;
  [[nodiscard]] std::span<float> writable_floats() const;

 private:
  Py_buffer view_{};
};

// --- models -------------------------------------------------------------------------------------

/// An open model, and the objects that it borrows. Views that Python has keep it alive.
struct OpenModel {
  std::shared_ptr<void> lender;  ///< The bytes, or the store, that the model reads from.
  OpenedModel opened;

  [[nodiscard]] const Model& model() const noexcept { return opened.model; }
  [[nodiscard]] const TensorInfo& tensor(std::size_t index) const;
};

/// A value as an object of Python. Numbers in arrays become a read-only view that keeps `owner`
/// alive; arrays of strings and of arrays become ingot._core.Elements.
[[nodiscard]] py::object to_python(const Value& value, Endian byte_order, const py::object& owner);

/// A value of the type that `type` names: "uint32", "[string]", "[[float32]]".
[[nodiscard]] OwnedValue to_owned(const py::handle& object, std::string_view type);

/// "uint32", "[string]", ...
[[nodiscard]] std::string type_text(const Value& value);

// --- work that can be stopped -------------------------------------------------------------------

/// Receives bytes done; false asks the library to stop.
using Report = std::function<bool(std::uint64_t done)>;

/// Runs `work` on a thread of its own. Meanwhile this one calls `progress`, unless it is None, with
/// the bytes done, ten times a second, and lets Python handle its signals: an exception of either
/// (a KeyboardInterrupt, say) makes `Report` return false, and is thrown when the work has ended.
void run_job(const py::object& progress, const std::function<void(const Report&)>& work);

/// Runs a function that returns a Result.
template <class Work>
auto run(const py::object& progress, Work work) {
  using Outcome = decltype(work(std::declval<const Report&>()));
  std::optional<Outcome> outcome;
  run_job(progress, [&](const Report& report) { outcome.emplace(work(report)); });
  return take(*std::move(outcome));
}

// --- the subjects, a file each ------------------------------------------------------------------

void add_errors(py::module_& module);
void add_values(py::module_& module);
void add_models(py::module_& module);
void add_opening(py::module_& module);
void add_remote(py::module_& module);
void add_codec(py::module_& module);
void add_tables(py::module_& module);
void add_writer(py::module_& module);
void add_edit(py::module_& module);
void add_split(py::module_& module);
void add_convert(py::module_& module);
void add_quantize(py::module_& module);
void add_imatrix(py::module_& module);
void add_check(py::module_& module);
void add_compare(py::module_& module);
void add_estimate(py::module_& module);
void add_options(py::module_& module);
void add_show(py::module_& module);
void add_tokenizer(py::module_& module);
void add_template(py::module_& module);
void add_import(py::module_& module);
void add_lora(py::module_& module);
void add_evaluate(py::module_& module);

}  // namespace ingot::python

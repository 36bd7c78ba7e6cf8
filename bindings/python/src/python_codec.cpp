// SPDX-License-Identifier: MIT
// Blocks to floats and back.
#include <ingot/parallel.hpp>
#include <ingot/quantize.hpp>
#include <ingot/tensor_profile.hpp>

#include "python_facts.hpp"
#include "python_options.hpp"

namespace ingot::python {
namespace {

Endian endian_from(const std::string& byte_order) {
  return byte_order == "big" ? Endian::big : Endian::little;
}

void decode(const std::string& type, const py::object& data, const py::object& out,
            const std::string& byte_order, unsigned threads) {
  const Buffer source(data);
  const Buffer target(out, true);
  const TensorType tensor_type = type_from(type);
  const std::span<float> floats = target.writable_floats();
  const DequantizeOptions options{endian_from(byte_order), OutputStores::automatic};
  Result<void> outcome;
  {
    const py::gil_scoped_release release;
    outcome = dequantize_spread(tensor_type, source.bytes(), floats, threads, options);
  }
  take(std::move(outcome));
}

void encode(const std::string& type, const py::object& numbers, std::size_t row_elements,
            const py::object& out, const py::object& importance, const std::string& effort,
            const std::string& byte_order, unsigned threads) {
  const Buffer source(numbers);
  const Buffer target(out, true);
  std::optional<Buffer> weights;
  QuantizeOptions options;
  options.byte_order = endian_from(byte_order);
  options.effort = OptionSetter::choice<Effort>("effort", effort);
  if (!importance.is_none()) {
    weights.emplace(importance);
    options.importance = weights->floats();
  }
  const TensorType tensor_type = type_from(type);
  const std::span<const float> floats = source.floats();
  Result<void> outcome;
  {
    const py::gil_scoped_release release;
    outcome =
        quantize_spread(tensor_type, floats, row_elements, target.writable(), threads, options);
  }
  take(std::move(outcome));
}

py::dict compare(const py::object& reference, const py::object& numbers) {
  const Buffer first(reference);
  const Buffer second(numbers);
  const std::span<const float> a = first.floats();
  const std::span<const float> b = second.floats();
  QuantizationError error;
  {
    const py::gil_scoped_release release;
    error = measure_error(a, b);
  }
  return facts_of(error);
}

}  // namespace

TensorType type_from(const std::string& name) {
  const TensorTypeInfo* info = find_type(name);
  if (info == nullptr) {
    throw Failed{Error{Errc::unsupported_type, Error::no_offset, name, {}}};
  }
  return info->type;
}

void add_codec(py::module_& module) {
  module.def("decode", &decode);
  module.def("encode", &encode);
  module.def("compare_floats", &compare);
  module.def("swap_byte_order", [](const std::string& type, const py::object& blocks) {
    const Buffer buffer(blocks, true);
    take(swap_byte_order(type_from(type), buffer.writable()));
  });
}

}  // namespace ingot::python

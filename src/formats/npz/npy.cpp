// SPDX-License-Identifier: MIT
#include "ingot/npy.hpp"

namespace ingot {

std::string_view npy_descriptor(TensorType type) noexcept {
  switch (type) {
    case TensorType::f32:
      return "<f4";
    case TensorType::f16:
      return "<f2";
    case TensorType::f64:
      return "<f8";
    case TensorType::i8:
      return "|i1";
    case TensorType::i16:
      return "<i2";
    case TensorType::i32:
      return "<i4";
    case TensorType::i64:
      return "<i8";
    default:
      return {};
  }
}

// Source: numpy.lib.format, "Format Version 1.0".
std::string npy_header(std::string_view descriptor, std::span<const std::uint64_t> shape) {
  std::string dimensions;
  for (std::size_t i = shape.size(); i-- > 0;) {
    dimensions += std::to_string(shape[i]) + (i > 0 ? ", " : "");
  }
  if (shape.size() == 1) dimensions += ',';
  std::string text = "{'descr': '" + std::string(descriptor) +
                     "', 'fortran_order': False, 'shape': (" + dimensions + "), }";
  constexpr std::size_t prefix_bytes = 10;
  const std::size_t used = prefix_bytes + text.size() + 1;
  text.append((64 - used % 64) % 64, ' ');
  text.push_back('\n');
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(text.size() & 0xFF));
  header.push_back(static_cast<char>(text.size() >> 8));
  return header + text;
}

}  // namespace ingot

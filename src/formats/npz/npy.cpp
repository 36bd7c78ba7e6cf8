// SPDX-License-Identifier: MIT
#include "ingot/npy.hpp"

namespace ingot {

std::string_view npy_descriptor(TensorType type) noexcept {
  using enum TensorType;
  static constexpr std::pair<TensorType, std::string_view> descriptors[] = {
      {f32, "<f4"}, {f16, "<f2"}, {f64, "<f8"}, {i8, "|i1"},
      {i16, "<i2"}, {i32, "<i4"}, {i64, "<i8"}};
  for (const auto& [known, descriptor] : descriptors) {
    if (known == type) return descriptor;
  }
  return {};
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

// SPDX-License-Identifier: MIT
// The header of a safetensors file: JSON text to checked structure. No input or output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/error.hpp"

namespace ingot::formats {

/// The largest header that the reference implementation opens.
inline constexpr std::uint64_t max_safetensors_header_bytes = 100'000'000;

/// Bytes before the JSON text: its size.
inline constexpr std::uint64_t safetensors_prefix_bytes = 8;

struct SafetensorsTensor {
  std::string name;
  std::string_view dtype;            ///< A name of the table in safetensors_dtypes.hpp.
  std::vector<std::uint64_t> shape;  ///< Row-major: the fastest-varying dimension last.
  std::uint64_t begin = 0;           ///< The offset from the first byte after the header.
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors;                     ///< The tensors by ascending begin.
  std::vector<std::pair<std::string, std::string>> metadata;  ///< `__metadata__`, as in the file.
};

/// Parses and checks a header as strictly as the reference implementation does, and in two points
/// more strictly: no key may appear twice, and a tensor has exactly the three fields of the
/// description.
///
/// @param text        the JSON text alone; not longer than max_safetensors_header_bytes.
/// @param data_bytes  what follows it in the file.
/// @param max_tensors more are refused with Errc::limit_exceeded.
/// @return  Errc::safetensors_header; Errc::safetensors_layout if the tensors do not fill the data
///          without holes and overlaps, or a tensor's bytes are not those of its shape;
///          Errc::tensor_duplicate; Errc::key_duplicate.
[[nodiscard]] Result<SafetensorsHeader> parse_safetensors_header(std::string_view text,
                                                                 std::uint64_t data_bytes,
                                                                 std::uint64_t max_tensors);

}  // namespace ingot::formats

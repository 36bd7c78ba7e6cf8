// SPDX-License-Identifier: MIT
// The range of a bump file that its checksum covers, and the check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/bump/bump_header.hpp"
#include "formats/bump/bump_solver.hpp"
#include "ingot/error.hpp"
#include "ingot/interop.hpp"
#include "ingot/source.hpp"

namespace ingot::formats {

/// The bytes of lower-case hexadecimal digits, such as those of a digest.
[[nodiscard]] std::vector<std::byte> bytes_of_digits(std::string_view digits);

/// The end of the payload: the end of the file, or where version 5 begins its description of
/// itself, whose own digest is verified. Errc::checksum_mismatch, Errc::truncated.
[[nodiscard]] Result<std::uint64_t> find_bump_payload_end(const Source& file,
                                                          std::uint32_t version);

/// Reads the payload and compares its SHA-256 with the header's, in the places where the writers of
/// its version put it. Returns the digest, or with `is_lenient` a remark on it.
[[nodiscard]] Result<std::string> verify_bump_checksum(const Source& file,
                                                       const BumpHeaderBytes& header,
                                                       const BumpFile& bump, bool is_lenient,
                                                       const OpenProgress& progress);

}  // namespace ingot::formats

// SPDX-License-Identifier: MIT
// The common parts of all forms of manifests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingot/digest_manifest.hpp"

namespace ingot {

/// Fails with Errc::manifest_invalid.
[[nodiscard]] Failure fail_manifest(std::string_view where, std::string detail);

/// Puts the digits of a digest in their place, in lower case. Refuses a wrong length, characters
/// that are no digits, and digits that contradict earlier ones.
[[nodiscard]] Result<void> put_digest(DigestSet& digests, const DigestAlgorithmInfo& algorithm,
                                      std::string_view digits, std::string_view where);

/// A UUID in lower case, or why it is none.
[[nodiscard]] Result<std::string> normal_uuid(std::string_view text, std::string_view where);

/// The forms of which each line is a digest.
[[nodiscard]] Result<std::vector<ManifestEntry>> parse_manifest_lines(std::string_view text);

}  // namespace ingot

// SPDX-License-Identifier: MIT
// Which of the files of a repository is meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ingot/error.hpp"
#include "ingot/reference.hpp"
#include "ingot/remote_options.hpp"

namespace ingot::remote {

/// The name of the file that a reference without a path means, among files in the order of their
/// listing: the first that has the quantization in its name; without one, Q4_K_M, then Q8_0, then
/// the first. Of a set of shards, the first shard. Errc::file_not_chosen lists the files.
[[nodiscard]] Result<std::string> choose_file(std::span<const RemoteFile> files,
                                              const Reference& reference);

/// Whether a path names a quantization as a word of its own, in any case: Q4_XS is not in IQ4_XS.
[[nodiscard]] bool names_quantization(std::string_view path, std::string_view quantization);

}  // namespace ingot::remote

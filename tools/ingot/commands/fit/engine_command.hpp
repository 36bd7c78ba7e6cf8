// SPDX-License-Identifier: MIT
// A run as the command line of an engine.
#pragma once

#include <ingot/estimate.hpp>
#include <string>

namespace ingot::cli {

/// The command that starts llama.cpp's server with these options, for a POSIX shell. `files` are
/// the options that name the model and what is beside it.
[[nodiscard]] std::string llama_cpp_command(const std::string& files, const RunOptions& options,
                                            const MemoryEstimate& estimate);

/// A word for a POSIX shell, quoted if need be; control characters are written as escapes.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace ingot::cli

// SPDX-License-Identifier: MIT
// Options of `ingot fit` as llama.cpp also spells them.
#pragma once

#include <string>
#include <vector>

namespace ingot::cli {

/// Replaces llama.cpp's other spellings ("-ngl", "--mmproj") by those of `fit`, if that is the
/// command; leaves everything else as it is.
void respell_engine_options(std::vector<std::string>& arguments);

}  // namespace ingot::cli

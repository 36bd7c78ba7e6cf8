// SPDX-License-Identifier: MIT
// What was built: for reports of faults, and for links to pages.
#pragma once

#include <string>
#include <string_view>

namespace ingot::cli {

/// Compiler, system, kernels and libraries, a line each: `ingot --version --verbose`.
[[nodiscard]] std::string build_facts();

/// Where the pages of docs/ of this version can be read, without "/" at the end; empty if whoever
/// built it named no place (INGOT_DOCS_URL).
extern const std::string_view docs_url;

}  // namespace ingot::cli

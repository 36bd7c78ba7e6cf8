// SPDX-License-Identifier: MIT
// Opens a bump file from any source.
#pragma once

#include <memory>

#include "formats/bump/bump_config.hpp"
#include "ingot/error.hpp"
#include "ingot/interop.hpp"
#include "ingot/source.hpp"

namespace ingot::formats {

/// Opens a bump file and the configuration beside it, for open_any.
[[nodiscard]] Result<OpenedModel> open_bump_source(std::unique_ptr<Source> file,
                                                   const BumpConfig& config,
                                                   const OpenAnyOptions& options);

}  // namespace ingot::formats

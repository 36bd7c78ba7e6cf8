// SPDX-License-Identifier: MIT
// Opens one safetensors file from any source.
#pragma once

#include <memory>

#include "ingot/error.hpp"
#include "ingot/interop.hpp"
#include "ingot/source.hpp"

namespace ingot::interop {

[[nodiscard]] Result<OpenedModel> open_safetensors_source(std::unique_ptr<Source> source,
                                                          const OpenOptions& options);

}  // namespace ingot::interop

// SPDX-License-Identifier: MIT
// The error of a model folder that cannot be imported.
#pragma once

#include <string>
#include <utility>

#include "ingot/error.hpp"

namespace ingot::huggingface {

/// @param subject  the file, key or tensor.
/// @param detail the fault, and the right form.
[[nodiscard]] inline Failure refuse(std::string subject, std::string detail) {
  return fail(Errc::import_refused, std::move(subject), std::move(detail));
}

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
// The error of a model folder that cannot be imported.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "ingot/error.hpp"

namespace ingot::huggingface {

/// @param subject  the file, key or tensor.
/// @param detail the fault, and the right form.
[[nodiscard]] inline Failure refuse(std::string subject, std::string detail) {
  return fail(Errc::import_refused, std::move(subject), std::move(detail));
}

/// A shape in a message: "[4096, 128]".
[[nodiscard]] inline std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (const std::uint64_t size : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

}  // namespace ingot::huggingface

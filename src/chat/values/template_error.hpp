// SPDX-License-Identifier: MIT
// A failure of a template before it gets its line and its column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingot/error.hpp"

namespace ingot::chat {

struct TemplateError {
  struct Call {
    std::string macro;
    std::uint32_t place = 0;  ///< of the call
  };

  Errc code = Errc::internal;
  std::uint32_t place = 0;  ///< byte of the source
  std::string reason;
  std::vector<Call> calls;  ///< innermost first
};

}  // namespace ingot::chat

// SPDX-License-Identifier: MIT
#include "cli/output.hpp"

#include "system/system.hpp"

namespace ingot::cli {

Output::Output(int descriptor)
    : target_{[descriptor](std::string_view text) { return system::write_all(descriptor, text); }} {
}

int Output::flush() noexcept {
  if (target_.error_number == 0) target_.error_number = target_.writer(buffer_);
  buffer_.clear();
  return target_.error_number;
}

}  // namespace ingot::cli

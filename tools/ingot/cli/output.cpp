// SPDX-License-Identifier: MIT
#include "cli/output.hpp"

#include "system/system.hpp"

namespace ingot::cli {

Output::Output(int descriptor)
    : writer_([descriptor](std::string_view text) { return system::write_all(descriptor, text); }) {
}

int Output::flush() noexcept {
  if (error_number_ == 0) error_number_ = writer_(buffer_);
  buffer_.clear();
  return error_number_;
}

}  // namespace ingot::cli

// SPDX-License-Identifier: MIT
#include "cli/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace ingot::cli {

int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      // Another process made the terminal or pipe non-blocking: wait until it takes more.
      pollfd ready{descriptor, POLLOUT, 0};
      if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

Output::Output(int descriptor)
    : writer_([descriptor](std::string_view text) { return write_all(descriptor, text); }) {}

int Output::flush() noexcept {
  if (error_number_ == 0) error_number_ = writer_(buffer_);
  buffer_.clear();
  return error_number_;
}

}  // namespace ingot::cli

// SPDX-License-Identifier: MIT
#include "output.hpp"

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
      // Somebody made a shared terminal or pipe non-blocking: wait until it takes more.
      pollfd ready{descriptor, POLLOUT, 0};
      if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int Output::flush() noexcept {
  if (error_number_ == 0 && file_ == nullptr) error_number_ = write_all(descriptor_, buffer_);
  if (error_number_ == 0 && file_ != nullptr) {
    file_failure_ = file_->write(std::as_bytes(std::span(buffer_)));
    if (!file_failure_) error_number_ = EIO;
  }
  buffer_.clear();
  return error_number_;
}

}  // namespace ingot::cli

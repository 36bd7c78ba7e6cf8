// SPDX-License-Identifier: MIT
#include "system/system.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace ingot::cli::system {
namespace {

void set_action(int signal_number, void (*handler)(int)) noexcept {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(signal_number, &action, nullptr);
}

FileFacts facts_of(const struct stat& status) noexcept {
  // A time beyond the year 2262 wraps, which is no overflow.
#ifdef __APPLE__
  const timespec& modified = status.st_mtimespec;
#else
  const timespec& modified = status.st_mtim;
#endif
  const auto modified_ns =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(modified.tv_sec) * 1'000'000'000 +
                                static_cast<std::uint64_t>(modified.tv_nsec));
  return {S_ISREG(status.st_mode), static_cast<std::uint64_t>(status.st_size), modified_ns,
          static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

}  // namespace

const bool has_backslash_paths = false;

std::vector<std::string> begin(int argc, char** argv) {
  // Every shard of a set is an open file, read or written: a set may have more than the usual
  // limit.
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  return {argv, argv + argc};
}

void handle_signals(void (*stop)(int), void (*lost)(int)) noexcept {
  // Sets the action even if a script's background job ignores the signal, so that `kill -INT` ends
  // it in order.
  set_action(SIGINT, stop);
  set_action(SIGTERM, stop);
  struct sigaction hang_up {};
  sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) set_action(SIGHUP, stop);  // nohup stays nohup
  set_action(SIGPIPE, SIG_IGN);
  set_action(SIGXFSZ, SIG_IGN);  // a file beyond the limit is an error of write, too
  set_action(SIGBUS, lost);
}

bool is_terminal(int descriptor) noexcept { return ::isatty(descriptor) == 1; }

std::size_t terminal_columns() noexcept {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool has_unicode_terminal() noexcept { return false; }
bool has_colour_terminal() noexcept { return false; }

bool look_at(int descriptor, FileFacts& facts) noexcept {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return false;
  facts = facts_of(status);
  return true;
}

bool look_at(const std::string& path, FileFacts& facts) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  facts = facts_of(status);
  return true;
}

int open_file(const std::string& path) noexcept {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

int open_nameless(const std::string& folder) noexcept {
#ifdef O_TMPFILE  // not every file system can
  const int nameless = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (nameless >= 0) return nameless;
#endif
  std::string path = folder + "/ingot-XXXXXX";
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0) return -1;
  ::unlink(path.c_str());
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

void close_file(int descriptor) noexcept { ::close(descriptor); }

std::ptrdiff_t read_next(int descriptor, char* bytes, std::size_t size) noexcept {
  for (;;) {
    const ssize_t count = ::read(descriptor, bytes, size);
    if (count >= 0) return count;
    if (errno == EAGAIN) {
      // Another process made the pipe non-blocking: wait until it has bytes.
      pollfd ready{descriptor, POLLIN, 0};
      if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return -1;
    } else if (errno != EINTR) {
      return -1;
    }
  }
}

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

}  // namespace ingot::cli::system

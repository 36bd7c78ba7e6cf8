// SPDX-License-Identifier: MIT
// What the program asks the operating system: its terminal, its streams, requests to stop. A folder
// for each system implements these functions; the library has a room of its own, `src/system/`.
// Descriptors are numbers, paths UTF-8; what fails says why in errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli::system {

inline constexpr int standard_input = 0;
inline constexpr int standard_output = 1;
inline constexpr int standard_error = 2;

/// Prepares the process: streams of bytes, as many open files as the system allows. Returns the
/// arguments in UTF-8, the name of the program first.
[[nodiscard]] std::vector<std::string> begin(int argc, char** argv);

/// Calls `stop` with the number of the signal for each request to stop: Ctrl-C, `kill`, a closed
/// terminal. Calls `lost` when bytes of a mapped file cannot be read. Both are called at any
/// moment. A closed pipe and a file beyond a limit become errors of write.
void handle_signals(void (*stop)(int signal), void (*lost)(int signal)) noexcept;

[[nodiscard]] bool is_terminal(int descriptor) noexcept;
/// 0 if it is not known.
[[nodiscard]] std::size_t terminal_columns() noexcept;
/// Whether the terminal shows UTF-8 whatever the environment says.
[[nodiscard]] bool has_unicode_terminal() noexcept;
/// Whether the terminal has 256 colours whatever the environment says.
[[nodiscard]] bool has_colour_terminal() noexcept;

/// Whether a backslash stands between folders of a path, as a slash does.
extern const bool has_backslash_paths;

struct FileFacts {
  bool is_regular = false;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;  ///< Since 1970.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
[[nodiscard]] bool look_at(int descriptor, FileFacts& facts) noexcept;
[[nodiscard]] bool look_at(const std::string& path, FileFacts& facts) noexcept;

/// Opens a file for reading; -1 if that fails.
[[nodiscard]] int open_file(const std::string& path) noexcept;
/// Makes an empty file for reading and writing in a folder; it has no name that stays, and is gone
/// when it is closed. -1 if that fails.
[[nodiscard]] int open_nameless(const std::string& folder) noexcept;
void close_file(int descriptor) noexcept;
/// The number of bytes, 0 at the end, or -1.
[[nodiscard]] std::ptrdiff_t read_next(int descriptor, char* bytes, std::size_t size) noexcept;
/// Writes all of `text` at once; returns 0 or an errno.
int write_all(int descriptor, std::string_view text) noexcept;

}  // namespace ingot::cli::system

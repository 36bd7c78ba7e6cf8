// SPDX-License-Identifier: MIT
// The source of a model's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot {

/// A place in one of several files.
struct Origin {
  std::size_t file = 0;  ///< Position among them.
  std::uint64_t file_offset = 0;
};

/// The size of a header's first read if reading is cheap.
inline constexpr std::uint64_t usual_first_read_bytes = std::uint64_t{64} << 10;

/// Random access to the bytes of one file. Implement it to open a model from anywhere.
///
/// `read` may be called from several threads at once. A source whose bytes are all in memory
/// returns them from `bytes`, and nothing is ever copied.
class INGOT_EXPORT Source {
 public:
  virtual ~Source();

  /// The size of the file; constant for the life of the source.
  [[nodiscard]] virtual std::uint64_t size_bytes() const noexcept = 0;

  /// The whole file if it is in memory, else an empty span. Valid for the life of the source.
  [[nodiscard]] virtual std::span<const std::byte> bytes() const noexcept;

  /// Fills `destination` from `file_offset` on, completely or not at all.
  /// Errc::truncated if the file ends before; Errc::io_error if the system fails.
  [[nodiscard]] virtual Result<void> read(std::uint64_t file_offset,
                                          std::span<std::byte> destination) const = 0;

  /// The size of the first read of a header: larger than usual if every read costs a round trip to
  /// a server. The next read then asks for all bytes that are probably missing.
  [[nodiscard]] virtual std::uint64_t first_read_bytes() const noexcept;

  /// Hints that this range will be needed soon, so that the system may begin to fetch it. A range
  /// beyond the end is cut. Thread-safe.
  virtual void prefetch(std::uint64_t file_offset, std::uint64_t size_bytes) const noexcept;

  /// Hints that this range will not be needed soon: a mapped file gives its memory back to the
  /// system. `bytes` stays valid; reading the range again costs time. A range beyond the end is
  /// cut. Thread-safe.
  virtual void release(std::uint64_t file_offset, std::uint64_t size_bytes) const noexcept;

  /// A descriptor of the file with the same bytes at the same offsets, with which the system can
  /// copy ranges by itself; -1 if there is none. Belongs to the source; use it only with calls that
  /// take an offset.
  [[nodiscard]] virtual int descriptor() const noexcept;

  /// The place of a byte in the file that it comes from: for sources that show parts of other files
  /// as one file. Nothing for a byte of no file. Thread-safe.
  [[nodiscard]] virtual std::optional<Origin> origin(std::uint64_t file_offset) const noexcept;
};

/// Maps a file into memory, read-only. A regular file only: Errc::not_a_regular_file otherwise.
[[nodiscard]] INGOT_EXPORT Result<std::unique_ptr<Source>> map_file(const std::string& path);

/// Reads a file with pread; never holds more of it than is asked for. Regular files only.
[[nodiscard]] INGOT_EXPORT Result<std::unique_ptr<Source>> read_file(const std::string& path);

/// Bytes that are already in memory; borrowed, they must outlive the source.
[[nodiscard]] INGOT_EXPORT std::unique_ptr<Source> borrow_memory(std::span<const std::byte> bytes);

/// Fills `destination` with the bytes from `file_offset` on; returns whether it could. May be
/// called from several threads at once.
using ReadFunction =
    std::function<bool(std::uint64_t file_offset, std::span<std::byte> destination)>;

/// A file of `size_bytes` behind a function.
[[nodiscard]] INGOT_EXPORT std::unique_ptr<Source> read_through(std::uint64_t size_bytes,
                                                                ReadFunction read);

}  // namespace ingot

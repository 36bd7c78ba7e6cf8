// SPDX-License-Identifier: MIT
// The one bounded reader: nothing else in the parser touches the bytes of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/byte_order.hpp"
#include "base/checked.hpp"

namespace ingot::format {

/// The strings of an array that a cursor has stepped over, from the first on.
struct SkippedStrings {
  std::uint64_t count = 0;
  std::uint64_t size_bytes = 0;
};

/// Reads fields from a prefix of a file, front to back.
///
/// A read that does not fit makes the cursor fail: it then remembers where and why, and this and
/// all later reads return zeros or empty spans. Callers check `has_failed` once per record instead
/// of once per field. A failure is either final (the file itself ends too early) or says how many
/// more bytes the prefix needs.
class Cursor {
 public:
  Cursor(std::span<const std::byte> prefix, std::uint64_t file_bytes) noexcept
      : begin_(prefix.data()),
        next_(prefix.data()),
        end_(prefix.data() + prefix.size()),
        file_bytes_(file_bytes) {}

  /// Whether multi-byte fields are in the other byte order than this machine's.
  void set_swapped(bool is_swapped) noexcept { is_swapped_ = is_swapped; }
  /// Whether counts and lengths have 32 bits, as in version 1.
  void set_narrow_counts(bool has_narrow_counts) noexcept {
    has_narrow_counts_ = has_narrow_counts;
  }

  /// Continues at another position of the prefix, up to another end.
  void move_to(std::uint64_t position, std::uint64_t end) noexcept {
    next_ = begin_ + position;
    end_ = begin_ + end;
  }

  [[nodiscard]] std::uint64_t position() const noexcept {
    return static_cast<std::uint64_t>(next_ - begin_);
  }
  /// Bytes from here to the end of the file, whether or not they are in the prefix.
  [[nodiscard]] std::uint64_t file_remaining() const noexcept { return file_bytes_ - position(); }
  [[nodiscard]] const std::byte* data() const noexcept { return next_; }

  [[nodiscard]] std::uint32_t u32() noexcept { return read<std::uint32_t>(); }
  [[nodiscard]] std::uint64_t u64() noexcept { return read<std::uint64_t>(); }
  /// Reads a count, a length or a dimension, which has 32 or 64 bits.
  [[nodiscard]] std::uint64_t count() noexcept { return has_narrow_counts_ ? u32() : u64(); }
  [[nodiscard]] std::uint64_t count_bytes() const noexcept { return has_narrow_counts_ ? 4 : 8; }

  /// The next `size_bytes` bytes.
  [[nodiscard]] std::span<const std::byte> take(std::uint64_t size_bytes) noexcept {
    if (!need(size_bytes)) return {};
    const std::span<const std::byte> taken(next_, to_size(size_bytes));
    next_ += size_bytes;
    return taken;
  }
  [[nodiscard]] std::string_view take_text(std::uint64_t size_bytes) noexcept {
    const std::span<const std::byte> taken = take(size_bytes);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  /// Steps over an array of strings. Opening a file with a vocabulary spends most of its time in
  /// this loop. Returns whether every string is at most `max_string_bytes` long. If not, or if the
  /// cursor fails, the position is that of the string. `skipped` records the progress, and a later
  /// call continues there.
  [[nodiscard]] bool skip_strings(std::uint64_t string_count, std::uint64_t max_string_bytes,
                                  SkippedStrings& skipped) noexcept {
    if (!take(skipped.size_bytes).empty()) string_count -= skipped.count;
    if (has_narrow_counts_) {
      return skip_strings_of<std::uint32_t>(string_count, max_string_bytes, skipped);
    }
    return skip_strings_of<std::uint64_t>(string_count, max_string_bytes, skipped);
  }

  [[nodiscard]] bool has_failed() const noexcept { return missing_bytes_ != 0; }
  /// Bytes that the failed read lacks, in the file if the file ends too early, else in the prefix.
  [[nodiscard]] std::uint64_t missing_bytes() const noexcept { return missing_bytes_; }
  /// Whether the file itself ends too early, so that there are no more bytes.
  [[nodiscard]] bool is_file_truncated() const noexcept { return is_file_truncated_; }

 private:
  template <class T>
  [[nodiscard]] T read() noexcept {
    if (!need(sizeof(T))) return 0;
    const T value = load<T>(next_, is_swapped_);
    next_ += sizeof(T);
    return value;
  }

  [[nodiscard]] bool need(std::uint64_t size_bytes) noexcept {
    if (size_bytes <= static_cast<std::uint64_t>(end_ - next_)) [[likely]]
      return true;
    fail(size_bytes);
    return false;
  }

  void fail(std::uint64_t size_bytes) noexcept {
    if (has_failed()) return;
    is_file_truncated_ = size_bytes > file_remaining();
    missing_bytes_ = size_bytes - (is_file_truncated_ ? file_remaining()
                                                      : static_cast<std::uint64_t>(end_ - next_));
    end_ = next_;  // no later read succeeds
  }

  template <class Length>
  [[nodiscard]] bool skip_strings_of(std::uint64_t string_count, std::uint64_t max_string_bytes,
                                     SkippedStrings& skipped) noexcept {
    const std::uint64_t wanted = string_count;
    const std::byte* next = next_;
    const std::byte* const end = end_;
    const bool is_swapped = is_swapped_;
    for (; string_count != 0; --string_count) {
      const auto left = static_cast<std::uint64_t>(end - next);
      if (left < sizeof(Length)) [[unlikely]]
        break;
      const std::uint64_t length = load<Length>(next, is_swapped);
      if (length > left - sizeof(Length)) [[unlikely]]
        break;
      if (length > max_string_bytes) [[unlikely]] {
        next_ = next;
        return false;
      }
      next += sizeof(Length) + length;
    }
    skipped.count += wanted - string_count;
    skipped.size_bytes += static_cast<std::uint64_t>(next - next_);
    next_ = next;
    if (string_count == 0) [[likely]]
      return true;
    const std::uint64_t length = count();  // fails, or is the length that does not fit
    if (length > max_string_bytes && length <= file_remaining()) {
      next_ = next;
      return false;
    }
    static_cast<void>(take(length));
    return true;
  }

  const std::byte* begin_;
  const std::byte* next_;
  const std::byte* end_;
  std::uint64_t file_bytes_;
  std::uint64_t missing_bytes_ = 0;
  bool is_file_truncated_ = false;
  bool is_swapped_ = false;
  bool has_narrow_counts_ = false;
};

}  // namespace ingot::format

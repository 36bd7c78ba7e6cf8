// SPDX-License-Identifier: MIT
// A download that is not complete: its bytes, and which of them are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "ingot/error.hpp"
#include "io/staged_file.hpp"

namespace ingot::remote {

/// What is fetched as one range.
inline constexpr std::uint64_t download_range_bytes = std::uint64_t{16} << 20;

/// What a download must have in common with an earlier one to go on with it.
struct DownloadKey {
  std::string address;  ///< Safe to print.
  std::string commit;
  std::uint64_t size_bytes = 0;
  std::string tag;     ///< ETag; may be empty.
  std::string sha256;  ///< The digest that the server names; may be empty.
};

/// `PATH.ingot-part` and `PATH.ingot-part.json`, locked for this process. Movable. Ranges are
/// marked by one thread at a time; `write` and `read` may be called from several.
class PartFile {
 public:
  /// Goes on with what is there if it is of the same file, else begins anew. Claims the disk space
  /// before anything else is made for the size, which may be a lie. Errc::file_in_use;
  /// Errc::not_a_regular_file if a link, or a file of another user, has one of the names;
  /// Errc::io_error.
  [[nodiscard]] static Result<PartFile> open(const std::string& path, DownloadKey key);

  [[nodiscard]] std::uint64_t range_count() const noexcept;
  [[nodiscard]] bool is_finished(std::uint64_t range) const { return finished_.contains(range); }
  [[nodiscard]] std::uint64_t range_size(std::uint64_t range) const noexcept;
  /// The bytes at the beginning of a range that are there, all of them or some.
  [[nodiscard]] std::uint64_t kept_bytes(std::uint64_t range) const;
  /// The bytes of all ranges that are there.
  [[nodiscard]] std::uint64_t kept_bytes() const noexcept { return kept_bytes_; }
  /// Why an earlier attempt was thrown away; or empty.
  [[nodiscard]] const std::string& reason_to_restart() const noexcept { return reason_; }

  [[nodiscard]] Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) const {
    return file_.write(offset, bytes);
  }
  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<std::byte> bytes) const {
    return file_.read(offset, bytes);
  }
  void mark_finished(std::uint64_t range) { mark_kept(range, range_size(range)); }
  /// The first `bytes` of a range are there; `bytes` is at most its size.
  void mark_kept(std::uint64_t range, std::uint64_t bytes);

  /// Notes which bytes are there, so that a kill loses none of them. The notes are not flushed to
  /// the disk: after a loss of power the digest tells whether they were right.
  [[nodiscard]] Result<void> save();
  /// Flushes the bytes and gives the file its name.
  [[nodiscard]] Result<void> finish(bool may_replace);
  /// Puts wrong bytes where nobody takes them for the file.
  [[nodiscard]] Result<void> set_aside() { return file_.give_name(path_ + ".ingot-bad", true); }
  /// Removes both files unless a byte is there.
  void remove_if_empty() const noexcept {
    if (kept_bytes_ == 0) file_.remove();
  }

 private:
  PartFile(std::string path, DownloadKey key, io::StagedFile file)
      : path_(std::move(path)), key_(std::move(key)), file_(std::move(file)) {}
  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<void> load();

  std::string path_;
  DownloadKey key_;
  io::StagedFile file_;
  std::set<std::uint64_t> finished_;              ///< Ranges; grows with what came.
  std::map<std::uint64_t, std::uint64_t> begun_;  ///< Ranges, and how many of their bytes came.
  std::uint64_t kept_bytes_ = 0;
  std::string reason_;
};

class Client;
class RangeFetcher;

/// Fills a part file over some connections; returns the SHA-256 of the whole.
[[nodiscard]] Result<std::string> fill_part_file(
    PartFile& part, const RangeFetcher& ranges, Client& client, unsigned connections,
    const std::function<bool(std::uint64_t done_bytes)>& progress);

}  // namespace ingot::remote

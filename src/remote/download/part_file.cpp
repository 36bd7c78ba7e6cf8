// SPDX-License-Identifier: MIT
#include "remote/download/part_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/with_subject.hpp"
#include "io/file_descriptor.hpp"
#include "remote/places/json_answer.hpp"

namespace ingot::remote {
namespace {

constexpr std::uint64_t notes_version = 1;

/// Whether a path leads to an open file.
bool is_named(int descriptor, const std::string& path) {
  struct stat by_path {};
  struct stat opened {};
  return ::stat(path.c_str(), &by_path) == 0 && ::fstat(descriptor, &opened) == 0 &&
         by_path.st_ino == opened.st_ino && by_path.st_dev == opened.st_dev;
}

/// Why notes are of another download than `key`; empty if they are of the same.
std::string difference(const nlohmann::json& notes, const DownloadKey& key) {
  if (number_member(notes, "version") != notes_version ||
      number_member(notes, "range_bytes") != download_range_bytes) {
    return "the notes beside the part are of another version";
  }
  if (number_member(notes, "size") != key.size_bytes) return "the file has another size now";
  const std::string sha256 = text_member(notes, "sha256");
  const std::string tag = text_member(notes, "etag");
  if (!sha256.empty() && !key.sha256.empty()) {
    return sha256 == key.sha256 ? "" : "the file has another digest now";
  }
  if (tag.empty() || key.tag.empty())
    return "neither a digest nor a tag tells that the file is the same";
  return tag == key.tag ? "" : "the file has another tag now";
}

}  // namespace

Failure PartFile::fail_with(int error_number, const char* action) const {
  return fail(Errc::io_error, part_path(),
              std::string("cannot ") + action + " it: " + std::strerror(error_number));
}

PartFile::PartFile(PartFile&& other) noexcept
    : path_(std::move(other.path_)),
      key_(std::move(other.key_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_finished_(std::move(other.is_finished_)),
      reason_(std::move(other.reason_)) {}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<PartFile> PartFile::open(const std::string& path, DownloadKey key) {
  PartFile part(path, std::move(key));
  INGOT_TRY_VOID(part.open_and_lock());
  const std::uint64_t count =
      (part.key_.size_bytes + download_range_bytes - 1) / download_range_bytes;
  part.is_finished_.assign(static_cast<std::size_t>(count), false);
  part.load();
  if (part.finished_bytes() == 0 && ::ftruncate(part.descriptor_, 0) != 0) {
    return part.fail_with(errno, "empty");
  }
  INGOT_TRY_VOID(part.reserve());
  INGOT_TRY_VOID(part.save());
  return part;
}

Result<void> PartFile::open_and_lock() {
  // Another process may finish, and rename the file, between the opening and the lock.
  constexpr int attempts = 3;
  for (int i = 0; i < attempts; ++i) {
    descriptor_ = ::open(part_path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) return fail_with(errno, "open");
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      return fail(Errc::file_in_use, part_path(), "it is being downloaded");
    }
    if (is_named(descriptor_, part_path())) return {};
    ::close(std::exchange(descriptor_, -1));
  }
  return fail(Errc::file_in_use, part_path());
}

/// Takes over which ranges are there, if notes and bytes of the same download are.
void PartFile::load() {
  const std::string text = read_small_file(notes_path());
  struct stat status {};
  if (text.empty() || ::fstat(descriptor_, &status) != 0) return;
  const Result<nlohmann::json> notes = parse_json_answer(text, notes_path());
  reason_ = notes ? difference(*notes, key_) : "the notes beside the part are damaged";
  if (!reason_.empty()) return;
  const auto there_bytes = static_cast<std::uint64_t>(status.st_size);
  for (const nlohmann::json& entry : list_member(*notes, "finished")) {
    if (!entry.is_number_unsigned()) continue;
    const auto range = entry.get<std::uint64_t>();
    if (range >= is_finished_.size()) continue;
    const auto index = static_cast<std::size_t>(range);
    is_finished_[index] = range * download_range_bytes + range_size(index) <= there_bytes;
  }
}

Result<void> PartFile::reserve() const {
  const auto size = static_cast<off_t>(key_.size_bytes);
  if (key_.size_bytes == 0) return {};
  if (::fallocate(descriptor_, 0, 0, size) == 0) return {};
  const bool is_unsupported = errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL;
  return is_unsupported ? Result<void>() : Result<void>(fail_with(errno, "reserve space for"));
}

std::uint64_t PartFile::range_size(std::size_t range) const noexcept {
  return std::min(download_range_bytes, key_.size_bytes - range * download_range_bytes);
}

std::uint64_t PartFile::finished_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < is_finished_.size(); ++i) sum += is_finished_[i] ? range_size(i) : 0;
  return sum;
}

Result<void> PartFile::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  return with_subject(part_path(), io::write_fully(descriptor_, offset, bytes, "write to it"));
}

Result<void> PartFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail_with(count < 0 ? errno : EIO, "read");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

Result<void> PartFile::save() const {
  nlohmann::json notes = {{"version", notes_version},
                          {"address", key_.address},
                          {"commit", key_.commit},
                          {"size", key_.size_bytes},
                          {"etag", key_.tag},
                          {"sha256", key_.sha256},
                          {"range_bytes", download_range_bytes},
                          {"finished", nlohmann::json::array()}};
  for (std::size_t i = 0; i < is_finished_.size(); ++i) {
    if (is_finished_[i]) notes["finished"].push_back(i);
  }
  const std::string text = json_line(notes);
  const std::string temporary = notes_path() + ".tmp";
  std::FILE* const file = std::fopen(temporary.c_str(), "we");
  if (file == nullptr) return fail_with(errno, "write the notes beside");
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !is_written ||
      ::rename(temporary.c_str(), notes_path().c_str()) != 0) {
    return fail_with(errno, "write the notes beside");
  }
  return {};
}

Result<void> PartFile::finish(bool may_replace) {
  if (::fsync(descriptor_) != 0) return fail_with(errno, "flush");
  const std::string part = part_path();
  const unsigned flags = may_replace ? 0 : RENAME_NOREPLACE;
  int failed = ::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path_.c_str(), flags);
  if (failed != 0 && errno == EINVAL && ::access(path_.c_str(), F_OK) != 0) {
    failed = ::rename(part.c_str(), path_.c_str());  // a file system without that flag
  }
  if (failed != 0 && errno == EEXIST) return fail(Errc::already_exists, path_);
  if (failed != 0) return fail_with(errno, "rename");
  ::unlink(notes_path().c_str());
  return {};
}

Result<void> PartFile::set_aside() {
  const std::string bad = path_ + ".ingot-bad";
  if (::rename(part_path().c_str(), bad.c_str()) != 0) return fail_with(errno, "rename");
  ::unlink(notes_path().c_str());
  return {};
}

}  // namespace ingot::remote

// SPDX-License-Identifier: MIT
#include "remote/download/part_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/with_subject.hpp"
#include "ingot/lock_wait.hpp"
#include "ingot/text.hpp"
#include "io/edit_journal.hpp"
#include "io/file_lock.hpp"
#include "io/own_file.hpp"
#include "remote/places/json_answer.hpp"

namespace ingot::remote {
namespace {

constexpr std::uint64_t notes_version = 1;

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

Result<PartFile> PartFile::open(const std::string& path, DownloadKey key) {
  PartFile part(path, std::move(key));
  INGOT_TRY_VOID(part.open_and_lock());
  if (Result<void> begun = part.begin(); !begun) {
    part.remove_if_empty();
    return fail(std::move(begun).error());
  }
  return part;
}

Result<void> PartFile::begin() {
  INGOT_TRY_VOID(load());
  if (finished_bytes_ == 0 && ::ftruncate(file_.get(), 0) != 0) return fail_with(errno, "empty");
  INGOT_TRY_VOID(reserve());
  return save();
}

void PartFile::remove_if_empty() const noexcept {
  if (finished_bytes_ != 0 || !io::is_named(file_.get(), part_path())) return;
  if (has_notes_) ::unlink(notes_path().c_str());
  ::unlink(part_path().c_str());
}

Result<void> PartFile::open_and_lock() {
  // Another process may finish, and rename the file, between the opening and the lock.
  constexpr int attempts = 3;
  for (int i = 0; i < attempts; ++i) {
    INGOT_TRY(io::OwnFile opened, io::open_own_file(part_path()));
    if (io::try_lock(opened.descriptor.get()) == io::LockAttempt::busy) {
      return fail(Errc::file_in_use, part_path(), "it is being downloaded");
    }
    if (!io::is_named(opened.descriptor.get(), part_path())) continue;
    file_ = std::move(opened.descriptor);
    return {};
  }
  return fail(Errc::file_in_use, part_path());
}

/// Takes over which ranges are there, if notes and bytes of the same download are.
Result<void> PartFile::load() {
  INGOT_TRY(const std::string text, io::read_own_file(notes_path(), max_json_bytes));
  has_notes_ = true;
  struct stat status {};
  if (text.empty() || ::fstat(file_.get(), &status) != 0) return {};
  const Result<nlohmann::json> notes = parse_json_answer(text, notes_path());
  reason_ = notes ? difference(*notes, key_) : "the notes beside the part are damaged";
  if (!reason_.empty()) return {};
  const auto there_bytes = static_cast<std::uint64_t>(status.st_size);
  for (const nlohmann::json& entry : list_member(*notes, "finished")) {
    if (!entry.is_number_unsigned()) continue;
    const auto range = entry.get<std::uint64_t>();
    if (range >= range_count()) continue;
    if (range * download_range_bytes + range_size(range) <= there_bytes) mark_finished(range);
  }
  return {};
}

Result<void> PartFile::reserve() const {
  if (key_.size_bytes == 0) return {};
  const std::string stated = "the server states " + format_bytes(key_.size_bytes) + "; ";
  if (::fallocate(file_.get(), 0, 0, static_cast<off_t>(key_.size_bytes)) == 0) return {};
  if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL) {
    return fail(Errc::io_error, part_path(),
                stated + "cannot reserve room for that: " + std::strerror(errno));
  }
  struct statvfs disk {};
  if (::fstatvfs(file_.get(), &disk) != 0 || disk.f_blocks == 0) return {};
  const std::uint64_t block_bytes = disk.f_frsize;
  const std::uint64_t missing_bytes = key_.size_bytes - finished_bytes_;
  if (missing_bytes / block_bytes <= disk.f_bavail) return {};
  return fail(Errc::io_error, part_path(), stated + "the disk has less room than that");
}

std::uint64_t PartFile::range_count() const noexcept {
  return key_.size_bytes / download_range_bytes +
         (key_.size_bytes % download_range_bytes != 0 ? 1 : 0);
}

std::uint64_t PartFile::range_size(std::uint64_t range) const noexcept {
  return std::min(download_range_bytes, key_.size_bytes - range * download_range_bytes);
}

void PartFile::mark_finished(std::uint64_t range) {
  if (finished_.insert(range).second) finished_bytes_ += range_size(range);
}

Result<void> PartFile::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  return with_subject(part_path(), io::write_fully(file_.get(), offset, bytes, "write to it"));
}

Result<void> PartFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  return with_subject(part_path(), io::read_fully(file_.get(), offset, bytes));
}

Result<void> PartFile::save() const {
  const nlohmann::json notes = {{"version", notes_version},
                                {"address", key_.address},
                                {"commit", key_.commit},
                                {"size", key_.size_bytes},
                                {"etag", key_.tag},
                                {"sha256", key_.sha256},
                                {"range_bytes", download_range_bytes},
                                {"finished", finished_}};
  return with_subject(notes_path(), io::replace_own_file(notes_path(), json_line(notes)));
}

/// Takes the name of the part away from it, and the notes: those of the next one may follow at
/// once.
Result<void> PartFile::rename_to(const std::string& path, bool may_replace) {
  if (!io::is_named(file_.get(), part_path())) {
    return fail(Errc::file_in_use, part_path(), "another file has its name now");
  }
  // As of all files that are replaced: no process edits the older one meanwhile, or replaces it,
  // and the journal of an edit that was cut off goes with it.
  io::FileDescriptor older;
  if (may_replace) {
    INGOT_TRY(older, with_subject(path, io::lock_older(path, lock_wait())));
    if (older.is_open()) io::settle_edit(older.get(), path);
  }
  const std::string part = part_path();
  ::unlink(notes_path().c_str());
  const unsigned flags = may_replace ? 0 : RENAME_NOREPLACE;
  int failed = ::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), flags);
  if (failed != 0 && errno == EINVAL && ::access(path.c_str(), F_OK) != 0) {
    failed = ::rename(part.c_str(), path.c_str());  // a file system without that flag
  }
  const int error_number = errno;
  if (failed == 0) io::drop_journal(path);  // the file is locked as long as it is open here
  if (failed == 0) return {};
  INGOT_TRY_VOID(save());
  if (error_number == EEXIST) return fail(Errc::already_exists, path);
  return fail_with(error_number, "rename");
}

Result<void> PartFile::finish(bool may_replace) {
  if (::fsync(file_.get()) != 0) return fail_with(errno, "flush");
  return rename_to(path_, may_replace);
}

Result<void> PartFile::set_aside() { return rename_to(path_ + ".ingot-bad", true); }

}  // namespace ingot::remote

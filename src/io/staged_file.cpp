// SPDX-License-Identifier: MIT
#include "io/staged_file.hpp"

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/messages.hpp"
#include "ingot/lock_wait.hpp"
#include "io/edit_journal.hpp"
#include "io/file_lock.hpp"
#include "io/in_place_file.hpp"
#include "io/own_file.hpp"
#include "system/files.hpp"

namespace ingot::io {

Result<StagedFile> StagedFile::open(std::string path, std::string notes_path, const char* used) {
  if (const std::string why = system::find_forbidden_name(path); !why.empty()) {
    return fail(Errc::invalid_argument, path, "no file can have that name: " + why);
  }
  StagedFile staged(std::move(path), std::move(notes_path));
  // Another process may finish, and rename the file, between the opening and the lock.
  constexpr int attempts = 3;
  for (int i = 0; i < attempts; ++i) {
    INGOT_TRY(OwnFile opened, open_own_file(staged.path_));
    if (try_lock(opened.descriptor.get()) == LockAttempt::busy) {
      return fail(Errc::file_in_use, staged.path_, std::string("it is being ") + used);
    }
    if (!is_named(opened.descriptor.get(), staged.path_)) continue;
    staged.file_ = std::move(opened.descriptor);
    staged.is_new_ = opened.is_new;
    return staged;
  }
  return fail(Errc::file_in_use, staged.path_);
}

Result<std::uint64_t> StagedFile::size_bytes() const { return size_of_regular(file_.get(), path_); }

Result<void> StagedFile::clear() const {
  if (system::set_size(file_.get(), 0)) return {};
  return fail_with_errno(errno, path_, "empty it");
}

Result<void> StagedFile::reserve(std::uint64_t size_bytes, std::uint64_t there_bytes) const {
  if (size_bytes == 0) return {};
  if (system::reserve(file_.get(), size_bytes, system::Room::as_size)) return {};
  if (errno != EOPNOTSUPP && errno != ENOTSUP && errno != ENOSYS && errno != EINVAL) {
    return fail_with_errno(errno, path_, "reserve room for that");
  }
  const auto free = system::free_bytes(file_.get());
  if (!free || size_bytes - there_bytes <= *free) return {};
  return fail(Errc::io_error, path_, "the disk has less room than that");
}

Result<void> StagedFile::write(std::uint64_t file_offset, std::span<const std::byte> bytes) const {
  return with_subject(path_, write_fully(file_.get(), file_offset, bytes, "write to it"));
}

Result<void> StagedFile::read(std::uint64_t file_offset, std::span<std::byte> bytes) const {
  return with_subject(path_, read_fully(file_.get(), file_offset, bytes));
}

Result<std::string> StagedFile::read_notes(std::uint64_t max_bytes) {
  INGOT_TRY(std::string text, read_own_file(notes_path_, max_bytes));
  has_notes_ = true;
  return text;
}

Result<FileDescriptor> StagedFile::open_notes() {
  INGOT_TRY(OwnFile notes, open_own_file(notes_path_));
  has_notes_ = true;
  return std::move(notes.descriptor);
}

Result<void> StagedFile::write_notes(std::string text) {
  notes_ = std::move(text);
  return with_subject(notes_path_, replace_own_file(notes_path_, notes_));
}

Result<void> StagedFile::flush() const {
  if (system::flush(file_.get())) return {};
  return fail_with_errno(errno, path_, "flush it");
}

Result<void> StagedFile::give_name(const std::string& path, bool may_replace, Notes notes) {
  if (!is_named(file_.get(), path_)) {
    return fail(Errc::file_in_use, path_, "another file has its name now");
  }
  // The same holds for all files that are replaced: no process edits the older one meanwhile, or
  // replaces it, and the journal of an edit that was cut off goes with it.
  FileDescriptor older;
  if (may_replace) {
    INGOT_TRY(older, with_subject(path, lock_older(path, lock_wait())));
    if (older.is_open()) {
      settle_edit(older.get(), path);
      INGOT_TRY(const FileIdentity replaced, identify(older.get()));
      system::take_access(file_.get(), replaced);
    }
  }
  // The name is free with the rename, and the notes of the next file may follow at once.
  if (notes == Notes::go) system::remove_file(notes_path_);
  int held = older.release();
  const bool is_named_now =
      may_replace ? system::replace_file(path_, path, held) : system::rename_to_new(path_, path);
  const int error_number = errno;
  older = FileDescriptor(held);
  if (is_named_now) {
    drop_journal(path);  // the file is locked as long as it is open here
    return {};
  }
  if (notes == Notes::go) INGOT_TRY_VOID(write_notes(std::move(notes_)));
  if (error_number == EEXIST) return fail(Errc::already_exists, path);
  return fail_with_errno(error_number, path_, "rename it");
}

void StagedFile::remove() const noexcept {
  if (!is_named(file_.get(), path_)) return;
  if (has_notes_) system::remove_file(notes_path_);
  system::remove_file(path_);
}

}  // namespace ingot::io

// SPDX-License-Identifier: MIT
#include "io/atomic_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "io/edit_journal.hpp"
#include "io/file_lock.hpp"
#include "io/left_overs.hpp"
#include "system/files.hpp"

namespace ingot::io {
namespace {

constexpr std::size_t gather_bytes = std::size_t{1} << 16;
constexpr int temporary_name_tries = 16;
// No file system has larger blocks.
constexpr std::uint64_t max_block_bytes = std::uint64_t{64} << 10;

/// The most bytes of one system call. For more at once the kernel takes larger pieces of fresh
/// memory for its cache, and filling these took twice as long (ext4, Linux 6.18).
constexpr std::size_t max_write_bytes = std::size_t{1} << 17;
constexpr std::uint64_t writing_out_bytes = std::uint64_t{32} << 20;
constexpr std::uint64_t least_page_bytes = 4096;  // no system has smaller pages

/// The file to be replaced, if there is one.
Result<std::optional<FileIdentity>> check_target(const std::string& path, bool may_replace,
                                                 Links links) {
  system::FileFacts facts;
  if (!system::look_at(path, facts, links)) {
    if (errno == ENOENT) return std::optional<FileIdentity>();
    return fail_with_errno(errno, {}, "look at the output");
  }
  if (facts.kind != system::FileKind::regular) {
    return fail(Errc::not_a_regular_file, {}, "the output exists and is not a file");
  }
  if (!may_replace) return fail(Errc::already_exists, {});
  return identify(path);
}

}  // namespace

AtomicFile::AtomicFile(std::string path, bool may_replace, ReplacedLock replaced_lock)
    : path_(std::move(path)),
      directory_(directory_of(path_)),
      may_replace_(may_replace),
      replaced_lock_(replaced_lock) {
  gathered_.reserve(gather_bytes);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      directory_(std::move(other.directory_)),
      temporary_path_(std::exchange(other.temporary_path_, {})),
      may_replace_(other.may_replace_),
      replaced_lock_(other.replaced_lock_),
      replaced_(std::move(other.replaced_)),
      descriptor_(std::move(other.descriptor_)),
      gathered_(std::move(other.gathered_)),
      size_bytes_(other.size_bytes_),
      started_bytes_(other.started_bytes_),
      is_flushed_(other.is_flushed_) {}

AtomicFile::~AtomicFile() {
  if (!temporary_path_.empty()) system::remove_file(temporary_path_);
}

Result<AtomicFile> AtomicFile::create(const std::string& path, bool may_replace,
                                      ReplacedLock replaced_lock, Links links) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return fail(Errc::invalid_argument, {}, "not a path");
  }
  if (const std::string why = system::find_forbidden_name(path); !why.empty()) {
    return fail(Errc::invalid_argument, {}, "no file can have that name: " + why);
  }
  // Through a symbolic link the file it points to is replaced, not the link.
  std::string target = links == Links::follow ? real_path(path) : path;
  INGOT_TRY(std::optional<FileIdentity> replaced, check_target(target, may_replace, links));
  AtomicFile file(std::move(target), may_replace, replaced_lock);
  INGOT_TRY_VOID(file.lock_replaced());
  remove_left_overs(file.path_);
  INGOT_TRY_VOID(file.open_unnamed_or_temporary());
  // Another process may have replaced the file while we waited; the locked one counts.
  if (replaced && file.replaced_.is_open()) {
    INGOT_TRY(replaced, identify(file.replaced_.get()));
  }
  if (replaced) file.take_access_of(*replaced);
  return file;
}

/// Locks the file that has the name now, against edits and other replacements.
Result<void> AtomicFile::lock_replaced() {
  if (!may_replace_ || replaced_lock_ == ReplacedLock::is_held) return {};
  if (replaced_.is_open() && is_named(replaced_.get(), path_)) return {};
  INGOT_TRY(replaced_, lock_older(path_, lock_wait()));
  return {};
}

Result<void> AtomicFile::open_unnamed_or_temporary() {
  constexpr unsigned permissions = 0666;  // the system subtracts the umask
  descriptor_ =
      FileDescriptor(system::open_unnamed(directory_, system::Access::write, permissions));
  if (descriptor_.is_open() && system::can_give_name(descriptor_.get())) {
    static_cast<void>(try_lock(descriptor_.get()));
    return {};
  }
  for (int i = 0; i < temporary_name_tries; ++i) {
    std::string name = temporary_name(path_);
    descriptor_ = FileDescriptor(system::open_file(name, system::Access::write, system::made_new));
    if (descriptor_.is_open()) {
      // Before it is locked, another process may take the named file for a left-over.
      if (try_lock(descriptor_.get()) == LockAttempt::busy) continue;
      if (!is_named(descriptor_.get(), name)) continue;
      temporary_path_ = std::move(name);
      return {};
    }
    if (errno != EEXIST) break;
  }
  const int reason = errno;
  Failure failure = fail_with_errno(reason, {}, "create the output");
  if (reason == ENOENT) failure.value().detail += "; its folder is missing";
  return failure;
}

void AtomicFile::take_access_of(const FileIdentity& other) {
  system::take_access(descriptor_.get(), other);
}

Result<void> AtomicFile::reserve(std::uint64_t size_bytes) {
  if (size_bytes == 0) return {};
  // Not every file system supports this; only a full disk is an error.
  if (!system::reserve(descriptor_.get(), size_bytes, system::Room::beyond_the_end) &&
      system::is_lack_of_room(errno)) {
    return fail_with_errno(errno, {}, "reserve room for the output");
  }
  return {};
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  is_flushed_ = false;
  if (bytes.size() >= gather_bytes) {
    INGOT_TRY_VOID(flush());
    INGOT_TRY_VOID(write_through(bytes));
    size_bytes_ += bytes.size();
    start_writing_out();
    return {};
  }
  gathered_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  size_bytes_ += bytes.size();
  return gathered_.size() >= gather_bytes ? flush() : Result<void>{};
}

Result<void> AtomicFile::write_zeros(std::uint64_t size_bytes) {
  static constexpr std::array<std::byte, 4096> zeros{};
  while (size_bytes != 0) {
    const auto piece = std::min<std::uint64_t>(size_bytes, zeros.size());
    INGOT_TRY_VOID(write(std::span(zeros).first(to_size(piece))));
    size_bytes -= piece;
  }
  return {};
}

Result<void> AtomicFile::overwrite(std::uint64_t file_offset, std::span<const std::byte> bytes) {
  if (file_offset > size_bytes_ || bytes.size() > size_bytes_ - file_offset) {
    return fail(Errc::invalid_argument, file_offset, {}, "bytes that were not written yet");
  }
  INGOT_TRY_VOID(flush());
  return write_fully(descriptor_.get(), file_offset, bytes, "write the output");
}

/// Starts writing finished bytes to the disk while more are made, so that sync waits less.
void AtomicFile::start_writing_out() noexcept {
  const std::uint64_t written_bytes = size_bytes_ - gathered_.size();
  if (written_bytes - started_bytes_ < writing_out_bytes) return;
  // If the file system does not support this, sync does all of it.
  system::start_writing_out(descriptor_.get(), started_bytes_, written_bytes - started_bytes_);
  started_bytes_ = written_bytes;
}

Result<void> AtomicFile::write_through(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::ptrdiff_t written = system::write_next(descriptor_.get(), bytes.data(),
                                                      std::min(bytes.size(), max_write_bytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_with_errno(errno, {}, "write the output");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::copy(const Source& source, std::uint64_t file_offset,
                              std::uint64_t size_bytes,
                              const std::function<bool(std::uint64_t)>& go_on) {
  if (size_bytes != 0) INGOT_TRY_VOID(flush());
  // If blocks lie differently in the source, none can be shared. The system copies page by page and
  // would touch each page twice.
  bool is_by_system =
      source.descriptor() >= 0 && (file_offset - size_bytes_) % least_page_bytes == 0;
  while (size_bytes != 0) {
    // After a short first piece all pieces begin at whole blocks, which can be shared.
    const std::uint64_t rest_bytes = file_offset % max_block_bytes;
    const std::uint64_t piece_bytes =
        std::min(size_bytes, rest_bytes == 0 ? max_copy_piece_bytes : max_block_bytes - rest_bytes);
    if (is_by_system) {
      INGOT_TRY(const bool is_copied, copy_by_system(source, file_offset, piece_bytes));
      is_by_system = is_copied;
    }
    if (!is_by_system) INGOT_TRY_VOID(copy_by_reading(source, file_offset, piece_bytes));
    start_writing_out();
    file_offset += piece_bytes;
    size_bytes -= piece_bytes;
    if (go_on && !go_on(size_bytes_)) return fail(Errc::interrupted, {});
  }
  return {};
}

/// Returns false and writes nothing if the system cannot copy between the two files.
Result<bool> AtomicFile::copy_by_system(const Source& source, std::uint64_t file_offset,
                                        std::uint64_t size_bytes) {
  std::uint64_t from = file_offset;
  std::uint64_t left_bytes = size_bytes;
  while (left_bytes != 0) {
    // The system shares blocks at equal positions in both files, if the file system supports it.
    const std::ptrdiff_t copied =
        system::copy_next(source.descriptor(), from, descriptor_.get(), to_size(left_bytes));
    if (copied < 0 && errno == EINTR) continue;
    if (copied < 0 && system::is_lack_of_room(errno)) {
      return fail_with_errno(errno, {}, "write the output");
    }
    if (copied <= 0) break;  // reading works instead, or reports the error
    size_bytes_ += static_cast<std::uint64_t>(copied);
    left_bytes -= static_cast<std::uint64_t>(copied);
  }
  if (left_bytes == size_bytes) return false;
  INGOT_TRY_VOID(copy_by_reading(source, file_offset + (size_bytes - left_bytes), left_bytes));
  return true;
}

Result<void> AtomicFile::copy_by_reading(const Source& source, std::uint64_t file_offset,
                                         std::uint64_t size_bytes) {
  constexpr std::uint64_t buffer_bytes = max_write_bytes;
  std::vector<std::byte> buffer(to_size(std::min(size_bytes, buffer_bytes)));
  while (size_bytes != 0) {
    const auto piece =
        std::span(buffer).first(to_size(std::min<std::uint64_t>(size_bytes, buffer.size())));
    // Reads past the mapping of the file, whose pages would count as memory in use.
    INGOT_TRY_VOID(source.descriptor() >= 0 ? read_fully(source.descriptor(), file_offset, piece)
                                            : source.read(file_offset, piece));
    INGOT_TRY_VOID(write_through(piece));
    size_bytes_ += piece.size();
    file_offset += piece.size();
    size_bytes -= piece.size();
  }
  return {};
}

Result<void> AtomicFile::flush() {
  is_flushed_ = false;
  INGOT_TRY_VOID(write_through(std::as_bytes(std::span(gathered_))));
  gathered_.clear();
  start_writing_out();
  return {};
}

Result<void> AtomicFile::sync() {
  if (is_flushed_) return {};
  INGOT_TRY_VOID(flush());
  // Returns reserved space that was not used.
  if (!system::set_size(descriptor_.get(), size_bytes_) || !system::flush(descriptor_.get())) {
    return fail_with_errno(errno, {}, "flush the output");
  }
  gathered_.shrink_to_fit();  // most callers are done after a flush and may hold many files
  is_flushed_ = true;
  return {};
}

Result<void> AtomicFile::commit(Durability durability) {
  const bool is_flushed = durability == Durability::flushed;
  INGOT_TRY_VOID(is_flushed ? sync() : flush());
  INGOT_TRY_VOID(take_name());
  // This file is locked until it is closed, so the journal belongs to an older one.
  drop_journal(path_);
  if (is_flushed) flush_directory(directory_);
  // The file is durable, so others may edit it now.
  descriptor_ = FileDescriptor();
  replaced_ = FileDescriptor();
  return {};
}

Result<void> AtomicFile::park(const std::string& name) {
  INGOT_TRY_VOID(sync());
  const bool is_named = temporary_path_.empty() ? system::give_name(descriptor_.get(), name)
                                                : system::rename_file(temporary_path_, name);
  if (!is_named) return fail_with_errno(errno, {}, "name the output");
  temporary_path_ = name;
  descriptor_ = FileDescriptor();
  replaced_ = FileDescriptor();
  return {};
}

Result<std::optional<FileStamp>> AtomicFile::publish() {
  const auto before =
      descriptor_.is_open() ? stamp_of(descriptor_.get()) : stamp_of(temporary_path_);
  INGOT_TRY_VOID(take_name());
  auto named = stamp_of(path_);
  if (!before || !named || !named->is_same_file(*before)) named.reset();
  descriptor_ = FileDescriptor();
  replaced_ = FileDescriptor();
  return named;
}

Result<void> AtomicFile::take_name() {
  if (!may_replace_) {
    // link never replaces a file that appeared at the path in the meantime.
    const bool is_linked = temporary_path_.empty() ? system::give_name(descriptor_.get(), path_)
                                                   : system::link_file(temporary_path_, path_);
    if (is_linked) {
      if (!temporary_path_.empty()) system::remove_file(temporary_path_);
      temporary_path_.clear();
      return {};
    }
    if (errno == EEXIST) return fail(Errc::already_exists, {});
    if (temporary_path_.empty()) return fail_with_errno(errno, {}, "name the output");
    // On a file system without links the check and the rename are two steps.
    if (system::exists(path_)) return fail(Errc::already_exists, {});
  }
  INGOT_TRY_VOID(lock_replaced());  // locks a file that appeared there meanwhile
  INGOT_TRY_VOID(give_temporary_name());
  // Restores the older file first, so that a kill before the rename leaves it whole.
  if (replaced_.is_open() && replaced_lock_ == ReplacedLock::take) {
    settle_edit(replaced_.get(), path_);
  }
  int held = replaced_.release();
  const bool is_replaced = system::replace_file(temporary_path_, path_, held);
  const int error_number = errno;
  replaced_ = FileDescriptor(held);
  if (!is_replaced) return fail_with_errno(error_number, {}, "name the output");
  temporary_path_.clear();
  return {};
}

Result<void> AtomicFile::give_temporary_name() {
  for (int i = 0; temporary_path_.empty() && i < temporary_name_tries; ++i) {
    std::string name = temporary_name(path_);
    if (system::give_name(descriptor_.get(), name)) {
      temporary_path_ = std::move(name);
    } else if (errno != EEXIST) {
      break;
    }
  }
  if (temporary_path_.empty()) return fail_with_errno(errno, {}, "name the output");
  return {};
}

}  // namespace ingot::io

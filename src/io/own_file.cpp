// SPDX-License-Identifier: MIT
#include "io/own_file.hpp"

#include <cerrno>
#include <span>
#include <utility>

#include "base/checked.hpp"
#include "io/atomic_file.hpp"
#include "system/files.hpp"

namespace ingot::io {
namespace {

constexpr unsigned open_flags = system::no_links | system::never_waits;

Failure refuse(const std::string& path, const std::string& what) {
  return fail(Errc::not_a_regular_file, path, what + "; remove it if nothing else needs it");
}

Result<void> check_own(int descriptor, const std::string& path) {
  system::FileFacts facts;
  if (!system::look_at(descriptor, facts)) return fail_with_errno(errno, path, "look at it");
  if (facts.kind != system::FileKind::regular) return refuse(path, "it is no file");
  // A file without any link was just removed by another process.
  if (facts.link_count > 1) return refuse(path, "it is a hard link to another file");
  if (!system::is_own(facts)) return refuse(path, "it belongs to another user");
  return {};
}

/// Opens an existing file; the descriptor stays closed if there is no such file.
Result<FileDescriptor> open_existing(const std::string& path, system::Access access) {
  FileDescriptor file(system::open_file(path, access, open_flags));
  if (file.is_open()) {
    INGOT_TRY_VOID(check_own(file.get(), path));
    return file;
  }
  if (errno == ENOENT) return FileDescriptor();
  if (errno == ELOOP) return refuse(path, "it is a symbolic link");
  if (errno == EISDIR || errno == ENXIO) return refuse(path, "it is no file");
  return fail_with_errno(errno, path, "open it");
}

}  // namespace

Result<OwnFile> open_own_file(const std::string& path) {
  constexpr int attempts = 16;  // for a file that other processes make and remove
  for (int i = 0; i < attempts; ++i) {
    INGOT_TRY(FileDescriptor there, open_existing(path, system::Access::read_write));
    if (there.is_open()) return OwnFile{std::move(there), false};
    FileDescriptor made(
        system::open_file(path, system::Access::read_write, system::made_new | open_flags));
    if (made.is_open()) return OwnFile{std::move(made), true};
    if (errno != EEXIST) return fail_with_errno(errno, path, "create it");
  }
  return fail(Errc::file_in_use, path);
}

Result<std::string> read_own_file(const std::string& path, std::uint64_t max_bytes) {
  INGOT_TRY(const FileDescriptor file, open_existing(path, system::Access::read));
  if (!file.is_open()) return std::string();
  INGOT_TRY(const std::uint64_t size_bytes, size_of_regular(file.get(), path));
  if (size_bytes > max_bytes) return std::string();
  std::string text(to_size(size_bytes), '\0');
  INGOT_TRY_VOID(read_fully(file.get(), 0, std::as_writable_bytes(std::span(text))));
  return text;
}

Result<void> replace_own_file(const std::string& path, std::string_view text) {
  INGOT_TRY_VOID(open_existing(path, system::Access::read).transform([](const FileDescriptor&) {}));
  INGOT_TRY(AtomicFile file, AtomicFile::create(path, true, ReplacedLock::is_held, Links::refuse));
  INGOT_TRY_VOID(file.write(std::as_bytes(std::span(text))));
  return file.commit(Durability::of_the_system);
}

}  // namespace ingot::io

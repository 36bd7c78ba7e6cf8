// SPDX-License-Identifier: MIT
// Files as the operating system has them. A folder of this module for each system implements these
// functions, and nothing outside of it asks the system for files. Descriptors are numbers, -1 for
// none; paths are UTF-8; a function that fails says why in errno, in the numbers of POSIX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ingot/export.h"

namespace ingot::system {

enum class FileKind : std::uint8_t { regular, folder, link, fifo, other };

struct FileFacts {
  FileKind kind = FileKind::other;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t link_count = 0;
  std::int64_t modified_ns = 0;   ///< When its bytes changed, since 1970.
  std::int64_t changed_ns = 0;    ///< When anything about it changed.
  std::uint32_t permissions = 0;  ///< The permission bits rwxrwxrwx.
  std::uint32_t owner = 0;
  std::uint32_t group = 0;

  [[nodiscard]] bool is_same_file(const FileFacts& other) const noexcept {
    return device == other.device && inode == other.inode;
  }
};

enum class Links : std::uint8_t { follow, refuse };

[[nodiscard]] INGOT_EXPORT bool look_at(int descriptor, FileFacts& facts) noexcept;
/// With Links::refuse the facts are those of the link itself.
[[nodiscard]] INGOT_EXPORT bool look_at(const std::string& path, FileFacts& facts,
                                        Links links = Links::follow) noexcept;
[[nodiscard]] INGOT_EXPORT bool exists(const std::string& path) noexcept;
/// 0, or the errno that tells why this process may not write to the file.
[[nodiscard]] int refusal_to_write(const std::string& path) noexcept;
/// Whether the file belongs to the user of this process.
[[nodiscard]] INGOT_EXPORT bool is_own(const FileFacts& facts) noexcept;
/// The block size of the file system; 0 where it is not known or of no use.
[[nodiscard]] std::uint64_t block_bytes_of(int descriptor) noexcept;
[[nodiscard]] std::uint64_t block_bytes_of(const std::string& path) noexcept;
/// The room on the disk of an open file; nothing if the system does not tell.
[[nodiscard]] std::optional<std::uint64_t> free_bytes(int descriptor) noexcept;
/// The absolute path with all links followed; empty if it leads nowhere.
[[nodiscard]] std::string real_path(const std::string& path);
/// The absolute path of an open file; empty if the system does not tell.
[[nodiscard]] std::string path_of(int descriptor);
/// Why no new file or folder can have this path, in words; empty if one can.
[[nodiscard]] INGOT_EXPORT std::string find_forbidden_name(const std::string& path);
/// The system's words for an errno.
[[nodiscard]] INGOT_EXPORT std::string words_for(int error_number);

// --- opening

enum class Access : std::uint8_t { read, write, read_write };
/// What else holds for an opening; the values add up.
enum OpenFlags : unsigned {
  plain = 0,
  made_new = 1,     ///< EEXIST if there is a file.
  no_links = 2,     ///< ELOOP for a symbolic link.
  never_waits = 4,  ///< EWOULDBLOCK where another process has the file for a moment; no FIFO waits.
};
[[nodiscard]] INGOT_EXPORT int open_file(const std::string& path, Access access,
                                         unsigned flags = plain) noexcept;
/// A folder, or with OpenFlags::no_links only the folder itself.
[[nodiscard]] INGOT_EXPORT int open_folder(const std::string& path,
                                           unsigned flags = plain) noexcept;
/// A file or folder to look at, without rights to its content.
[[nodiscard]] int open_place(const std::string& path) noexcept;
/// A file without a name in a folder; -1 where the system or the file system has none.
[[nodiscard]] int open_unnamed(const std::string& folder, Access access,
                               unsigned permissions) noexcept;
/// Whether `give_name` works for unnamed files.
[[nodiscard]] bool can_give_name(int descriptor) noexcept;
/// Opens the file of a descriptor once more, for reading and writing.
[[nodiscard]] int open_again(int descriptor) noexcept;
[[nodiscard]] INGOT_EXPORT int duplicate(int descriptor) noexcept;
INGOT_EXPORT void close_file(int descriptor) noexcept;

// --- content; these return the number of bytes, or -1

[[nodiscard]] std::ptrdiff_t read_at(int descriptor, void* bytes, std::size_t size,
                                     std::uint64_t file_offset) noexcept;
[[nodiscard]] std::ptrdiff_t write_at(int descriptor, const void* bytes, std::size_t size,
                                      std::uint64_t file_offset) noexcept;
[[nodiscard]] std::ptrdiff_t read_next(int descriptor, void* bytes, std::size_t size) noexcept;
[[nodiscard]] std::ptrdiff_t write_next(int descriptor, const void* bytes,
                                        std::size_t size) noexcept;
/// Copies within the system; 0 or -1 where it cannot. `from_offset` moves on.
[[nodiscard]] std::ptrdiff_t copy_next(int from, std::uint64_t& from_offset, int to,
                                       std::size_t size) noexcept;
/// Waits until a pipe that never blocks has bytes.
[[nodiscard]] bool wait_for_bytes(int descriptor) noexcept;
[[nodiscard]] INGOT_EXPORT bool set_size(int descriptor, std::uint64_t size_bytes) noexcept;
[[nodiscard]] bool flush(int descriptor) noexcept;
/// Flushes the names in a folder, where that is needed and possible.
void flush_folder(const std::string& folder) noexcept;
/// Starts writing bytes to the disk, without waiting.
void start_writing_out(int descriptor, std::uint64_t file_offset,
                       std::uint64_t size_bytes) noexcept;
void advise_reading(int descriptor, std::uint64_t file_offset, std::uint64_t size_bytes) noexcept;

enum class Room : std::uint8_t { beyond_the_end, as_size };
/// Claims room on the disk.
[[nodiscard]] bool reserve(int descriptor, std::uint64_t size_bytes, Room room) noexcept;
/// Whether the errno says that the disk or a quota is full, or the file would be too large.
[[nodiscard]] bool is_lack_of_room(int error_number) noexcept;

// --- ranges of a file; false where the file system has no such

[[nodiscard]] bool insert_range(int descriptor, std::uint64_t offset, std::uint64_t bytes) noexcept;
[[nodiscard]] bool punch_range(int descriptor, std::uint64_t offset, std::uint64_t bytes) noexcept;
[[nodiscard]] bool collapse_range(int descriptor, std::uint64_t offset,
                                  std::uint64_t bytes) noexcept;
[[nodiscard]] bool share_blocks(int from, int to, std::uint64_t bytes) noexcept;
[[nodiscard]] std::optional<std::uint64_t> find_hole(int descriptor, std::uint64_t offset) noexcept;

// --- names

[[nodiscard]] bool give_name(int descriptor, const std::string& path) noexcept;
[[nodiscard]] bool link_file(const std::string& from, const std::string& to) noexcept;
/// Replaces what has the name `to`.
INGOT_EXPORT bool rename_file(const std::string& from, const std::string& to) noexcept;
/// EEXIST if something has the name `to`.
INGOT_EXPORT bool rename_to_new(const std::string& from, const std::string& to) noexcept;
/// Replaces a file that is locked by its descriptor `held`, or by none. Where the system replaces
/// no file that is open, closes that descriptor, which is -1 then; others get its lock only after
/// the new file has the name. There it waits, too, for others that have the file open.
[[nodiscard]] bool replace_file(const std::string& from, const std::string& to, int& held) noexcept;
INGOT_EXPORT bool exchange_names(const std::string& a, const std::string& b) noexcept;
INGOT_EXPORT bool remove_file(const std::string& path) noexcept;
/// A private folder is for this user alone.
enum class Privacy : std::uint8_t { as_usual, only_user };
INGOT_EXPORT bool make_folder(const std::string& path,
                              Privacy privacy = Privacy::as_usual) noexcept;
INGOT_EXPORT bool remove_folder(const std::string& path) noexcept;
/// Removes the files of an open folder, but no folders in it.
void remove_files_of(int folder) noexcept;
/// Calls `take` with each name in a folder.
[[nodiscard]] bool list_names(const std::string& folder,
                              const std::function<void(const char*)>& take);
/// Gives an open file the owner and the permissions of another, as far as the system allows.
void take_access(int descriptor, const FileFacts& other) noexcept;

// --- locks, which end with the descriptor

enum class LockKind : std::uint8_t { shared, exclusive };
enum class LockAttempt : std::uint8_t { locked, busy, no_locks_here };
[[nodiscard]] INGOT_EXPORT LockAttempt try_lock(int descriptor,
                                                LockKind kind = LockKind::exclusive) noexcept;
void unlock(int descriptor) noexcept;
/// The process that holds the lock, as "ingot, process 4711"; empty if the system does not say.
[[nodiscard]] std::string describe_holder(int descriptor);
/// Whether another descriptor or mapping of the file is open; nothing if that cannot be told.
[[nodiscard]] std::optional<bool> is_open_elsewhere(int descriptor) noexcept;

}  // namespace ingot::system

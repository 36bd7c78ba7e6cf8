// SPDX-License-Identifier: MIT
#include "system/files.hpp"

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "system/windows/windows.hpp"

namespace ingot::system {
namespace {

constexpr DWORD pause_ms = 10;

std::uint64_t joined(DWORD high, DWORD low) noexcept { return std::uint64_t{high} << 32 | low; }

/// From the times of Windows, in 100 ns since 1601.
std::int64_t unix_ns(std::int64_t time) noexcept {
  constexpr std::int64_t ticks_to_1970 = 116'444'736'000'000'000;
  return (time - ticks_to_1970) * 100;
}

int descriptor_of(HANDLE handle, int flags) noexcept {
  if (handle == INVALID_HANDLE_VALUE) return -1;
  const int descriptor =
      ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle), flags | _O_BINARY | _O_NOINHERIT);
  if (descriptor < 0) ::CloseHandle(handle);
  return descriptor;
}

/// Whether it is a link that was opened itself. Files that a cloud holds are reparse points, too.
bool is_link(HANDLE handle) noexcept {
  constexpr DWORD stands_for_another_name = 0x20000000;
  FILE_ATTRIBUTE_TAG_INFO info{};
  return ::GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &info, sizeof info) != 0 &&
         (info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
         (info.ReparseTag & stands_for_another_name) != 0;
}

/// Refuses a link that was opened itself.
HANDLE without_link(HANDLE handle, unsigned flags) noexcept {
  if (handle == INVALID_HANDLE_VALUE || (flags & no_links) == 0 || !is_link(handle)) {
    return handle;
  }
  ::CloseHandle(handle);
  errno = ELOOP;
  return INVALID_HANDLE_VALUE;
}

std::string final_path(HANDLE handle) {
  std::wstring path(std::size_t{1} << 15, L'\0');
  const DWORD size =
      ::GetFinalPathNameByHandleW(handle, path.data(), static_cast<DWORD>(path.size()), 0);
  if (size == 0 || size >= path.size()) return {};
  std::string text = narrow(path.c_str());
  if (text.starts_with("//?/UNC/")) return "//" + text.substr(8);
  return text.starts_with("//?/") ? text.substr(4) : text;
}

/// Renames a file over one that may be open, as file systems of Windows 10 can.
bool replace_open_file(const std::wstring& from, const std::wstring& to) {
  constexpr auto rename_info_ex = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
  constexpr DWORD replaces_open_and_read_only = 0x1 | 0x2 | 0x40;
  const HANDLE handle = ::CreateFileW(
      from.c_str(), DELETE | SYNCHRONIZE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
      nullptr, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return false;
  std::wstring full(::GetFullPathNameW(to.c_str(), 0, nullptr, nullptr), L'\0');
  full.resize(
      ::GetFullPathNameW(to.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr));
  const std::size_t name_bytes = full.size() * sizeof(wchar_t);
  std::vector<std::uint64_t> room((sizeof(FILE_RENAME_INFO) + name_bytes) / 8 + 1);
  auto* const info = reinterpret_cast<FILE_RENAME_INFO*>(room.data());
  info->Flags = replaces_open_and_read_only;
  info->FileNameLength = static_cast<DWORD>(name_bytes);
  std::copy(full.begin(), full.end(), info->FileName);
  const bool is_done =
      ::SetFileInformationByHandle(handle, rename_info_ex, info,
                                   static_cast<DWORD>(sizeof(FILE_RENAME_INFO) + name_bytes)) != 0;
  ::CloseHandle(handle);
  return is_done;
}

bool move_file(const std::string& from, const std::string& to, DWORD flags) noexcept {
  const std::wstring source = wide(from);
  const std::wstring target = wide(to);
  return ::MoveFileExW(source.c_str(), target.c_str(), flags) != 0 || note_failure();
}

}  // namespace

HANDLE handle_of(int descriptor) noexcept {
  return descriptor < 0 ? INVALID_HANDLE_VALUE
                        : reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
}

HANDLE open_handle(const std::string& path, DWORD access, DWORD disposition, DWORD flags) noexcept {
  const std::wstring name = wide(path);
  if (name.empty()) return INVALID_HANDLE_VALUE;
  const HANDLE handle = ::CreateFileW(
      name.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
      disposition, FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS | flags, nullptr);
  if (handle == INVALID_HANDLE_VALUE) note_failure();
  return handle;
}

bool look_at_handle(HANDLE handle, FileFacts& facts) noexcept {
  ::SetLastError(NO_ERROR);
  const DWORD type = ::GetFileType(handle);
  if (type == FILE_TYPE_UNKNOWN && ::GetLastError() != NO_ERROR) return note_failure();
  facts = {};
  facts.kind = type == FILE_TYPE_PIPE ? FileKind::fifo : FileKind::other;
  if (type != FILE_TYPE_DISK) return true;
  BY_HANDLE_FILE_INFORMATION info{};
  FILE_BASIC_INFO basic{};
  if (!::GetFileInformationByHandle(handle, &info) ||
      !::GetFileInformationByHandleEx(handle, FileBasicInfo, &basic, sizeof basic)) {
    return note_failure();
  }
  facts.kind = FileKind::regular;
  if ((info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) facts.kind = FileKind::folder;
  facts.device = info.dwVolumeSerialNumber;
  facts.inode = joined(info.nFileIndexHigh, info.nFileIndexLow);
  facts.size_bytes = joined(info.nFileSizeHigh, info.nFileSizeLow);
  facts.link_count = info.nNumberOfLinks;
  facts.modified_ns = unix_ns(basic.LastWriteTime.QuadPart);
  facts.changed_ns = unix_ns(basic.ChangeTime.QuadPart);
  facts.permissions = (info.dwFileAttributes & FILE_ATTRIBUTE_READONLY) != 0 ? 0444 : 0666;
  return true;
}

bool look_at(int descriptor, FileFacts& facts) noexcept {
  return look_at_handle(handle_of(descriptor), facts);
}

bool look_at(const std::string& path, FileFacts& facts, Links links) noexcept {
  const DWORD flags = links == Links::refuse ? FILE_FLAG_OPEN_REPARSE_POINT : 0;
  const HANDLE handle = open_handle(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, flags);
  if (handle == INVALID_HANDLE_VALUE) return false;
  const bool is_done = look_at_handle(handle, facts);
  if (is_done && links == Links::refuse && is_link(handle)) facts.kind = FileKind::link;
  ::CloseHandle(handle);
  return is_done;
}

bool exists(const std::string& path) noexcept {
  FileFacts facts;
  return look_at(path, facts);
}

int refusal_to_write(const std::string& path) noexcept {
  const HANDLE handle = open_handle(path, GENERIC_WRITE, OPEN_EXISTING, 0);
  if (handle == INVALID_HANDLE_VALUE) return errno;
  ::CloseHandle(handle);
  return 0;
}

bool is_own(const FileFacts&) noexcept { return true; }  // rights are with the folder
std::uint64_t block_bytes_of(int) noexcept { return 0; }
std::uint64_t block_bytes_of(const std::string&) noexcept { return 0; }

std::optional<std::uint64_t> free_bytes(int descriptor) noexcept {
  std::string path = path_of(descriptor);
  ULARGE_INTEGER free{};
  const std::wstring folder = wide(path.substr(0, path.rfind('/') + 1));
  if (!::GetDiskFreeSpaceExW(folder.c_str(), &free, nullptr, nullptr)) return std::nullopt;
  return free.QuadPart;
}

std::string real_path(const std::string& path) {
  const HANDLE handle = open_handle(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, 0);
  if (handle == INVALID_HANDLE_VALUE) return {};
  std::string real = final_path(handle);
  ::CloseHandle(handle);
  return real;
}

std::string path_of(int descriptor) { return final_path(handle_of(descriptor)); }

int open_file(const std::string& path, Access access, unsigned flags) noexcept {
  const DWORD rights =
      (access != Access::write ? GENERIC_READ : 0) | (access != Access::read ? GENERIC_WRITE : 0);
  const DWORD disposition = (flags & made_new) != 0 ? CREATE_NEW : OPEN_EXISTING;
  const HANDLE handle = open_handle(path, rights, disposition,
                                    (flags & no_links) != 0 ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
  const int number =
      descriptor_of(without_link(handle, flags), access == Access::read ? _O_RDONLY : _O_RDWR);
  FileFacts facts;
  if (access == Access::read || number < 0 || !look_at(number, facts) ||
      facts.kind != FileKind::folder) {
    return number;
  }
  ::_close(number);
  errno = EISDIR;
  return -1;
}

int open_folder(const std::string& path, unsigned flags) noexcept {
  const int number = open_file(path, Access::read, flags);
  FileFacts facts;
  if (number < 0 || (look_at(number, facts) && facts.kind == FileKind::folder)) return number;
  ::_close(number);
  errno = ENOTDIR;
  return -1;
}

int open_place(const std::string& path) noexcept {
  return descriptor_of(open_handle(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, 0), _O_RDONLY);
}

int open_unnamed(const std::string&, Access, unsigned) noexcept {
  errno = ENOSYS;
  return -1;
}

bool can_give_name(int) noexcept { return false; }

int open_again(int descriptor) noexcept {
  const HANDLE handle = ::ReOpenFile(handle_of(descriptor), GENERIC_READ | GENERIC_WRITE,
                                     FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, 0);
  if (handle != INVALID_HANDLE_VALUE) return descriptor_of(handle, _O_RDWR);
  const std::string path = path_of(descriptor);  // a system that does not reopen
  return path.empty() ? -1 : open_file(path, Access::read_write);
}

int duplicate(int descriptor) noexcept {
  HANDLE copy = nullptr;
  const HANDLE self = ::GetCurrentProcess();
  if (!::DuplicateHandle(self, handle_of(descriptor), self, &copy, 0, FALSE,
                         DUPLICATE_SAME_ACCESS)) {
    note_failure();
    return -1;
  }
  return descriptor_of(copy, _O_RDWR);
}

void close_file(int descriptor) noexcept {
  drop_lock(descriptor);
  ::_close(descriptor);
}

bool insert_range(int, std::uint64_t, std::uint64_t) noexcept {
  errno = ENOSYS;
  return false;
}
bool punch_range(int, std::uint64_t, std::uint64_t) noexcept {
  errno = ENOSYS;
  return false;
}
bool collapse_range(int, std::uint64_t, std::uint64_t) noexcept {
  errno = ENOSYS;
  return false;
}
bool share_blocks(int, int, std::uint64_t) noexcept { return false; }
std::optional<std::uint64_t> find_hole(int, std::uint64_t) noexcept { return std::nullopt; }

bool give_name(int, const std::string&) noexcept {
  errno = ENOSYS;
  return false;
}

bool link_file(const std::string& from, const std::string& to) noexcept {
  return ::CreateHardLinkW(wide(to).c_str(), wide(from).c_str(), nullptr) != 0 || note_failure();
}

bool rename_file(const std::string& from, const std::string& to) noexcept {
  int none = -1;
  return replace_file(from, to, none);
}

bool rename_to_new(const std::string& from, const std::string& to) noexcept {
  return move_file(from, to, MOVEFILE_WRITE_THROUGH);
}

bool replace_file(const std::string& from, const std::string& to, int& held) noexcept {
  if (replace_open_file(wide(from), wide(to))) return true;
  FileFacts facts;
  NamedLock lock;
  if (held >= 0 && look_at(held, facts)) {
    static_cast<void>(lock.take(facts));
    close_file(held);
    held = -1;
  }
  constexpr int tries = 500;  // 5 s for those that have the file open for a moment
  for (int i = 1;; ++i) {
    if (move_file(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return true;
    // A file that is open or mapped is "denied" like one without rights.
    const bool may_be_open = errno == EACCES || errno == EBUSY;
    FileFacts target;
    if (!may_be_open || i == tries || !look_at(to, target) || target.kind != FileKind::regular) {
      break;
    }
    ::Sleep(pause_ms);
  }
  if (errno == EACCES && refusal_to_write(to) == 0) errno = EBUSY;
  return false;
}

bool exchange_names(const std::string& a, const std::string& b) noexcept {
  const std::string aside = b + ".exchanged";
  if (!move_file(b, aside, 0)) return false;
  if (move_file(a, b, 0)) return move_file(aside, a, 0);
  move_file(aside, b, 0);
  return false;
}

bool remove_file(const std::string& path) noexcept {
  return ::DeleteFileW(wide(path).c_str()) != 0 || note_failure();
}

bool make_folder(const std::string& path, Privacy) noexcept {
  return ::CreateDirectoryW(wide(path).c_str(), nullptr) != 0 || note_failure();
}

bool remove_folder(const std::string& path) noexcept {
  return ::RemoveDirectoryW(wide(path).c_str()) != 0 || note_failure();
}

void remove_files_of(int folder) noexcept {
  const std::string path = path_of(folder);
  if (path.empty()) return;
  static_cast<void>(list_names(path, [&](const char* name) { remove_file(path + "/" + name); }));
}

bool list_names(const std::string& folder, const std::function<void(const char*)>& take) {
  WIN32_FIND_DATAW entry{};
  const HANDLE search = ::FindFirstFileExW(wide(folder + "/*").c_str(), FindExInfoBasic, &entry,
                                           FindExSearchNameMatch, nullptr, 0);
  if (search == INVALID_HANDLE_VALUE) return note_failure();
  do {
    take(narrow(entry.cFileName).c_str());
  } while (::FindNextFileW(search, &entry));
  ::FindClose(search);
  return true;
}

void take_access(int, const FileFacts&) noexcept {}  // rights are with the folder

}  // namespace ingot::system

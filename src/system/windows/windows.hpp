// SPDX-License-Identifier: MIT
// What the files of this folder share.
#pragma once

#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <cstdint>
#include <string>

#include "system/files.hpp"

namespace ingot::system {

/// The path in UTF-16 with backslashes, in the form that has no limit of 260 characters where it is
/// long. Empty, with errno, if the text is no UTF-8.
[[nodiscard]] std::wstring wide(const std::string& path);
/// UTF-8 with slashes.
[[nodiscard]] std::string narrow(const wchar_t* text);

/// The handle of a descriptor of the C library.
[[nodiscard]] HANDLE handle_of(int descriptor) noexcept;
/// Sets errno from the last error of the system; false.
bool note_failure() noexcept;

/// Opens anything that has a name; INVALID_HANDLE_VALUE with errno. Others may read, write, rename
/// and remove it meanwhile.
[[nodiscard]] HANDLE open_handle(const std::string& path, DWORD access, DWORD disposition,
                                 DWORD flags) noexcept;
/// The facts of an open handle.
[[nodiscard]] bool look_at_handle(HANDLE handle, FileFacts& facts) noexcept;

/// While it lives, `try_lock` finds the file or folder of these facts busy, in every process. It
/// ends with the process.
class NamedLock {
 public:
  NamedLock() = default;
  NamedLock(const NamedLock&) = delete;
  NamedLock& operator=(const NamedLock&) = delete;
  ~NamedLock() { give_back(); }
  /// False if another one has it.
  [[nodiscard]] bool take(const FileFacts& facts) noexcept;
  [[nodiscard]] static bool is_taken(const FileFacts& facts) noexcept;
  void give_back() noexcept;
  [[nodiscard]] HANDLE release() noexcept;

 private:
  HANDLE handle_ = nullptr;
};

/// Forgets the lock of a descriptor that is closed.
void drop_lock(int descriptor) noexcept;

}  // namespace ingot::system

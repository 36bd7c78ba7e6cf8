// SPDX-License-Identifier: MIT
#include "system/system.hpp"

#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
// After windows.h.
#include <fcntl.h>
#include <io.h>
#include <shellapi.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace ingot::cli::system {
namespace {

constexpr std::int64_t tick_ns = 100;
constexpr std::int64_t ticks_to_1970 = 116'444'736'000'000'000;

void (*stop_handler)(int) = nullptr;
void (*lost_handler)(int) = nullptr;

/// Runs in a thread of its own. The process ends by the handler, or in order by its work.
BOOL WINAPI note_control(DWORD event) {
  stop_handler(event == CTRL_C_EVENT ? SIGINT : SIGTERM);
  // When the console closes, the process ends as soon as this returns, in 5 s at the latest.
  if (event == CTRL_CLOSE_EVENT || event == CTRL_LOGOFF_EVENT || event == CTRL_SHUTDOWN_EVENT) {
    ::Sleep(INFINITE);
  }
  return TRUE;
}

LONG WINAPI note_exception(EXCEPTION_POINTERS* pointers) {
  if (pointers->ExceptionRecord->ExceptionCode == EXCEPTION_IN_PAGE_ERROR) lost_handler(SIGSEGV);
  return EXCEPTION_CONTINUE_SEARCH;
}

HANDLE handle_of(int descriptor) noexcept {
  return reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
}

std::wstring wide(const std::string& path) {
  const auto size = static_cast<int>(path.size());
  std::wstring text(
      static_cast<std::size_t>(::MultiByteToWideChar(CP_UTF8, 0, path.data(), size, nullptr, 0)),
      L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, path.data(), size, text.data(), static_cast<int>(text.size()));
  return text;
}

HANDLE open_handle(const std::string& path, DWORD access) noexcept {
  return ::CreateFileW(wide(path).c_str(), access,
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                       OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
}

bool look_at_handle(HANDLE handle, FileFacts& facts) noexcept {
  BY_HANDLE_FILE_INFORMATION info{};
  facts = {};
  if (::GetFileType(handle) != FILE_TYPE_DISK) return handle != INVALID_HANDLE_VALUE;
  if (!::GetFileInformationByHandle(handle, &info)) return false;
  const auto joined = [](DWORD high, DWORD low) { return std::uint64_t{high} << 32 | low; };
  facts.is_regular = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
  facts.size_bytes = joined(info.nFileSizeHigh, info.nFileSizeLow);
  facts.modified_ns = (static_cast<std::int64_t>(joined(info.ftLastWriteTime.dwHighDateTime,
                                                        info.ftLastWriteTime.dwLowDateTime)) -
                       ticks_to_1970) *
                      tick_ns;
  facts.device = info.dwVolumeSerialNumber;
  facts.inode = joined(info.nFileIndexHigh, info.nFileIndexLow);
  return true;
}

int error_of_last() noexcept {
  switch (::GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
      return ENOENT;
    case ERROR_ACCESS_DENIED:
      return EACCES;
    case ERROR_NO_DATA:
    case ERROR_BROKEN_PIPE:
      return EPIPE;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return ENOSPC;
    default:
      return EIO;
  }
}

std::string utf8(const wchar_t* text) {
  const int size = ::WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
  std::string argument(static_cast<std::size_t>(std::max(size, 1)), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text, -1, argument.data(), size, nullptr, nullptr);
  argument.pop_back();  // the zero at the end
  return argument;
}

}  // namespace

const bool has_backslash_paths = true;

std::vector<std::string> begin(int, char**) {
  for (const int stream : {standard_input, standard_output, standard_error}) {
    ::_setmode(stream, _O_BINARY);
  }
  ::SetConsoleOutputCP(CP_UTF8);
  ::SetConsoleCP(CP_UTF8);
  for (const int stream : {standard_output, standard_error}) {
    DWORD mode = 0;
    if (::GetConsoleMode(handle_of(stream), &mode)) {
      ::SetConsoleMode(handle_of(stream), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    }
  }
  int count = 0;
  wchar_t** const texts = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  std::vector<std::string> arguments;
  for (int i = 0; i < count; ++i) arguments.push_back(utf8(texts[i]));
  ::LocalFree(texts);
  return arguments;
}

void handle_signals(void (*stop)(int), void (*lost)(int)) noexcept {
  stop_handler = stop;
  lost_handler = lost;
  ::SetConsoleCtrlHandler(note_control, TRUE);
  ::AddVectoredExceptionHandler(1, note_exception);
}

bool is_terminal(int descriptor) noexcept {
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(descriptor), &mode) != 0;
}

std::size_t terminal_columns() noexcept {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (!::GetConsoleScreenBufferInfo(handle_of(standard_output), &info)) return 0;
  return static_cast<std::size_t>(info.srWindow.Right - info.srWindow.Left + 1);
}

bool has_unicode_terminal() noexcept { return is_terminal(standard_output); }

bool has_colour_terminal() noexcept {
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(standard_output), &mode) != 0 &&
         (mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

bool look_at(int descriptor, FileFacts& facts) noexcept {
  return look_at_handle(handle_of(descriptor), facts);
}

bool look_at(const std::string& path, FileFacts& facts) noexcept {
  const HANDLE handle = open_handle(path, FILE_READ_ATTRIBUTES);
  if (handle == INVALID_HANDLE_VALUE) return false;
  const bool is_done = look_at_handle(handle, facts);
  ::CloseHandle(handle);
  return is_done;
}

int open_file(const std::string& path) noexcept {
  const HANDLE handle = open_handle(path, GENERIC_READ);
  if (handle == INVALID_HANDLE_VALUE) {
    errno = error_of_last();
    return -1;
  }
  return ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle), _O_RDONLY | _O_BINARY);
}

int open_nameless(const std::string& folder) noexcept {
  wchar_t path[MAX_PATH + 1];
  HANDLE handle = INVALID_HANDLE_VALUE;
  if (::GetTempFileNameW(wide(folder).c_str(), L"ing", 0, path) != 0) {
    handle = ::CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE, 0, nullptr, CREATE_ALWAYS,
                           FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
      const DWORD failure = ::GetLastError();
      ::DeleteFileW(path);
      ::SetLastError(failure);
    }
  }
  if (handle == INVALID_HANDLE_VALUE) {
    errno = error_of_last();
    return -1;
  }
  return ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle), _O_RDWR | _O_BINARY);
}

void close_file(int descriptor) noexcept { ::_close(descriptor); }

std::ptrdiff_t read_next(int descriptor, char* bytes, std::size_t size) noexcept {
  DWORD count = 0;
  const auto wanted = static_cast<DWORD>(std::min(size, std::size_t{1} << 20));
  if (::ReadFile(handle_of(descriptor), bytes, wanted, &count, nullptr)) return count;
  if (::GetLastError() == ERROR_BROKEN_PIPE || ::GetLastError() == ERROR_HANDLE_EOF) return 0;
  errno = ::GetLastError() == ERROR_INVALID_FUNCTION ? EISDIR : error_of_last();
  return -1;
}

int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    DWORD written = 0;
    const auto wanted = static_cast<DWORD>(std::min(text.size(), std::size_t{1} << 20));
    if (!::WriteFile(handle_of(descriptor), text.data(), wanted, &written, nullptr)) {
      return error_of_last();
    }
    text.remove_prefix(written);
  }
  return 0;
}

}  // namespace ingot::cli::system

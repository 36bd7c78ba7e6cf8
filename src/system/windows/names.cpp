// SPDX-License-Identifier: MIT
// Paths and words: UTF-8 outside, UTF-16 for the system.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "system/windows/windows.hpp"

namespace ingot::system {
namespace {

constexpr std::size_t longest_short_path = 240;  // MAX_PATH less a name of DOS

/// Errors of the system, their errno, and its words as other systems have them.
struct ErrorRow {
  DWORD error;
  int number;
};
constexpr ErrorRow error_rows[] = {
    {ERROR_FILE_NOT_FOUND, ENOENT},
    {ERROR_PATH_NOT_FOUND, ENOENT},
    {ERROR_INVALID_DRIVE, ENOENT},
    {ERROR_BAD_NETPATH, ENOENT},
    {ERROR_BAD_NET_NAME, ENOENT},
    {ERROR_ACCESS_DENIED, EACCES},
    {ERROR_WRITE_PROTECT, EROFS},
    {ERROR_SHARING_VIOLATION, EBUSY},
    {ERROR_LOCK_VIOLATION, EBUSY},
    {ERROR_DELETE_PENDING, EBUSY},
    {ERROR_USER_MAPPED_FILE, EBUSY},
    {ERROR_FILE_EXISTS, EEXIST},
    {ERROR_ALREADY_EXISTS, EEXIST},
    {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
    {ERROR_DIRECTORY, ENOTDIR},
    {ERROR_DISK_FULL, ENOSPC},
    {ERROR_HANDLE_DISK_FULL, ENOSPC},
    {ERROR_FILE_TOO_LARGE, EFBIG},
    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    {ERROR_OUTOFMEMORY, ENOMEM},
    {ERROR_COMMITMENT_LIMIT, ENOMEM},
    {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    {ERROR_INVALID_HANDLE, EBADF},
    {ERROR_INVALID_NAME, EINVAL},
    {ERROR_BAD_PATHNAME, EINVAL},
    {ERROR_INVALID_PARAMETER, EINVAL},
    {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    {ERROR_NOT_SAME_DEVICE, EXDEV},
    {ERROR_BROKEN_PIPE, EPIPE},
    {ERROR_NO_DATA, EPIPE},
    {ERROR_INVALID_FUNCTION, ENOSYS},
    {ERROR_NOT_SUPPORTED, ENOSYS},
    {ERROR_CANT_RESOLVE_FILENAME, ELOOP},
};

struct WordsRow {
  int number;
  const char* words;
};
constexpr WordsRow words_rows[] = {
    {ENOENT, "No such file or directory"},
    {EACCES, "Permission denied"},
    {EROFS, "Read-only file system"},
    {EBUSY, "another program has it open"},
    {EEXIST, "File exists"},
    {ENOTEMPTY, "Directory not empty"},
    {ENOTDIR, "Not a directory"},
    {EISDIR, "Is a directory"},
    {ENOSPC, "No space left on device"},
    {EFBIG, "File too large"},
    {ENOMEM, "Cannot allocate memory"},
    {EMFILE, "Too many open files"},
    {EINVAL, "Invalid argument"},
    {ENAMETOOLONG, "File name too long"},
    {EXDEV, "Invalid cross-device link"},
    {EPIPE, "Broken pipe"},
    {ENOSYS, "the system cannot do that"},
    {ELOOP, "it is a symbolic link"},
    {EILSEQ, "the name is not UTF-8"},
};

bool is_letter(char letter) noexcept {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

/// Whether a name means a device of the system, with any ending: CON, COM1, NUL.gguf.
bool is_device(std::string_view name) noexcept {
  std::string stem;
  for (const char letter : name.substr(0, name.find('.'))) {
    stem += is_letter(letter) ? static_cast<char>(letter & ~0x20) : letter;
  }
  while (stem.ends_with(' ')) stem.pop_back();
  for (const std::string_view device : {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}) {
    if (stem == device) return true;
  }
  const bool is_port = stem.starts_with("COM") || stem.starts_with("LPT");
  return is_port && stem.size() == 4 && stem[3] >= '1' && stem[3] <= '9';
}

std::string find_fault(std::string_view name) {
  if (name == "." || name == "..") return {};
  if (is_device(name)) return "is a device of Windows";
  if (name.ends_with('.') || name.ends_with(' ')) return "ends with a dot or a space";
  for (const char letter : name) {
    if (static_cast<unsigned char>(letter) < ' ') return "has a control character";
    if (std::strchr("<>:\"|?*", letter) != nullptr) {
      return std::string("has the character '") + letter + "'";
    }
  }
  return {};
}

}  // namespace

std::wstring wide(const std::string& path) {
  const auto size = static_cast<int>(path.size());
  const int units =
      ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path.data(), size, nullptr, 0);
  std::wstring text(static_cast<std::size_t>(units), L'\0');
  ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path.data(), size, text.data(), units);
  if (text.empty()) errno = path.empty() ? ENOENT : EILSEQ;
  for (wchar_t& letter : text) {
    if (letter == L'/') letter = L'\\';
  }
  if (text.size() < longest_short_path || text.starts_with(L"\\\\?\\")) return text;
  std::wstring full(::GetFullPathNameW(text.c_str(), 0, nullptr, nullptr), L'\0');
  full.resize(
      ::GetFullPathNameW(text.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr));
  const bool is_network = full.starts_with(L"\\\\");
  return is_network ? L"\\\\?\\UNC" + full.substr(1) : L"\\\\?\\" + full;
}

std::string narrow(const wchar_t* text) {
  const int size = ::WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
  std::string path(size > 0 ? static_cast<std::size_t>(size) : 1, '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text, -1, path.data(), size, nullptr, nullptr);
  path.pop_back();  // the zero at the end
  for (char& letter : path) {
    if (letter == '\\') letter = '/';
  }
  return path;
}

bool note_failure() noexcept {
  const DWORD error = ::GetLastError();
  errno = EIO;
  for (const ErrorRow& row : error_rows) {
    if (row.error == error) errno = row.number;
  }
  return false;
}

std::string words_for(int error_number) {
  for (const WordsRow& row : words_rows) {
    if (row.number == error_number) return row.words;
  }
  return std::strerror(error_number);
}

std::string find_forbidden_name(const std::string& path) {
  std::string_view rest = path;
  if (rest.size() > 1 && is_letter(rest[0]) && rest[1] == ':') rest.remove_prefix(2);
  if (rest.starts_with("//?/") || rest.starts_with("\\\\?\\")) return {};  // meant as it is
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of("/\\"), rest.size());
    const std::string_view name = rest.substr(0, end);
    if (const std::string fault = find_fault(name); !fault.empty()) {
      return "\"" + std::string(name) + "\" " + fault;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace ingot::system

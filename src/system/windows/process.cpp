// SPDX-License-Identifier: MIT
#include "system/process.hpp"

#include <cerrno>

#include "system/memory.hpp"
#include "system/windows/windows.hpp"
// After windows.h.
#include <bcrypt.h>

namespace ingot::system {

std::uint64_t process_number() noexcept { return ::GetCurrentProcessId(); }

std::optional<std::uint64_t> free_memory_bytes() noexcept {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (!::GlobalMemoryStatusEx(&status)) return std::nullopt;
  return status.ullAvailPhys;
}

bool fill_randomly(void* bytes, std::size_t size) noexcept {
  return ::BCryptGenRandom(nullptr, static_cast<PUCHAR>(bytes), static_cast<ULONG>(size),
                           BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
}

void* load_library(const char* name) noexcept {
  // Not from the working folder, which may be a stranger's.
  return ::LoadLibraryExA(name, nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}
void* find_function(void* library, const char* name) noexcept {
  return reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(library), name));
}
void unload_library(void* library) noexcept { ::FreeLibrary(static_cast<HMODULE>(library)); }

std::size_t page_bytes() noexcept {
  SYSTEM_INFO info{};
  ::GetSystemInfo(&info);
  return info.dwPageSize;
}

void prefer_large_pages(void*, std::size_t) noexcept {}  // they need a right of the user

const std::byte* map_file(int descriptor, std::size_t bytes) noexcept {
  const HANDLE mapping =
      ::CreateFileMappingW(handle_of(descriptor), nullptr, PAGE_READONLY, 0, 0, nullptr);
  const void* const address =
      mapping == nullptr ? nullptr : ::MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, bytes);
  if (address == nullptr) note_failure();
  if (mapping != nullptr) ::CloseHandle(mapping);  // the view keeps it
  return static_cast<const std::byte*>(address);
}

void unmap(const std::byte* address, std::size_t) noexcept { ::UnmapViewOfFile(address); }
void prefetch_pages(const std::byte*, std::size_t) noexcept {}
void release_pages(const std::byte*, std::size_t) noexcept {}

std::byte* reserve_addresses(std::size_t) noexcept {
  errno = ENOSYS;
  return nullptr;
}
bool map_part(std::byte*, std::size_t, int, std::uint64_t) noexcept { return false; }
bool set_writable(std::byte*, std::size_t, bool) noexcept { return false; }

}  // namespace ingot::system

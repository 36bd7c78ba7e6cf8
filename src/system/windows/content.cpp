// SPDX-License-Identifier: MIT
// Reading and writing by handles, and room for what is written.
#include <algorithm>
#include <cerrno>

#include "system/windows/windows.hpp"

namespace ingot::system {
namespace {

DWORD clipped(std::size_t size) noexcept {
  return static_cast<DWORD>(std::min(size, std::size_t{1} << 30));
}

OVERLAPPED place_of(std::uint64_t file_offset) noexcept {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(file_offset);
  place.OffsetHigh = static_cast<DWORD>(file_offset >> 32);
  return place;
}

}  // namespace

std::ptrdiff_t read_at(int descriptor, void* bytes, std::size_t size,
                       std::uint64_t file_offset) noexcept {
  OVERLAPPED place = place_of(file_offset);
  DWORD got = 0;
  if (::ReadFile(handle_of(descriptor), bytes, clipped(size), &got, &place)) return got;
  if (::GetLastError() == ERROR_HANDLE_EOF) return 0;
  note_failure();
  return -1;
}

std::ptrdiff_t write_at(int descriptor, const void* bytes, std::size_t size,
                        std::uint64_t file_offset) noexcept {
  const HANDLE handle = handle_of(descriptor);
  OVERLAPPED place = place_of(file_offset);
  LARGE_INTEGER position{};
  DWORD written = 0;
  // The system moves the place of the next `write_next`, too.
  ::SetFilePointerEx(handle, {}, &position, FILE_CURRENT);
  const bool is_done = ::WriteFile(handle, bytes, clipped(size), &written, &place) != 0;
  if (!is_done) note_failure();
  ::SetFilePointerEx(handle, position, nullptr, FILE_BEGIN);
  return is_done ? static_cast<std::ptrdiff_t>(written) : -1;
}

std::ptrdiff_t read_next(int descriptor, void* bytes, std::size_t size) noexcept {
  DWORD got = 0;
  if (::ReadFile(handle_of(descriptor), bytes, clipped(size), &got, nullptr)) return got;
  if (::GetLastError() == ERROR_BROKEN_PIPE || ::GetLastError() == ERROR_HANDLE_EOF) return 0;
  note_failure();
  return -1;
}

std::ptrdiff_t write_next(int descriptor, const void* bytes, std::size_t size) noexcept {
  DWORD written = 0;
  if (::WriteFile(handle_of(descriptor), bytes, clipped(size), &written, nullptr)) return written;
  note_failure();
  return -1;
}

std::ptrdiff_t copy_next(int, std::uint64_t&, int, std::size_t) noexcept { return -1; }
bool wait_for_bytes(int) noexcept { return true; }  // pipes always block

bool set_size(int descriptor, std::uint64_t size_bytes) noexcept {
  FILE_END_OF_FILE_INFO info{};
  info.EndOfFile.QuadPart = static_cast<LONGLONG>(size_bytes);
  return ::SetFileInformationByHandle(handle_of(descriptor), FileEndOfFileInfo, &info,
                                      sizeof info) != 0 ||
         note_failure();
}

bool flush(int descriptor) noexcept {
  return ::FlushFileBuffers(handle_of(descriptor)) != 0 || note_failure();
}

void flush_folder(const std::string&) noexcept {}  // the journal of NTFS has the names
void start_writing_out(int, std::uint64_t, std::uint64_t) noexcept {}
void advise_reading(int, std::uint64_t, std::uint64_t) noexcept {}

bool reserve(int descriptor, std::uint64_t size_bytes, Room room) noexcept {
  FILE_ALLOCATION_INFO info{};
  info.AllocationSize.QuadPart = static_cast<LONGLONG>(size_bytes);
  FileFacts facts;
  if (!look_at(descriptor, facts)) return false;
  // Less than the size would cut the file.
  const bool is_claimed = facts.size_bytes >= size_bytes ||
                          ::SetFileInformationByHandle(handle_of(descriptor), FileAllocationInfo,
                                                       &info, sizeof info) != 0;
  if (!is_claimed && ::GetLastError() == ERROR_DISK_FULL) return note_failure();
  const auto free = free_bytes(descriptor);  // some file systems claim nothing
  if (!is_claimed && free && size_bytes - facts.size_bytes > *free) {
    errno = ENOSPC;
    return false;
  }
  return room == Room::beyond_the_end || facts.size_bytes >= size_bytes ||
         set_size(descriptor, size_bytes);
}

bool is_lack_of_room(int error_number) noexcept {
  return error_number == ENOSPC || error_number == EFBIG;
}

}  // namespace ingot::system

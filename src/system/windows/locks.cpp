// SPDX-License-Identifier: MIT
// Locks of files lie on a byte that no file has, as Windows lets nobody read or write what is
// locked. Folders have no such locks: there the existence of a named object of the system is the
// lock. The same object keeps a file from others while it is closed to be replaced.
#include <array>
#include <cwchar>
#include <map>
#include <mutex>
#include <utility>

#include "system/windows/windows.hpp"

namespace ingot::system {
namespace {

constexpr DWORD lock_offset_high = 0x40000000;  // of a byte at 2^62

OVERLAPPED locked_byte() noexcept {
  OVERLAPPED place{};
  place.OffsetHigh = lock_offset_high;
  return place;
}

std::array<wchar_t, 64> name_of(const FileFacts& facts) noexcept {
  std::array<wchar_t, 64> name{};
  std::swprintf(name.data(), name.size(), L"Global\\ingot-%08llx-%016llx",
                static_cast<unsigned long long>(facts.device),
                static_cast<unsigned long long>(facts.inode));
  return name;
}

struct FolderLocks {
  std::mutex mutex;
  std::map<int, HANDLE> handles;  // by descriptor
};
FolderLocks& folder_locks() {
  static FolderLocks locks;
  return locks;
}

LockAttempt try_lock_folder(int descriptor, const FileFacts& facts, LockKind kind) {
  if (kind == LockKind::shared) {  // which only waits for the exclusive one to end
    return NamedLock::is_taken(facts) ? LockAttempt::busy : LockAttempt::locked;
  }
  NamedLock lock;
  if (!lock.take(facts)) return LockAttempt::busy;
  const std::lock_guard guard(folder_locks().mutex);
  folder_locks().handles[descriptor] = lock.release();
  return LockAttempt::locked;
}

}  // namespace

bool NamedLock::take(const FileFacts& facts) noexcept {
  handle_ = ::CreateMutexW(nullptr, FALSE, name_of(facts).data());
  const bool is_new = handle_ != nullptr && ::GetLastError() != ERROR_ALREADY_EXISTS;
  if (!is_new) give_back();
  return is_new;
}

bool NamedLock::is_taken(const FileFacts& facts) noexcept {
  const HANDLE found = ::OpenMutexW(SYNCHRONIZE, FALSE, name_of(facts).data());
  if (found != nullptr) ::CloseHandle(found);
  return found != nullptr;
}

void NamedLock::give_back() noexcept {
  if (handle_ != nullptr) ::CloseHandle(handle_);
  handle_ = nullptr;
}

HANDLE NamedLock::release() noexcept { return std::exchange(handle_, nullptr); }

void drop_lock(int descriptor) noexcept {
  const std::lock_guard guard(folder_locks().mutex);
  const auto found = folder_locks().handles.find(descriptor);
  if (found == folder_locks().handles.end()) return;
  ::CloseHandle(found->second);
  folder_locks().handles.erase(found);
}

LockAttempt try_lock(int descriptor, LockKind kind) noexcept {
  FileFacts facts;
  if (!look_at(descriptor, facts)) return LockAttempt::no_locks_here;
  if (facts.kind == FileKind::folder) return try_lock_folder(descriptor, facts, kind);
  OVERLAPPED place = locked_byte();
  const DWORD flags = LOCKFILE_FAIL_IMMEDIATELY |
                      (kind == LockKind::exclusive ? DWORD{LOCKFILE_EXCLUSIVE_LOCK} : 0);
  if (!::LockFileEx(handle_of(descriptor), flags, 0, 1, 0, &place)) {
    const DWORD error = ::GetLastError();
    const bool is_busy = error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING;
    return is_busy ? LockAttempt::busy : LockAttempt::no_locks_here;
  }
  if (!NamedLock::is_taken(facts)) return LockAttempt::locked;
  unlock(descriptor);  // it is being replaced
  return LockAttempt::busy;
}

void unlock(int descriptor) noexcept {
  OVERLAPPED place = locked_byte();
  ::UnlockFileEx(handle_of(descriptor), 0, 1, 0, &place);
  drop_lock(descriptor);
}

// The system tells neither.
std::string describe_holder(int) { return {}; }
std::optional<bool> is_open_elsewhere(int) noexcept { return std::nullopt; }

}  // namespace ingot::system

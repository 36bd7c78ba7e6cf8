// SPDX-License-Identifier: MIT
#include "model/edit/edit_journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "io/atomic_file.hpp"

namespace ingot {

Result<void> publish_journal(const EditJournal& journal, const std::string& path,
                             const io::FileIdentity& file) {
  const std::vector<std::byte> bytes = encode(journal);
  if (bytes.size() > max_journal_bytes) {
    return fail(Errc::limit_exceeded, path, "no journal of more than 384 MiB is read again");
  }
  INGOT_TRY(io::AtomicFile output, io::AtomicFile::create(path, false));
  output.take_access_of(file);
  INGOT_TRY_VOID(output.write(bytes));
  return output.commit();
}

Result<void> set_phase(const std::string& path, JournalPhase phase) {
  const io::FileDescriptor descriptor = open_journal(path, O_WRONLY);
  const char letter = letter_of(phase);
  if (!descriptor.is_open() || ::pwrite(descriptor.get(), &letter, 1, journal_phase_offset) != 1 ||
      ::fsync(descriptor.get()) != 0) {
    return io::fail_with_errno(errno, {}, "write the journal");
  }
  return {};
}

Result<void> remove_journal(const std::string& path) {
  if (::unlink(path.c_str()) != 0) return io::fail_with_errno(errno, {}, "remove the journal");
  io::flush_directory(io::directory_of(path));
  return {};
}

namespace {

/// Writes earlier bytes back, and only those that differ: what could not be written need not be
/// written again, which would fail again.
Result<void> write_back(io::InPlaceFile& file, std::uint64_t file_offset,
                        std::span<const std::byte> earlier) {
  std::vector<std::byte> now(earlier.size());
  INGOT_TRY_VOID(file.read(file_offset, now));
  const auto first = std::mismatch(earlier.begin(), earlier.end(), now.begin()).first;
  const auto last = std::mismatch(earlier.rbegin(), earlier.rend(), now.rbegin()).first;
  if (first == earlier.end()) return {};
  const auto begin = static_cast<std::size_t>(first - earlier.begin());
  const auto end = earlier.size() - static_cast<std::size_t>(last - earlier.rbegin());
  return file.write(file_offset + begin, earlier.subspan(begin, end - begin));
}

/// Takes inserted bytes out again: first restores what was overwritten after them, then says so,
/// then collapses. Each step may be repeated.
Result<void> undo_insertion(io::InPlaceFile& file, const EditJournal& journal,
                            const io::EarlierState& state, const std::string& path) {
  if (journal.phase == JournalPhase::inserted) {
    INGOT_TRY_VOID(write_back(file, journal.inserted_bytes + state.patch_offset, state.patch));
    INGOT_TRY_VOID(file.flush());
    INGOT_TRY_VOID(file.punch(0, journal.inserted_bytes));
    INGOT_TRY_VOID(file.flush());
    INGOT_TRY_VOID(set_phase(path, JournalPhase::prepared));
  }
  INGOT_TRY_VOID(file.collapse(state.inserted_offset, journal.inserted_bytes));
  return file.flush();
}

}  // namespace

Result<bool> undo_edit(io::InPlaceFile& file, const std::string& path) {
  INGOT_TRY(const io::FileIdentity identity, file.identity());
  const FoundJournal found = find_journal(path, identity);
  if (!found.is_there) return false;
  const std::optional<io::EarlierState> state =
      found.journal ? earlier_state(*found.journal, file.descriptor(), identity) : std::nullopt;
  if (!state) return fail(Errc::journal_invalid, path);
  if (state->inserted_bytes != 0) {
    INGOT_TRY_VOID(undo_insertion(file, *found.journal, *state, path));
  } else if (found.journal->inserted_bytes == 0) {
    INGOT_TRY_VOID(write_back(file, state->patch_offset, state->patch));
    INGOT_TRY_VOID(file.flush());
  }
  INGOT_TRY_VOID(remove_journal(path));
  return true;
}

}  // namespace ingot

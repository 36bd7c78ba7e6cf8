// SPDX-License-Identifier: MIT
#include "model/edit/edit_journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "io/atomic_file.hpp"

namespace ingot {

Result<void> publish_journal(const EditJournal& journal, const std::string& path,
                             std::uint32_t permissions) {
  const std::vector<std::byte> bytes = encode(journal);
  if (bytes.size() > max_journal_bytes) {
    return fail(Errc::limit_exceeded, path, "no journal of more than 384 MiB is read again");
  }
  INGOT_TRY(io::AtomicFile file, io::AtomicFile::create(path, false));
  file.set_permissions(permissions);
  INGOT_TRY_VOID(file.write(bytes));
  return file.commit();
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

/// Takes inserted bytes out again: first restores what was overwritten after them, then says so,
/// then collapses. Each step may be repeated.
Result<void> undo_insertion(io::InPlaceFile& file, const EditJournal& journal,
                            const io::EarlierState& state, const std::string& path) {
  if (journal.phase == JournalPhase::inserted) {
    INGOT_TRY_VOID(file.write(journal.inserted_bytes + state.patch_offset, state.patch));
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
    INGOT_TRY_VOID(file.write(state->patch_offset, state->patch));
    INGOT_TRY_VOID(file.flush());
  }
  INGOT_TRY_VOID(remove_journal(path));
  return true;
}

}  // namespace ingot

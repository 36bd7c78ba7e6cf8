// SPDX-License-Identifier: MIT
#include "io/edit_journal.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "io/atomic_file.hpp"
#include "system/files.hpp"

namespace ingot::io {

Result<void> publish_journal(const EditJournal& journal, const std::string& path,
                             const FileIdentity& file) {
  const std::vector<std::byte> bytes = encode(journal);
  if (bytes.size() > max_journal_bytes ||
      journal.data_offset + journal.inserted_bytes > max_journaled_header_bytes) {
    return fail(
        Errc::limit_exceeded, path,
        "no journal of more than 384 MiB, or of a header of more than 1 GiB, is read again");
  }
  INGOT_TRY(AtomicFile output, AtomicFile::create(path, false));
  output.take_access_of(file);
  INGOT_TRY_VOID(output.write(bytes));
  return output.commit();
}

Result<void> set_phase(const std::string& path, JournalPhase phase) {
  const FileDescriptor descriptor = open_journal(path, system::Access::write);
  const char letter = letter_of(phase);
  if (!descriptor.is_open() ||
      system::write_at(descriptor.get(), &letter, 1, journal_phase_offset) != 1 ||
      !system::flush(descriptor.get())) {
    return fail_with_errno(errno, {}, "write the journal");
  }
  return {};
}

Result<void> remove_journal(const std::string& path) {
  if (!system::remove_file(path)) return fail_with_errno(errno, {}, "remove the journal");
  flush_directory(directory_of(path));
  return {};
}

namespace {

/// Writes earlier bytes back, but only those that differ. A write that failed changed nothing, and
/// would fail again.
Result<void> write_back(InPlaceFile& file, std::uint64_t file_offset,
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

/// Undoes an edit that overwrote bytes. The first byte is restored last, as a sign that all others
/// are back.
Result<void> undo_overwriting(InPlaceFile& file, const EarlierState& state) {
  const std::size_t skipped = state.patch_offset == 0 && !state.patch.empty() ? 1 : 0;
  INGOT_TRY_VOID(
      write_back(file, state.patch_offset + skipped, std::span(state.patch).subspan(skipped)));
  INGOT_TRY_VOID(file.flush());
  INGOT_TRY_VOID(file.write(0, std::span(&*state.first_byte, 1)));
  return file.flush();
}

/// Takes inserted bytes out again: restores the overwritten bytes behind them, records that in the
/// journal, then removes the range. Each step may be repeated.
Result<void> undo_insertion(InPlaceFile& file, const EditJournal& journal,
                            const EarlierState& state, const std::string& path) {
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

Result<bool> undo_edit(InPlaceFile& file, const std::string& journal) {
  const FoundJournal found = find_journal(journal, file.descriptor());
  if (found.fit == JournalFit::none) return false;
  if (found.fit == JournalFit::other) {
    return fail(Errc::journal_invalid, journal, std::string(found.reason));
  }
  const bool is_needed = found.fit == JournalFit::needed;
  if (is_needed) {
    INGOT_TRY_VOID(found.state.inserted_bytes != 0
                       ? undo_insertion(file, found.journal, found.state, journal)
                       : undo_overwriting(file, found.state));
  } else {
    INGOT_TRY_VOID(file.flush());
  }
  INGOT_TRY_VOID(remove_journal(journal));
  return is_needed || found.fit == JournalFit::unused;
}

void settle_edit(int locked, const std::string& file_path) {
  const std::string journal = journal_path(file_path);
  if (!has_journal(journal)) return;
  Result<InPlaceFile> file = InPlaceFile::reopen(locked);
  if (file) static_cast<void>(undo_edit(*file, journal));
}

void drop_journal(const std::string& file_path) {
  const std::string journal = journal_path(file_path);
  if (has_journal(journal)) system::remove_file(journal);
}

}  // namespace ingot::io

// SPDX-License-Identifier: MIT
// The journal of an edit in place: what was in the file before, beside the file, until the edit is
// done. docs/edit.md describes the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/source.hpp"
#include "io/in_place_file.hpp"
#include "io/restored_file.hpp"

namespace ingot {

/// How far an edit that inserts room has come: whether the room is there, and bytes may have been
/// overwritten.
enum class JournalPhase : std::uint8_t { prepared, inserted };

struct EditJournal {
  JournalPhase phase = JournalPhase::prepared;
  // --- the file before the edit
  std::uint64_t inode = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t data_offset = 0;
  std::uint64_t data_hash = 0;  ///< See hash_data.
  // --- the edit
  std::uint64_t inserted_bytes = 0;  ///< At the front; 0: nothing is inserted.
  std::uint64_t patch_offset = 0;
  std::vector<std::byte> patch;  ///< What will be overwritten.
};

/// The path of the journal of a file; `path` without symbolic links.
[[nodiscard]] std::string journal_path(const std::string& path);

[[nodiscard]] std::vector<std::byte> encode(const EditJournal& journal);
/// Nothing if it is damaged.
[[nodiscard]] std::optional<EditJournal> decode_journal(std::span<const std::byte> bytes);

/// The journal at a path: absent, damaged, or read.
struct FoundJournal {
  bool is_there = false;
  std::optional<EditJournal> journal;
};
[[nodiscard]] FoundJournal find_journal(const std::string& path);

/// A hash of some of the data, which an edit in place never changes: together with size and inode
/// it tells that the journal belongs to this file.
[[nodiscard]] Result<std::uint64_t> hash_data(const Source& file, std::uint64_t data_offset);

/// How to see the file as it was before the edit; nothing if the journal does not belong to it.
[[nodiscard]] std::optional<io::EarlierState> earlier_state(const EditJournal& journal,
                                                            int descriptor,
                                                            const io::FileIdentity& identity);

/// Undoes what an edit that was cut off did, then removes the journal. Can itself be cut off and
/// repeated. False, with nothing done, if there is no journal; Errc::journal_invalid.
[[nodiscard]] Result<bool> undo_edit(io::InPlaceFile& file, const std::string& path);

/// Makes the journal durable; from then on readers see the file as it is now. It holds a part of
/// the file, so it should have its permissions.
[[nodiscard]] Result<void> publish_journal(const EditJournal& journal, const std::string& path,
                                           std::uint32_t permissions);
/// Durable when it returns.
[[nodiscard]] Result<void> set_phase(const std::string& path, JournalPhase phase);
[[nodiscard]] Result<void> remove_journal(const std::string& path);

/// A file opened for reading, through its journal if it has one.
struct OpenedFile {
  std::unique_ptr<Source> source;
  bool is_restored = false;
  std::optional<Error> notice;
};
[[nodiscard]] Result<OpenedFile> open_through_journal(const std::string& path, bool is_mapped);

}  // namespace ingot

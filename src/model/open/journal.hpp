// SPDX-License-Identifier: MIT
// The journal of an edit in place: what was in the file before, beside the file, until the edit is
// done. docs/edit.md describes the format. Editing writes journals (edit_journal.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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
  std::vector<std::byte> patch;  ///< The bytes that will be overwritten.
};

/// Where its letter stands in the journal, and the letter; one byte is never torn.
inline constexpr std::size_t journal_phase_offset = 16;
[[nodiscard]] char letter_of(JournalPhase phase);

/// The path of the journal of a file; `path` without symbolic links.
[[nodiscard]] std::string journal_path(const std::string& path);

/// A larger journal is not written and not read: headers are smaller.
inline constexpr std::uint64_t max_journal_bytes = std::uint64_t{384} << 20;

[[nodiscard]] std::vector<std::byte> encode(const EditJournal& journal);
/// Nothing if it is damaged.
[[nodiscard]] std::optional<EditJournal> decode_journal(std::span<const std::byte> bytes);

/// Opens the journal file itself, whatever is in it; `access` is O_RDONLY or O_WRONLY.
[[nodiscard]] io::FileDescriptor open_journal(const std::string& path, int access);

/// Whether there is anything at the path of a journal.
[[nodiscard]] bool has_journal(const std::string& path);

/// The journal at a path: absent; damaged or of another file; or read.
struct FoundJournal {
  bool is_there = false;
  std::optional<EditJournal> journal;
};
/// Looks for the journal of the file `identity`. Reads the first 80 bytes, and the rest only if
/// they name that file and one of the sizes that the edit gives it.
[[nodiscard]] FoundJournal find_journal(const std::string& path, const io::FileIdentity& identity);

/// A hash of some of the data, which an edit in place never changes: together with size and inode
/// it shows that the journal belongs to this file.
[[nodiscard]] Result<std::uint64_t> hash_data(const Source& file, std::uint64_t data_offset);

/// How to see the file as it was before the edit; nothing if the journal does not belong to it.
[[nodiscard]] std::optional<io::EarlierState> earlier_state(const EditJournal& journal,
                                                            int descriptor,
                                                            const io::FileIdentity& identity);

}  // namespace ingot

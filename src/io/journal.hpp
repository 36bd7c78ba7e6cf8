// SPDX-License-Identifier: MIT
// The journal of an edit in place: what was in the file before, beside the file, until the edit is
// done. docs/edit.md describes the format. edit_journal.hpp writes, removes and undoes by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/source.hpp"
#include "io/in_place_file.hpp"
#include "io/restored_file.hpp"

namespace ingot::io {

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
  // --- both
  std::uint64_t hash_before = 0;  ///< Of all that is before the data; see hash_header.
  std::uint64_t hash_after = 0;
  std::byte first_byte{};        ///< Of the file; it is 0 while the header is being written.
  std::vector<std::byte> patch;  ///< The bytes that will be overwritten.
};

/// The first byte of a file whose header is being written: no program takes it for a model, and no
/// model is taken for a file that is half written.
inline constexpr std::byte torn_mark{0};

/// Where its letter stands in the journal, and the letter; one byte is never torn.
inline constexpr std::size_t journal_phase_offset = 16;
[[nodiscard]] char letter_of(JournalPhase phase);

/// The path of the journal of a file; `path` without symbolic links.
[[nodiscard]] std::string journal_path(const std::string& path);

/// A larger journal is not written and not read: headers are smaller.
inline constexpr std::uint64_t max_journal_bytes = std::uint64_t{384} << 20;
inline constexpr std::uint64_t max_journaled_header_bytes = std::uint64_t{1} << 30;

[[nodiscard]] std::vector<std::byte> encode(const EditJournal& journal);
/// Nothing if it is damaged.
[[nodiscard]] std::optional<EditJournal> decode_journal(std::span<const std::byte> bytes);

/// Opens the journal file itself, whatever is in it; `access` is O_RDONLY or O_WRONLY.
[[nodiscard]] FileDescriptor open_journal(const std::string& path, int access);

/// Whether there is anything at the path of a journal.
[[nodiscard]] bool has_journal(const std::string& path);

/// What a journal has to do with a file.
enum class JournalFit {
  none,    ///< There is no journal.
  other,   ///< It is damaged, or of another file.
  unused,  ///< It is of this file, which is as before the edit.
  done,    ///< It is of this file, which is as after the edit.
  stale,   ///< It was of this file, which another program has written anew since.
  needed   ///< The file is half edited.
};

/// The journal at a path, and how it fits a file. `other` and `stale` have a reason, in words.
struct FoundJournal {
  JournalFit fit = JournalFit::none;
  std::string_view reason = {};
  EditJournal journal = {};
  EarlierState state = {};  ///< If it is needed: how to see the file as it was before.
};

/// Looks for the journal of an open and locked file. It reads the first 104 bytes, and the rest
/// only if they name that file.
[[nodiscard]] FoundJournal find_journal(const std::string& path, int descriptor);

/// A hash of some of the data, which an edit in place never changes.
[[nodiscard]] Result<std::uint64_t> hash_data(const Source& file, std::uint64_t data_offset);

/// The hash of a header, which is all that is before the data.
[[nodiscard]] Result<std::uint64_t> hash_header(const Source& file, std::uint64_t data_offset);

}  // namespace ingot::io

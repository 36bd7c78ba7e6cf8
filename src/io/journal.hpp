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
#include "system/files.hpp"

namespace ingot::io {

/// The phase of an edit that inserts room. Bytes are overwritten only after the room was inserted.
enum class JournalPhase : std::uint8_t { prepared, inserted };

struct EditJournal {
  JournalPhase phase = JournalPhase::prepared;
  // --- the file before the edit
  std::uint64_t inode = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t data_offset = 0;
  std::uint64_t data_hash = 0;  ///< See hash_data.
  // --- the edit
  std::uint64_t inserted_bytes = 0;  ///< Bytes inserted at the front; 0 if none.
  std::uint64_t patch_offset = 0;
  // --- both
  std::uint64_t hash_before = 0;  ///< The hash of everything before the data; see hash_header.
  std::uint64_t hash_after = 0;
  std::byte first_byte{};        ///< The first byte of the file, which is 0 while the header is
                                 ///< being written.
  std::vector<std::byte> patch;  ///< The bytes that will be overwritten.
};

/// The first byte of a file whose header is being written. No model begins with it, so that no
/// program confuses the two.
inline constexpr std::byte torn_mark{0};

/// The offset of the letter of a phase in the journal. A write of one byte is never torn.
inline constexpr std::size_t journal_phase_offset = 16;
[[nodiscard]] char letter_of(JournalPhase phase);

/// The path of the journal of a file; `path` has no symbolic links.
[[nodiscard]] std::string journal_path(const std::string& path);

/// Larger journals are neither written nor read, as headers are smaller.
inline constexpr std::uint64_t max_journal_bytes = std::uint64_t{384} << 20;
inline constexpr std::uint64_t max_journaled_header_bytes = std::uint64_t{1} << 30;

[[nodiscard]] std::vector<std::byte> encode(const EditJournal& journal);
/// Decodes a journal; nothing if it is damaged.
[[nodiscard]] std::optional<EditJournal> decode_journal(std::span<const std::byte> bytes);

/// Opens the journal file without a look at its content.
[[nodiscard]] FileDescriptor open_journal(const std::string& path, system::Access access);

/// Whether there is anything at the path of a journal.
[[nodiscard]] bool has_journal(const std::string& path);

/// How a journal relates to a file.
enum class JournalFit {
  none,    ///< There is no journal.
  other,   ///< The journal is damaged, or belongs to another file.
  unused,  ///< It belongs to this file, which is as before the edit.
  done,    ///< It belongs to this file, which is as after the edit.
  stale,   ///< It belonged to this file, which another program has rewritten since.
  needed   ///< The file is half edited.
};

/// The journal at a path, and how it fits a file. `other` and `stale` have a reason, in words.
struct FoundJournal {
  JournalFit fit = JournalFit::none;
  std::string_view reason = {};
  EditJournal journal = {};
  EarlierState state = {};  ///< Set if the journal is needed: the file as it was before.
};

/// Looks for the journal of an open and locked file. It reads the first 104 bytes, and the others
/// only if these name that file.
[[nodiscard]] FoundJournal find_journal(const std::string& path, int descriptor);

/// A hash of some of the data, which an edit in place never changes.
[[nodiscard]] Result<std::uint64_t> hash_data(const Source& file, std::uint64_t data_offset);

/// The hash of a header, which is everything before the data.
[[nodiscard]] Result<std::uint64_t> hash_header(const Source& file, std::uint64_t data_offset);

}  // namespace ingot::io

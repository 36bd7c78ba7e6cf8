// SPDX-License-Identifier: MIT
#include "io/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/byte_order.hpp"
#include "base/checked.hpp"
#include "base/siphash.hpp"
#include "io/plain_file.hpp"
#include "io/source_pieces.hpp"

namespace ingot::io {
namespace {

constexpr std::string_view journal_ending = ".ingot-journal";
constexpr std::string_view magic = "INGOTJNL";
constexpr char phase_letters[] = {'P', 'I'};  // for prepared and inserted
constexpr std::uint64_t journal_version = 2;
constexpr std::size_t numbers_offset = 24;
constexpr std::size_t number_count = 10;
constexpr std::size_t patch_at = numbers_offset + 8 * number_count;
constexpr std::size_t checksum_bytes = 8;

/// The checksum covers everything except the phase, which changes.
std::uint64_t checksum(std::span<const std::byte> journal) {
  const auto hash = [](SipKey key, std::span<const std::byte> bytes) {
    return siphash_1_3(key, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  const std::uint64_t first = hash({}, journal.first(journal_phase_offset));
  return hash({first, 0},
              journal.subspan(numbers_offset, journal.size() - numbers_offset - checksum_bytes));
}

template <class Number>
void append_little_endian(std::vector<std::byte>& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    bytes.push_back(static_cast<std::byte>(number >> (8 * i) & 0xFF));
  }
}

bool begins_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

/// Whether opening failed because there is no such file.
bool is_missing(int error_number) {
  return error_number == ENOENT || error_number == ENAMETOOLONG || error_number == ENOTDIR;
}

/// Decodes everything but the patch from the beginning of a journal of `journal_bytes`; nothing if
/// it is damaged.
std::optional<EditJournal> decode_head(std::span<const std::byte> bytes,
                                       std::uint64_t journal_bytes) {
  if (journal_bytes < patch_at + checksum_bytes || bytes.size() < patch_at ||
      !begins_with(bytes, magic) ||
      load_little<std::uint64_t>(&bytes[magic.size()]) != journal_version) {
    return std::nullopt;
  }
  EditJournal journal;
  const char letter = static_cast<char>(bytes[journal_phase_offset]);
  if (letter == letter_of(JournalPhase::inserted)) {
    journal.phase = JournalPhase::inserted;
  } else if (letter != letter_of(JournalPhase::prepared)) {
    return std::nullopt;
  }
  const auto number = [&](std::size_t i) {
    return load_little<std::uint64_t>(&bytes[numbers_offset + 8 * i]);
  };
  journal.inode = number(0);
  journal.file_bytes = number(1);
  journal.data_offset = number(2);
  journal.data_hash = number(3);
  journal.inserted_bytes = number(4);
  journal.patch_offset = number(5);
  journal.hash_before = number(7);
  journal.hash_after = number(8);
  journal.first_byte = static_cast<std::byte>(number(9) & 0xFF);
  const std::uint64_t patch_bytes = journal_bytes - patch_at - checksum_bytes;
  const auto patch_end = checked_add(journal.patch_offset, patch_bytes);
  // An edit changes only bytes before the data.
  if (number(6) != patch_bytes || !patch_end || *patch_end > journal.data_offset ||
      journal.data_offset > journal.file_bytes ||
      journal.data_offset > max_journaled_header_bytes ||
      journal.inserted_bytes > max_journaled_header_bytes - journal.data_offset ||
      !checked_add(journal.file_bytes, journal.inserted_bytes)) {
    return std::nullopt;
  }
  return journal;
}

/// The offset of the inserted bytes: the front, unless the system died while it moved the blocks.
std::uint64_t inserted_offset(const EditJournal& journal, int descriptor) {
  return journal.phase == JournalPhase::inserted ? 0 : find_hole(descriptor, 0);
}

/// The earlier state of the file; nothing if the journal does not explain the file's content.
std::optional<EarlierState> earlier_state(const EditJournal& journal, int descriptor,
                                          std::uint64_t file_bytes) {
  EarlierState state{.size_bytes = journal.file_bytes,
                     .patch_offset = journal.patch_offset,
                     .patch = journal.patch,
                     .first_byte = journal.first_byte};
  if (journal.inserted_bytes != 0) {
    state.inserted_bytes = journal.inserted_bytes;
    state.inserted_offset = inserted_offset(journal, descriptor);
  }
  if (file_bytes != journal.file_bytes + state.inserted_bytes ||
      state.inserted_offset > journal.file_bytes) {
    return std::nullopt;
  }
  FileDescriptor own(system::duplicate(descriptor));
  if (!own.is_open()) return std::nullopt;
  const auto view = read_restored({std::move(own), file_bytes}, state);
  const bool is_explained = hash_data(*view, journal.data_offset) == journal.data_hash &&
                            hash_header(*view, journal.data_offset) == journal.hash_before;
  return is_explained ? std::optional(std::move(state)) : std::nullopt;
}

FoundJournal fit_journal(EditJournal journal, int descriptor, std::uint64_t file_bytes) {
  FileDescriptor own(system::duplicate(descriptor));
  std::byte first_byte{};
  const bool is_read = own.is_open() && read_fully(descriptor, 0, std::span(&first_byte, 1));
  if (!is_read) return {JournalFit::other, "the file is empty or cannot be read", {}, {}};
  const auto file = read_descriptor({std::move(own), file_bytes});
  const std::uint64_t new_bytes = journal.file_bytes + journal.inserted_bytes;
  const bool is_torn = first_byte == torn_mark;
  const bool may_be_moved =  // the system may die while it moves blocks
      journal.inserted_bytes != 0 && journal.phase == JournalPhase::prepared;
  if (is_torn || (may_be_moved && file_bytes == new_bytes)) {
    if (auto state = earlier_state(journal, descriptor, file_bytes)) {
      return {JournalFit::needed, {}, std::move(journal), *std::move(state)};
    }
  }
  if (is_torn) return {JournalFit::other, "the edit did not leave the file like this", {}, {}};
  if (file_bytes == journal.file_bytes &&
      hash_header(*file, journal.data_offset) == journal.hash_before) {
    return {JournalFit::unused, {}, std::move(journal), {}};
  }
  if (file_bytes == new_bytes &&
      hash_header(*file, journal.data_offset + journal.inserted_bytes) == journal.hash_after) {
    return {JournalFit::done, {}, std::move(journal), {}};
  }
  return {JournalFit::stale, "another program has written the file anew", {}, {}};
}

}  // namespace

char letter_of(JournalPhase phase) { return phase_letters[static_cast<std::size_t>(phase)]; }

FileDescriptor open_journal(const std::string& path, system::Access access) {
  return FileDescriptor(system::open_file(path, access, system::never_waits | system::no_links));
}

std::string journal_path(const std::string& path) { return path + std::string(journal_ending); }

std::vector<std::byte> encode(const EditJournal& journal) {
  std::vector<std::byte> bytes;
  bytes.reserve(patch_at + journal.patch.size() + checksum_bytes);
  for (const char letter : magic) bytes.push_back(static_cast<std::byte>(letter));
  append_little_endian(bytes, journal_version);
  append_little_endian(bytes, static_cast<std::uint64_t>(letter_of(journal.phase)));
  for (const std::uint64_t number :
       {journal.inode, journal.file_bytes, journal.data_offset, journal.data_hash,
        journal.inserted_bytes, journal.patch_offset, std::uint64_t{journal.patch.size()},
        journal.hash_before, journal.hash_after,
        std::to_integer<std::uint64_t>(journal.first_byte)}) {
    append_little_endian(bytes, number);
  }
  bytes.insert(bytes.end(), journal.patch.begin(), journal.patch.end());
  bytes.resize(bytes.size() + checksum_bytes);
  const std::uint64_t sum = checksum(bytes);
  bytes.resize(bytes.size() - checksum_bytes);
  append_little_endian(bytes, sum);
  return bytes;
}

std::optional<EditJournal> decode_journal(std::span<const std::byte> bytes) {
  std::optional<EditJournal> journal = decode_head(bytes, bytes.size());
  if (!journal) return std::nullopt;
  const std::byte* const sum = &bytes[bytes.size() - checksum_bytes];
  if (load_little<std::uint64_t>(sum) != checksum(bytes)) return std::nullopt;
  const auto patch = bytes.subspan(patch_at, bytes.size() - patch_at - checksum_bytes);
  journal->patch.assign(patch.begin(), patch.end());
  return journal;
}

bool has_journal(const std::string& path) {
  return open_journal(path, system::Access::read).is_open() || !is_missing(errno);
}

Result<std::uint64_t> hash_data(const Source& file, std::uint64_t data_offset) {
  constexpr std::uint64_t sample_bytes = std::uint64_t{64}
                                         << 10;  // one piece of the front, one of the end
  const std::uint64_t data_bytes = file.size_bytes() - data_offset;
  std::vector<std::byte> sample(static_cast<std::size_t>(std::min(data_bytes, sample_bytes)));
  SipKey key{data_offset, file.size_bytes()};
  for (const std::uint64_t at : {data_offset, file.size_bytes() - sample.size()}) {
    INGOT_TRY_VOID(file.read(at, sample));
    key.k0 = siphash_1_3(key, {reinterpret_cast<const char*>(sample.data()), sample.size()});
  }
  return key.k0;
}

Result<std::uint64_t> hash_header(const Source& file, std::uint64_t data_offset) {
  SipKey key{data_offset, file.size_bytes()};
  INGOT_TRY_VOID(
      read_pieces(file, 0, data_offset, [&](std::span<const std::byte> bytes, std::uint64_t) {
        key.k0 = siphash_1_3(key, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        return true;
      }));
  return key.k0;
}

FoundJournal find_journal(const std::string& path, int descriptor) {
  const FileDescriptor opened = open_journal(path, system::Access::read);
  if (!opened.is_open() && is_missing(errno)) return {};
  FoundJournal other{JournalFit::other, "it is damaged or has another version", {}, {}};
  const Result<std::uint64_t> size_bytes = size_of_regular(opened.get(), {});
  const Result<FileIdentity> identity = identify(descriptor);
  if (!size_bytes || *size_bytes > max_journal_bytes || !identity) return other;
  // The journal may come from a stranger, so nothing more is read if it is not about this model.
  std::vector<std::byte> bytes(to_size(std::min<std::uint64_t>(patch_at, *size_bytes)));
  if (!read_fully(opened.get(), 0, bytes)) return other;
  const std::optional<EditJournal> head = decode_head(bytes, *size_bytes);
  if (!head) return other;
  if (head->inode != identity->inode) return {JournalFit::other, "it is of another file", {}, {}};
  bytes.resize(to_size(*size_bytes));
  if (!read_fully(opened.get(), patch_at, std::span(bytes).subspan(patch_at))) return other;
  std::optional<EditJournal> journal = decode_journal(bytes);
  if (!journal) return other;
  return fit_journal(*std::move(journal), descriptor, identity->size_bytes);
}

}  // namespace ingot::io

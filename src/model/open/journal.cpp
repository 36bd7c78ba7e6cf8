// SPDX-License-Identifier: MIT
#include "model/open/journal.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/byte_order.hpp"
#include "base/checked.hpp"
#include "base/siphash.hpp"

namespace ingot {
namespace {

constexpr std::string_view journal_ending = ".ingot-journal";
constexpr std::string_view magic = "INGOTJNL";
constexpr char phase_letters[] = {'P', 'I'};  // prepared, inserted
constexpr std::uint64_t journal_version = 1;
constexpr std::size_t numbers_offset = 24;
constexpr std::size_t number_count = 7;
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

/// Whether bytes were inserted since.
bool has_grown(const EditJournal& journal, const io::FileIdentity& identity) {
  return journal.inserted_bytes != 0 &&
         identity.size_bytes == journal.file_bytes + journal.inserted_bytes;
}

/// Whether a file is the one that the journal names, in a size that the edit gives it.
bool may_belong(const EditJournal& journal, const io::FileIdentity& identity) {
  if (journal.inode != identity.inode) return false;
  return has_grown(journal, identity) ||
         (identity.size_bytes == journal.file_bytes && journal.phase == JournalPhase::prepared);
}

/// All but the patch of a journal of `journal_bytes`, from its beginning; nothing if it is damaged.
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
  const std::uint64_t patch_bytes = journal_bytes - patch_at - checksum_bytes;
  const auto patch_end = checked_add(journal.patch_offset, patch_bytes);
  // Only what stands before the data is ever changed.
  if (number(6) != patch_bytes || !patch_end || *patch_end > journal.data_offset ||
      journal.data_offset > journal.file_bytes ||
      !checked_add(journal.file_bytes, journal.inserted_bytes)) {
    return std::nullopt;
  }
  return journal;
}

/// Where bytes were inserted: at the front, unless the system died while it moved the blocks.
std::uint64_t inserted_offset(const EditJournal& journal, int descriptor) {
  return journal.phase == JournalPhase::inserted ? 0 : io::find_hole(descriptor, 0);
}

}  // namespace

char letter_of(JournalPhase phase) { return phase_letters[static_cast<std::size_t>(phase)]; }

io::FileDescriptor open_journal(const std::string& path, int access) {
  return io::FileDescriptor(::open(path.c_str(), access | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
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
        journal.inserted_bytes, journal.patch_offset, std::uint64_t{journal.patch.size()}}) {
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
  return open_journal(path, O_RDONLY).is_open() || !is_missing(errno);
}

FoundJournal find_journal(const std::string& path, const io::FileIdentity& identity) {
  const io::FileDescriptor descriptor = open_journal(path, O_RDONLY);
  if (!descriptor.is_open()) return {.is_there = !is_missing(errno), .journal = std::nullopt};
  FoundJournal found{.is_there = true, .journal = std::nullopt};
  const Result<std::uint64_t> size_bytes = io::size_of_regular(descriptor.get(), {});
  if (!size_bytes || *size_bytes > max_journal_bytes) return found;
  // The file may come from a stranger: nothing more is read of one that is not about this model.
  std::vector<std::byte> bytes(std::min<std::uint64_t>(patch_at, *size_bytes));
  if (!io::read_fully(descriptor.get(), 0, bytes)) return found;
  const std::optional<EditJournal> head = decode_head(bytes, *size_bytes);
  if (!head || !may_belong(*head, identity)) return found;
  bytes.resize(static_cast<std::size_t>(*size_bytes));
  if (io::read_fully(descriptor.get(), patch_at, std::span(bytes).subspan(patch_at))) {
    found.journal = decode_journal(bytes);
  }
  return found;
}

Result<std::uint64_t> hash_data(const Source& file, std::uint64_t data_offset) {
  constexpr std::uint64_t sample_bytes = std::uint64_t{64}
                                         << 10;  // one of the front, one of the end
  const std::uint64_t data_bytes = file.size_bytes() - data_offset;
  std::vector<std::byte> sample(static_cast<std::size_t>(std::min(data_bytes, sample_bytes)));
  SipKey key{data_offset, file.size_bytes()};
  for (const std::uint64_t at : {data_offset, file.size_bytes() - sample.size()}) {
    INGOT_TRY_VOID(file.read(at, sample));
    key.k0 = siphash_1_3(key, {reinterpret_cast<const char*>(sample.data()), sample.size()});
  }
  return key.k0;
}

std::optional<io::EarlierState> earlier_state(const EditJournal& journal, int descriptor,
                                              const io::FileIdentity& identity) {
  if (!may_belong(journal, identity)) return std::nullopt;
  io::EarlierState state{.size_bytes = journal.file_bytes,
                         .patch_offset = journal.patch_offset,
                         .patch = journal.patch};
  if (has_grown(journal, identity)) {
    state.inserted_bytes = journal.inserted_bytes;
    state.inserted_offset = inserted_offset(journal, descriptor);
    if (state.inserted_offset > journal.file_bytes) return std::nullopt;
  }
  io::FileDescriptor own(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!own.is_open()) return std::nullopt;
  const auto view = io::read_restored({std::move(own), identity.size_bytes}, state);
  const Result<std::uint64_t> hash = hash_data(*view, journal.data_offset);
  if (!hash || *hash != journal.data_hash) return std::nullopt;
  return state;
}

}  // namespace ingot

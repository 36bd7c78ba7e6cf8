// SPDX-License-Identifier: MIT
#include "remote/cache/header_cache.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>

#include "ingot/digest.hpp"
#include "io/file_descriptor.hpp"
#include "io/own_file.hpp"
#include "io/small_file.hpp"
#include "io/source_pieces.hpp"
#include "remote/places/json_answer.hpp"
#include "system/files.hpp"

namespace ingot::remote {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t cache_layout_version = 1;
/// No header is longer; more is read where nobody says that the header has ended.
constexpr std::uint64_t most_kept_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t is_broken = ~std::uint64_t{0};
/// Longer than any command takes to open a model; what is older was left by a kill.
constexpr std::chrono::hours left_over_age{24};
constexpr const char* header_folder = "headers";
constexpr const char* reference_folder = "references";
constexpr std::string_view temporary_prefix = ".new-";

std::string sha256_of(std::string_view text) {
  return digest_of(DigestAlgorithm::sha256, std::as_bytes(std::span(text)));
}

/// What an entry is about: neither the password nor the query is a part of it.
std::string identity_of(const Address& address) { return address.site() + address.path; }

/// Whether a folder is there, of this user, and not to be written by others; `is_private`: nor to
/// be read by them.
bool is_own_folder(const std::string& path, bool is_private) {
  system::FileFacts facts;
  const auto links = is_private ? system::Links::refuse : system::Links::follow;
  const unsigned open_to_others = is_private ? 077 : 022;
  return system::look_at(path, facts, links) && facts.kind == system::FileKind::folder &&
         system::is_own(facts) && (facts.permissions & open_to_others) == 0;
}

/// Makes a folder and those above it, for this user alone.
void make_folder(const fs::path& path) {
  std::error_code ignored;
  if (path.has_parent_path() && !fs::exists(path.parent_path(), ignored)) {
    make_folder(path.parent_path());
  }
  system::make_folder(path.generic_string(), system::Privacy::only_user);
}

std::optional<std::string> digest_of_source(const Source& source) {
  Digest digest(DigestAlgorithm::xxh3_128);
  const auto is_read = io::read_pieces(source, 0, source.size_bytes(),
                                       [&](std::span<const std::byte> bytes, std::uint64_t) {
                                         digest.update(bytes);
                                         return true;
                                       });
  if (!is_read) return std::nullopt;
  return digest.finish();
}

/// The notes beside the bytes of an entry; nothing if they are not in order.
std::optional<nlohmann::json> read_notes(const fs::path& entry) {
  Result<nlohmann::json> notes =
      parse_json_answer(io::read_small_file(entry / "meta.json", max_json_bytes), "cache");
  if (!notes || number_member(*notes, "version") != cache_layout_version) return std::nullopt;
  return *std::move(notes);
}

CachedFacts facts_of(const nlohmann::json& notes) {
  return {number_member(notes, "size").value_or(0), text_member(notes, "etag"),
          text_member(notes, "modified"), flag_member(notes, "immutable")};
}

std::optional<CachedHeader> read_entry(const fs::path& entry, const Address& address) {
  const auto notes = read_notes(entry);
  if (!notes || text_member(*notes, "address") != identity_of(address)) {
    return std::nullopt;
  }
  CachedHeader header{facts_of(*notes), nullptr};
  Result<std::unique_ptr<Source>> bytes = read_file(entry / "data");
  if (!bytes || (*bytes)->size_bytes() == 0) return std::nullopt;
  const std::uint64_t kept_bytes = (*bytes)->size_bytes();
  const bool fits =
      number_member(*notes, "data_bytes") == kept_bytes && kept_bytes <= header.facts.size_bytes;
  if (!fits || digest_of_source(**bytes) != text_member(*notes, "data_xxh3_128")) {
    return std::nullopt;
  }
  header.bytes = *std::move(bytes);
  return header;
}

/// Gives a folder its name; one that has the name goes.
void replace_folder(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  if (system::rename_file(from.generic_string(), to.generic_string())) return;
  system::exchange_names(from.generic_string(), to.generic_string());
  fs::remove_all(from, ignored);
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t sum = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code missing;
    const std::uintmax_t size = entry->is_regular_file(missing) ? entry->file_size(missing) : 0;
    if (!missing) sum += size;
  }
  return sum;
}

/// An entry as the system sees it: whether it is in order does not matter to what it takes.
struct Entry {
  fs::path path;
  fs::file_time_type used_at;
  std::uint64_t size_bytes = 0;
  bool is_temporary = false;
};

std::vector<Entry> entries_of(const std::string& folder) {
  std::vector<Entry> entries;
  if (folder.empty()) return entries;
  std::error_code error;
  for (fs::directory_iterator item(folder, error), end; !error && item != end;
       item.increment(error)) {
    std::error_code missing;
    const std::string name = item->path().filename();
    const bool is_temporary = name.starts_with(temporary_prefix);
    const bool is_folder = item->is_directory(missing) && !item->is_symlink(missing);
    if (!is_folder || !(is_temporary || is_sha256(name))) continue;
    const fs::path dated = is_temporary ? item->path() : item->path() / "meta.json";
    const fs::file_time_type used_at = fs::last_write_time(dated, missing);
    entries.push_back({item->path(), missing ? fs::file_time_type::min() : used_at,
                       bytes_in(item->path()), is_temporary});
  }
  return entries;
}

/// Removes entries that kills have left behind.
void remove_left_overs(std::vector<Entry>& entries) {
  const auto oldest = fs::file_time_type::clock::now() - left_over_age;
  std::erase_if(entries, [&](const Entry& entry) {
    std::error_code ignored;
    if (entry.is_temporary && entry.used_at < oldest) fs::remove_all(entry.path, ignored);
    return entry.is_temporary;
  });
}

std::int64_t seconds_since_1970(fs::file_time_type time) {
  const auto age = fs::file_time_type::clock::now() - time;
  const auto then = std::chrono::system_clock::now() -
                    std::chrono::duration_cast<std::chrono::system_clock::duration>(age);
  return std::chrono::duration_cast<std::chrono::seconds>(then.time_since_epoch()).count();
}

}  // namespace

HeaderRecording::~HeaderRecording() {
  std::error_code ignored;
  if (!is_done_) fs::remove_all(temporary_, ignored);
}

void HeaderRecording::append(std::uint64_t file_offset, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (is_done_ || file_offset != size_bytes_ || bytes.empty()) return;
  if (bytes.size() > most_kept_bytes - size_bytes_) return;
  std::ofstream file(fs::path(temporary_) / "data", std::ios::binary | std::ios::app);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  // After a failure, such as a full disk, no more follows, and the size tells that it is damaged.
  size_bytes_ = file.good() ? size_bytes_ + bytes.size() : is_broken;
}

void HeaderRecording::keep(const CachedFacts& facts) {
  const std::lock_guard lock(mutex_);
  const fs::path folder(temporary_);
  if (is_done_ || size_bytes_ == 0 || size_bytes_ > facts.size_bytes) return;
  const Result<std::unique_ptr<Source>> bytes = read_file(folder / "data");
  const auto digest = bytes ? digest_of_source(**bytes) : std::nullopt;
  if (!digest || (*bytes)->size_bytes() != size_bytes_) return;
  const nlohmann::json notes = {{"version", cache_layout_version},
                                {"address", identity_of(address_)},
                                {"size", facts.size_bytes},
                                {"etag", facts.tag},
                                {"modified", facts.modified},
                                {"immutable", facts.is_immutable},
                                {"time", seconds_since_1970(fs::file_time_type::clock::now())},
                                {"data_bytes", size_bytes_},
                                {"data_xxh3_128", *digest}};
  if (!io::replace_own_file(folder / "meta.json", json_line(notes))) return;
  replace_folder(folder, fs::path(folder_) / sha256_of(identity_of(address_)));
  is_done_ = true;
  HeaderCache(fs::path(folder_).parent_path()).trim(cache_limit_bytes);
}

std::string HeaderCache::usable(const char* name, bool makes) const {
  if (folder_.empty()) return {};
  const std::string path = fs::path(folder_) / name;
  if (makes && !is_own_folder(path, true)) make_folder(path);
  return is_own_folder(folder_, false) && is_own_folder(path, true) ? path : std::string();
}

std::optional<CachedHeader> HeaderCache::find(const Address& address) const {
  const std::string folder = usable(header_folder, false);
  if (folder.empty()) return std::nullopt;
  const fs::path entry = fs::path(folder) / sha256_of(identity_of(address));
  // Another process may put its entry there between the notes and the bytes.
  constexpr int attempts = 2;
  for (int i = 0; i < attempts; ++i) {
    auto header = read_entry(entry, address);
    if (!header) continue;
    std::error_code ignored;
    fs::last_write_time(entry / "meta.json", fs::file_time_type::clock::now(), ignored);
    return header;
  }
  return std::nullopt;
}

std::unique_ptr<HeaderRecording> HeaderCache::record(const Address& address) const {
  const std::string folder = usable(header_folder, true);
  if (folder.empty()) return nullptr;
  std::string temporary = folder + "/" + std::string(temporary_prefix) + "XXXXXX";
  if (::mkdtemp(temporary.data()) == nullptr) return nullptr;
  return std::make_unique<HeaderRecording>(folder, std::move(temporary), address);
}

void HeaderCache::remember(std::string_view reference, std::string_view text) const {
  const std::string folder = usable(reference_folder, true);
  if (folder.empty() || text.size() > max_json_bytes) return;
  static_cast<void>(io::replace_own_file(fs::path(folder) / sha256_of(reference), text));
}

std::optional<std::string> HeaderCache::recall(std::string_view reference) const {
  const std::string folder = usable(reference_folder, false);
  if (folder.empty()) return std::nullopt;
  std::string text = io::read_small_file(fs::path(folder) / sha256_of(reference), max_json_bytes);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::vector<CachedHeaderFacts> HeaderCache::list() const {
  std::vector<Entry> entries = entries_of(usable(header_folder, false));
  std::ranges::sort(entries, std::greater(), &Entry::used_at);
  std::vector<CachedHeaderFacts> headers;
  for (const Entry& entry : entries) {
    const auto notes = entry.is_temporary ? std::nullopt : read_notes(entry.path);
    if (!notes) continue;
    const CachedFacts facts = facts_of(*notes);
    headers.push_back({text_member(*notes, "address"), facts.size_bytes, entry.size_bytes,
                       seconds_since_1970(entry.used_at), facts.is_immutable});
  }
  return headers;
}

void HeaderCache::trim(std::uint64_t limit_bytes) const {
  std::vector<Entry> entries = entries_of(usable(header_folder, false));
  remove_left_overs(entries);
  std::uint64_t sum = 0;
  for (const Entry& entry : entries) sum += entry.size_bytes;
  if (sum <= limit_bytes) return;
  std::ranges::sort(entries, {}, &Entry::used_at);
  for (const Entry& entry : entries) {
    if (sum <= limit_bytes) return;
    std::error_code ignored;
    fs::remove_all(entry.path, ignored);
    sum -= entry.size_bytes;
  }
}

Result<std::uint64_t> HeaderCache::clear() const {
  std::uint64_t freed = 0;
  std::error_code error;
  for (const Entry& entry : entries_of(usable(header_folder, false))) {
    std::error_code failure;
    fs::remove_all(entry.path, failure);
    if (failure) error = failure;
    if (!failure) freed += entry.size_bytes;
  }
  const std::string references = usable(reference_folder, false);
  std::error_code ignored;
  fs::directory_iterator item;
  if (!references.empty()) item = fs::directory_iterator(references, ignored);
  for (; item != fs::directory_iterator(); item.increment(ignored)) {
    const std::string name = item->path().filename();
    if (!is_sha256(name) && !name.starts_with(temporary_prefix)) continue;
    std::error_code failure;
    const std::uintmax_t size = item->file_size(failure);
    if (fs::remove(item->path(), failure)) freed += size;
    if (failure) error = failure;
  }
  if (error) return io::fail_with_errno(error.value(), folder_, "remove all of it");
  return freed;
}

}  // namespace ingot::remote

namespace ingot {

std::vector<CachedHeaderFacts> list_remote_cache(const std::string& folder) {
  return remote::HeaderCache(folder).list();
}

Result<std::uint64_t> clear_remote_cache(const std::string& folder) {
  return remote::HeaderCache(folder).clear();
}

}  // namespace ingot

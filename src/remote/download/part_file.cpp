// SPDX-License-Identifier: MIT
#include "remote/download/part_file.hpp"

#include <algorithm>
#include <utility>

#include "ingot/text.hpp"
#include "remote/places/json_answer.hpp"

namespace ingot::remote {
namespace {

constexpr std::uint64_t notes_version = 1;

/// Why notes are of another download than `key`; empty if they are of the same.
std::string difference(const nlohmann::json& notes, const DownloadKey& key) {
  if (number_member(notes, "version") != notes_version ||
      number_member(notes, "range_bytes") != download_range_bytes) {
    return "the notes beside the part are of another version";
  }
  if (number_member(notes, "size") != key.size_bytes) return "the file has another size now";
  const std::string sha256 = text_member(notes, "sha256");
  const std::string tag = text_member(notes, "etag");
  if (!sha256.empty() && !key.sha256.empty()) {
    return sha256 == key.sha256 ? "" : "the file has another digest now";
  }
  if (tag.empty() || key.tag.empty())
    return "neither a digest nor a tag tells that the file is the same";
  return tag == key.tag ? "" : "the file has another tag now";
}

}  // namespace

Result<PartFile> PartFile::open(const std::string& path, DownloadKey key) {
  INGOT_TRY(io::StagedFile file,
            io::StagedFile::open(path + ".ingot-part", path + ".ingot-part.json", "downloaded"));
  PartFile part(path, std::move(key), std::move(file));
  if (Result<void> begun = part.begin(); !begun) {
    part.remove_if_empty();
    return fail(std::move(begun).error());
  }
  return part;
}

Result<void> PartFile::begin() {
  INGOT_TRY_VOID(load());
  if (kept_bytes_ == 0) INGOT_TRY_VOID(file_.clear());
  if (Result<void> reserved = file_.reserve(key_.size_bytes, kept_bytes_); !reserved) {
    Error error = std::move(reserved).error();
    error.detail = "the server states " + format_bytes(key_.size_bytes) + "; " + error.detail;
    return fail(std::move(error));
  }
  return save();
}

/// Takes over which ranges are there, if notes and bytes of the same download are.
Result<void> PartFile::load() {
  INGOT_TRY(const std::string text, file_.read_notes(max_json_bytes));
  const Result<std::uint64_t> there_bytes = file_.size_bytes();
  if (text.empty() || !there_bytes) return {};
  const Result<nlohmann::json> notes = parse_json_answer(text, file_.notes_path());
  reason_ = notes ? difference(*notes, key_) : "the notes beside the part are damaged";
  if (!reason_.empty()) return {};
  const auto take = [&](const nlohmann::json& range_entry, const nlohmann::json* bytes_entry) {
    if (!range_entry.is_number_unsigned()) return;
    const auto range = range_entry.get<std::uint64_t>();
    if (range >= range_count()) return;
    if (bytes_entry != nullptr && !bytes_entry->is_number_unsigned()) return;
    const std::uint64_t bytes =
        bytes_entry == nullptr ? range_size(range) : bytes_entry->get<std::uint64_t>();
    if (bytes_entry != nullptr && bytes >= range_size(range)) return;
    if (range * download_range_bytes + bytes <= *there_bytes) mark_kept(range, bytes);
  };
  for (const nlohmann::json& entry : list_member(*notes, "finished")) take(entry, nullptr);
  for (const nlohmann::json& entry : list_member(*notes, "begun")) {
    if (entry.is_array() && entry.size() == 2) take(entry[0], &entry[1]);
  }
  return {};
}

std::uint64_t PartFile::range_count() const noexcept {
  return key_.size_bytes / download_range_bytes +
         (key_.size_bytes % download_range_bytes != 0 ? 1 : 0);
}

std::uint64_t PartFile::range_size(std::uint64_t range) const noexcept {
  return std::min(download_range_bytes, key_.size_bytes - range * download_range_bytes);
}

std::uint64_t PartFile::kept_bytes(std::uint64_t range) const {
  if (finished_.contains(range)) return range_size(range);
  const auto found = begun_.find(range);
  return found == begun_.end() ? 0 : found->second;
}

void PartFile::mark_kept(std::uint64_t range, std::uint64_t bytes) {
  const std::uint64_t earlier = kept_bytes(range);
  if (bytes <= earlier) return;
  kept_bytes_ += bytes - earlier;
  if (bytes == range_size(range)) {
    finished_.insert(range);
    begun_.erase(range);
  } else {
    begun_[range] = bytes;
  }
}

Result<void> PartFile::save() {
  const nlohmann::json notes = {{"version", notes_version},
                                {"address", key_.address},
                                {"commit", key_.commit},
                                {"size", key_.size_bytes},
                                {"etag", key_.tag},
                                {"sha256", key_.sha256},
                                {"range_bytes", download_range_bytes},
                                {"finished", finished_},
                                {"begun", begun_}};
  return file_.write_notes(json_line(notes));
}

Result<void> PartFile::finish(bool may_replace) {
  INGOT_TRY_VOID(file_.flush());
  return file_.give_name(path_, may_replace);
}

}  // namespace ingot::remote

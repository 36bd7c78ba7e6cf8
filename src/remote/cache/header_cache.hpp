// SPDX-License-Identifier: MIT
// The beginnings of remote files, kept on this system.
//
//   FOLDER/headers/SHA256(address)/meta.json   what the bytes are of, their number and digest
//   FOLDER/headers/SHA256(address)/data        the first bytes of the file
//   FOLDER/references/SHA256(reference)        where a reference led to, for --offline
//
// An entry appears whole under its name, by a rename, or not at all; one that is damaged counts as
// absent. So processes need no lock: the last one wins, and no reader sees half of two entries.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/remote_cache.hpp"
#include "ingot/source.hpp"
#include "remote/address/address.hpp"

namespace ingot::remote {

inline constexpr std::uint64_t cache_limit_bytes = std::uint64_t{1} << 30;

/// What is known of a file of which bytes are kept.
struct CachedFacts {
  std::uint64_t size_bytes = 0;
  std::string tag;       ///< ETag; may be empty.
  std::string modified;  ///< Last-Modified; may be empty.
  bool is_immutable = false;
};

struct CachedHeader {
  CachedFacts facts;
  std::unique_ptr<Source> bytes;  ///< The first bytes of the file, at least one.
};

/// The beginning of one file, kept while it is read. Thread-safe. What is not kept in the end is
/// removed with it.
class HeaderRecording {
 public:
  HeaderRecording(std::string folder, std::string temporary, const Address& address)
      : folder_(std::move(folder)), temporary_(std::move(temporary)), address_(address) {}
  HeaderRecording(const HeaderRecording&) = delete;
  HeaderRecording& operator=(const HeaderRecording&) = delete;
  ~HeaderRecording();

  /// Takes bytes that follow those that are there; others are ignored.
  void append(std::uint64_t file_offset, std::span<const std::byte> bytes);
  /// Gives what is there its name, in place of an earlier entry. Does nothing the second time.
  void keep(const CachedFacts& facts);

 private:
  std::string folder_;     ///< The folder of the entries.
  std::string temporary_;  ///< Folder of this one.
  Address address_;
  std::mutex mutex_;
  std::uint64_t size_bytes_ = 0;
  bool is_done_ = false;
};

/// A cache. Failures mean that something is not kept or not found. Thread-safe.
class HeaderCache {
 public:
  /// An empty name is no cache.
  explicit HeaderCache(std::string folder) : folder_(std::move(folder)) {}

  /// What is kept of a file. Its digest was checked. It counts as used now.
  [[nodiscard]] std::optional<CachedHeader> find(const Address& address) const;
  /// Nothing if it cannot be kept.
  [[nodiscard]] std::unique_ptr<HeaderRecording> record(const Address& address) const;

  /// A small text about a reference, for later; and the text, or nothing.
  void remember(std::string_view reference, std::string_view text) const;
  [[nodiscard]] std::optional<std::string> recall(std::string_view reference) const;

  [[nodiscard]] std::vector<CachedHeaderFacts> list() const;
  /// Removes what was not used for longest until the rest is within the limit.
  void trim(std::uint64_t limit_bytes) const;
  [[nodiscard]] Result<std::uint64_t> clear() const;

 private:
  /// A folder of the cache, made if it is not there. Empty if it is not usable: it must be this
  /// user's, and closed to others.
  [[nodiscard]] std::string usable(const char* name, bool makes) const;

  std::string folder_;
};

}  // namespace ingot::remote

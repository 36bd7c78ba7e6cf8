// SPDX-License-Identifier: MIT
// A remote file whose beginning is in the cache.
#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "remote/reading/file_identity.hpp"
#include "remote/reading/range_reader.hpp"
#include "remote/reading/remote_source.hpp"

namespace ingot::remote {
namespace {

using Bytes = std::vector<std::byte>;

class CachedSource final : public RemoteSource {
 public:
  CachedSource(const std::shared_ptr<Client>& client, const RemoteTarget& target,
               CachedHeader header, const FileIdentity& identity)
      : target_(target), shown_(target.address.shown()), header_(std::move(header)) {
    if (client == nullptr) return;
    ranges_ =
        std::make_unique<RangeReader>(client, target.address, target.address, identity, false);
  }

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override {
    return header_.facts.size_bytes;
  }
  [[nodiscard]] std::uint64_t first_read_bytes() const noexcept override {
    return header_.bytes->size_bytes();
  }

  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    if (file_offset > size_bytes() || destination.size() > size_bytes() - file_offset) {
      return fail(Errc::truncated, file_offset, shown_);
    }
    const std::uint64_t kept_bytes = header_.bytes->size_bytes();
    if (file_offset < kept_bytes) {
      const auto there = static_cast<std::size_t>(
          std::min<std::uint64_t>(destination.size(), kept_bytes - file_offset));
      INGOT_TRY_VOID(header_.bytes->read(file_offset, destination.first(there)));
      destination = destination.subspan(there);
      file_offset += there;
    }
    if (destination.empty()) return {};
    if (ranges_ != nullptr) {
      INGOT_TRY_VOID(ranges_->read(file_offset, destination));
      remember(file_offset, destination);
      return {};
    }
    return fail(Errc::remote_unavailable, file_offset, shown_,
                "only its header is on this system, and nothing is fetched");
  }

  void expect(std::span<const FileRange> ranges) const override {
    if (ranges_ != nullptr) ranges_->expect(ranges, header_.bytes->size_bytes());
  }
  void keep() const override {
    const std::lock_guard lock(mutex_);
    is_kept_ = true;
    if (longer_ != nullptr) {
      longer_->keep(
          {size_bytes(), header_.facts.tag, header_.facts.modified, header_.facts.is_immutable});
    }
  }

 private:
  /// Begins a longer entry where reading goes on behind the one that is there.
  void remember(std::uint64_t file_offset, std::span<const std::byte> bytes) const {
    const std::lock_guard lock(mutex_);
    const std::uint64_t kept_bytes = header_.bytes->size_bytes();
    if (is_kept_) return;  // what follows are weights
    if (longer_ == nullptr && file_offset == kept_bytes) {
      longer_ = target_.cache->record(target_.address);
      Bytes kept(static_cast<std::size_t>(kept_bytes));
      if (longer_ != nullptr && header_.bytes->read(0, kept)) longer_->append(0, kept);
    }
    if (longer_ != nullptr) longer_->append(file_offset, bytes);
  }

  RemoteTarget target_;
  std::string shown_;
  CachedHeader header_;
  std::unique_ptr<RangeReader> ranges_;
  mutable std::mutex mutex_;
  mutable bool is_kept_ = false;
  mutable std::unique_ptr<HeaderRecording>
      longer_;  ///< The rest of a header that was kept in part.
};

/// Asks for the tag of a file, and for one byte where the server does not compare tags.
class TagReceiver final : public Receiver {
 public:
  explicit TagReceiver(FileIdentity identity) : identity_(std::move(identity)) {}

  [[nodiscard]] bool is_same() const noexcept { return is_same_; }

  [[nodiscard]] std::optional<ByteRange> range() const override { return ByteRange{0, 0}; }
  [[nodiscard]] Result<void> begin(const Answer& answer) override {
    const auto range = parse_content_range(answer.headers.find("content-range").value_or(""));
    is_same_ = answer.status == 206 && range && range->total_bytes &&
               identity_.agree(answer, range->total_bytes).has_value();
    return {};
  }
  [[nodiscard]] Take take(std::span<const std::byte>) override { return Take::stop; }

 private:
  FileIdentity identity_;
  bool is_same_ = false;
};

Result<bool> is_still_right(Client& client, const RemoteTarget& target,
                            const FileIdentity& identity) {
  if (identity.tag.empty()) return false;
  constexpr int not_modified = 304;
  TagReceiver receiver(identity);
  Request request{target.address, {"If-None-Match: " + identity.tag}};
  request.accepted_status = not_modified;
  request.stop = target.stop;
  INGOT_TRY(const Answer answer, client.perform(request, receiver));
  return answer.status == not_modified || receiver.is_same();
}

/// A tag from a file of the cache must be fit for a line of a request.
bool is_sendable(std::string_view tag) {
  return std::all_of(tag.begin(), tag.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

Result<std::unique_ptr<RemoteSource>> open_cached_source(const std::shared_ptr<Client>& client,
                                                         const RemoteTarget& target) {
  std::unique_ptr<RemoteSource> none;
  if (target.cache == nullptr) return none;
  auto header = target.cache->find(target.address);
  const bool fits =
      header && header->facts.size_bytes == target.size_bytes.value_or(header->facts.size_bytes);
  if (!fits || !is_sendable(header->facts.tag)) return none;
  const FileIdentity identity{header->facts.size_bytes, header->facts.tag, header->facts.modified};
  if (!target.is_immutable && client != nullptr) {
    INGOT_TRY(const bool is_right, is_still_right(*client, target, identity));
    if (!is_right) return none;
  }
  // Two addresses may differ in their query alone, which is no part of the name of an entry.
  if (!target.is_immutable && client == nullptr && !target.address.query.empty()) return none;
  return std::make_unique<CachedSource>(client, target, *std::move(header), identity);
}

}  // namespace ingot::remote

// SPDX-License-Identifier: MIT
#include "remote/reading/remote_source.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>

#include "remote/reading/file_identity.hpp"
#include "remote/reading/head_receiver.hpp"
#include "remote/reading/range_reader.hpp"

namespace ingot::remote {
namespace {

using Clock = std::chrono::steady_clock;

/// A connection below this is slow: then several share a long range.
constexpr double slow_bytes_per_second = 20e6;

class ServerSource final : public RemoteSource {
 public:
  ServerSource(std::shared_ptr<Client> client, RemoteTarget target)
      : client_(std::move(client)), target_(std::move(target)) {
    head_.identity.size_bytes = target_.size_bytes;
  }
  ~ServerSource() override {
    if (stream_ != nullptr) client_->cancel(stream_);
  }

  [[nodiscard]] Result<void> open() {
    const Clock::time_point start = Clock::now();
    Request request{target_.address};
    request.stop = target_.stop;
    INGOT_TRY(const Answer answer, client_->perform(request, head_));
    stream_ = answer.paused;
    INGOT_TRY(size_bytes_,
              head_.resolve_size(
                  answer, {Errc::ranges_unsupported, Error::no_offset, target_.address.shown(),
                           "neither does it tell the size of the file"}));
    const std::chrono::duration<double> time = Clock::now() - start;
    const bool is_slow =
        static_cast<double>(head_.bytes().size()) < slow_bytes_per_second * time.count();
    ranges_ = std::make_unique<RangeReader>(client_, target_.address, answer.address,
                                            head_.identity, is_slow);
    if (target_.cache != nullptr) recording_ = target_.cache->record(target_.address);
    if (recording_ != nullptr) recording_->append(0, head_.bytes());
    return {};
  }

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept override {
    return head_.bytes().size() == size_bytes_ ? head_.bytes() : std::span<const std::byte>();
  }
  [[nodiscard]] std::uint64_t first_read_bytes() const noexcept override {
    return first_range_bytes;
  }

  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    if (file_offset > size_bytes_ || destination.size() > size_bytes_ - file_offset) {
      return fail(Errc::truncated, file_offset, target_.address.shown(),
                  std::to_string(destination.size()) + " bytes asked for in a file of " +
                      std::to_string(size_bytes_));
    }
    const std::span<const std::byte> head = head_.bytes();
    if (file_offset < head.size()) {
      const std::size_t there = std::min<std::size_t>(
          destination.size(), head.size() - static_cast<std::size_t>(file_offset));
      std::memcpy(destination.data(), head.data() + file_offset, there);
      destination = destination.subspan(there);
      file_offset += there;
    }
    if (destination.empty()) return {};
    INGOT_TRY_VOID(stream_ != nullptr ? read_stream(file_offset, destination)
                                      : ranges_->read(file_offset, destination));
    if (recording_ != nullptr) recording_->append(file_offset, destination);
    return {};
  }

  void expect(std::span<const FileRange> ranges) const override {
    if (stream_ == nullptr) ranges_->expect(ranges, head_.bytes().size());
  }

  void keep() const override {
    if (recording_ == nullptr) return;
    recording_->keep(
        {size_bytes_, head_.identity.tag, head_.identity.modified, target_.is_immutable});
  }

 private:
  [[nodiscard]] Result<void> read_stream(std::uint64_t file_offset,
                                         std::span<std::byte> destination) const {
    const std::lock_guard lock(stream_mutex_);
    if (file_offset != head_.position()) {
      return fail(Errc::ranges_unsupported, file_offset, target_.address.shown());
    }
    if (head_.take_spare(destination)) return {};
    client_->resume(stream_);
    const Result<Waited> waited = client_->wait(*stream_);
    if (waited && head_.is_filled()) return {};
    client_->cancel(stream_);
    head_.give_up();
    if (!waited) return fail(waited.error());
    return fail(Errc::remote_failed, head_.position(), target_.address.shown(),
                stream_->failure.empty() ? "the answer ended early" : stream_->failure);
  }

  const std::shared_ptr<Client> client_;
  const RemoteTarget target_;
  std::uint64_t size_bytes_ = 0;
  // A stream goes on while it is read, front to back.
  mutable std::mutex stream_mutex_;
  mutable HeadReceiver head_;
  std::shared_ptr<Transfer> stream_;
  std::unique_ptr<RangeReader> ranges_;
  std::unique_ptr<HeaderRecording> recording_;
};

}  // namespace

Result<std::unique_ptr<RemoteSource>> open_remote_source(std::shared_ptr<Client> client,
                                                         RemoteTarget target) {
  INGOT_TRY(std::unique_ptr<RemoteSource> cached, open_cached_source(client, target));
  if (cached != nullptr) return cached;
  if (client == nullptr) {
    return fail(Errc::remote_unavailable, target.address.shown(), not_here);
  }
  auto source = std::make_unique<ServerSource>(std::move(client), std::move(target));
  INGOT_TRY_VOID(source->open());
  return source;
}

}  // namespace ingot::remote

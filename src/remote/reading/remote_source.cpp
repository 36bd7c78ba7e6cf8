// SPDX-License-Identifier: MIT
#include "remote/reading/remote_source.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "remote/reading/file_identity.hpp"
#include "remote/reading/head_receiver.hpp"
#include "remote/reading/range_fetcher.hpp"

namespace ingot::remote {
namespace {

using Clock = std::chrono::steady_clock;

/// A range is cut into parts that are fetched at the same time if it is longer than two of these
/// and one connection is slow.
constexpr std::uint64_t part_bytes = std::uint64_t{8} << 20;
constexpr std::uint64_t most_parts = 4;
constexpr double slow_bytes_per_second = 20e6;

class RemoteSource final : public Source {
 public:
  RemoteSource(std::shared_ptr<Session> session, RemoteTarget target)
      : session_(std::move(session)), target_(std::move(target)) {
    head_.identity.size_bytes = target_.size_bytes;
  }
  ~RemoteSource() override {
    if (stream_ != nullptr) session_->cancel(stream_);
  }

  [[nodiscard]] Result<void> open();

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept override {
    return head_.bytes().size() == size_bytes_ ? head_.bytes() : std::span<const std::byte>();
  }
  [[nodiscard]] std::uint64_t first_read_bytes() const noexcept override {
    return first_range_bytes;
  }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override;

 private:
  [[nodiscard]] Result<void> read_stream(std::uint64_t file_offset,
                                         std::span<std::byte> destination) const;
  [[nodiscard]] Result<void> read_parts(std::uint64_t file_offset,
                                        std::span<std::byte> destination) const;
  [[nodiscard]] Result<void> read_range(std::uint64_t file_offset,
                                        std::span<std::byte> destination) const;
  [[nodiscard]] std::uint64_t part_count(std::uint64_t wanted_bytes) const noexcept;

  const std::shared_ptr<Session> session_;
  const RemoteTarget target_;
  std::uint64_t size_bytes_ = 0;
  bool is_slow_ = false;
  // A stream goes on while it is read, front to back.
  mutable std::mutex stream_mutex_;
  mutable HeadReceiver head_;
  std::shared_ptr<Transfer> stream_;
  std::optional<RangeFetcher> ranges_;
};

Result<void> RemoteSource::open() {
  const Clock::time_point start = Clock::now();
  INGOT_TRY(const Performed performed, session_->perform({target_.address}, head_));
  ranges_.emplace(session_, target_.address, performed.answer.address, head_.identity);
  const Answer& answer = performed.answer;
  if (!head_.identity.size_bytes && performed.paused == nullptr) {
    head_.identity.size_bytes = head_.bytes().size();
  }
  stream_ = performed.paused;
  const auto refuse = [&](Errc code, std::string detail) {
    return fail(code, target_.address.shown(), std::move(detail));
  };
  if (!head_.identity.size_bytes) {
    return refuse(Errc::ranges_unsupported, "neither does it tell the size of the file");
  }
  size_bytes_ = *head_.identity.size_bytes;
  if (answer.linked_bytes.value_or(size_bytes_) != size_bytes_) {
    return refuse(Errc::answer_invalid, "the size differs from the one that the hub gives");
  }
  const std::chrono::duration<double> time = Clock::now() - start;
  is_slow_ = static_cast<double>(head_.bytes().size()) < slow_bytes_per_second * time.count();
  return {};
}

Result<void> RemoteSource::read(std::uint64_t file_offset, std::span<std::byte> destination) const {
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
  if (stream_ != nullptr) return read_stream(file_offset, destination);
  return read_parts(file_offset, destination);
}

Result<void> RemoteSource::read_stream(std::uint64_t file_offset,
                                       std::span<std::byte> destination) const {
  const std::lock_guard lock(stream_mutex_);
  if (file_offset != head_.position()) {
    return fail(Errc::ranges_unsupported, file_offset, target_.address.shown());
  }
  if (head_.take_spare(destination)) return {};
  session_->resume(stream_);
  const Result<Waited> waited = session_->wait(*stream_);
  if (waited && head_.is_filled()) return {};
  session_->cancel(stream_);
  head_.give_up();
  if (!waited) return fail(waited.error());
  return fail(Errc::remote_failed, head_.position(), target_.address.shown(),
              stream_->failure.empty() ? "the answer ended early" : stream_->failure);
}

std::uint64_t RemoteSource::part_count(std::uint64_t wanted_bytes) const noexcept {
  return is_slow_ ? std::clamp<std::uint64_t>(wanted_bytes / part_bytes, 1, most_parts) : 1;
}

Result<void> RemoteSource::read_parts(std::uint64_t file_offset,
                                      std::span<std::byte> destination) const {
  const std::uint64_t count = part_count(destination.size());
  if (count == 1) return read_range(file_offset, destination);
  const std::size_t each_bytes = (destination.size() + count - 1) / count;
  std::array<Result<void>, most_parts> results;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t first = i * each_bytes;
    const auto part = destination.subspan(first, std::min(each_bytes, destination.size() - first));
    threads.emplace_back([this, &results, i, part, file_offset, first] {
      results[i] = read_range(file_offset + first, part);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Result<void>& result : results) {
    if (!result) return fail(result.error());
  }
  return {};
}

Result<void> RemoteSource::read_range(std::uint64_t file_offset,
                                      std::span<std::byte> destination) const {
  return ranges_->fetch(file_offset, destination.size(),
                        [destination](std::uint64_t position, std::span<const std::byte> bytes) {
                          std::copy(bytes.begin(), bytes.end(),
                                    destination.begin() + static_cast<std::ptrdiff_t>(position));
                          return Result<void>();
                        });
}

}  // namespace

Result<std::unique_ptr<Source>> open_remote_source(std::shared_ptr<Session> session,
                                                   RemoteTarget target) {
  auto source = std::make_unique<RemoteSource>(std::move(session), std::move(target));
  INGOT_TRY_VOID(source->open());
  return source;
}

}  // namespace ingot::remote

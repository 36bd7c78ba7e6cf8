// SPDX-License-Identifier: MIT
// The tasks of one download: some fetch ranges, one computes the digest behind them.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "ingot/digest.hpp"
#include "remote/download/part_file.hpp"
#include "remote/reading/range_fetcher.hpp"

namespace ingot::remote {
namespace {

constexpr std::size_t digest_piece_bytes = std::size_t{1} << 20;
constexpr std::chrono::milliseconds look_time{100};
/// A kill loses no more than what comes in this time.
constexpr std::chrono::milliseconds save_time{1000};

/// Fills a part file. Call `run` once.
class DownloadWork {
 public:
  DownloadWork(PartFile& part, const RangeFetcher& ranges, Client& client, unsigned connections)
      : part_(part), ranges_(ranges), client_(client), connections_(connections) {}

  /// Fetches what is missing; returns the SHA-256 of the whole.
  [[nodiscard]] Result<std::string> run(const std::function<bool(std::uint64_t)>& progress) {
    std::vector<Task<Result<void>>> tasks;
    const auto begin = [&](const auto& work) {
      tasks.push_back(client_.tasks().start([this, work](const std::stop_token& stop) noexcept {
        Result<void> done = work(stop);
        if (!done) give_up(done.error());
        return done;
      }));
    };
    for (unsigned i = 0; i < connections_; ++i) {
      begin([this, i](const std::stop_token& stop) { return fetch_ranges(i, stop); });
    }
    begin([this](const std::stop_token&) { return compute_digest(); });
    Result<void> watched = watch(progress);
    if (!watched) give_up(std::move(watched).error());
    for (Task<Result<void>>& task : tasks) task.cancel();
    tasks.clear();  // waits for them
    if (error_) {
      static_cast<void>(part_.save());  // the first error counts
      return fail(*error_);
    }
    return sha256_;
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> take_range() {
    const std::lock_guard lock(mutex_);
    while (next_range_ < part_.range_count() && part_.is_finished(next_range_)) ++next_range_;
    if (error_ || next_range_ == part_.range_count()) return std::nullopt;
    return next_range_++;
  }

  [[nodiscard]] std::uint64_t kept_bytes(std::uint64_t range) {
    const std::lock_guard lock(mutex_);
    return part_.kept_bytes(range);
  }

  [[nodiscard]] Result<void> fetch_ranges(unsigned number, const std::stop_token& stop) {
    // A server that wants fewer requests gets one at a time.
    while (number == 0 || !client_.is_throttled()) {
      const std::optional<std::uint64_t> range = take_range();
      if (!range) break;
      const std::uint64_t first = *range * download_range_bytes;
      const std::uint64_t kept = kept_bytes(*range);
      std::uint64_t end = kept;  // of the bytes that are there without a gap
      const auto write = [&](std::uint64_t position, std::span<const std::byte> bytes) {
        Result<void> written = part_.write(first + kept + position, bytes);
        if (!written || kept + position != end) return written;
        end += bytes.size();
        const std::lock_guard lock(mutex_);
        // A range is finished when the fetch says that it was right to its end.
        part_.mark_kept(*range, std::min(end, part_.range_size(*range) - 1));
        return written;
      };
      INGOT_TRY_VOID(ranges_.fetch(first + kept, part_.range_size(*range) - kept, write, stop));
      {
        const std::lock_guard lock(mutex_);
        part_.mark_finished(*range);
        INGOT_TRY_VOID(part_.save());
      }
      changed_.notify_all();
    }
    return {};
  }

  [[nodiscard]] Result<void> compute_digest() {
    Digest digest(DigestAlgorithm::sha256);
    std::vector<std::byte> piece(digest_piece_bytes);
    for (std::uint64_t range = 0; range < part_.range_count(); ++range) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return error_ || part_.is_finished(range); });
        if (error_) return {};
      }
      std::uint64_t offset = range * download_range_bytes;
      for (std::uint64_t left = part_.range_size(range); left != 0;) {
        const auto bytes = std::span(piece).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size())));
        INGOT_TRY_VOID(part_.read(offset, bytes));
        digest.update(bytes);
        offset += bytes.size();
        left -= bytes.size();
      }
    }
    const std::lock_guard lock(mutex_);
    sha256_ = digest.finish();
    changed_.notify_all();
    return {};
  }

  void give_up(Error error) {
    {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::move(error);
    }
    changed_.notify_all();
  }

  /// Notes progress until all is there or nothing goes on.
  [[nodiscard]] Result<void> watch(const std::function<bool(std::uint64_t)>& progress) {
    std::unique_lock lock(mutex_);
    auto next_save = std::chrono::steady_clock::now() + save_time;
    while (!error_ && sha256_.empty()) {
      changed_.wait_for(lock, look_time);
      if (std::chrono::steady_clock::now() >= next_save) {
        INGOT_TRY_VOID(part_.save());
        next_save = std::chrono::steady_clock::now() + save_time;
      }
      const std::uint64_t done_bytes = part_.kept_bytes();
      lock.unlock();
      const bool goes_on = !progress || progress(done_bytes);
      if (!goes_on) return fail(Errc::interrupted, std::string());
      lock.lock();
    }
    return {};
  }

  PartFile& part_;
  const RangeFetcher& ranges_;
  Client& client_;
  unsigned connections_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_range_ = 0;
  std::optional<Error> error_;
  std::string sha256_;  ///< The digest, when all is there.
};

}  // namespace

Result<std::string> fill_part_file(PartFile& part, const RangeFetcher& ranges, Client& client,
                                   unsigned connections,
                                   const std::function<bool(std::uint64_t)>& progress) {
  return DownloadWork(part, ranges, client, connections).run(progress);
}

}  // namespace ingot::remote

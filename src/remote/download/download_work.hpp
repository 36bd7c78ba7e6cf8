// SPDX-License-Identifier: MIT
// The threads of one download: some fetch ranges, one computes the digest behind them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "remote/download/part_file.hpp"
#include "remote/reading/range_fetcher.hpp"

namespace ingot::remote {

/// Fills a part file. Call `run` once.
class DownloadWork {
 public:
  DownloadWork(PartFile& part, const RangeFetcher& ranges, Session& session, unsigned connections)
      : part_(part), ranges_(ranges), session_(session), connections_(connections) {}

  /// Fetches what is missing; returns the SHA-256 of the whole.
  [[nodiscard]] Result<std::string> run(
      const std::function<bool(std::uint64_t done_bytes)>& progress);

 private:
  [[nodiscard]] std::optional<std::size_t> take_range();
  void fetch_ranges(unsigned number);
  void compute_digest();
  void give_up(Error error);
  [[nodiscard]] Result<void> watch(const std::function<bool(std::uint64_t)>& progress);

  PartFile& part_;
  const RangeFetcher& ranges_;
  Session& session_;
  unsigned connections_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_range_ = 0;
  std::uint64_t under_way_bytes_ = 0;  ///< Of ranges that are not finished.
  std::optional<Error> error_;
  std::string sha256_;  ///< Not empty when all is there.
};

}  // namespace ingot::remote

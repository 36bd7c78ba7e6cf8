// SPDX-License-Identifier: MIT
// Bytes of one remote file: what is read by chance, one range for each read; what is known to be
// read, in pieces that are joined, cut and fetched ahead.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ingot/remote_options.hpp"
#include "remote/reading/range_fetcher.hpp"

namespace ingot::remote {

/// Ranges that are nearer than this are fetched as one: a request costs more than these bytes.
inline constexpr std::uint64_t joined_gap_bytes = std::uint64_t{1} << 20;
/// What is fetched as one range.
inline constexpr std::uint64_t piece_bytes = std::uint64_t{8} << 20;
/// Ranges that are on their way at the same time.
inline constexpr std::size_t most_parallel_ranges = 4;

/// A part of a file that is fetched as one range.
struct PlannedPiece {
  std::uint64_t file_offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t wanted_bytes =
      0;  ///< Bytes that were asked for; the others lie between joined ranges.
};

/// Cuts ranges, in the order in which they will be read, into pieces: neighbours that follow one
/// another with a small gap are joined, long ones are cut. What leaves the file is left out, and so
/// is what lies before `first_byte`: it is there already. Where ranges overlap, or are too many,
/// there is no plan. Linear but for a sort.
[[nodiscard]] std::vector<PlannedPiece> plan_pieces(std::span<const FileRange> ranges,
                                                    std::uint64_t first_byte,
                                                    std::uint64_t file_bytes);

/// Thread-safe. The ranges that are read must lie within the file.
class RangeReader {
 public:
  /// `is_slow`: one connection is, so that long reads are shared among several.
  RangeReader(std::shared_ptr<Client> client, const Address& given, const Address& final_address,
              const FileIdentity& identity, bool is_slow)
      : client_(client),
        fetcher_(std::move(client), given, final_address, identity),
        file_bytes_(*identity.size_bytes),
        is_slow_(is_slow) {}
  ~RangeReader();
  RangeReader(const RangeReader&) = delete;
  RangeReader& operator=(const RangeReader&) = delete;

  /// What will be read from `first_byte` on, in this order; it replaces an earlier plan.
  void expect(std::span<const FileRange> ranges, std::uint64_t first_byte);
  [[nodiscard]] Result<void> read(std::uint64_t file_offset, std::span<std::byte> destination);

 private:
  struct Fetched;
  struct Piece {
    PlannedPiece plan;
    std::uint64_t used_bytes = 0;
    std::shared_ptr<Fetched> fetched;
  };

  [[nodiscard]] std::size_t find_next(std::uint64_t file_offset) const;
  [[nodiscard]] std::shared_ptr<Fetched> start(std::size_t index);
  void start_ahead(std::size_t index);
  [[nodiscard]] std::size_t count_held() const;
  void make_room(std::size_t index);
  void begin_again();
  void count_used(std::size_t index, const std::shared_ptr<Fetched>& fetched, std::uint64_t bytes);
  [[nodiscard]] Result<void> read_exactly(std::uint64_t file_offset,
                                          std::span<std::byte> destination) const;
  [[nodiscard]] Result<void> read_range(std::uint64_t file_offset, std::span<std::byte> destination,
                                        const std::stop_token& stop = {}) const;

  const std::shared_ptr<Client> client_;
  const RangeFetcher fetcher_;
  const std::uint64_t file_bytes_;
  const bool is_slow_;
  std::mutex mutex_;
  std::vector<Piece> pieces_;           ///< The pieces in the order of the plan.
  std::vector<std::size_t> by_offset_;  ///< Their positions, by offset.
  std::size_t last_ = 0;                ///< Position of the piece that was read last.
};

}  // namespace ingot::remote

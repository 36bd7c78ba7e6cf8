// SPDX-License-Identifier: MIT
#include "remote/reading/range_reader.hpp"

#include <algorithm>

namespace ingot::remote {
namespace {

/// Pieces in memory. Fewer are fetched ahead than may be held, so that none is dropped for another
/// while a thread that fell behind still needs it.
constexpr std::size_t most_ahead_pieces = most_parallel_ranges + 1;
constexpr std::size_t most_held_pieces = most_ahead_pieces + 2;

/// A plan for more than this takes more memory than it saves time.
constexpr std::uint64_t most_pieces = std::uint64_t{1} << 17;

/// Whether ranges overlap, which no order could make pieces of.
bool overlaps(std::span<const PlannedPiece> pieces) {
  std::vector<PlannedPiece> sorted(pieces.begin(), pieces.end());
  std::ranges::sort(sorted, {}, &PlannedPiece::file_offset);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].file_offset - sorted[i - 1].file_offset < sorted[i - 1].size_bytes) return true;
  }
  return false;
}

}  // namespace

std::vector<PlannedPiece> plan_pieces(std::span<const FileRange> ranges, std::uint64_t first_byte,
                                      std::uint64_t file_bytes) {
  std::vector<PlannedPiece> pieces;
  for (const FileRange& range : ranges) {
    const bool is_inside =
        range.file_offset < file_bytes && range.size_bytes <= file_bytes - range.file_offset;
    std::uint64_t offset = std::max(range.file_offset, first_byte);
    const std::uint64_t skipped = offset - range.file_offset;
    std::uint64_t left = is_inside && skipped < range.size_bytes ? range.size_bytes - skipped : 0;
    if (left / piece_bytes > most_pieces - pieces.size()) return {};
    while (left > 0) {
      if (pieces.size() == most_pieces) return {};
      const bool follows = !pieces.empty() && offset >= pieces.back().file_offset;
      const std::uint64_t reach = follows ? offset - pieces.back().file_offset : 0;
      const bool joins = follows && reach >= pieces.back().size_bytes &&
                         reach - pieces.back().size_bytes < joined_gap_bytes && reach < piece_bytes;
      if (!joins) pieces.push_back({offset, 0, 0});
      PlannedPiece& piece = pieces.back();
      const std::uint64_t begin = offset - piece.file_offset;
      const std::uint64_t taken = std::min(left, piece_bytes - begin);
      piece.size_bytes = begin + taken;
      piece.wanted_bytes += taken;
      offset += taken;
      left -= taken;
    }
  }
  if (overlaps(pieces)) pieces.clear();
  return pieces;
}

/// The bytes of a piece, which are there when its task has ended well.
struct RangeReader::Fetched {
  std::vector<std::byte> bytes;
  Task<Result<void>> task;
};

RangeReader::~RangeReader() {
  for (Piece& piece : pieces_) {
    if (piece.fetched != nullptr) piece.fetched->task.cancel();  // all, before it waits for one
  }
}

void RangeReader::expect(std::span<const FileRange> ranges, std::uint64_t first_byte) {
  std::vector<Piece> pieces;
  for (const PlannedPiece& plan : plan_pieces(ranges, first_byte, file_bytes_)) {
    pieces.push_back({plan, 0, {}});
  }
  std::vector<std::size_t> by_offset(pieces.size());
  for (std::size_t i = 0; i < by_offset.size(); ++i) by_offset[i] = i;
  std::ranges::sort(by_offset, {}, [&](std::size_t i) { return pieces[i].plan.file_offset; });
  const std::lock_guard lock(mutex_);
  pieces_.swap(pieces);
  by_offset_ = std::move(by_offset);
  last_ = 0;
}

/// Where in `by_offset_` the first piece is that ends behind an offset.
std::size_t RangeReader::find_next(std::uint64_t file_offset) const {
  const auto found =
      std::partition_point(by_offset_.begin(), by_offset_.end(), [&](std::size_t index) {
        const PlannedPiece& plan = pieces_[index].plan;
        return plan.file_offset + plan.size_bytes <= file_offset;
      });
  return static_cast<std::size_t>(found - by_offset_.begin());
}

std::shared_ptr<RangeReader::Fetched> RangeReader::start(std::size_t index) {
  Piece& piece = pieces_[index];
  if (piece.fetched != nullptr) return piece.fetched;
  if (piece.used_bytes >= piece.plan.wanted_bytes) begin_again();
  make_room(index);
  piece.fetched = std::make_shared<Fetched>();
  // The task owns nothing of the piece, which waits for its end.
  const auto work = [this, plan = piece.plan,
                     fetched = piece.fetched.get()](const std::stop_token& stop) {
    fetched->bytes.resize(static_cast<std::size_t>(plan.size_bytes));
    return read_range(plan.file_offset, fetched->bytes, stop);
  };
  piece.fetched->task = client_->tasks().start(work);
  return piece.fetched;
}

/// A reader that goes through the plan in its order has the next pieces fetched meanwhile.
void RangeReader::start_ahead(std::size_t index) {
  const bool is_in_order = index == last_ || index == last_ + 1;
  last_ = index;
  if (!is_in_order || client_->is_throttled()) return;
  const std::size_t end = std::min(index + most_parallel_ranges, pieces_.size());
  for (std::size_t next = index + 1; next < end; ++next) {
    if (count_held() >= most_ahead_pieces) return;
    if (pieces_[next].used_bytes == 0) static_cast<void>(start(next));
  }
}

std::size_t RangeReader::count_held() const {
  const auto is_held = [](const Piece& piece) { return piece.fetched != nullptr; };
  return static_cast<std::size_t>(std::count_if(pieces_.begin(), pieces_.end(), is_held));
}

/// Drops pieces that are there and were left behind, so that one more finds room.
void RangeReader::make_room(std::size_t index) {
  std::size_t held = count_held();
  for (std::size_t i = 0; i < pieces_.size() && held >= most_held_pieces; ++i) {
    std::shared_ptr<Fetched>& fetched = pieces_[i].fetched;
    if (i == index || fetched == nullptr || !fetched->task.is_done()) continue;
    fetched.reset();
    --held;
  }
}

/// A piece that was used up is read again: so will be those behind it.
void RangeReader::begin_again() {
  for (Piece& piece : pieces_) {
    if (piece.fetched == nullptr) piece.used_bytes = 0;
  }
}

/// A piece of which all is used is not needed any more, nor ahead of a thread that fell behind; one
/// that failed may be tried again.
void RangeReader::count_used(std::size_t index, const std::shared_ptr<Fetched>& fetched,
                             std::uint64_t bytes) {
  if (index >= pieces_.size() || pieces_[index].fetched != fetched) return;  // another plan
  Piece& piece = pieces_[index];
  const bool is_there = fetched->task.get().has_value();
  piece.used_bytes = is_there ? piece.used_bytes + bytes : 0;
  if (is_there && piece.used_bytes < piece.plan.wanted_bytes) return;
  piece.fetched.reset();
}

Result<void> RangeReader::read(std::uint64_t file_offset, std::span<std::byte> destination) {
  while (!destination.empty()) {
    std::unique_lock lock(mutex_);
    const std::size_t next = find_next(file_offset);
    const std::size_t index = next < by_offset_.size() ? by_offset_[next] : pieces_.size();
    const std::uint64_t begin =
        index < pieces_.size() ? pieces_[index].plan.file_offset : file_bytes_;
    if (file_offset < begin) {
      lock.unlock();
      const auto count = static_cast<std::size_t>(
          std::min<std::uint64_t>(destination.size(), begin - file_offset));
      INGOT_TRY_VOID(read_exactly(file_offset, destination.first(count)));
      file_offset += count;
      destination = destination.subspan(count);
      continue;
    }
    const std::shared_ptr<Fetched> fetched = start(index);
    start_ahead(index);
    lock.unlock();
    const Result<void>& result = fetched->task.get();
    const auto within = static_cast<std::size_t>(file_offset - begin);
    const std::size_t count =
        result ? std::min(destination.size(), fetched->bytes.size() - within) : 0;
    std::copy_n(fetched->bytes.begin() + static_cast<std::ptrdiff_t>(within), count,
                destination.begin());
    lock.lock();
    count_used(index, fetched, count);
    if (!result) return fail(result.error());
    file_offset += count;
    destination = destination.subspan(count);
  }
  return {};
}

Result<void> RangeReader::read_exactly(std::uint64_t file_offset,
                                       std::span<std::byte> destination) const {
  const std::uint64_t count = is_slow_ ? std::clamp<std::uint64_t>(destination.size() / piece_bytes,
                                                                   1, most_parallel_ranges)
                                       : 1;
  if (count == 1) return read_range(file_offset, destination);
  const std::size_t each_bytes = (destination.size() + count - 1) / count;
  std::vector<Task<Result<void>>> tasks;
  for (std::size_t first = 0; first < destination.size(); first += each_bytes) {
    const auto part = destination.subspan(first, std::min(each_bytes, destination.size() - first));
    tasks.push_back(client_->tasks().start(
        [this, offset = file_offset + first, part](const std::stop_token& stop) {
          return read_range(offset, part, stop);
        }));
  }
  for (const Task<Result<void>>& task : tasks) INGOT_TRY_VOID(task.get());
  return {};
}

Result<void> RangeReader::read_range(std::uint64_t file_offset, std::span<std::byte> destination,
                                     const std::stop_token& stop) const {
  const auto take = [&](std::uint64_t position, std::span<const std::byte> bytes) -> Result<void> {
    if (stop.stop_requested()) return fail(Errc::interrupted, std::string());
    std::ranges::copy(bytes, destination.begin() + static_cast<std::ptrdiff_t>(position));
    return {};
  };
  return fetcher_.fetch(file_offset, destination.size(), take, stop);
}

}  // namespace ingot::remote

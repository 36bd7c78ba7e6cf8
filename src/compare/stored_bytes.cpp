// SPDX-License-Identifier: MIT
#include "compare/stored_bytes.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <limits>
#include <string>

#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"
#include "work/threads/shared_progress.hpp"

namespace ingot::detail {
namespace {

/// Bytes that one thread compares at a time.
constexpr std::uint64_t part_bytes = std::uint64_t{2} << 20;

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

/// Bytes of one tensor, piece by piece, from any kind of source.
class TensorReader {
 public:
  TensorReader(const Model& model, const TensorInfo& tensor)
      : model_(model), tensor_(tensor), mapped_(model.data(tensor)) {}

  /// Valid until the next call.
  Result<std::span<const std::byte>> read(std::uint64_t first_byte, std::size_t size_bytes) {
    if (!mapped_.empty()) {
      return mapped_.subspan(static_cast<std::size_t>(first_byte), size_bytes);
    }
    buffer_.resize(size_bytes);
    INGOT_TRY_VOID(model_.read(tensor_, first_byte, buffer_));
    return std::span<const std::byte>(buffer_);
  }

  /// Reads bytes and reverses every field of more than one byte.
  Result<std::span<const std::byte>> read_swapped(std::uint64_t first_byte,
                                                  std::size_t size_bytes) {
    INGOT_TRY(const auto bytes, read(first_byte, size_bytes));
    if (bytes.data() != buffer_.data()) buffer_.assign(bytes.begin(), bytes.end());
    INGOT_TRY_VOID(swap_byte_order(tensor_.type, buffer_));
    return std::span<const std::byte>(buffer_);
  }

  void release(std::uint64_t first_byte, std::uint64_t size_bytes) const noexcept {
    model_.release(tensor_.shard, model_.file_offset(tensor_) + first_byte, size_bytes);
  }

 private:
  const Model& model_;
  const TensorInfo& tensor_;
  std::span<const std::byte> mapped_;
  std::vector<std::byte> buffer_;
};

class Comparison {
 public:
  Comparison(const Model& a, const Model& b, std::span<const TensorPair> pairs,
             const DistanceProgress& progress)
      : a_(a), b_(b), pairs_(pairs), progress_(progress) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      first_differences_.emplace_back(none);
      const std::uint64_t size = common_bytes(pairs_[i]);
      const TensorTypeInfo* type = find_type(pairs_[i].a->type);
      const std::uint64_t block_bytes = type == nullptr ? 1 : type->block_bytes;
      const std::uint64_t step = part_bytes / block_bytes * block_bytes;
      for (std::uint64_t first = 0; first < size; first += step) {
        parts_.push_back({i, first, std::min(step, size - first)});
      }
    }
  }

  Result<std::vector<DataDifference>> run(unsigned thread_count) {
    INGOT_TRY_VOID(spread(parts_.size(), 1, thread_count, [&](std::uint64_t at, std::uint64_t) {
      return compare(parts_[static_cast<std::size_t>(at)]);
    }));
    std::vector<DataDifference> differences;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      std::uint64_t first = first_differences_[i].load();
      const bool has_same_size = pairs_[i].a->size_bytes == pairs_[i].b->size_bytes;
      if (first == none && !has_same_size) first = common_bytes(pairs_[i]);
      if (first == none) continue;
      differences.push_back({pairs_[i].a->name, pairs_[i].a, pairs_[i].b, first});
    }
    return differences;
  }

 private:
  struct Part {
    std::size_t pair;
    std::uint64_t first;
    std::uint64_t size_bytes;
  };

  /// A lenient reader takes the size of a tensor of unknown type from its neighbours.
  static std::uint64_t common_bytes(const TensorPair& pair) noexcept {
    return std::min(pair.a->size_bytes, pair.b->size_bytes);
  }

  Result<void> compare(const Part& part) {
    std::atomic<std::uint64_t>& found = first_differences_[part.pair];
    // Only earlier bytes can be the first difference.
    if (found.load(std::memory_order_relaxed) < part.first) return {};
    const TensorPair& pair = pairs_[part.pair];
    TensorReader reader_a(a_, *pair.a);
    TensorReader reader_b(b_, *pair.b);
    const bool is_swapped =
        a_.files()[pair.a->shard].byte_order != b_.files()[pair.b->shard].byte_order;
    const auto size = static_cast<std::size_t>(part.size_bytes);
    INGOT_TRY(const auto bytes_a, reader_a.read(part.first, size));
    INGOT_TRY(const auto bytes_b, is_swapped ? reader_b.read_swapped(part.first, size)
                                             : reader_b.read(part.first, size));
    const auto [differing, ignored] = std::ranges::mismatch(bytes_a, bytes_b);
    if (differing != bytes_a.end()) {
      keep_least(found, part.first + static_cast<std::uint64_t>(differing - bytes_a.begin()));
    }
    reader_a.release(part.first, part.size_bytes);
    reader_b.release(part.first, part.size_bytes);
    return progress_.add(2 * part.size_bytes);
  }

  static void keep_least(std::atomic<std::uint64_t>& least, std::uint64_t number) noexcept {
    std::uint64_t known = least.load();
    while (number < known && !least.compare_exchange_weak(known, number)) {
    }
  }

  const Model& a_;
  const Model& b_;
  std::span<const TensorPair> pairs_;
  SharedProgress progress_;
  std::vector<Part> parts_;
  std::deque<std::atomic<std::uint64_t>> first_differences_;  // the first difference of each pair
};

}  // namespace

Result<std::vector<DataDifference>> compare_stored_bytes(const Model& a, const Model& b,
                                                         std::span<const TensorPair> pairs,
                                                         unsigned thread_count,
                                                         const DistanceProgress& progress) {
  return Comparison(a, b, pairs, progress).run(thread_count);
}

}  // namespace ingot::detail

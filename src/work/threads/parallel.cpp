// SPDX-License-Identifier: MIT
#include "ingot/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ingot {
namespace {

/// The elements that one thread decodes or encodes at a time.
constexpr std::size_t piece_elements = std::size_t{1} << 17;

/// A queue of pieces for several threads, with the first failure.
class Queue {
 public:
  Queue(std::uint64_t item_count, std::uint64_t piece_items, const PieceOfWork& work)
      : item_count_(item_count), piece_items_(piece_items), work_(work) {}

  /// Works until no piece is left or one failed.
  void run() noexcept {
    while (!has_failed_.load(std::memory_order_relaxed)) {
      const std::uint64_t piece = next_piece_.fetch_add(1, std::memory_order_relaxed);
      if (piece >= piece_count()) return;
      run_piece(piece);
    }
  }

  [[nodiscard]] std::uint64_t piece_count() const noexcept {
    return item_count_ / piece_items_ + (item_count_ % piece_items_ != 0 ? 1 : 0);
  }

  /// The result, when all threads are done.
  [[nodiscard]] Result<void> take_result() {
    if (exception_ != nullptr) std::rethrow_exception(exception_);
    return std::move(result_);
  }

 private:
  void run_piece(std::uint64_t piece) noexcept {
    const std::uint64_t first = piece * piece_items_;
    try {
      Result<void> result = work_(first, std::min(piece_items_, item_count_ - first));
      if (!result) keep(piece, std::move(result), nullptr);
    } catch (...) {
      keep(piece, {}, std::current_exception());
    }
  }

  void keep(std::uint64_t piece, Result<void> result, std::exception_ptr exception) noexcept {
    const std::lock_guard lock(mutex_);
    has_failed_.store(true, std::memory_order_relaxed);
    if (piece >= failed_piece_) return;
    failed_piece_ = piece;
    result_ = std::move(result);
    exception_ = std::move(exception);
  }

  std::uint64_t item_count_;
  std::uint64_t piece_items_;
  const PieceOfWork& work_;
  std::atomic<std::uint64_t> next_piece_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_;
  std::uint64_t failed_piece_ = std::numeric_limits<std::uint64_t>::max();
  Result<void> result_;
  std::exception_ptr exception_;
};

}  // namespace

unsigned threads_for(unsigned wanted, std::uint64_t piece_count) noexcept {
  if (wanted == 0) wanted = std::thread::hardware_concurrency();
  return static_cast<unsigned>(std::clamp<std::uint64_t>(piece_count, 1, std::max(1u, wanted)));
}

Result<void> spread(std::uint64_t item_count, std::uint64_t piece_items, unsigned thread_count,
                    const PieceOfWork& work) {
  if (piece_items == 0) return fail(Errc::invalid_argument, "piece_items", "0");
  Queue queue(item_count, piece_items, work);
  const unsigned threads = threads_for(thread_count, queue.piece_count());
  std::vector<std::jthread> helpers;
  if (threads > 1) helpers.reserve(threads - 1);
  for (unsigned i = 1; i < threads; ++i) {
    try {
      helpers.emplace_back([&queue] { queue.run(); });
    } catch (const std::system_error&) {
      break;  // the system has no more threads; the existing ones do the work
    }
  }
  queue.run();
  helpers.clear();  // waits for them
  return queue.take_result();
}

Result<void> dequantize_spread(TensorType type, std::span<const std::byte> src,
                               std::span<float> dst, unsigned thread_count,
                               const DequantizeOptions& options) {
  const TensorTypeInfo* info = find_type(type);
  // Lets the call for all elements report the error.
  if (info == nullptr || src.size() % info->block_bytes != 0 ||
      src.size() / info->block_bytes != dst.size() / info->block_elements ||
      dst.size() % info->block_elements != 0) {
    return dequantize(type, src, dst, options);
  }
  DequantizeOptions piece_options = options;
  if (options.stores == OutputStores::automatic && dst.size_bytes() >= streamed_output_bytes) {
    piece_options.stores = OutputStores::streamed;
  }
  const std::size_t block_count = src.size() / info->block_bytes;
  return spread(block_count, piece_elements / info->block_elements, thread_count,
                [&](std::uint64_t first, std::uint64_t count) {
                  return dequantize(
                      type, src.subspan(first * info->block_bytes, count * info->block_bytes),
                      dst.subspan(first * info->block_elements, count * info->block_elements),
                      piece_options);
                });
}

Result<void> quantize_spread(TensorType type, std::span<const float> src, std::size_t row_elements,
                             std::span<std::byte> dst, unsigned thread_count,
                             const QuantizeOptions& options) {
  const TensorTypeInfo* info = find_type(type);
  const std::size_t rows = row_elements == 0 ? 0 : src.size() / row_elements;
  if (info == nullptr || rows < 2 || src.size() % row_elements != 0 ||
      row_elements % info->block_elements != 0 || dst.size() != info->bytes_of(src.size())) {
    return quantize(type, src, row_elements, dst, options);
  }
  const std::size_t row_bytes = info->bytes_of(row_elements);
  return spread(rows, std::max<std::size_t>(1, piece_elements / row_elements), thread_count,
                [&](std::uint64_t first, std::uint64_t count) {
                  return quantize(type, src.subspan(first * row_elements, count * row_elements),
                                  row_elements, dst.subspan(first * row_bytes, count * row_bytes),
                                  options);
                });
}

}  // namespace ingot

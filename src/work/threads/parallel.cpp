// SPDX-License-Identifier: MIT
#include "ingot/parallel.hpp"

#include <algorithm>
#include <thread>

#include "base/checked.hpp"

namespace ingot {
namespace {

/// The elements that one thread decodes or encodes at a time.
constexpr std::size_t piece_elements = std::size_t{1} << 17;

}  // namespace

unsigned threads_for(unsigned wanted, std::uint64_t piece_count) noexcept {
  if (wanted == 0) wanted = std::thread::hardware_concurrency();
  return static_cast<unsigned>(std::clamp<std::uint64_t>(piece_count, 1, std::max(1u, wanted)));
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
                  return dequantize(type,
                                    src.subspan(to_size(first * info->block_bytes),
                                                to_size(count * info->block_bytes)),
                                    dst.subspan(to_size(first * info->block_elements),
                                                to_size(count * info->block_elements)),
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
  const std::size_t row_bytes = to_size(info->bytes_of(row_elements));
  return spread(rows, std::max<std::size_t>(1, piece_elements / row_elements), thread_count,
                [&](std::uint64_t first, std::uint64_t count) {
                  return quantize(
                      type,
                      src.subspan(to_size(first * row_elements), to_size(count * row_elements)),
                      row_elements,
                      dst.subspan(to_size(first * row_bytes), to_size(count * row_bytes)), options);
                });
}

}  // namespace ingot

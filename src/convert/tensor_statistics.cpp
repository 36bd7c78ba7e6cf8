// SPDX-License-Identifier: MIT
#include "ingot/tensor_statistics.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <string>

#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"

namespace ingot {
namespace {

/// Elements of a tensor that one thread takes at a time, at least.
constexpr std::uint64_t least_part_elements = std::uint64_t{1} << 17;

/// Parts of one tensor, at most: their statistics are kept until they are added up.
constexpr std::uint64_t most_parts = 4096;

/// Consecutive elements of one tensor.
struct Part {
  const TensorInfo* tensor;
  const TensorTypeInfo* type;
  std::uint64_t first_element;
  std::uint64_t element_count;
};

/// The same for a tensor in whatever company it is, so that its digits are.
std::uint64_t part_elements_of(const TensorInfo& tensor) noexcept {
  const std::uint64_t share = tensor.element_count / most_parts + 1;
  const std::uint64_t pieces = (share + statistics_piece - 1) / statistics_piece;
  return std::max(least_part_elements, pieces * statistics_piece);
}

Result<void> add_parts(const TensorInfo& tensor, std::vector<Part>& parts) {
  const TensorTypeInfo* type = find_type(tensor.type);
  if (type == nullptr) {
    return fail(Errc::unsupported_type, std::string(tensor.name),
                std::to_string(static_cast<std::uint32_t>(tensor.type)));
  }
  const std::uint64_t part_elements = part_elements_of(tensor);
  for (std::uint64_t first = 0; first < tensor.element_count; first += part_elements) {
    parts.push_back({&tensor, type, first, std::min(part_elements, tensor.element_count - first)});
  }
  return {};
}

/// Decodes a part piece by piece, through buffers that stay in the first caches.
class PartReader {
 public:
  PartReader(const Model& model, const Part& part)
      : model_(model),
        part_(part),
        mapped_(model.data(*part.tensor)),
        byte_order_(model.files()[part.tensor->shard].byte_order) {}

  Result<Statistics> compute() {
    Statistics result;
    for (std::uint64_t done = 0; done < part_.element_count;) {
      const auto count = static_cast<std::size_t>(
          std::min<std::uint64_t>(statistics_piece, part_.element_count - done));
      INGOT_TRY_VOID(decode(part_.first_element + done, count));
      result.add(compute_statistics(std::span(floats_).first(count)));
      done += count;
    }
    return result;
  }

 private:
  /// A piece is whole blocks: both ends are multiples of any block's elements, or the tensor's end.
  Result<void> decode(std::uint64_t first_element, std::size_t count) {
    const TensorTypeInfo& type = *part_.type;
    const std::uint64_t first_byte = first_element / type.block_elements * type.block_bytes;
    const std::size_t size_bytes = count / type.block_elements * type.block_bytes;
    std::span<const std::byte> blocks = std::span(buffer_).first(size_bytes);
    if (mapped_.empty()) {
      INGOT_TRY_VOID(model_.read(*part_.tensor, first_byte, std::span(buffer_).first(size_bytes)));
    } else {
      blocks = mapped_.subspan(first_byte, size_bytes);
      fetch(mapped_.subspan(first_byte + size_bytes), size_bytes);
    }
    return dequantize(part_.tensor->type, blocks, std::span(floats_).first(count),
                      {.byte_order = byte_order_, .stores = OutputStores::cached});
  }

  /// Starts to load the next piece, while this one is worked on.
  static void fetch(std::span<const std::byte> rest, std::size_t size_bytes) {
    constexpr std::size_t cache_line = 64;
    const std::size_t end = std::min(rest.size(), size_bytes);
    for (std::size_t i = 0; i < end; i += cache_line) __builtin_prefetch(rest.data() + i);
  }

  const Model& model_;
  const Part& part_;
  std::span<const std::byte> mapped_;
  Endian byte_order_;
  alignas(64) std::array<float, statistics_piece> floats_;
  std::array<std::byte, statistics_piece * 8> buffer_;  // no type has more bytes per element
};

}  // namespace

Result<std::vector<Statistics>> compute_statistics(const Model& model,
                                                   std::span<const TensorInfo* const> tensors,
                                                   unsigned thread_count,
                                                   const StatisticsProgress& progress) {
  std::vector<Part> parts;
  std::vector<std::size_t> first_parts;
  for (const TensorInfo* tensor : tensors) {
    first_parts.push_back(parts.size());
    INGOT_TRY_VOID(add_parts(*tensor, parts));
  }
  first_parts.push_back(parts.size());

  std::vector<Statistics> of_parts(parts.size());
  std::mutex progress_mutex;
  std::uint64_t done_bytes = 0;
  INGOT_TRY_VOID(spread(
      parts.size(), 1, thread_count, [&](std::uint64_t first, std::uint64_t) -> Result<void> {
        const Part& part = parts[first];
        INGOT_TRY(of_parts[first], PartReader(model, part).compute());
        if (!progress) return {};
        const std::lock_guard lock(progress_mutex);
        done_bytes += part.element_count / part.type->block_elements * part.type->block_bytes;
        if (!progress(done_bytes)) return fail(Errc::interrupted, std::string(part.tensor->name));
        return {};
      }));

  std::vector<Statistics> results(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::size_t part = first_parts[i]; part < first_parts[i + 1]; ++part) {
      results[i].add(of_parts[part]);
    }
  }
  return results;
}

}  // namespace ingot

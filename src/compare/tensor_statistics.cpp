// SPDX-License-Identifier: MIT
#include "ingot/tensor_statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/checked.hpp"
#include "ingot/parallel.hpp"
#include "work/streams/piece_decoder.hpp"
#include "work/threads/shared_progress.hpp"

namespace ingot {
namespace {

/// Parts of one tensor, at least, if they are not too small to be worth a thread's turn.
constexpr std::uint64_t usual_parts = 8;
constexpr std::uint64_t least_statistics_part = std::uint64_t{1} << 20;

/// Bytes of a part, at most.
constexpr std::uint64_t max_part_bytes = std::uint64_t{16} << 20;

/// Parts of one tensor, at most: their statistics are kept until they are added up.
constexpr std::uint64_t max_statistics_parts = 4096;

/// Consecutive elements of one tensor.
struct StatisticsPart {
  const TensorInfo* tensor;
  std::uint64_t first_element;
  std::uint64_t element_count;
};

/// The part size depends only on the tensor and not on others, so that its digits do not change.
std::uint64_t statistics_part_of(const TensorInfo& tensor) noexcept {
  const std::uint64_t count = tensor.element_count;
  const std::uint64_t max_elements = count / (tensor.size_bytes / max_part_bytes + 1);
  const std::uint64_t share =
      std::max({least_statistics_part, std::min(count / usual_parts, max_elements),
                count / max_statistics_parts + 1});
  return (share + statistics_piece - 1) / statistics_piece * statistics_piece;
}

Result<void> add_parts(const TensorInfo& tensor, std::vector<StatisticsPart>& parts) {
  if (find_type(tensor.type) == nullptr) {
    return fail(Errc::unsupported_type, std::string(tensor.name),
                std::to_string(static_cast<std::uint32_t>(tensor.type)));
  }
  const std::uint64_t part_elements = statistics_part_of(tensor);
  for (std::uint64_t first = 0; first < tensor.element_count; first += part_elements) {
    parts.push_back({&tensor, first, std::min(part_elements, tensor.element_count - first)});
  }
  return {};
}

Result<Statistics> compute_part(const Model& model, const StatisticsPart& part) {
  work::PieceDecoder decoder(model, *part.tensor, part.first_element + part.element_count);
  Statistics result;
  for (std::uint64_t done = 0; done < part.element_count;) {
    const auto count = static_cast<std::size_t>(
        std::min(work::PieceDecoder::read_elements, part.element_count - done));
    INGOT_TRY(const Statistics some, decoder.statistics(part.first_element + done, count));
    result.add(some);
    done += count;
  }
  return result;
}

}  // namespace

Result<std::vector<Statistics>> compute_statistics(const Model& model,
                                                   std::span<const TensorInfo* const> tensors,
                                                   unsigned thread_count,
                                                   const StatisticsProgress& progress) {
  std::vector<StatisticsPart> parts;
  std::vector<std::size_t> first_parts;
  for (const TensorInfo* tensor : tensors) {
    first_parts.push_back(parts.size());
    INGOT_TRY_VOID(add_parts(*tensor, parts));
  }
  first_parts.push_back(parts.size());

  std::vector<Statistics> of_parts(parts.size());
  SharedProgress shared_progress(progress);
  INGOT_TRY_VOID(spread(parts.size(), 1, thread_count,
                        [&](std::uint64_t first, std::uint64_t) -> Result<void> {
                          const StatisticsPart& part = parts[to_size(first)];
                          INGOT_TRY(of_parts[to_size(first)], compute_part(model, part));
                          return shared_progress.add(
                              work::bytes_of(*part.tensor, part.element_count), part.tensor->name);
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

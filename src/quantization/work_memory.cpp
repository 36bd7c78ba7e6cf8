// SPDX-License-Identifier: MIT
#include "quantization/work_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "ingot/parallel.hpp"
#include "ingot/text.hpp"
#include "work/threads/ordered_pipeline.hpp"

namespace ingot::quantization {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// What a thread needs beside its scratch: its stack, its part of the heap, the tables of kernels.
constexpr std::uint64_t thread_allowance_bytes = 2 * mebibyte;

/// What the work needs beside threads, chunks and headers: what the heap wastes.
constexpr std::uint64_t work_allowance_bytes = 8 * mebibyte;

/// The memory of a process differs by this much from run to run.
constexpr std::uint64_t run_allowance_mebibytes = 4;

/// A header in the making is there as keys and as bytes; one is made after the other.
constexpr std::uint64_t header_copies = 2;

/// Buffers of floats of a run: its source and its result, and with error feedback those of the
/// search, too.
constexpr std::uint64_t run_buffers = 2;
constexpr std::uint64_t feedback_run_buffers = 6;

/// The most that any tensor needs, bytes.
struct Need {
  std::uint64_t chunk = 0;    ///< A chunk for each target.
  std::uint64_t scratch = 0;  ///< Memory of a thread.
  std::uint64_t moments = 0;  ///< Second moments of the matrices in work.

  void raise(const Need& other) noexcept {
    chunk = std::max(chunk, other.chunk);
    scratch = std::max(scratch, other.scratch);
    moments = std::max(moments, other.moments);
  }
};

Need need_of(const ChunkedTensor& tensor) {
  if (tensor.chunk_count() == 0) return {};
  const RowPiece chunk = tensor.chunk(0);  // no other one is larger
  const std::uint64_t elements = chunk.element_count();
  const std::uint64_t run_count = std::min(elements, tensor.run_length(chunk));
  Need need;
  std::uint64_t buffers = run_buffers;
  std::uint64_t block_bytes = 0;  // of second moments in the making, one after the other
  std::vector<MomentStore::Key> keys;
  for (const TensorTarget& target : tensor.targets()) {
    need.chunk += find_type(target.planned->choice.type)->bytes_of(elements);
    if (target.importance() != nullptr) need.scratch += chunk.column_count * sizeof(float);
    if (target.planned->has_feedback) buffers = feedback_run_buffers;
    const MomentStore::Key key = target.moments(0);
    if (key.entry == nullptr || std::ranges::find(keys, key) != keys.end()) continue;
    keys.push_back(key);
    const auto columns = static_cast<std::uint64_t>(key.entry->column_count());
    const auto block = static_cast<std::uint64_t>(key.entry->moment_columns);
    // While one matrix ends the next one begins.
    need.moments += 2 * columns * block * sizeof(float);
    block_bytes = std::max(block_bytes, 2 * block * block * sizeof(float));
  }
  need.scratch += block_bytes + find_type(tensor.source().type)->bytes_of(elements) +
                  buffers * run_count * sizeof(float);
  return need;
}

/// The memory that this process has now, bytes; 0 where the system does not tell. What it had for
/// planning and gave back does not count.
std::uint64_t held_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmRSS:" && status >> kibibytes) return kibibytes << 10;
  }
  return 0;
}

std::uint64_t bytes_of(const Need& need, const Crew& crew) noexcept {
  return work_allowance_bytes + need.moments +
         crew.thread_count * (need.scratch + thread_allowance_bytes) +
         (crew.thread_count + crew.chunks_ahead) * need.chunk;
}

}  // namespace

Result<Crew> make_crew(std::span<const ChunkedTensor> tensors, const QuantizeModelOptions& options,
                       std::uint64_t chunk_count, std::uint64_t header_bytes) {
  Crew crew{threads_for(options.thread_count, chunk_count), work::usual_items_ahead};
  if (options.max_memory_bytes == 0) return crew;
  Need need;
  for (const ChunkedTensor& tensor : tensors) need.raise(need_of(tensor));
  const std::uint64_t before = held_bytes() + header_copies * header_bytes;
  const std::uint64_t least = before + bytes_of(need, {});
  if (options.max_memory_bytes < least) {
    return fail(Errc::invalid_argument, "max_memory",
                format_bytes(options.max_memory_bytes) +
                    " do not suffice; the least that does is " +
                    std::to_string(divide_up(least, mebibyte) + run_allowance_mebibytes) + " MiB");
  }
  const std::uint64_t left = options.max_memory_bytes - before;
  // Threads are worth more than chunks ahead, but each wants one while another is written.
  while (bytes_of(need, crew) > left) {
    if (crew.chunks_ahead > 0 && (crew.chunks_ahead > 2 || crew.thread_count == 1)) {
      --crew.chunks_ahead;
    } else {
      --crew.thread_count;
    }
  }
  return crew;
}

}  // namespace ingot::quantization

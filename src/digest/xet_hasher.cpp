// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>
#include <vector>

#include "base/byte_order.hpp"
#include "digest/blake3.hpp"
#include "digest/xet_tree.hpp"
#include "ingot/xet.hpp"

namespace ingot {
namespace {

// The constants of huggingface.co/docs/xet/chunking.
constexpr std::size_t least_chunk_bytes = std::size_t{8} << 10;
static_assert(most_xet_chunk_bytes <= digest::most_blake3_bytes);
constexpr std::uint64_t boundary_mask = 0xffff'0000'0000'0000;
constexpr std::uint64_t gear_numbers[256] = {
#include "digest/gear_table.def"
};

/// A number of a byte leaves the gear hash after this many others: it is shifted by one bit each.
constexpr std::size_t gear_window = 64;

/// The key of chunks; xet-core has it as bytes.
constexpr digest::Blake3Words chunk_key = {0x77f59766, 0xde50955b, 0xaccb3531, 0x1c1897a5,
                                           0x1021e49d, 0x582beb9b, 0x4bb0d0b4, 0x29f2ad93};

/// Finds the ends of chunks.
class ChunkCutter {
 public:
  /// The number of the next bytes that belong to the current chunk.
  std::size_t take(std::span<const std::byte> bytes) noexcept {
    constexpr std::size_t first_hashed = least_chunk_bytes - gear_window;
    const auto left_until = [&](std::size_t size) {
      return std::min(bytes.size(), size - std::min(size, size_));
    };
    const std::size_t end = left_until(most_xet_chunk_bytes);
    const std::size_t first_test = left_until(least_chunk_bytes - 1);
    std::size_t i = left_until(first_hashed);
    std::uint64_t gear = gear_;
    const auto turn = [&] {
      gear = (gear << 1) + gear_numbers[std::to_integer<std::size_t>(bytes[i++])];
    };
    while (i < first_test) turn();
    bool is_boundary = false;
    while (i < end && !is_boundary) {
      turn();
      is_boundary = (gear & boundary_mask) == 0;
    }
    gear_ = gear;
    size_ += i;
    is_complete_ = is_boundary || size_ == most_xet_chunk_bytes;
    return i;
  }

  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

 private:
  std::uint64_t gear_ = 0;
  std::size_t size_ = 0;
  bool is_complete_ = false;
};

}  // namespace

struct XetHasher::State {
  XetChunkSink sink;
  ChunkCutter cutter;
  std::vector<std::byte> begun;  ///< The bytes of the current chunk from earlier pieces.
  XetTree tree;

  void end_chunk(std::span<const std::byte> bytes) {
    const XetChunk chunk = {xet_hash_of(digest::keyed_blake3(chunk_key, bytes)), bytes.size()};
    tree.add(chunk);
    begun.clear();
    cutter = {};
    if (sink) sink(chunk);
  }
};

XetHasher::XetHasher(XetChunkSink sink) : state_(std::make_unique<State>()) {
  state_->sink = std::move(sink);
  state_->begun.reserve(most_xet_chunk_bytes);
}
XetHasher::XetHasher(XetHasher&&) noexcept = default;
XetHasher& XetHasher::operator=(XetHasher&&) noexcept = default;
XetHasher::~XetHasher() = default;

void XetHasher::update(std::span<const std::byte> bytes) {
  State& state = *state_;
  while (!bytes.empty()) {
    const auto taken = bytes.first(state.cutter.take(bytes));
    bytes = bytes.subspan(taken.size());
    const bool is_whole_chunk = state.cutter.is_complete() && state.begun.empty();
    if (!is_whole_chunk) state.begun.insert(state.begun.end(), taken.begin(), taken.end());
    if (state.cutter.is_complete())
      state.end_chunk(is_whole_chunk ? taken : std::span<const std::byte>(state.begun));
  }
}

XetHash XetHasher::finish() {
  if (!state_->begun.empty()) state_->end_chunk(state_->begun);
  const XetHash root = state_->tree.finish();
  if (root == XetHash()) return root;
  std::array<std::byte, sizeof root.numbers> bytes;
  for (std::size_t i = 0; i < root.numbers.size(); ++i)
    store_little(bytes.data() + 8 * i, root.numbers[i]);
  constexpr digest::Blake3Words no_salt{};  // a server may ask for a salt; a file's name has none
  return xet_hash_of(digest::keyed_blake3(no_salt, bytes));
}

}  // namespace ingot

// SPDX-License-Identifier: MIT
// A graph of the engine: tensors that are made from others, and the memory they need while it runs.
#pragma once

#include <array>
#include <initializer_list>
#include <vector>

#include "base/checked.hpp"

namespace ingot::estimate {

/// Parts of a graph that are shown one by one.
enum class Phase : std::uint8_t { output, attention, feed_forward, experts, state };

/// The furthest byte that each part of a graph needs.
struct GraphPhases {
  CheckedNumber output;
  CheckedNumber attention;
  CheckedNumber feed_forward;
  CheckedNumber experts;
  CheckedNumber state;

  [[nodiscard]] CheckedNumber& of(Phase phase) noexcept;
};

/// Tensors are described first, and take their place in the order in which the engine runs them:
/// what a tensor is made from comes before it, and nothing before it is expanded. Weights and
/// caches lie elsewhere and are no tensors here.
class Graph {
 public:
  /// A tensor as something reads it. In a view, its elements have another order or number.
  struct Tensor {
    std::uint32_t number = 0;  ///< 0: none.
    bool is_view = false;

    [[nodiscard]] bool exists() const noexcept { return number != 0; }
    [[nodiscard]] Tensor view() const noexcept { return {number, true}; }
  };
  static constexpr std::size_t most_sources = 6;
  using Sources = std::initializer_list<Tensor>;  ///< There are at most `most_sources`.

  /// Given from outside; takes its place before all others if anything reads it.
  Tensor input(CheckedNumber bytes);
  /// A result with a place of its own.
  Tensor make(CheckedNumber bytes, Sources sources);
  /// The result of an operation that can write into a source of its size, if nothing else reads it.
  Tensor change(CheckedNumber bytes, Sources sources);
  /// Something is written to a cache: takes no place, but holds its sources until then.
  void store(Sources sources);
  /// Keeps a tensor's place until the end.
  void keep(Tensor tensor);

  /// Puts a tensor into the order, behind all that it is made from.
  void expand(Tensor tensor);
  /// What is made from here on belongs to this part.
  void begin(Phase phase) noexcept { phase_ = phase; }

  /// O(tensors x holes).
  [[nodiscard]] GraphPhases lay_out() const;

 private:
  enum class Kind : std::uint8_t { input, made, changed, stored };
  struct Node {
    CheckedNumber bytes;
    std::array<Tensor, most_sources> sources{};
    Kind kind = Kind::made;
    Phase phase = Phase::attention;
    bool is_kept = false;
    bool is_visited = false;
  };

  Tensor add(CheckedNumber bytes, Sources sources, Kind kind);

  std::vector<Node> nodes_{1};  ///< The first stands for none.
  std::vector<std::uint32_t> inputs_;
  std::vector<std::uint32_t> order_;
  Phase phase_ = Phase::attention;
};

/// The engine's allocator for the tensors of a graph: best fit, and a block is free again after the
/// last use of its tensor.
class GraphMemory {
 public:
  struct Block {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };

  /// A place for a tensor. If it lies beyond 64 bits, the peak is an overflow.
  Block take(CheckedNumber bytes);
  void drop(Block block);

  /// The end of the furthest block since the start or the last call.
  [[nodiscard]] CheckedNumber next_peak() noexcept;

 private:
  std::vector<Block> holes_;  ///< Ascending by offset, none beside another.
  std::uint64_t end_ = 0;     ///< All from here on is free.
  CheckedNumber peak_;
};

}  // namespace ingot::estimate

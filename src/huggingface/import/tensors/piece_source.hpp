// SPDX-License-Identifier: MIT
// The bytes of one tensor of the result, in pieces that threads make on their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "huggingface/import/tensors/tensor_view.hpp"
#include "ingot/error.hpp"
#include "ingot/types.hpp"

namespace ingot::huggingface {

/// The memory of one thread, which stays allocated between calls.
struct PieceMemory {
  std::vector<std::byte> read;
  std::vector<std::byte> gathered;
  std::vector<float> numbers;
};

/// The place of a piece among the bytes of its tensor.
struct PiecePlace {
  std::uint64_t piece = 0;
  std::uint64_t first_byte = 0;
};

/// Thread-safe.
class PieceSource {
 public:
  virtual ~PieceSource() = default;
  [[nodiscard]] virtual std::uint64_t piece_count() const noexcept = 0;
  /// The piece that holds a byte of the tensor.
  [[nodiscard]] virtual PiecePlace piece_at(std::uint64_t byte) const noexcept = 0;
  /// Fills `bytes` with a piece. Pieces of a tensor, one after the other, are its bytes.
  [[nodiscard]] virtual Result<void> make(std::uint64_t piece, PieceMemory& memory,
                                          std::vector<std::byte>& bytes) const = 0;
};

enum class Rounding : std::uint8_t {
  nearest,
  none  ///< A piece with a number that the type does not hold fails with Errc::would_be_lost.
};

/// The numbers of a view, encoded as a type.
[[nodiscard]] std::shared_ptr<const PieceSource> pieces_of(TensorView view, TensorType type,
                                                           Rounding rounding = Rounding::nearest);

/// Bytes that are there already.
[[nodiscard]] std::shared_ptr<const PieceSource> pieces_of(std::vector<std::byte> bytes);

}  // namespace ingot::huggingface

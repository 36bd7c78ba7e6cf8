// SPDX-License-Identifier: MIT
// Tensors as floats, piece by piece: what statistics, profiles and comparisons are made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "ingot/model.hpp"
#include "ingot/statistics.hpp"

namespace ingot::work {

/// The size of elements that are whole blocks of a tensor of known type.
[[nodiscard]] std::uint64_t bytes_of(const TensorInfo& tensor,
                                     std::uint64_t element_count) noexcept;

/// Decodes a part of a tensor piece by piece, from its first element on, through a buffer that
/// stays in the first caches. Not thread-safe; several decoders can work on one model.
class PieceDecoder {
 public:
  /// @param end_element the end of the part; nothing beyond is read.
  PieceDecoder(const Model& model, const TensorInfo& tensor, std::uint64_t end_element);

  /// The elements that are read at once, as a system call for each piece would take longer than
  /// decoding it.
  static constexpr std::uint64_t read_elements = std::uint64_t{32} * statistics_piece;

  /// The blocks of elements; valid until the next call. The elements are a piece, or read_elements
  /// at a multiple of read_elements after the first requested element. Both ends are at multiples
  /// of every block's elements, or at the tensor's end.
  [[nodiscard]] Result<std::span<const std::byte>> read(std::uint64_t first_element,
                                                        std::size_t count);

  /// The statistics of such elements.
  [[nodiscard]] Result<Statistics> statistics(std::uint64_t first_element, std::size_t count);

  /// Decodes a piece to floats.
  [[nodiscard]] Result<std::span<const float>> decode(std::uint64_t first_element,
                                                      std::size_t count);

 private:
  [[nodiscard]] Result<void> read_from(std::uint64_t first_element);

  const Model& model_;
  const TensorInfo& tensor_;
  std::uint64_t end_element_;
  Endian byte_order_;
  alignas(64) std::array<float, statistics_piece> floats_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t buffer_bytes_ = 0;
  std::span<const std::byte> read_;  ///< Bytes of the tensor, from read_offset_ up to end_of_read_.
  std::uint64_t read_offset_ = 0;    ///< Counted in bytes.
  std::uint64_t end_of_read_ = 0;    ///< Counted in elements.
};

}  // namespace ingot::work

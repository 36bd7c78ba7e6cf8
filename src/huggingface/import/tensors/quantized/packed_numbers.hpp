// SPDX-License-Identifier: MIT
// Numbers that are computed from codes in words, a row of words for a row of numbers.
#pragma once

#include <cstdint>
#include <span>

#include "huggingface/import/tensors/source_tensors.hpp"

namespace ingot::huggingface {

inline constexpr std::uint64_t bits_of_packed_word = 32;

/// Rows are read whole, so that no row may be longer: 32 MiB.
inline constexpr std::uint64_t max_packed_row_bits = std::uint64_t{1} << 28;

struct PackedLayout {
  std::uint64_t bits = 4;  ///< At most 8. Codes follow one another from the lowest bit on.
  std::uint64_t columns = 0;
  std::uint64_t group = 0;  ///< Columns that share a scale.
  /// A word of zeros has those of neighbouring groups, and rows of words are whole; else it has
  /// those of neighbouring rows.
  bool zeros_follow_groups = false;
  /// What codes stand for, as BF16; empty: the codes themselves.
  std::span<const std::uint16_t> values = {};
};

/// (code - zero) * scale, or code * scale + bias, or value of the code * scale. Matrices of a stack
/// follow one another, so that only the last dimension of the parts counts.
class PackedNumbers final : public NumberSource {
 public:
  struct Parts {
    SourceTensor codes, scales;
    const SourceTensor* zeros = nullptr;   ///< nullptr: all zeros are the middle code,
    const SourceTensor* biases = nullptr;  ///< or there are these.
  };
  PackedNumbers(const Parts& parts, const PackedLayout& layout);

  [[nodiscard]] TensorType type() const noexcept override { return TensorType::f32; }
  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override;

 private:
  /// The words of zeros for some rows.
  struct Zeros {
    std::uint64_t first_row = 0;
    std::vector<std::byte> words;
  };
  [[nodiscard]] Result<Zeros> read_zeros(std::uint64_t row, std::uint64_t row_count) const;
  [[nodiscard]] std::int32_t zero_at(const Zeros& zeros, std::uint64_t row,
                                     std::uint64_t group) const noexcept;

  SourceTensor codes_, scales_, zeros_, biases_;
  bool has_zeros_;
  bool has_biases_;
  PackedLayout layout_;
  std::uint64_t row_bytes_;   // of codes
  std::uint64_t row_scales_;  // of a row, some perhaps without a group
};

}  // namespace ingot::huggingface

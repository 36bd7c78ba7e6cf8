// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/mxfp4_experts.hpp"

#include <algorithm>
#include <utility>

#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::uint64_t code_bytes = 16;
constexpr std::uint64_t block_bytes = 1 + code_bytes;
constexpr std::uint64_t block_elements = 32;
constexpr std::uint64_t expert_piece_bytes = std::uint64_t{1} << 20;

/// Moves codes from neighbours in one byte to elements j and j + 16 in byte j.
void reorder(const std::byte* codes, std::byte scale, std::byte* block) {
  block[0] = scale;
  const auto element = [&](std::size_t i) {
    const auto byte = std::to_integer<unsigned>(codes[i / 2]);
    return i % 2 == 0 ? byte & 15 : byte >> 4;
  };
  for (std::size_t j = 0; j < code_bytes; ++j) {
    block[1 + j] = static_cast<std::byte>(element(j) | element(j + code_bytes) << 4);
  }
}

class Mxfp4Pieces final : public PieceSource {
 public:
  Mxfp4Pieces(SourceTensor blocks, SourceTensor scales, std::uint64_t first, std::uint64_t every)
      : blocks_(std::move(blocks)), scales_(std::move(scales)), first_(first), every_(every) {
    stored_rows_ = blocks_.shape[1];
    row_blocks_ = blocks_.shape[2];
    rows_ = blocks_.shape[0] * (stored_rows_ / every_);
    rows_a_piece_ = std::max<std::uint64_t>(
        1, expert_piece_bytes / std::max<std::uint64_t>(1, row_blocks_ * block_bytes));
  }

  [[nodiscard]] std::uint64_t piece_count() const noexcept override {
    return (rows_ + rows_a_piece_ - 1) / rows_a_piece_;
  }

  [[nodiscard]] PiecePlace piece_at(std::uint64_t byte) const noexcept override {
    const std::uint64_t bytes_a_piece = rows_a_piece_ * row_blocks_ * block_bytes;
    return {byte / bytes_a_piece, byte / bytes_a_piece * bytes_a_piece};
  }

  [[nodiscard]] Result<void> make(std::uint64_t piece, PieceMemory& memory,
                                  std::vector<std::byte>& bytes) const override {
    const std::uint64_t begin = piece * rows_a_piece_;
    const std::uint64_t count = std::min(rows_a_piece_, rows_ - begin);
    bytes.resize(static_cast<std::size_t>(count * row_blocks_ * block_bytes));
    memory.read.resize(static_cast<std::size_t>(row_blocks_ * code_bytes));
    memory.gathered.resize(static_cast<std::size_t>(row_blocks_));
    std::byte* to = bytes.data();
    const std::uint64_t kept_rows = stored_rows_ / every_;
    for (std::uint64_t row = begin; row < begin + count; ++row) {
      const std::uint64_t stored =
          row / kept_rows * stored_rows_ + first_ + row % kept_rows * every_;
      INGOT_TRY_VOID(
          blocks_.file->read(blocks_.file_offset + stored * row_blocks_ * code_bytes, memory.read));
      INGOT_TRY_VOID(
          scales_.file->read(scales_.file_offset + stored * row_blocks_, memory.gathered));
      for (std::size_t i = 0; i < row_blocks_; ++i, to += block_bytes) {
        reorder(memory.read.data() + i * code_bytes, memory.gathered[i], to);
      }
    }
    return {};
  }

 private:
  SourceTensor blocks_;
  SourceTensor scales_;
  std::uint64_t first_;
  std::uint64_t every_;
  std::uint64_t stored_rows_ = 0;
  std::uint64_t row_blocks_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t rows_a_piece_ = 1;
};

}  // namespace

Result<Mxfp4Experts> mxfp4_experts(const SourceTensor& blocks, const SourceTensor& scales,
                                   std::uint64_t first, std::uint64_t every) {
  const bool is_bytes = blocks.dtype->name == "U8" && scales.dtype->name == "U8";
  if (!is_bytes || blocks.shape.size() != 4 || blocks.shape[3] != code_bytes ||
      blocks.shape[1] % every != 0) {
    return refuse(blocks.name, "U8 of the shape experts, rows, columns / 32, 16 is expected");
  }
  std::vector<std::uint64_t> expected = blocks.shape;
  expected.pop_back();
  if (scales.shape != expected) return refuse(scales.name, "one scale for each block is expected");
  Mxfp4Experts experts;
  experts.shape = {blocks.shape[0], blocks.shape[1] / every, blocks.shape[2] * block_elements};
  experts.pieces = std::make_shared<Mxfp4Pieces>(blocks, scales, first, every);
  return experts;
}

}  // namespace ingot::huggingface

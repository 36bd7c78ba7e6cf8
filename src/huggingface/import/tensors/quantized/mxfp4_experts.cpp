// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/quantized/mxfp4_experts.hpp"

#include <algorithm>
#include <utility>

#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::uint64_t expert_piece_bytes = std::uint64_t{1} << 20;

/// Moves codes from neighbours in one byte to elements j and j + 16 in byte j.
void reorder(const std::byte* codes, std::byte scale, std::byte* block) {
  block[0] = scale;
  const auto element = [&](std::size_t i) {
    const auto byte = std::to_integer<unsigned>(codes[i / 2]);
    return i % 2 == 0 ? byte & 15 : byte >> 4;
  };
  for (std::size_t j = 0; j < mxfp4_code_bytes; ++j) {
    block[1 + j] = static_cast<std::byte>(element(j) | element(j + mxfp4_code_bytes) << 4);
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
        1, expert_piece_bytes / std::max<std::uint64_t>(1, row_blocks_ * mxfp4_block_bytes));
  }

  [[nodiscard]] std::uint64_t piece_count() const noexcept override {
    return (rows_ + rows_a_piece_ - 1) / rows_a_piece_;
  }

  [[nodiscard]] PiecePlace piece_at(std::uint64_t byte) const noexcept override {
    const std::uint64_t bytes_a_piece = rows_a_piece_ * row_blocks_ * mxfp4_block_bytes;
    return {byte / bytes_a_piece, byte / bytes_a_piece * bytes_a_piece};
  }

  [[nodiscard]] Result<void> make(std::uint64_t piece, PieceMemory& memory,
                                  std::vector<std::byte>& bytes) const override {
    const std::uint64_t begin = piece * rows_a_piece_;
    const std::uint64_t count = std::min(rows_a_piece_, rows_ - begin);
    bytes.resize(static_cast<std::size_t>(count * row_blocks_ * mxfp4_block_bytes));
    memory.read.resize(static_cast<std::size_t>(row_blocks_ * mxfp4_code_bytes));
    memory.gathered.resize(static_cast<std::size_t>(row_blocks_));
    std::byte* to = bytes.data();
    const std::uint64_t kept_rows = stored_rows_ / every_;
    for (std::uint64_t row = begin; row < begin + count; ++row) {
      const std::uint64_t stored =
          row / kept_rows * stored_rows_ + first_ + row % kept_rows * every_;
      INGOT_TRY_VOID(blocks_.file->read(
          blocks_.file_offset + stored * row_blocks_ * mxfp4_code_bytes, memory.read));
      INGOT_TRY_VOID(
          scales_.file->read(scales_.file_offset + stored * row_blocks_, memory.gathered));
      for (std::size_t i = 0; i < row_blocks_; ++i, to += mxfp4_block_bytes) {
        reorder(memory.read.data() + i * mxfp4_code_bytes, memory.gathered[i], to);
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

/// Bytes of tensors of one size, one after the other.
class JoinedPieces final : public PieceSource {
 public:
  JoinedPieces(std::vector<std::shared_ptr<const PieceSource>> parts, std::uint64_t part_bytes)
      : parts_(std::move(parts)),
        part_bytes_(part_bytes),
        part_pieces_(parts_.front()->piece_count()) {}

  [[nodiscard]] std::uint64_t piece_count() const noexcept override {
    return parts_.size() * part_pieces_;
  }

  [[nodiscard]] PiecePlace piece_at(std::uint64_t byte) const noexcept override {
    const std::uint64_t part = byte / part_bytes_;
    const PiecePlace place = parts_.front()->piece_at(byte % part_bytes_);
    return {part * part_pieces_ + place.piece, part * part_bytes_ + place.first_byte};
  }

  [[nodiscard]] Result<void> make(std::uint64_t piece, PieceMemory& memory,
                                  std::vector<std::byte>& bytes) const override {
    return parts_[static_cast<std::size_t>(piece / part_pieces_)]->make(piece % part_pieces_,
                                                                        memory, bytes);
  }

 private:
  std::vector<std::shared_ptr<const PieceSource>> parts_;
  std::uint64_t part_bytes_;
  std::uint64_t part_pieces_;
};

bool is_bytes(const SourceTensor& tensor) {
  return tensor.file != nullptr && tensor.dtype != nullptr &&
         (tensor.dtype->name == "U8" || tensor.dtype->name == "I8" ||
          tensor.dtype->name == "F8_E8M0");
}

}  // namespace

/// The way back of `reorder`.
void pair_codes(const std::byte* block, std::byte* codes) noexcept {
  const auto element = [&](std::size_t i) {
    const auto byte = std::to_integer<unsigned>(block[1 + i % mxfp4_code_bytes]);
    return i < mxfp4_code_bytes ? byte & 15 : byte >> 4;
  };
  for (std::size_t j = 0; j < mxfp4_code_bytes; ++j) {
    codes[j] = static_cast<std::byte>(element(2 * j) | element(2 * j + 1) << 4);
  }
}

Result<Mxfp4Experts> join_mxfp4_experts(
    const std::vector<std::pair<SourceTensor, SourceTensor>>& experts) {
  const std::vector<std::uint64_t> shape = experts.front().first.shape;
  Mxfp4Experts joined;
  std::vector<std::shared_ptr<const PieceSource>> parts;
  for (const auto& [codes, scales] : experts) {
    if (!is_bytes(codes) || shape.size() != 2 || codes.shape != shape || shape[0] == 0 ||
        shape[1] == 0 || shape[1] % mxfp4_code_bytes != 0) {
      return refuse(codes.name, "codes of FP4 are expected, as many as other experts have");
    }
    const std::vector<std::uint64_t> expected = {shape[0], shape[1] / mxfp4_code_bytes};
    if (!is_bytes(scales) || scales.shape != expected) {
      return refuse(scales.name, "one scale for each 32 codes is expected");
    }
    SourceTensor blocks = codes;
    blocks.shape = {1, shape[0], shape[1] / mxfp4_code_bytes, mxfp4_code_bytes};
    parts.push_back(std::make_shared<Mxfp4Pieces>(std::move(blocks), scales, 0, 1));
  }
  joined.shape = {experts.size(), shape[0], shape[1] * 2};
  joined.pieces = std::make_shared<JoinedPieces>(
      std::move(parts), shape[0] * (shape[1] / mxfp4_code_bytes) * mxfp4_block_bytes);
  return joined;
}

Result<Mxfp4Experts> mxfp4_experts(const SourceTensor& blocks, const SourceTensor& scales,
                                   std::uint64_t first, std::uint64_t every) {
  const bool is_bytes = blocks.dtype->name == "U8" && scales.dtype->name == "U8";
  if (!is_bytes || blocks.shape.size() != 4 || blocks.shape[3] != mxfp4_code_bytes ||
      blocks.shape[1] % every != 0) {
    return refuse(blocks.name, "U8 of the shape experts, rows, columns / 32, 16 is expected");
  }
  std::vector<std::uint64_t> expected = blocks.shape;
  expected.pop_back();
  if (scales.shape != expected) return refuse(scales.name, "one scale for each block is expected");
  Mxfp4Experts experts;
  experts.shape = {blocks.shape[0], blocks.shape[1] / every, blocks.shape[2] * mxfp4_elements};
  experts.pieces = std::make_shared<Mxfp4Pieces>(blocks, scales, first, every);
  return experts;
}

}  // namespace ingot::huggingface

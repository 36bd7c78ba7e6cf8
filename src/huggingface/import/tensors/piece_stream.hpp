// SPDX-License-Identifier: MIT
// The pieces of all tensors of an import, made by many threads and handed out in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "huggingface/import/tensors/tensor_plan.hpp"
#include "ingot/error.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/parallel.hpp"
#include "work/threads/ordered_pipeline.hpp"

namespace ingot::huggingface {

class PieceStream {
 public:
  /// @param tensors  borrowed; they are asked for in their order, each once.
  PieceStream(std::span<const PlannedTensor> tensors, unsigned thread_count)
      : tensors_(tensors),
        first_pieces_(first_pieces(tensors)),
        pipeline_(first_pieces_.back(), threads_for(thread_count, first_pieces_.back()),
                  [this](std::uint64_t item, Piece& piece, PieceMemory& memory) {
                    make(item, piece, memory);
                  }) {}

  /// Gives the bytes of a tensor to `sink`.
  Result<void> stream(std::size_t tensor, const DataSink& sink) {
    for (std::uint64_t item = first_pieces_[tensor]; item < first_pieces_[tensor + 1]; ++item) {
      Piece& piece = pipeline_.next();
      if (piece.error) return fail(*std::move(piece.error));
      INGOT_TRY_VOID(sink(piece.bytes));
      pipeline_.release();
    }
    return {};
  }

 private:
  struct Piece {
    std::vector<std::byte> bytes;
    std::optional<Error> error;
  };

  static std::vector<std::uint64_t> first_pieces(std::span<const PlannedTensor> tensors) {
    std::vector<std::uint64_t> first = {0};
    for (const PlannedTensor& tensor : tensors) {
      first.push_back(first.back() + tensor.pieces->piece_count());
    }
    return first;
  }

  void make(std::uint64_t item, Piece& piece, PieceMemory& memory) const {
    const auto after = std::ranges::upper_bound(first_pieces_, item);
    const auto tensor = static_cast<std::size_t>(after - first_pieces_.begin()) - 1;
    auto made = tensors_[tensor].pieces->make(item - first_pieces_[tensor], memory, piece.bytes);
    piece.error = made ? std::nullopt : std::optional(std::move(made).error());
    if (piece.error && piece.error->subject.empty()) {
      piece.error->subject = tensors_[tensor].info.sources.front();
    }
  }

  std::span<const PlannedTensor> tensors_;
  // The first piece of each tensor; the last element is the number of pieces.
  std::vector<std::uint64_t> first_pieces_;
  work::OrderedPipeline<Piece, PieceMemory> pipeline_;
};

}  // namespace ingot::huggingface

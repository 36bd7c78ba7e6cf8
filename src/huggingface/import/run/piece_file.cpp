// SPDX-License-Identifier: MIT
#include "huggingface/import/run/piece_file.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "base/messages.hpp"

namespace ingot::huggingface {

class PieceStore {
 public:
  using Bytes = std::shared_ptr<const std::vector<std::byte>>;

  /// A piece, made unless it is kept.
  Result<Bytes> get(const PieceSource& pieces, std::uint64_t piece) {
    std::unique_ptr<PieceMemory> memory;
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::ranges::find_if(
          kept_, [&](const Kept& one) { return one.pieces == &pieces && one.piece == piece; });
      if (found != kept_.end()) return found->bytes;
      if (!idle_.empty()) {
        memory = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (memory == nullptr) memory = std::make_unique<PieceMemory>();
    const auto made = std::make_shared<std::vector<std::byte>>();
    INGOT_TRY_VOID(pieces.make(piece, *memory, *made));
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(memory));
    kept_.push_front({&pieces, piece, made});
    if (kept_.size() > max_kept) kept_.pop_back();
    return Bytes(made);
  }

 private:
  /// Readers take neighbouring ranges, each thread one; where two meet in a piece both want it.
  static constexpr std::size_t max_kept = 8;

  struct Kept {
    const PieceSource* pieces;
    std::uint64_t piece;
    Bytes bytes;
  };

  std::mutex mutex_;
  std::list<Kept> kept_;  // the newest first
  std::vector<std::unique_ptr<PieceMemory>> idle_;
};

namespace {

class PieceFile final : public Source {
 public:
  PieceFile(const PlannedTensor& tensor, std::shared_ptr<PieceStore> store)
      : tensor_(tensor), store_(std::move(store)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override {
    return tensor_.info.size_bytes;
  }

  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    if (file_offset > size_bytes() || destination.size() > size_bytes() - file_offset) {
      return fail(Errc::truncated, file_offset, tensor_.info.name);
    }
    while (!destination.empty()) {
      const PiecePlace place = tensor_.pieces->piece_at(file_offset);
      INGOT_TRY(
          const PieceStore::Bytes piece,
          with_subject(tensor_.info.sources.front(), store_->get(*tensor_.pieces, place.piece)));
      const auto within = static_cast<std::size_t>(file_offset - place.first_byte);
      const std::size_t count = std::min(destination.size(), piece->size() - within);
      std::memcpy(destination.data(), piece->data() + within, count);
      destination = destination.subspan(count);
      file_offset += count;
    }
    return {};
  }

 private:
  const PlannedTensor& tensor_;
  std::shared_ptr<PieceStore> store_;
};

}  // namespace

std::shared_ptr<PieceStore> make_piece_store() { return std::make_shared<PieceStore>(); }

std::unique_ptr<Source> open_pieces(const PlannedTensor& tensor,
                                    std::shared_ptr<PieceStore> store) {
  return std::make_unique<PieceFile>(tensor, std::move(store));
}

}  // namespace ingot::huggingface

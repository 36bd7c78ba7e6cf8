// SPDX-License-Identifier: MIT
// Makes the bytes of a view: reads, reorders, encodes.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "huggingface/import/tensors/gather.hpp"
#include "huggingface/import/tensors/piece_source.hpp"
#include "ingot/quantize.hpp"
#include "ingot/quantize_exactly.hpp"

namespace ingot::huggingface {
namespace {

/// Elements of a piece: they stay in the caches of a core.
constexpr std::uint64_t piece_elements = std::uint64_t{1} << 18;
/// The piece size for arrangements whose neighbours are far apart, as a larger piece has longer
/// runs.
constexpr std::uint64_t scattered_piece_elements = std::uint64_t{1} << 20;

/// The cutting of one arrangement into pieces: ranges of `range` positions of the step `cut`, with
/// all positions of the steps within it.
struct PartPieces {
  const Arrangement* part = nullptr;
  std::vector<Step> steps;
  std::size_t cut = 0;
  std::uint64_t range = 1;
  std::uint64_t inner = 1;  ///< Elements of one position of the cut step.
  std::uint64_t ranges = 1;
  std::uint64_t first_piece = 0;
  std::uint64_t piece_count = 1;
  std::uint64_t first_element = 0;  ///< The index of the first element in the tensor.
  std::uint64_t elements = 0;
};

PartPieces cut_part(const Arrangement& part, std::uint64_t block) {
  PartPieces pieces{.part = &part, .steps = {}};
  std::vector<Step> steps;
  for (const Axis& axis : part.axes) steps.insert(steps.end(), axis.begin(), axis.end());
  pieces.steps = simplify(steps);
  if (pieces.steps.empty()) pieces.steps.push_back({1, 1});
  const bool is_scattered = pieces.steps.back().stride != 1;
  const std::uint64_t budget = is_scattered ? scattered_piece_elements : piece_elements;
  // The outermost step at which a piece is small enough, and a whole number of blocks.
  std::uint64_t inner = 1;
  std::optional<std::size_t> found;
  for (std::size_t i = pieces.steps.size(); i-- > 0;) {
    const std::uint64_t unit = block / std::gcd(inner, block);
    const bool is_whole = pieces.steps[i].size % unit == 0;
    if (is_whole && (!found || inner * unit <= budget)) {
      found = i;
      pieces.inner = inner;
      pieces.range = std::max(unit, budget / inner / unit * unit);
    }
    inner *= pieces.steps[i].size;
  }
  pieces.cut = found.value_or(0);
  if (!found) {
    pieces.range = pieces.steps[0].size;
    pieces.inner = inner / std::max<std::uint64_t>(pieces.steps[0].size, 1);
  }
  pieces.range = std::min(pieces.range, std::max<std::uint64_t>(pieces.steps[pieces.cut].size, 1));
  pieces.ranges = (pieces.steps[pieces.cut].size + pieces.range - 1) / pieces.range;
  pieces.piece_count = pieces.ranges;
  for (std::size_t i = 0; i < pieces.cut; ++i) pieces.piece_count *= pieces.steps[i].size;
  pieces.elements =
      pieces.piece_count / pieces.ranges * pieces.steps[pieces.cut].size * pieces.inner;
  return pieces;
}

class ViewPieces final : public PieceSource {
 public:
  ViewPieces(TensorView view, TensorType type, Rounding rounding)
      : view_(std::move(view)), type_(type), rounding_(rounding) {
    const std::uint64_t block = find_type(type)->block_elements;
    std::uint64_t elements = 0;
    for (const Arrangement& part : view_.parts) {
      PartPieces& pieces = parts_.emplace_back(cut_part(part, block));
      pieces.first_piece = piece_count_;
      pieces.first_element = elements;
      piece_count_ += pieces.piece_count;
      elements += pieces.elements;
    }
  }

  [[nodiscard]] std::uint64_t piece_count() const noexcept override { return piece_count_; }

  [[nodiscard]] PiecePlace piece_at(std::uint64_t byte) const noexcept override {
    const TensorTypeInfo& type = *find_type(type_);
    const std::uint64_t element = byte / type.block_bytes * type.block_elements;
    const auto after = std::ranges::upper_bound(parts_, element, {}, &PartPieces::first_element);
    const PartPieces& part = *std::prev(after);
    // Pieces follow one another in runs of `ranges`, the last of which may be shorter.
    const std::uint64_t run = part.steps[part.cut].size * part.inner;
    const std::uint64_t size = part.range * part.inner;
    const std::uint64_t within = element - part.first_element;
    const std::uint64_t range = within % run / size;
    const std::uint64_t first = part.first_element + within / run * run + range * size;
    return {part.first_piece + within / run * part.ranges + range, type.bytes_of(first)};
  }

  [[nodiscard]] Result<void> make(std::uint64_t piece, PieceMemory& memory,
                                  std::vector<std::byte>& bytes) const override {
    const auto after = std::ranges::upper_bound(parts_, piece, {}, &PartPieces::first_piece);
    const PartPieces& pieces = *std::prev(after);
    std::uint64_t rest = piece - pieces.first_piece;
    const std::uint64_t begin = rest % pieces.ranges * pieces.range;
    rest /= pieces.ranges;
    std::vector<Step> steps(pieces.steps.begin() + static_cast<std::ptrdiff_t>(pieces.cut),
                            pieces.steps.end());
    std::uint64_t first = pieces.part->first + begin * steps[0].stride;
    steps[0].size = std::min(pieces.range, steps[0].size - begin);
    for (std::size_t i = pieces.cut; i-- > 0;) {
      first += rest % pieces.steps[i].size * pieces.steps[i].stride;
      rest /= pieces.steps[i].size;
    }
    const std::uint64_t count = steps[0].size * pieces.inner;
    return encode(*pieces.part->source, first, steps, static_cast<std::size_t>(count), memory,
                  bytes);
  }

 private:
  Result<void> encode(const NumberSource& source, std::uint64_t first, std::span<const Step> steps,
                      std::size_t count, PieceMemory& memory, std::vector<std::byte>& bytes) const {
    using enum TensorType;
    const TensorType from = source.type();
    // Signalling NaNs of BF16 become quiet, as the reference makes them, unless bits are to be
    // kept.
    const bool is_kept = from == type_ && (type_ == f32 || type_ == f16 || type_ == i32 ||
                                           type_ == i64 || rounding_ == Rounding::none);
    std::vector<std::byte>& raw = is_kept ? bytes : memory.gathered;
    raw.resize(count * find_type(from)->block_bytes);
    INGOT_TRY_VOID(gather(source, first, steps, memory.read, raw));
    if (is_kept) return {};
    bytes.resize(static_cast<std::size_t>(find_type(type_)->bytes_of(count)));
    memory.numbers.resize(count);
    INGOT_TRY_VOID(dequantize(from, raw, memory.numbers, {.stores = OutputStores::cached}));
    if (rounding_ == Rounding::nearest) return quantize(type_, memory.numbers, count, bytes);
    INGOT_TRY(const bool is_exact, quantize_exactly(type_, memory.numbers, bytes));
    if (is_exact) return {};
    return fail(Errc::would_be_lost, {},
                std::string(find_type(type_)->name) +
                    " does not hold every weight; they changed after they were looked at");
  }

  TensorView view_;
  TensorType type_;
  Rounding rounding_;
  std::vector<PartPieces> parts_;
  std::uint64_t piece_count_ = 0;
};

class ReadyBytes final : public PieceSource {
 public:
  explicit ReadyBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t piece_count() const noexcept override { return 1; }
  [[nodiscard]] PiecePlace piece_at(std::uint64_t) const noexcept override { return {}; }
  [[nodiscard]] Result<void> make(std::uint64_t, PieceMemory&,
                                  std::vector<std::byte>& bytes) const override {
    bytes = bytes_;
    return {};
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

std::shared_ptr<const PieceSource> pieces_of(TensorView view, TensorType type, Rounding rounding) {
  return std::make_shared<ViewPieces>(std::move(view), type, rounding);
}

std::shared_ptr<const PieceSource> pieces_of(std::vector<std::byte> bytes) {
  return std::make_shared<ReadyBytes>(std::move(bytes));
}

}  // namespace ingot::huggingface

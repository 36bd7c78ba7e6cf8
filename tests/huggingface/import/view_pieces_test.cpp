// SPDX-License-Identifier: MIT
// Tensors of several pieces have the bytes that one pass over the numbers would give.
#include <gmock/gmock.h>

#include <cstring>
#include <utility>

#include "huggingface/import/tensors/piece_source.hpp"
#include "ingot/quantize.hpp"
#include "ingot/source.hpp"
#include "support/expect_error.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::size_t rows = 1216;
constexpr std::size_t columns = 1088;

std::vector<float> numbers() {
  std::vector<float> made(rows * columns);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<float>(i * 7919 % 10007);
  return made;
}

TensorView view_of_numbers(const std::vector<float>& made) {
  const std::shared_ptr<const Source> file = borrow_memory(std::as_bytes(std::span(made)));
  return view_of("x", {rows, columns},
                 std::make_shared<StoredNumbers>(file, 0, TensorType::f32, sizeof(float)));
}

std::vector<std::byte> all_bytes(const PieceSource& pieces) {
  std::vector<std::byte> all;
  PieceMemory memory;
  std::vector<std::byte> piece;
  for (std::uint64_t i = 0; i < pieces.piece_count(); ++i) {
    EXPECT_THAT(pieces.make(i, memory, piece), test::Succeeds());
    for (const std::size_t byte : {all.size(), all.size() + piece.size() - 1}) {
      const PiecePlace place = pieces.piece_at(byte);
      EXPECT_EQ(place.piece, i) << byte;
      EXPECT_EQ(place.first_byte, all.size()) << byte;
    }
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

void expect_encoded(TensorView view, const std::vector<float>& expected) {
  for (const TensorType type : {TensorType::f32, TensorType::f16, TensorType::q8_0}) {
    const auto pieces = pieces_of(view, type);
    EXPECT_GT(pieces->piece_count(), 1u);
    std::vector<std::byte> bytes(find_type(type)->bytes_of(expected.size()));
    ASSERT_THAT(quantize(type, expected, expected.size(), bytes), test::Succeeds());
    EXPECT_TRUE(all_bytes(*pieces) == bytes) << find_type(type)->name;
  }
}

TEST(ViewPieces, WholeTensorIsCut) {
  const std::vector<float> made = numbers();
  expect_encoded(view_of_numbers(made), made);
}

TEST(ViewPieces, TransposedTensorIsGathered) {
  const std::vector<float> made = numbers();
  TensorView view = view_of_numbers(made);
  std::swap(view.parts.front().axes[0], view.parts.front().axes[1]);
  std::vector<float> expected;
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) expected.push_back(made[row * columns + column]);
  }
  expect_encoded(std::move(view), expected);
}

}  // namespace
}  // namespace ingot::huggingface

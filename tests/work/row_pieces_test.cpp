// SPDX-License-Identifier: MIT
// Pieces of tensors: they are rows or parts of rows, and every element is in one of them, in order.
#include "work/streams/row_pieces.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ingot::test {
namespace {

struct Cut {
  std::vector<std::uint64_t> shape;
  std::uint64_t part_elements;
  std::uint64_t most_rows;
  std::uint64_t count;
};

class RowPiecesTest : public testing::TestWithParam<Cut> {};

TEST_P(RowPiecesTest, HoldEveryElementOnceInOrder) {
  const Cut& cut = GetParam();
  TensorInfo tensor;
  tensor.shape = cut.shape;
  tensor.element_count = 1;
  for (const std::uint64_t dimension : cut.shape) tensor.element_count *= dimension;
  const RowPieces pieces(tensor, cut.part_elements, cut.most_rows);
  ASSERT_EQ(pieces.count(), cut.count);
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < pieces.count(); ++i) {
    const RowPiece piece = pieces.piece(i);
    const std::uint64_t rows = cut.shape.size() > 1 ? cut.shape[1] : 1;
    EXPECT_EQ(piece.first_element, next);
    EXPECT_EQ(piece.first_element,
              (piece.matrix * rows + piece.first_row) * cut.shape[0] + piece.first_column);
    EXPECT_LE(piece.row_count, cut.most_rows > 0 ? cut.most_rows : 1);
    EXPECT_TRUE(piece.row_count == 1 || piece.column_count == cut.shape[0]);
    next += piece.element_count();
  }
  EXPECT_EQ(next, tensor.element_count);
}

INSTANTIATE_TEST_SUITE_P(Cuts, RowPiecesTest,
                         testing::Values(Cut{{8}, 8, 4, 1}, Cut{{8, 5}, 8, 2, 3},
                                         Cut{{8, 5}, 8, 0, 5}, Cut{{8, 5, 3}, 8, 2, 9},
                                         Cut{{8, 5, 3, 2}, 8, 9, 6}, Cut{{10, 3}, 4, 7, 9},
                                         Cut{{10, 2, 2}, 4, 1, 12}));

TEST(NoRowPiecesTest, NoTensorHasNoPieces) { EXPECT_EQ(RowPieces().count(), 0u); }

}  // namespace
}  // namespace ingot::test

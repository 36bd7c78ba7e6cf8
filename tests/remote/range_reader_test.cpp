// SPDX-License-Identifier: MIT
// Ranges that are known in advance: joined, cut, and bounded whatever a file claims.

#include "remote/reading/range_reader.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <vector>

namespace ingot::remote {

bool operator==(const PlannedPiece& a, const PlannedPiece& b) {
  return a.file_offset == b.file_offset && a.size_bytes == b.size_bytes &&
         a.wanted_bytes == b.wanted_bytes;
}
void PrintTo(const PlannedPiece& piece, std::ostream* out) {
  *out << piece.file_offset << "+" << piece.size_bytes << " (" << piece.wanted_bytes << ")";
}

namespace test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t file_bytes = 1000 * mib;

std::vector<PlannedPiece> plan(const std::vector<FileRange>& ranges, std::uint64_t first_byte = 0) {
  return plan_pieces(ranges, first_byte, file_bytes);
}

TEST(PlanPieces, JoinsNeighbours) {
  EXPECT_THAT(plan({{100, 50}, {150, 50}, {mib, 10}}),
              ElementsAre(PlannedPiece{100, mib - 90, 110}));
  EXPECT_THAT(plan({{0, 10}, {10 + mib, 10}}),
              ElementsAre(PlannedPiece{0, 10, 10}, PlannedPiece{10 + mib, 10, 10}));
}

TEST(PlanPieces, CutsWhatIsLong) {
  EXPECT_THAT(plan({{mib, 20 * mib}}), ElementsAre(PlannedPiece{mib, 8 * mib, 8 * mib},
                                                   PlannedPiece{9 * mib, 8 * mib, 8 * mib},
                                                   PlannedPiece{17 * mib, 4 * mib, 4 * mib}));
}

TEST(PlanPieces, KeepsTheOrderOfReading) {
  EXPECT_THAT(plan({{50 * mib, 10}, {10, 10}}),
              ElementsAre(PlannedPiece{50 * mib, 10, 10}, PlannedPiece{10, 10, 10}));
}

TEST(PlanPieces, LeavesOutWhatIsThere) {
  EXPECT_THAT(plan({{0, 10}, {90, 20}}, 100), ElementsAre(PlannedPiece{100, 10, 10}));
}

TEST(PlanPieces, HasNoPlanForWhatNoFileHas) {
  constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(plan({{file_bytes - 5, 6}, {all, all}, {0, 0}}), IsEmpty());
  EXPECT_THAT(plan({{0, 20}, {10, 20}}), IsEmpty());
  const std::vector<FileRange> giant = {{0, std::uint64_t{1} << 61}};
  EXPECT_THAT(plan_pieces(giant, 0, std::uint64_t{1} << 62), IsEmpty());
}

}  // namespace
}  // namespace test
}  // namespace ingot::remote

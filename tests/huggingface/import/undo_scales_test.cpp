// SPDX-License-Identifier: MIT
// Weights with scales and packed weights of compressed-tensors: their numbers by the formulas.
#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "huggingface/import/tensors/source_tensors.hpp"
#include "support/expect_error.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::json;
using test::FailsWith;
using test::Succeeds;
using testing::ElementsAre;

/// A tensor whose file has these numbers and nothing else.
template <class T>
SourceTensor stored(std::string name, std::string_view dtype, std::vector<std::uint64_t> shape,
                    const std::vector<T>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  const auto kept = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  std::shared_ptr<const Source> file = borrow_memory(*kept);
  return {.name = std::move(name),
          .shape = std::move(shape),
          .dtype = formats::find_dtype(dtype),
          .file = std::shared_ptr<const Source>(
              file.get(), [kept, file](const Source*) mutable { file.reset(); }),
          .size_bytes = kept->size()};
}

std::vector<float> numbers_of(const SourceTensor& tensor) {
  std::vector<float> numbers(tensor.shape[0] * tensor.shape[1]);
  EXPECT_THAT((*tensor.numbers())->read(0, std::as_writable_bytes(std::span(numbers))), Succeeds());
  return numbers;
}

/// 1, 2, -1 and 0.5 as FP8 (E4M3).
const std::vector<std::uint8_t> eights = {0x38, 0x40, 0xB8, 0x30};

json compressed(const char* format, json weights) {
  return {{"format", format}, {"config_groups", {{"group_0", {{"weights", std::move(weights)}}}}}};
}

TEST(UndoFp8, WithoutBlocksHasOneScale) {
  std::vector<SourceTensor> tensors = {stored("a.weight", "F8_E4M3", {2, 2}, eights),
                                       stored<float>("a.weight_scale_inv", "F32", {1}, {3}),
                                       stored<float>("a.activation_scale", "F32", {1}, {9})};
  ASSERT_THAT(undo_fp8(json::object(), tensors), Succeeds());
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_THAT(numbers_of(tensors[0]), ElementsAre(3, 6, -3, 1.5F));
}

TEST(UndoCompressed, ScalesRowsBlocksAndIntegers) {
  const json channel = compressed("float-quantized", {{"strategy", "channel"}});
  std::vector<SourceTensor> by_row = {stored("a.weight", "F8_E4M3", {2, 2}, eights),
                                      stored<float>("a.weight_scale", "F32", {2, 1}, {2, 10}),
                                      stored<float>("a.input_scale", "F32", {1}, {9})};
  ASSERT_THAT(undo_compressed(channel, by_row), Succeeds());
  ASSERT_EQ(by_row.size(), 1u);
  EXPECT_THAT(numbers_of(by_row[0]), ElementsAre(2, 4, -10, 5));

  std::vector<SourceTensor> blocks = {stored("a.weight", "F8_E4M3", {2, 2}, eights),
                                      stored<float>("a.weight_scale", "F32", {1, 2}, {2, 10})};
  ASSERT_THAT(undo_compressed(compressed("float-quantized", {{"block_structure", {2, 1}}}), blocks),
              Succeeds());
  EXPECT_THAT(numbers_of(blocks[0]), ElementsAre(2, 20, -2, 5));

  std::vector<SourceTensor> integers = {
      stored<std::int8_t>("a.weight", "I8", {2, 2}, {1, -128, 127, 4}),
      stored<float>("a.weight_scale", "F32", {2, 1}, {2, 0.5F})};
  ASSERT_THAT(undo_compressed(compressed("int-quantized", {{"num_bits", 8}}), integers),
              Succeeds());
  EXPECT_THAT(numbers_of(integers[0]), ElementsAre(2, -256, 63.5F, 2));
}

TEST(UndoCompressed, RefusesWhatDoesNotFit) {
  const json channel = compressed("float-quantized", {{"strategy", "channel"}});
  std::vector<SourceTensor> tensors = {stored("a.weight", "F8_E4M3", {2, 2}, eights),
                                       stored<float>("a.weight_scale", "F32", {3, 1}, {1, 2, 3})};
  EXPECT_THAT(undo_compressed(channel, tensors), FailsWith(Errc::import_refused));
  tensors = {stored<float>("a.weight_scale", "F32", {1}, {1})};
  EXPECT_THAT(undo_compressed(channel, tensors), FailsWith(Errc::import_refused));
  tensors.clear();
  EXPECT_THAT(undo_compressed(compressed("marlin-24", {{"num_bits", 4}}), tensors),
              FailsWith(Errc::import_refused));
  json mixed = compressed("pack-quantized", {{"num_bits", 4}});
  mixed["config_groups"]["group_1"]["weights"]["num_bits"] = 8;
  EXPECT_THAT(undo_compressed(mixed, tensors), FailsWith(Errc::import_refused));
}

/// A matrix of 3 rows and 12 columns in words of 8 codes, and groups of 6 columns.
class PackedMatrix {
 public:
  [[nodiscard]] static std::int32_t code(std::uint64_t row, std::uint64_t column) {
    return static_cast<std::int32_t>((row * 7 + column * 3) % 16);
  }
  [[nodiscard]] static std::int32_t zero(std::uint64_t row, std::uint64_t group) {
    return static_cast<std::int32_t>(row * 2 + group + 1);
  }
  [[nodiscard]] static float scale(std::uint64_t row, std::uint64_t group) {
    return static_cast<float>(1 + row * 2 + group);
  }
  [[nodiscard]] static std::vector<SourceTensor> tensors(bool has_zeros) {
    std::vector<std::uint32_t> codes(3 * 2);
    std::vector<std::uint32_t> zeros(2);
    std::vector<float> scales;
    for (std::uint64_t row = 0; row < 3; ++row) {
      for (std::uint64_t column = 0; column < 12; ++column) {
        codes[row * 2 + column / 8] |= static_cast<std::uint32_t>(code(row, column))
                                       << (column % 8 * 4);
      }
      for (std::uint64_t group = 0; group < 2; ++group) {
        scales.push_back(scale(row, group));
        zeros[group] |= static_cast<std::uint32_t>(zero(row, group)) << (row * 4);
      }
    }
    std::vector<SourceTensor> made = {stored("a.weight_packed", "I32", {3, 2}, codes),
                                      stored("a.weight_scale", "F32", {3, 2}, scales),
                                      stored<std::int64_t>("a.weight_shape", "I64", {2}, {3, 12}),
                                      stored<float>("norm", "F32", {1}, {1})};
    if (has_zeros) made.push_back(stored("a.weight_zero_point", "I32", {1, 2}, zeros));
    return made;
  }
};

TEST(UndoPacked, GivesTheNumbersInPiecesOfAnySize) {
  for (const bool has_zeros : {false, true}) {
    std::vector<SourceTensor> tensors = PackedMatrix::tensors(has_zeros);
    ASSERT_THAT(undo_compressed(compressed("pack-quantized", {{"num_bits", 4}}), tensors),
                Succeeds());
    ASSERT_EQ(tensors.size(), 2u);
    EXPECT_EQ(tensors[1].name, "a.weight");  // behind all others
    EXPECT_THAT(tensors[1].shape, ElementsAre(3, 12));
    for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, std::size_t{36}}) {
      for (std::uint64_t first = 0; first < 36; first += piece) {
        std::vector<float> floats(std::min<std::size_t>(piece, 36 - first));
        ASSERT_THAT((*tensors[1].numbers())->read(first, std::as_writable_bytes(std::span(floats))),
                    Succeeds());
        for (std::size_t i = 0; i < floats.size(); ++i) {
          const std::uint64_t row = (first + i) / 12;
          const std::uint64_t column = (first + i) % 12;
          const std::int32_t zero = has_zeros ? PackedMatrix::zero(row, column / 6) : 8;
          ASSERT_EQ(floats[i], static_cast<float>(PackedMatrix::code(row, column) - zero) *
                                   PackedMatrix::scale(row, column / 6))
              << row << " " << column;
        }
      }
    }
  }
}

TEST(UndoPacked, RefusesPartsThatDoNotFit) {
  const json packed = compressed("pack-quantized", {{"num_bits", 4}});
  for (const std::size_t missing : {std::size_t{1}, std::size_t{2}}) {
    std::vector<SourceTensor> tensors = PackedMatrix::tensors(false);
    tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(missing));
    EXPECT_THAT(undo_compressed(packed, tensors), FailsWith(Errc::import_refused));
  }
  for (const std::int64_t width : {std::int64_t{17}, std::int64_t{0}, std::int64_t{-1}}) {
    std::vector<SourceTensor> tensors = PackedMatrix::tensors(false);
    tensors[2] = stored<std::int64_t>("a.weight_shape", "I64", {2}, {3, width});
    EXPECT_THAT(undo_compressed(packed, tensors), FailsWith(Errc::import_refused)) << width;
  }
  std::vector<SourceTensor> tensors = PackedMatrix::tensors(true);
  tensors.push_back(stored<std::int32_t>("a.weight_g_idx", "I32", {1}, {0}));
  EXPECT_THAT(undo_compressed(packed, tensors), FailsWith(Errc::import_refused));
  tensors = PackedMatrix::tensors(true);
  EXPECT_THAT(undo_packed(3, tensors), FailsWith(Errc::import_refused));
}

}  // namespace
}  // namespace ingot::huggingface

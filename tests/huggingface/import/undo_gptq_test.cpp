// SPDX-License-Identifier: MIT
// Weights of GPTQ: their numbers, and how little is read for them.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>

#include "huggingface/import/tensors/source_tensors.hpp"
#include "ingot/half.hpp"
#include "support/expect_error.hpp"

namespace ingot::huggingface {
namespace {

/// A file of words that are made of their places, which counts its reads.
class MadeWords final : public Source {
 public:
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override {
    return std::uint64_t{1} << 40;
  }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    ++reads;
    for (std::size_t i = 0; i < destination.size(); i += 4) {
      const std::uint32_t word = word_at((file_offset + i) / 4);
      std::memcpy(&destination[i], &word, 4);
    }
    return {};
  }
  [[nodiscard]] static std::uint32_t word_at(std::uint64_t place) {
    if (place >= groups_place) return static_cast<std::uint32_t>(place - groups_place) / group_size;
    // Both halves of a word are finite numbers of 16 bits, for the scales.
    return static_cast<std::uint32_t>(place * 2654435761u) & 0x3BFF3BFFu;
  }

  static constexpr std::uint64_t groups_place = std::uint64_t{1} << 30;
  static constexpr std::uint32_t group_size = 16;
  mutable std::atomic<int> reads = 0;
};

/// The four tensors of a matrix; each begins at another gigabyte of the file.
class GptqMatrix {
 public:
  GptqMatrix(std::uint64_t inputs, std::uint64_t outputs)
      : inputs_(inputs), outputs_(outputs), groups_(inputs / MadeWords::group_size) {}

  [[nodiscard]] std::vector<SourceTensor> tensors(const std::string& name) const {
    return {tensor(name + ".qweight", "I32", {inputs_ / 8, outputs_}, 0),
            tensor(name + ".qzeros", "I32", {groups_, outputs_ / 8}, zeros_place),
            tensor(name + ".scales", "F16", {groups_, outputs_}, scales_place),
            tensor(name + ".g_idx", "I32", {inputs_}, MadeWords::groups_place)};
  }
  /// The formula, one weight at a time.
  [[nodiscard]] float weight(std::uint64_t output, std::uint64_t input) const {
    const auto code = [](std::uint32_t word, std::uint64_t slot) {
      return static_cast<int>(word >> (slot * 4) & 15);
    };
    const std::uint64_t group = input / MadeWords::group_size;
    const std::uint64_t scale = group * outputs_ + output;
    const std::uint32_t scales = MadeWords::word_at(scales_place + scale / 2);
    const auto bits = static_cast<std::uint16_t>(scales >> (scale % 2 * 16));
    const int zero =
        code(MadeWords::word_at(zeros_place + group * (outputs_ / 8) + output / 8), output % 8) + 1;
    const std::uint32_t word = MadeWords::word_at(input / 8 * outputs_ + output);
    return f32_from_f16(bits) * static_cast<float>(code(word, input % 8) - zero);
  }
  [[nodiscard]] int reads() const { return file_->reads; }

 private:
  static constexpr std::uint64_t zeros_place = std::uint64_t{1} << 28;
  static constexpr std::uint64_t scales_place = std::uint64_t{1} << 29;

  [[nodiscard]] SourceTensor tensor(std::string name, std::string_view dtype,
                                    std::vector<std::uint64_t> shape, std::uint64_t place) const {
    std::uint64_t bytes = dtype == "F16" ? 2 : 4;
    for (const std::uint64_t size : shape) bytes *= size;
    return {.name = std::move(name),
            .shape = std::move(shape),
            .dtype = formats::find_dtype(dtype),
            .file = file_,
            .file_offset = place * 4,
            .size_bytes = bytes};
  }

  std::uint64_t inputs_;
  std::uint64_t outputs_;
  std::uint64_t groups_;
  std::shared_ptr<MadeWords> file_ = std::make_shared<MadeWords>();
};

const nlohmann::json settings = nlohmann::json::parse(R"({"bits": 4})");

std::vector<float> read_floats(const SourceTensor& tensor, std::uint64_t first, std::size_t count) {
  std::vector<float> floats(count);
  EXPECT_THAT((*tensor.numbers())->read(first, std::as_writable_bytes(std::span(floats))),
              test::Succeeds());
  return floats;
}

TEST(UndoGptq, GivesTheNumbersInPiecesOfAnySize) {
  constexpr std::uint64_t inputs = 64;
  constexpr std::uint64_t outputs = 24;
  const GptqMatrix matrix(inputs, outputs);
  std::vector<SourceTensor> tensors = matrix.tensors("a");
  ASSERT_THAT(undo_gptq(settings, tensors), test::Succeeds());
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(tensors[0].name, "a.weight");
  for (const std::size_t piece : {std::size_t{7}, std::size_t{64}, std::size_t{500}}) {
    for (std::uint64_t first = 0; first < inputs * outputs; first += piece) {
      const std::size_t count = std::min<std::size_t>(piece, inputs * outputs - first);
      const std::vector<float> floats = read_floats(tensors[0], first, count);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t place = first + i;
        ASSERT_EQ(floats[i], matrix.weight(place / inputs, place % inputs)) << place;
      }
    }
  }
  EXPECT_EQ(matrix.reads(), 4);  // the codes, the zeros, the scales, the groups
}

TEST(UndoGptq, ReadsTwoMatricesByTurns) {
  const GptqMatrix matrix(64, 16);
  const GptqMatrix other(32, 8);
  std::vector<SourceTensor> tensors = matrix.tensors("a");
  std::ranges::move(other.tensors("b"), std::back_inserter(tensors));
  ASSERT_THAT(undo_gptq(settings, tensors), test::Succeeds());
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(read_floats(tensors[0], 65, 1)[0], matrix.weight(1, 1));
    EXPECT_EQ(read_floats(tensors[1], 33, 1)[0], other.weight(1, 1));
  }
}

/// 5,000 rows of 16 KiB are cut into strips of 838 outputs.
TEST(UndoGptq, ReadsALargeMatrixInStrips) {
  constexpr std::uint64_t inputs = 40000;
  const GptqMatrix matrix(inputs, 4096);
  std::vector<SourceTensor> tensors = matrix.tensors("a");
  ASSERT_THAT(undo_gptq(settings, tensors), test::Succeeds());
  for (const std::uint64_t output : {0u, 837u, 400u}) {
    EXPECT_EQ(read_floats(tensors[0], output * inputs + 39999, 1)[0], matrix.weight(output, 39999));
  }
  EXPECT_EQ(matrix.reads(), 3 + 5000);
  EXPECT_EQ(read_floats(tensors[0], 838 * inputs, 1)[0], matrix.weight(838, 0));
  EXPECT_EQ(matrix.reads(), 3 + 2 * 5000);
}

TEST(UndoGptq, RefusesAGroupThatIsUnknown) {
  std::vector<SourceTensor> tensors = GptqMatrix(64, 16).tensors("a");
  tensors[3].file_offset += 4;  // so that the last input is of the fifth group of four
  ASSERT_THAT(undo_gptq(settings, tensors), test::Succeeds());
  std::vector<float> floats(1);
  EXPECT_THAT((*tensors[0].numbers())->read(0, std::as_writable_bytes(std::span(floats))),
              test::FailsWith(Errc::import_refused));
}

}  // namespace
}  // namespace ingot::huggingface

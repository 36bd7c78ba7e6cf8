// SPDX-License-Identifier: MIT
// What is asked for streams as it should, and what makes no sense is refused before a byte.

#include "ingot/tensor_stream.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "ingot/quantize.hpp"
#include "support/expect_error.hpp"
#include "support/model_sketch.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

class TensorStream : public testing::Test {
 protected:
  TensorStream() {
    ModelSketch sketch;
    sketch.set("general.architecture", "test");
    sketch.tensor("blocks", TensorType::q4_k, {256, 6});
    sketch.tensor("floats", TensorType::f32, {8, 6});
    model_.emplace(*Model::open(sketch.write(folder_.path("m.gguf"))));
  }

  [[nodiscard]] const TensorInfo& tensor(std::string_view name) const {
    return *model_->find_tensor(name);
  }
  [[nodiscard]] OutputTensor all_of(std::string_view name) const {
    return *output_of(tensor(name), tensor(name).type);
  }

  /// The output, or the error.
  Result<Bytes> stream(const OutputTensor& output, const StreamOptions& options = {}) const {
    Bytes bytes;
    const auto append = [&](std::span<const std::byte> piece) -> Result<void> {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
      return {};
    };
    INGOT_TRY_VOID(stream_tensor(*model_, output, append, options));
    return bytes;
  }

  TemporaryFolder folder_;
  std::optional<Model> model_;
};

TEST_F(TensorStream, GivesEitherByteOrder) {
  for (const char* name : {"blocks", "floats"}) {
    const auto stored = model_->data(tensor(name));
    Bytes expected(stored.begin(), stored.end());
    EXPECT_EQ(stream(all_of(name)), expected);
    ASSERT_THAT(swap_byte_order(tensor(name).type, expected), Succeeds());
    EXPECT_EQ(stream(all_of(name), {.byte_order = Endian::big}), expected) << name;
  }
}

TEST_F(TensorStream, TakesAPartOfTheRows) {
  OutputTensor part = all_of("floats");
  part.first_row = 2;
  part.shape = {8, 3};
  part.size_bytes = 3 * 8 * 4;
  const auto stored = model_->data(tensor("floats")).subspan(2 * 8 * 4, part.size_bytes);
  EXPECT_EQ(stream(part), Bytes(stored.begin(), stored.end()));
  part.first_row = 4;  // of six
  EXPECT_THAT(stream(part), FailsWith(Errc::size_mismatch));
  part.first_row = ~std::uint64_t{0} / 4;
  EXPECT_THAT(stream(part), FailsWith(Errc::size_mismatch));
  part.first_row = 0;
  part.size_bytes = 3 * 8 * 4 + 1;
  EXPECT_THAT(stream(part), FailsWith(Errc::size_mismatch));
}

TEST_F(TensorStream, PutsInterleavedHalvesOneAfterTheOther) {
  OutputTensor output = all_of("floats");
  output.interleaved_rows = 6;
  const auto stored = model_->data(tensor("floats"));
  Bytes expected;
  for (const std::size_t row : {0u, 2u, 4u, 1u, 3u, 5u}) {
    const auto bytes = stored.subspan(row * 32, 32);
    expected.insert(expected.end(), bytes.begin(), bytes.end());
  }
  EXPECT_EQ(stream(output), expected);
  for (const std::uint64_t rows : {3u, 4u, 8u}) {
    output.interleaved_rows = rows;
    EXPECT_THAT(stream(output), FailsWith(Errc::size_mismatch)) << rows;
  }
}

TEST_F(TensorStream, DropsNothingThatIsNotSaid) {
  OutputTensor output = all_of("floats");
  output.size_bytes = 0;
  EXPECT_THAT(stream(output), FailsWith(Errc::size_mismatch));
  output = all_of("floats");
  output.source = nullptr;
  EXPECT_THAT(stream(output), FailsWith(Errc::invalid_argument));
  output.is_zeros = true;
  EXPECT_EQ(stream(output), Bytes(8 * 6 * 4, std::byte{0}));
  output.source = &tensor("floats");
  EXPECT_THAT(stream(output), FailsWith(Errc::invalid_argument));
}

TEST_F(TensorStream, RefusesTypesThatThereAreNot) {
  const auto unknown = static_cast<TensorType>(999);
  EXPECT_THAT(output_of(tensor("floats"), unknown), FailsWith(Errc::unsupported_type));
  TensorInfo opaque = tensor("floats");
  opaque.type = unknown;
  EXPECT_THAT(output_of(opaque, TensorType::f32), FailsWith(Errc::unsupported_type));
  EXPECT_THAT(output_of(tensor("floats"), TensorType::q4_0), FailsWith(Errc::row_not_whole_blocks));
  OutputTensor output = all_of("floats");
  output.type = unknown;
  EXPECT_THAT(stream(output), FailsWith(Errc::unsupported_type));
}

}  // namespace
}  // namespace ingot::test

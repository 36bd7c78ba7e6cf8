// SPDX-License-Identifier: MIT
// Models whose importance matrix has second moments.
#include <memory>

#include "quantize_fixture.hpp"
#include "support/correlated_inputs.hpp"

namespace ingot::test {
namespace {

class FeedbackModel : public QuantizeModel {
 protected:
  /// Two experts of 20 rows; their second moments are in blocks of 192 columns.
  const SourceTensor source_ = make_source("blk.0.ffn_down_exps.weight", {320, 20, 2});

  [[nodiscard]] static GgufImatrixEntry entry_of(const SourceTensor& source) {
    GgufImatrixEntry entry{source.name, {}, {4.0f, 4.0f}, 192, {}};
    for (const std::uint32_t expert : {1u, 2u}) {
      for (const std::size_t size : {192u, 128u}) {
        const std::vector<float> block = correlated_moments(size, expert);
        for (std::size_t i = 0; i < size; ++i) {
          entry.sums.push_back(4.0f * block[i * size + i]);
          entry.moments.insert(entry.moments.end(), block.begin() + std::ptrdiff_t(i * size),
                               block.begin() + std::ptrdiff_t((i + 1) * size));
          entry.moments.resize(entry.moments.size() + 192 - size);
        }
      }
    }
    return entry;
  }

  ImportanceMatrix& use(const GgufImatrixEntry& entry) {
    write_gguf_imatrix(folder_.path("im.gguf"), {entry});
    matrix_ = std::make_unique<ImportanceMatrix>(
        std::move(*ImportanceMatrix::open(folder_.path("im.gguf"))));
    options_.importance = matrix_.get();
    options_.recipe = find_recipe("Q4_0");
    options_.types.is_pure = true;
    options_.effort = Effort::best;
    return *matrix_;
  }

  std::unique_ptr<ImportanceMatrix> matrix_;
};

TEST_F(FeedbackModel, LowersTheErrorOfTheOutputs) {
  use(entry_of(source_));
  const Model model = write_model({source_});
  const auto fed_back = run(model, "fed_back.gguf");
  ASSERT_THAT(fed_back, Succeeds());
  options_.uses_feedback = false;
  const auto searched = run(model, "searched.gguf");
  options_.effort = Effort::reference;
  const auto reference = run(model, "reference.gguf");
  ASSERT_TRUE((*reference)[0].relative_output().has_value()) << "it is measured in any case";
  EXPECT_LT(*(*searched)[0].relative_output(), *(*reference)[0].relative_output());
  EXPECT_LT(*(*fed_back)[0].relative_output(), 0.8 * *(*searched)[0].relative_output());
  EXPECT_GT((*fed_back)[0].relative(), (*searched)[0].relative());
}

TEST_F(FeedbackModel, WritesTheSameBytesWithAnyNumberOfThreads) {
  use(entry_of(source_));
  const Model model = write_model({source_, make_source("blk.0.ffn_up.weight", {320, 3})});
  options_.thread_count = 1;
  const auto one = run(model, "one.gguf");
  ASSERT_THAT(one, Succeeds());
  options_.thread_count = 5;
  const auto five = run(model, "five.gguf");
  ASSERT_THAT(five, Succeeds());
  EXPECT_EQ(file_bytes("one.gguf"), file_bytes("five.gguf"));
  EXPECT_EQ((*one)[0].output_error, (*five)[0].output_error);
  EXPECT_FALSE((*one)[1].relative_output().has_value()) << "the matrix has nothing on it";
}

TEST_F(FeedbackModel, PlansIt) {
  const ImportanceMatrix& matrix = use(entry_of(source_));
  const Model model = write_model({source_, make_source("blk.0.ffn_up.weight", {320, 3})});
  const auto has_feedback = [&](std::size_t tensor) {
    return plan_quantization(model, options_)->tensors[tensor].has_feedback;
  };
  EXPECT_EQ(matrix.entries()[0].moment_columns, 192u);
  EXPECT_TRUE(has_feedback(0));
  EXPECT_FALSE(has_feedback(1)) << "the matrix has nothing on it";
  options_.uses_feedback = false;
  EXPECT_FALSE(has_feedback(0));
  options_.uses_feedback = true;
  options_.effort = Effort::reference;
  EXPECT_FALSE(has_feedback(0));
  options_.effort = Effort::best;
  options_.recipe = find_recipe("F16");
  EXPECT_FALSE(has_feedback(0)) << "it has no codes to choose";
}

TEST_F(FeedbackModel, WritesTheOtherByteOrder) {
  use(entry_of(source_));
  ASSERT_THAT(run(write_model({source_}), "little.gguf"), Succeeds());
  ASSERT_THAT(run(write_model({source_}, Endian::big), "big.gguf"), Succeeds());
  const Model little = open_result("little.gguf");
  const std::span<const std::byte> data = little.data(little.tensors()[0]);
  std::vector<std::byte> swapped(data.begin(), data.end());
  ASSERT_THAT(swap_byte_order(TensorType::q4_0, swapped), Succeeds());
  expect_data(open_result("big.gguf"), source_, swapped);
}

TEST_F(FeedbackModel, RefusesMomentsThatAreNoMeans) {
  GgufImatrixEntry entry = entry_of(source_);
  entry.moments[320 * 192 + 200 * 192 + 5] = 1e3f;  // of the second expert, in its second block
  entry.moments[320 * 192 + 197 * 192 + 8] = 1e3f;
  use(entry);
  const Model model = write_model({source_});
  EXPECT_THAT(run(model), FailsWith(Errc::imatrix_invalid));
  EXPECT_FALSE(std::ifstream(folder_.path("out.gguf")).good());
  options_.uses_feedback = false;
  EXPECT_THAT(run(model), Succeeds());
}

}  // namespace
}  // namespace ingot::test

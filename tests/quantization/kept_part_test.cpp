// SPDX-License-Identifier: MIT
// Parts of results that stay: what of them is used again, and what is not.
#include "quantization/kept_part.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include "quantization/quantize_fixture.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using quantization::KeptPart;
using quantization::PartPlan;

/// A file of a header and three tensors of 100 bytes.
class KeptParts : public testing::Test {
 protected:
  static constexpr std::size_t tensor_bytes = 100;

  [[nodiscard]] PartPlan plan(char work = 'a') const {
    PartPlan plan;
    plan.path = folder_.path("out");
    plan.resumes = true;
    plan.work = std::string(32, work);
    plan.header = std::vector<std::byte>(10, std::byte{7});
    plan.tensor_bytes = {tensor_bytes, tensor_bytes, tensor_bytes};
    return plan;
  }
  static void write_tensor(KeptPart& part, int content) {
    const std::vector<std::byte> bytes(tensor_bytes, static_cast<std::byte>(content));
    ASSERT_THAT(part.write(bytes), Succeeds());
    TensorError error;
    error.product = content;
    ASSERT_THAT(part.end_tensor(error), Succeeds());
  }
  /// A part with its first tensors, as a killed process leaves it.
  void leave(int tensors) const {
    auto part = KeptPart::open(plan());
    ASSERT_THAT(part, Succeeds());
    for (int i = 0; i < tensors; ++i) write_tensor(*part, i + 1);
  }
  void change(const std::string& name, std::streamoff at) const {
    std::fstream file(folder_.path(name), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put('X');
  }
  [[nodiscard]] std::size_t finished_of(const PartPlan& plan) const {
    const auto part = KeptPart::open(plan);
    return part ? part->finished().size() : std::size_t{99};
  }
  /// A model of two tensors of ones, but for one weight of the second.
  void write_model(float weight) const {
    ModelWriter writer;
    writer.set_string("general.architecture", "test");
    std::vector<float> floats(64 * 64, 1.0f);
    const std::vector<float> ones = floats;
    floats[5] = weight;
    ASSERT_THAT(
        writer.add_tensor("a.weight", TensorType::f32, {64, 64}, std::as_bytes(std::span(ones))),
        Succeeds());
    ASSERT_THAT(
        writer.add_tensor("b.weight", TensorType::f32, {64, 64}, std::as_bytes(std::span(floats))),
        Succeeds());
    ASSERT_THAT(writer.write(folder_.path("in")), Succeeds());
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path(""))) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  TemporaryFolder folder_;
};

TEST_F(KeptParts, GoOnAfterTheLastTensorThatIsFinished) {
  leave(2);
  auto part = KeptPart::open(plan());
  ASSERT_THAT(part, Succeeds());
  ASSERT_EQ(part->finished().size(), 2u);
  EXPECT_EQ(part->finished()[1].product, 2.0);
  EXPECT_EQ(part->size_bytes(), 210u);
  EXPECT_THAT(KeptPart::open(plan()), FailsWith(Errc::file_in_use));
  write_tensor(*part, 3);
  ASSERT_THAT(part->flush(), Succeeds());
  ASSERT_THAT(part->give_name(), Succeeds());
  part->forget();
  EXPECT_THAT(names(), testing::ElementsAre("out"));
  std::ifstream file(folder_.path("out"), std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(content,
            std::string(10, 7) + std::string(100, 1) + std::string(100, 2) + std::string(100, 3));
}

TEST_F(KeptParts, UseNothingThatHasChanged) {
  leave(3);
  change("out.ingot-quantizing", 10 + 150);  // in the second tensor
  EXPECT_EQ(finished_of(plan()), 1u);
  leave(0);
  EXPECT_EQ(finished_of(plan()), 1u);
  change("out.ingot-quantizing.notes", 33 + 40);  // in the first error
  EXPECT_EQ(finished_of(plan()), 0u);
  {
    auto part = KeptPart::open(plan());
    write_tensor(*part, 1);
  }
  EXPECT_EQ(finished_of(plan()), 1u);
  change("out.ingot-quantizing", 5);  // in the header
  EXPECT_EQ(finished_of(plan()), 0u);
}

TEST_F(KeptParts, AreOfOneWork) {
  leave(2);
  PartPlan anew = plan();
  anew.resumes = false;
  EXPECT_EQ(finished_of(anew), 0u);
  EXPECT_EQ(finished_of(plan()), 0u);
  {
    auto part = KeptPart::open(plan());
    write_tensor(*part, 1);
  }
  EXPECT_EQ(finished_of(plan('b')), 0u);
}

TEST_F(KeptParts, OfAStrictWorkServeOneThatAllowsNan) {
  leave(2);
  PartPlan lenient = plan();
  lenient.allows_nan = true;
  EXPECT_EQ(finished_of(lenient), 2u);
  EXPECT_EQ(finished_of(lenient), 2u);
  EXPECT_EQ(finished_of(plan()), 0u);
}

TEST_F(KeptParts, StayIfTheNameIsTaken) {
  leave(3);
  fs::create_directory(folder_.path("out"));
  EXPECT_THAT(KeptPart::open(plan()), FailsWith(Errc::already_exists));
  PartPlan replacing = plan();
  replacing.may_replace = true;
  EXPECT_THAT(KeptPart::open(replacing), FailsWith(Errc::not_a_regular_file));
  fs::remove(folder_.path("out"));
  EXPECT_EQ(finished_of(plan()), 3u);
}

TEST_F(KeptParts, AreFoundUnderTheirName) {
  leave(3);
  {
    auto part = KeptPart::open(plan());
    ASSERT_THAT(part->give_name(), Succeeds());
  }  // killed before it forgot the notes
  {
    auto part = KeptPart::open(plan());
    ASSERT_THAT(part, Succeeds());
    EXPECT_EQ(part->finished().size(), 3u);
    ASSERT_THAT(part->give_name(), Succeeds());
  }
  EXPECT_THAT(names(), testing::UnorderedElementsAre("out", "out.ingot-quantizing",
                                                     "out.ingot-quantizing.notes"));
  change("out", 300);
  // Now it is another file, which is in the way.
  auto part = KeptPart::open(plan());
  ASSERT_THAT(part, Succeeds());
  EXPECT_EQ(part->finished().size(), 0u);
  for (int i = 1; i <= 3; ++i) write_tensor(*part, i);
  EXPECT_THAT(part->give_name(), FailsWith(Errc::already_exists));
}

TEST_F(KeptParts, AreTheFileThatIsThereIfItIsEqual) {
  leave(3);
  {
    auto part = KeptPart::open(plan());
    ASSERT_THAT(part->give_name(), Succeeds());
    part->forget();
  }
  auto part = KeptPart::open(plan());
  ASSERT_THAT(part, Succeeds());
  for (int i = 1; i <= 3; ++i) write_tensor(*part, i);
  ASSERT_THAT(part->give_name(), Succeeds());
  part->forget();
  EXPECT_THAT(names(), testing::ElementsAre("out"));
  change("out", 3);  // another header: refused before the work
  EXPECT_THAT(KeptPart::open(plan()), FailsWith(Errc::already_exists));
  EXPECT_THAT(names(), testing::ElementsAre("out"));
}

TEST_F(KeptParts, StayIfTheWorkMayGoOn) {
  QuantizeModelOptions options;
  options.recipe = find_recipe("Q8_0");
  options.keeps_parts = true;
  write_model(1.0f);
  const Model model = *Model::open(folder_.path("in"));
  const QuantizePlan plan = *plan_quantization(model, options);
  const auto run = [&](const QuantizeProgress& progress) {
    return quantize_model(model, plan, options, {.path = folder_.path("out")}, false, progress);
  };
  int calls = 0;
  EXPECT_THAT(run([&](std::uint64_t) { return ++calls < 1; }), FailsWith(Errc::interrupted));
  EXPECT_THAT(names(), testing::ElementsAre("in"));  // no tensor is finished
  calls = 0;
  const auto stopped = run([&](std::uint64_t) { return ++calls < 2; });
  ASSERT_THAT(stopped, FailsWith(Errc::interrupted));
  EXPECT_THAT(stopped.error().detail, testing::HasSubstr("resume"));
  EXPECT_THAT(names(), testing::UnorderedElementsAre("in", "out.ingot-quantizing",
                                                     "out.ingot-quantizing.notes"));
  options.resumes = true;
  EXPECT_THAT(run({}), Succeeds());
  EXPECT_THAT(names(), testing::UnorderedElementsAre("in", "out"));
  const std::vector<QuantizedShard> shards = {
      {.path = folder_.path("x"), .tensor_count = 1, .count = 2},
      {.path = folder_.path("y"), .first_tensor = 1, .index = 1, .count = 2}};
  EXPECT_THAT(quantize_set(model, plan, options, shards, false), FailsWith(Errc::invalid_argument));
}

TEST_F(KeptParts, StayAfterAWeightThatIsNotFinite) {
  QuantizeModelOptions options;
  options.recipe = find_recipe("Q8_0");
  options.resumes = true;
  write_model(std::numeric_limits<float>::quiet_NaN());
  const Model model = *Model::open(folder_.path("in"));
  const QuantizePlan plan = *plan_quantization(model, options);
  const auto run = [&] {
    return quantize_model(model, plan, options, {.path = folder_.path("out")}, false);
  };
  const auto refused = run();
  ASSERT_THAT(refused, FailsWith(Errc::weight_not_finite));
  EXPECT_THAT(refused.error().detail, testing::HasSubstr("resume goes on"));
  EXPECT_THAT(names(), testing::UnorderedElementsAre("in", "out.ingot-quantizing",
                                                     "out.ingot-quantizing.notes"));
  options.max_memory_bytes = 1000;
  EXPECT_THAT(run(), FailsWith(Errc::invalid_argument));
  EXPECT_EQ(names().size(), 3u);
  options.max_memory_bytes = 0;
  options.allows_nan = true;
  ASSERT_THAT(run(), Succeeds());
  EXPECT_THAT(names(), testing::UnorderedElementsAre("in", "out"));
}

}  // namespace
}  // namespace ingot::test

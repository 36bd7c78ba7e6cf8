// SPDX-License-Identifier: MIT
// What is mended is mended, what is not is kept to the bit, and nothing is lost unasked.

#include "ingot/repair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <string>

#include "ingot/check.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"
#include "support/model_checks.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using testing::IsEmpty;
using testing::Not;

class RepairTest : public testing::Test {
 protected:
  Result<RepairReport> repair(const Bytes& bytes, RepairOptions options = {}) {
    source_ = folder_.write("in.gguf", bytes);
    return repair_model(source_, target(), options);
  }
  [[nodiscard]] std::string target() const { return folder_.path("out.gguf"); }

  /// The rules that the mended model still breaks, notes left out.
  [[nodiscard]] std::set<std::string> broken_rules() const {
    std::set<std::string> names;
    const auto summary = check_file(target(), {}, {.with_data = true}, [&](const Finding& finding) {
      if (finding.rule->severity != Severity::note) names.emplace(finding.rule->name);
    });
    EXPECT_THAT(summary, Succeeds());
    return names;
  }

  [[nodiscard]] Model mended() const { return *Model::open(target()); }

  /// A second repair of what was written finds nothing.
  void expect_nothing_left(RepairOptions options = {}) const {
    options.is_dry_run = true;
    const auto again = repair_model(target(), folder_.path("again.gguf"), options);
    ASSERT_THAT(again, Succeeds());
    for (const RepairStep& step : again->steps) ADD_FAILURE() << step.key << ": " << step.what;
    EXPECT_THAT(again->losses, IsEmpty());
  }

  TemporaryFolder folder_;
  std::string source_;
};

GgufBuilder begin_file(Format format = v3, std::string_view magic = "GGUF") {
  GgufBuilder file(format, magic);
  file.pair("general.architecture", "test");
  return file;
}

/// Two tensors; the builder has written everything before them.
Bytes with_two(GgufBuilder file, std::uint64_t first, std::uint64_t second, std::size_t bytes,
               std::size_t alignment = 32) {
  file.tensor("a", {8}, TensorType::f32, first).tensor("b", {8}, TensorType::f32, second);
  return file.pad_to(alignment).data(bytes).bytes();
}

TEST_F(RepairTest, HasNothingToDoForAGoodModel) {
  const auto report = repair(with_two(begin_file(), 0, 32, 64));
  ASSERT_THAT(report, Succeeds());
  EXPECT_THAT(report->steps, IsEmpty());
  EXPECT_FALSE(report->is_written);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"in.gguf"});
}

TEST_F(RepairTest, MendsOrderGapsPaddingAndTheEnd) {
  const Bytes bytes = with_two(begin_file(), 128, 0, 170);
  const auto report = repair(bytes);
  ASSERT_THAT(report, Succeeds());
  EXPECT_TRUE(report->is_written);
  EXPECT_GE(report->steps.size(), 3u);
  EXPECT_THAT(broken_rules(), IsEmpty());
  const Model before = *Model::open(source_);
  const Model after = mended();
  for (const char* name : {"a", "b"}) {
    const auto old_data = before.data(*before.find_tensor(name));
    const auto new_data = after.data(*after.find_tensor(name));
    EXPECT_TRUE(std::equal(old_data.begin(), old_data.end(), new_data.begin(), new_data.end()));
  }
  EXPECT_EQ(after.tensors()[0].data_offset, 0u);
  EXPECT_EQ(after.tensors()[1].data_offset, 32u);
}

TEST_F(RepairTest, KeepsVersionByteOrderAndEveryValue) {
  for (const Format format : all_formats) {
    GgufBuilder file = begin_file(format);
    file.array_key("test.nested", ValueType::array, 1).array(ValueType::string, 1).text("x");
    file.pair("test.flag", true);
    const auto report = repair(with_two(file, 0, 32, 65), {.may_replace = true});
    ASSERT_THAT(report, Succeeds());
    const Model after = mended();
    EXPECT_EQ(after.files()[0].version, format.version);
    EXPECT_EQ(after.files()[0].byte_order, format.byte_order);
    EXPECT_EQ(after.metadata().size(), 3u);
    EXPECT_EQ(*after.find("test.nested")->as_array()[0].as_array().get<std::string_view>(0), "x");
  }
}

TEST_F(RepairTest, MendsOldMagicAndTrailingNul) {
  ASSERT_THAT(repair(with_two(begin_file(v3_big, "FUGG"), 0, 32, 64)), Succeeds());
  EXPECT_THAT(broken_rules(), IsEmpty());
  GgufBuilder nul = begin_file(v2);
  nul.pair("general.name", std::string_view("x\0", 2));
  ASSERT_THAT(repair(with_two(nul, 0, 32, 64), {.may_replace = true}), Succeeds());
  EXPECT_THAT(broken_rules(), IsEmpty());
}

TEST_F(RepairTest, MendsAnAlignmentThatIsNotPortable) {
  GgufBuilder file = begin_file();
  file.pair("general.alignment", std::uint32_t{24});
  ASSERT_THAT(repair(with_two(file, 0, 48, 96, 24)), Succeeds());
  EXPECT_THAT(broken_rules(), IsEmpty());
  EXPECT_EQ(mended().files()[0].alignment, 32u);
}

TEST_F(RepairTest, MendsAnAlignmentThatTheDataDoesNotHave) {
  // The file is as a splitting tool writes it that knows only an alignment of 32.
  GgufBuilder file = begin_file();
  file.pair("general.alignment", std::uint32_t{64});
  const Bytes bytes = with_two(file, 0, 32, 64);
  EXPECT_THAT(Model::open_memory(bytes), FailsWith(Errc::offset_unaligned));
  ASSERT_THAT(repair(bytes), Succeeds());
  const Model after = mended();
  EXPECT_EQ(*after.get<std::uint32_t>("general.alignment"), 32u);
  EXPECT_EQ(std::to_integer<int>(after.data(*after.find_tensor("b"))[0]), 33);
}

TEST_F(RepairTest, MendsAnAlignmentOfAnotherType) {
  GgufBuilder file = begin_file();
  file.pair("general.alignment", std::int32_t{32});
  ASSERT_THAT(repair(with_two(file, 0, 32, 64)), Succeeds());
  EXPECT_THAT(broken_rules(), IsEmpty());
  GgufBuilder zero = begin_file();
  zero.pair("general.alignment", std::uint32_t{0});
  ASSERT_THAT(repair(with_two(zero, 0, 32, 64), {.may_replace = true}), Succeeds());
  EXPECT_EQ(mended().files()[0].alignment, 32u);
}

TEST_F(RepairTest, DoesNotMendAnAlignmentThatIsNoInteger) {
  GgufBuilder file = begin_file();
  file.pair("general.alignment", std::bit_cast<float>(std::uint32_t{32}));
  EXPECT_THAT(repair(with_two(file, 0, 32, 64)), FailsWith(Errc::alignment_wrong_type));
}

TEST_F(RepairTest, MendsBoolsThatAreNeitherZeroNorOne) {
  GgufBuilder file = begin_file();
  file.key("test.flag", ValueType::boolean).u8(2);
  ASSERT_THAT(repair(with_two(file, 0, 32, 64)), Succeeds());
  EXPECT_TRUE(*mended().get<bool>("test.flag"));
}

TEST_F(RepairTest, MendsTheRecipe) {
  GgufBuilder file = begin_file();
  file.pair("general.file_type", std::uint32_t{2});
  file.tensor("m.weight", {32, 2}, TensorType::q8_0, 0).pad_to(32);
  for (int i = 0; i < 68; ++i) file.u8(0);
  ASSERT_THAT(repair(file.pad_to(32).bytes()), Succeeds());
  EXPECT_THAT(broken_rules(), IsEmpty());
  EXPECT_EQ(*mended().get<std::uint32_t>("general.file_type"), 7u);
  EXPECT_EQ(*mended().get<std::uint32_t>("general.quantization_version"), 2u);
}

TEST_F(RepairTest, MendsAQuantizationVersionOfAnotherType) {
  GgufBuilder file = begin_file();
  file.pair("general.quantization_version", std::string_view("2"));
  file.tensor("m.weight", {32, 2}, TensorType::q8_0, 0).pad_to(32);
  for (int i = 0; i < 68; ++i) file.u8(0);
  const auto report = repair(file.pad_to(32).bytes());
  ASSERT_THAT(report, Succeeds());
  ASSERT_EQ(report->steps.size(), 1u);
  EXPECT_EQ(report->steps[0].key, "general.quantization_version");
  EXPECT_EQ(*mended().get<std::uint32_t>("general.quantization_version"), 2u);
  EXPECT_THAT(broken_rules(), IsEmpty());
}

TEST_F(RepairTest, TakesDimensionsOfOneAwayThatAreTooMany) {
  GgufBuilder file = begin_file();
  file.tensor("t", {2, 2, 2, 1, 1, 1}, TensorType::f32, 0);
  const auto report = repair(file.pad_to(32).data(32).bytes());
  ASSERT_THAT(report, Succeeds());
  EXPECT_EQ(report->kept_tensors, 1u);
  EXPECT_THAT(mended().find_tensor("t")->shape, testing::ElementsAre(2, 2, 2, 1));
  // What a dimension says cannot be taken away.
  GgufBuilder wide = begin_file();
  wide.tensor("t", {2, 1, 1, 2, 2}, TensorType::f32, 0);
  const auto unasked = repair(wide.pad_to(32).data(32).bytes(), {.may_replace = true});
  ASSERT_THAT(unasked, Succeeds());
  EXPECT_EQ(unasked->losses.size(), 1u);
}

TEST_F(RepairTest, MendsAnAlignmentThatTheDataOfVersion1DoesNotHave) {
  GgufBuilder file = begin_file(v1);
  file.pair("general.alignment", std::uint32_t{64});
  ASSERT_THAT(repair(with_two(file, 0, 32, 64)), Succeeds());
  EXPECT_EQ(*mended().get<std::uint32_t>("general.alignment"), 32u);
}

TEST_F(RepairTest, MixesNoByteOrders) {
  for (const std::uint16_t number : {std::uint16_t{0}, std::uint16_t{1}}) {
    GgufBuilder file = begin_file(number == 0 ? v3 : v3_big);
    file.pair("split.no", number).pair("split.count", std::uint16_t{2});
    file.tensor("t" + std::to_string(number), {8}, TensorType::f32, 0).pad_to(32).data(32);
    folder_.write("m-0000" + std::to_string(number + 1) + "-of-00002.gguf", file.bytes());
  }
  EXPECT_THAT(repair_model(folder_.path("m-00001-of-00002.gguf"), target(), {}),
              FailsWith(Errc::shard_mismatch));
}

TEST_F(RepairTest, MendsSplitKeysThatLie) {
  GgufBuilder file = begin_file();
  file.pair("split.no", std::uint16_t{0}).pair("split.count", std::uint16_t{1});
  file.pair("split.tensors.count", 1000);
  ASSERT_THAT(repair(with_two(file, 0, 32, 64)), Succeeds());
  EXPECT_THAT(broken_rules(), IsEmpty());
  EXPECT_EQ(mended().find("split.count"), nullptr);
}

TEST_F(RepairTest, SavesTheCompleteTensorsOfACutFileOnRequest) {
  const Bytes whole = with_two(begin_file(), 0, 32, 64);
  const Bytes cut(whole.begin(), whole.end() - 1);
  const auto unasked = repair(cut);
  ASSERT_THAT(unasked, Succeeds());
  ASSERT_EQ(unasked->losses.size(), 1u);
  EXPECT_EQ(unasked->losses[0].tensor, "b");
  EXPECT_FALSE(unasked->is_written);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"in.gguf"});
  const auto report = repair(cut, {.drops_broken = true});
  ASSERT_THAT(report, Succeeds());
  EXPECT_EQ(report->kept_tensors, 1u);
  EXPECT_EQ(report->dropped_tensors, 1u);
  const Model after = mended();
  ASSERT_EQ(after.tensors().size(), 1u);
  const auto data = after.data(after.tensors()[0]);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), whole.end() - 64));
  EXPECT_THAT(broken_rules(), IsEmpty());
}

TEST_F(RepairTest, EveryCutOfTheDataIsSavedWithoutSurprise) {
  const Bytes whole = with_two(begin_file(), 32, 0, 64);
  const std::size_t header_bytes = whole.size() - 64;
  for (std::size_t size = header_bytes; size < whole.size(); ++size) {
    const auto report = repair({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)},
                               {.drops_broken = true, .may_replace = true});
    ASSERT_THAT(report, Succeeds()) << size;
    EXPECT_EQ(report->kept_tensors, (size - header_bytes) / 32) << size;
    EXPECT_THAT(broken_rules(), IsEmpty()) << size;
  }
}

TEST_F(RepairTest, LeavesBrokenWeightsOutOnlyOnRequest) {
  GgufBuilder file = begin_file();
  file.tensor("good", {8}, TensorType::f32, 0).tensor("bad", {8}, TensorType::f32, 32).pad_to(32);
  file.data(32);
  for (int i = 0; i < 8; ++i) file.number(std::nanf(""));
  const auto unasked = repair(file.bytes());
  ASSERT_THAT(unasked, Succeeds());
  EXPECT_THAT(unasked->steps, IsEmpty());
  const auto report = repair(file.bytes(), {.drops_broken = true});
  ASSERT_THAT(report, Succeeds());
  EXPECT_EQ(report->dropped_tensors, 1u);
  EXPECT_EQ(mended().find_tensor("bad"), nullptr);
  EXPECT_NE(mended().find_tensor("good"), nullptr);
}

TEST_F(RepairTest, LeavesUnknownTypesOutOnlyOnRequest) {
  GgufBuilder file = begin_file();
  file.tensor("t", {32}, static_cast<TensorType>(99), 0).pad_to(32).data(32);
  EXPECT_EQ(repair(file.bytes())->losses.size(), 1u);
  const auto report = repair(file.bytes(), {.drops_broken = true});
  ASSERT_THAT(report, Succeeds());
  EXPECT_EQ(report->dropped_tensors, 1u);
}

TEST_F(RepairTest, CutsNoNameAndLeavesLongOnesOutOnlyOnRequest) {
  const std::string name(65, 'n');
  GgufBuilder file = begin_file();
  file.tensor(name, {8}, TensorType::f32, 0).tensor("b", {8}, TensorType::f32, 32).pad_to(32);
  const Bytes bytes = file.data(64).bytes();
  const auto unasked = repair(bytes);
  ASSERT_THAT(unasked, Succeeds());
  ASSERT_EQ(unasked->losses.size(), 1u);
  EXPECT_EQ(unasked->losses[0].tensor, name);
  EXPECT_THAT(unasked->losses[0].what, testing::HasSubstr("64 bytes"));
  EXPECT_FALSE(unasked->is_written);
  const auto report = repair(bytes, {.drops_broken = true});
  ASSERT_THAT(report, Succeeds());
  EXPECT_EQ(report->dropped_tensors, 1u);
  EXPECT_EQ(mended().tensors().size(), 1u);
  expect_nothing_left();
}

TEST_F(RepairTest, SavesWhatIsCompleteOfACutFileThatIsAlsoRefused) {
  GgufBuilder file = begin_file();
  file.key("test.flag", ValueType::boolean).u8(2);
  const Bytes whole = with_two(file, 0, 32, 64);
  const auto report =
      repair({whole.begin(), whole.end() - 1}, {.drops_broken = true, .may_replace = true});
  ASSERT_THAT(report, Succeeds());
  EXPECT_EQ(report->kept_tensors, 1u);
  EXPECT_TRUE(*mended().get<bool>("test.flag"));
  expect_nothing_left();
}

TEST_F(RepairTest, LeavesBrokenWeightsOfACutFileOut) {
  GgufBuilder file = begin_file();
  file.tensor("bad", {8}, TensorType::f32, 0).tensor("cut", {8}, TensorType::f32, 32).pad_to(32);
  for (int i = 0; i < 8; ++i) file.number(std::nanf(""));
  const auto report = repair(file.data(31).bytes(), {.drops_broken = true});
  ASSERT_THAT(report, Succeeds());
  EXPECT_EQ(report->dropped_tensors, 2u);
  expect_nothing_left({.drops_broken = true});
}

TEST_F(RepairTest, CutsAllNulsAtTheEndsOfStrings) {
  const std::string_view twice("x\0\0\0", 4);
  GgufBuilder file = begin_file(v2);
  file.pair("test.text", twice);
  file.array_key("test.texts", ValueType::string, 2).text("a").text(twice);
  file.array_key("test.nested", ValueType::array, 2).array(ValueType::string, 1).text(twice);
  file.array(ValueType::uint8, 1).u8(0);
  const auto report = repair(with_two(file, 0, 32, 64));
  ASSERT_THAT(report, Succeeds());
  const Model after = mended();
  EXPECT_EQ(after.files()[0].version, 2u);
  EXPECT_EQ(*after.get<std::string_view>("test.text"), "x");
  const Array texts = after.find("test.texts")->as_array();
  EXPECT_EQ(*texts.get<std::string_view>(0), "a");
  EXPECT_EQ(*texts.get<std::string_view>(1), "x");
  const Array nested = after.find("test.nested")->as_array();
  EXPECT_EQ(*nested[0].as_array().get<std::string_view>(0), "x");
  EXPECT_EQ(*nested[1].as_array().get<std::uint8_t>(0), 0);
  EXPECT_THAT(broken_rules(), IsEmpty());
  expect_nothing_left();
}

TEST_F(RepairTest, MendsBoolsInArrays) {
  GgufBuilder file = begin_file();
  file.array_key("test.flags", ValueType::array, 1).array(ValueType::boolean, 3);
  file.u8(0).u8(1).u8(7);
  const auto report = repair(with_two(file, 0, 32, 64));
  ASSERT_THAT(report, Succeeds());
  ASSERT_EQ(report->steps.size(), 1u);
  EXPECT_EQ(report->steps[0].key, "test.flags");
  const Model after = mended();
  const Array flags = after.find("test.flags")->as_array()[0].as_array();
  EXPECT_FALSE(*flags.get<bool>(0));
  EXPECT_TRUE(*flags.get<bool>(2));
  expect_nothing_left();
}

TEST_F(RepairTest, WritesVersion3WhereAnOlderOneHasNoPlaceForAValue) {
  GgufBuilder file = begin_file(v1);
  file.pair("test.wide", std::uint64_t{1} << 40);
  const auto report = repair(with_two(file, 0, 32, 64));
  ASSERT_THAT(report, Succeeds());
  ASSERT_EQ(report->steps.size(), 1u);
  EXPECT_THAT(report->steps[0].what, testing::HasSubstr("version 3"));
  const Model after = mended();
  EXPECT_EQ(after.files()[0].version, 3u);
  EXPECT_EQ(*after.get<std::uint64_t>("test.wide"), std::uint64_t{1} << 40);
  expect_nothing_left();
}

TEST_F(RepairTest, LabelsWhatIsLeftOfTheModel) {
  // The only matrix of the type that the label names is left out, and the set is smaller.
  GgufBuilder file = begin_file();
  file.pair("general.file_type", std::uint32_t{7}).pair("general.quantization_version", 2u);
  file.pair("split.no", std::uint16_t{0}).pair("split.count", std::uint16_t{1});
  file.pair("split.tensors.count", 2);
  file.tensor("a.weight", {8, 2}, TensorType::f16, 0)
      .tensor("b.weight", {32, 2}, TensorType::q8_0, 32);
  const auto report = repair(file.pad_to(32).data(40).bytes(), {.drops_broken = true});
  ASSERT_THAT(report, Succeeds());
  EXPECT_EQ(report->dropped_tensors, 1u);
  const Model after = mended();
  EXPECT_EQ(*after.get<std::uint32_t>("general.file_type"), 1u);
  EXPECT_EQ(after.find("split.tensors.count"), nullptr);
  expect_nothing_left();
}

TEST_F(RepairTest, SaysWhatItWouldDoAndDoesNotDoIt) {
  const auto report = repair(with_two(begin_file(), 0, 32, 65), {.is_dry_run = true});
  ASSERT_THAT(report, Succeeds());
  EXPECT_THAT(report->steps, Not(IsEmpty()));
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"in.gguf"});
}

TEST_F(RepairTest, NeverWritesOverItsInputOrAnotherFile) {
  const Bytes bytes = with_two(begin_file(), 0, 32, 65);
  const std::string path = folder_.write("in.gguf", bytes);
  EXPECT_THAT(repair_model(path, path, {.may_replace = true}), FailsWith(Errc::invalid_argument));
  folder_.write("out.gguf", {});
  EXPECT_THAT(repair(bytes), FailsWith(Errc::already_exists));
  EXPECT_EQ(read_whole(path), bytes);
}

TEST_F(RepairTest, GivesTheErrorOfTheReaderWhereNothingHelps) {
  EXPECT_THAT(repair({}), FailsWith(Errc::truncated));
  EXPECT_THAT(repair(begin_file().pair("a", true).pair("a", true).bytes()),
              FailsWith(Errc::key_duplicate));
  EXPECT_THAT(repair_model(folder_.path("missing"), target(), {}), FailsWith(Errc::io_error));
}

}  // namespace
}  // namespace ingot::test

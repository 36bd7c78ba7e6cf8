// SPDX-License-Identifier: MIT
// The rows of the house: every one is read, and typos in rows are refused by file and line.
#include "ingot/architectures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "architectures/row_text.hpp"

namespace ingot {
namespace {

using architectures::House;
using architectures::RowText;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Architectures, AreAllRead) {
  EXPECT_THAT(architectures::house().faults(), testing::IsEmpty());
  for (const std::string_view name : architecture_names()) {
    const auto row = architectures::house().read(name);
    EXPECT_TRUE(row) << row.error();
    EXPECT_NE(find_architecture(name), nullptr);
  }
  EXPECT_TRUE(std::ranges::is_sorted(architecture_names()));
  EXPECT_EQ(find_architecture("llam"), nullptr);
  EXPECT_EQ(find_architecture(""), nullptr);
}

TEST(Architectures, WaitForADescription) {
  std::vector<std::string_view> waiting;
  for (const std::string_view name : architecture_names()) {
    if (!find_architecture(name)->is_described()) waiting.push_back(name);
  }
  const std::set<std::string_view> allowed = {"dflash",    "eagle3",   "gemma4-assistant",
                                              "pockettts", "qwen3tts", "qwen4exp"};
  for (const std::string_view name : waiting) {
    EXPECT_TRUE(allowed.contains(name)) << name << ": " << find_architecture(name)->waits;
    EXPECT_FALSE(find_architecture(name)->waits.empty()) << name;
  }
}

/// A header without anything but numbers that make work.
struct Hostile : ArchitectureHeader {
  std::optional<std::int64_t> number(std::string_view key,
                                     std::optional<std::uint64_t>) const override {
    return key.ends_with("head_count") ? 0 : std::int64_t{1} << 62;
  }
  std::optional<std::string_view> text(std::string_view) const override { return {}; }
  std::optional<std::uint64_t> array_size(std::string_view) const override { return {}; }
  bool has_key(std::string_view) const override { return false; }
  bool has_tensor(std::string_view) const override { return false; }
  std::optional<std::int64_t> vocabulary() const override { return {}; }
};

TEST(Architectures, HaveSamplesAndStandHostileHeaders) {
  for (const std::string_view name : architecture_names()) {
    const Architecture& row = *find_architecture(name);
    const auto sample = plan_architecture_sample(row, {}, 1024);
    EXPECT_EQ(sample.has_value(), row.is_described()) << name;
    if (!sample) continue;
    std::set<std::string> names;
    for (const SampleTensor& tensor : sample->tensors) {
      EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
    }
    EXPECT_FALSE(missing_keys(row, Hostile()).empty()) << name;
    // Those of variants are told by a text, of which there is none.
    EXPECT_EQ(expected_tensors(row, Hostile(), {}).empty(), !row.variants.empty()) << name;
    for (const ExpectedTensor& tensor : expected_tensors(row, Hostile(), ~std::uint64_t{0})) {
      EXPECT_LE(tensor.shape.size(), 4u) << tensor.name;
    }
    // Twice as many layers, and a wider model where widths follow from it.
    const auto other = plan_architecture_sample(row, {{"block_count", 12}}, 2000);
    EXPECT_TRUE(other) << name << ": " << other.error().message();
  }
}

std::string fault_of(std::string_view text, std::string_view row = "r") {
  const RowText texts[] = {{"t.def", text}};
  const House house(texts);
  if (!house.faults().empty()) return house.faults()[0];
  const auto read = house.read(row);
  return read ? std::string() : read.error();
}

TEST(Architectures, RefuseTypos) {
  const std::string good =
      "\narchitecture r\n  require n u32 = 4\n  let layers = n\n  layer t: n\n";
  EXPECT_EQ(fault_of(good), "");
  EXPECT_EQ(fault_of(good + "  sometimes x u32\n"),
            "t.def:7: the statement is not known: sometimes x u32");
  const std::pair<std::string, std::string> cases[] = {
      {"  require m u33\n", "there is no such type"},
      {"  require m u32 per row\n", "\"layer\" is missing"},
      {"  require m u32 = [1, 2]\n", "a list goes with an array"},
      {"  require m u32 per layer = [1, 2\n", "a \"]\" is missing"},
      {"  require m str = text\n", "a text is missing"},
      {"  require m f32 = x\n", "a number is missing"},
      {"  require m u32 = 4 when n\n", "the end of the line is not understood"},
      {"  layer t n\n", "a \":\" is missing"},
      {"  layer : n\n", "a name is missing"},
      {"  layer t: n, n, n, n, n\n", "at most 4 dimensions"},
      {"  layer t: n sampled\n", "in the sample anyway"},
      {"  layer t: n otional\n", "the end of the line is not understood"},
      {"  layer t: wdith\n", "no key or number \"wdith\""},
      {"  layer t: n if has(u)\n", "no tensor \"u\""},
      {"  let x 4\n", "a \"=\" is missing"},
      {"  use other\n", "there is no group of this name"},
      {"  without u\n", "there is no key or tensor \"u\""},
      {"  windows often\n", "there is no \"often\""},
      {"  windows full_last 4 window x\n", "a number is missing"},
      {"  state ssm always\n", "\"recurrent\" is missing"},
      {"  tokenizer wpm\n", "there is no such tokenizer"},
      {"  layer t: size(u, 1)\n", "no tensor \"u\""},
      {"  layer t: size(t, 4)\n", "wants a dimension of 0 to 3"},
      {"  layer t: n if described(kind)\n", "no key or number \"kind\""},
      {"  layer t: n if n == \"a\" | b\n", "a text is missing"},
      {"  fact f n\n", "a \"=\" is missing"},
      {"  fact f = k\n", "no key or number \"k\""},
      {"  variants k = a b\n", "no key or number \"k\""},
      {"  refuse n == 0\n", "a \":\" is missing"},
      {"  refuse k == 0: why\n", "no key or number \"k\""},
      {"  file m n\n", "the end of the line is not understood"},
      {"  waits for help\n", "the row has tensors, and \"waits\""},
      {"architecture s\n", ""},
      {"architecture r\n", "there are two of this name"},
      {"group g\n  use g\narchitecture r2\n  use g\n", ""},
  };
  for (const auto& [line, fault] : cases)
    EXPECT_THAT(fault_of(good + line), HasSubstr(fault)) << line;
  EXPECT_THAT(fault_of("\n  layer t: 4\n"), HasSubstr("in no group and no row"));
  EXPECT_THAT(fault_of("\narchitecture r\n"), HasSubstr("no tensor and no \"waits\""));
  EXPECT_THAT(fault_of("\ngroup g\n  use g\narchitecture r\n  use g\n"),
              HasSubstr("use one another"));
}

TEST(Architectures, LetLaterLinesCount) {
  const RowText texts[] = {{"t.def",
                            "\ngroup base\n  require n u32 = 4\n  let layers = 2\n  let w = n\n"
                            "architecture a\n  layer t: w\n  layer u: w optional\n  layer v: w\n"
                            "architecture b\n  use a\n  without v\n  let w = 2 * n\n"
                            "  layer t: w, 3 if i == 1\n  layer u: w optional sampled i == 0\n"
                            "  require n u32 = 5\n  optional k u32 per layer = [n, 7]\n"}};
  const House house(texts);
  const auto row = house.read("b");
  ASSERT_TRUE(row) << row.error();
  const auto sample = plan_architecture_sample(*row, {}, 9);
  ASSERT_TRUE(sample);
  std::vector<std::string> lines;
  for (const SampleTensor& tensor : sample->tensors) {
    std::string line = tensor.name;
    for (const std::uint64_t size : tensor.shape) line += " " + std::to_string(size);
    lines.push_back(line);
  }
  EXPECT_THAT(lines, ElementsAre("blk.0.t.weight 10", "blk.0.u.weight 10", "blk.1.t.weight 10 3"));
  ASSERT_EQ(sample->keys.size(), 2u);
  EXPECT_EQ(sample->keys[0].name, "b.n");
  EXPECT_EQ(sample->keys[1].values.size(), 2u);
  EXPECT_EQ(std::get<std::int64_t>(sample->keys[1].values[0]), 5);
  const auto wide = plan_architecture_sample(*row, {{"n", 8}, {"none", 1}}, 9);
  ASSERT_TRUE(wide);
  EXPECT_THAT(wide->tensors[0].shape, ElementsAre(16));
}

TEST(Architectures, TellVariantsApart) {
  const RowText texts[] = {
      {"t.def",
       "\ngroup base\n  require n u32 = 4\n"
       "architecture r\n  alone\n  file mmproj\n  require kind str = \"a\"\n  require other str if "
       "not given(kind)\n"
       "  let type = kind ?? other\n  let layers = 1\n"
       "  variants type = a b\n  variants type = others c\n"
       "  fact kind = type\n  fact width = 1\n  fact width = size(whole w., 1) if type == \"b\" | "
       "\"c\"\n"
       "  whole w.: 8, size(whole w., 1) ?? 3 if described(type)\n  layer t: size(whole w., 1)\n"}};
  const House house(texts);
  const auto row = house.read("r");
  ASSERT_TRUE(row) << row.error();
  EXPECT_EQ(row->file_kind, "mmproj");
  EXPECT_THAT(row->variants, ElementsAre("a", "b"));
  const auto sample = plan_architecture_sample(*row, {}, 0, "b");
  ASSERT_TRUE(sample);
  ASSERT_EQ(sample->keys.size(), 1u);  // not that of base
  EXPECT_EQ(std::get<std::string>(sample->keys[0].values[0]), "b");
  EXPECT_THAT(sample->tensors[1].shape, ElementsAre(3));
  EXPECT_FALSE(plan_architecture_sample(*row, {}, 0, "c"));

  struct Header : Hostile {
    std::string_view kind;
    std::optional<std::string_view> text(std::string_view key) const override {
      return key == "r.other" ? std::optional(kind) : std::nullopt;
    }
    std::optional<std::int64_t> tensor_size(std::string_view, std::size_t) const override {
      return 7;
    }
  } header;
  header.kind = "b";
  const auto facts = facts_of(*row, header);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(std::get<std::string_view>(facts[0].value), "b");
  EXPECT_EQ(std::get<std::int64_t>(facts[1].value), 7);
  EXPECT_THAT(expected_tensors(*row, header, {})[0].shape, ElementsAre(8, 7));
  EXPECT_THAT(unchecked_variants(*row, header), testing::IsEmpty());
  header.kind = "c";
  ASSERT_EQ(unchecked_variants(*row, header).size(), 1u);
  EXPECT_TRUE(unchecked_variants(*row, header)[0].is_known);
  header.kind = "d";
  EXPECT_FALSE(unchecked_variants(*row, header).at(0).is_known);
  EXPECT_THAT(expected_tensors(*row, header, {}), testing::IsEmpty());
}

}  // namespace
}  // namespace ingot

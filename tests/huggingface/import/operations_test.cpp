// SPDX-License-Identifier: MIT
// Every operation of the rules on small numbers, against its formula.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <list>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "huggingface/import/tensors/piece_source.hpp"
#include "huggingface/import/tensors/transforms.hpp"
#include "ingot/half.hpp"
#include "ingot/quantize.hpp"
#include "ingot/source.hpp"
#include "support/expect_error.hpp"

namespace ingot::huggingface {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Tensor {
  std::vector<std::uint64_t> shape;
  std::vector<float> numbers;
  std::string name = "t";
  [[nodiscard]] bool operator==(const Tensor&) const = default;
};

/// A tensor of 0, 1, 2 ...
Tensor counted(std::vector<std::uint64_t> shape, std::string name = "t") {
  std::uint64_t size = 1;
  for (const std::uint64_t length : shape) size *= length;
  Tensor tensor{std::move(shape), std::vector<float>(size), std::move(name)};
  std::iota(tensor.numbers.begin(), tensor.numbers.end(), 0.0F);
  return tensor;
}

std::vector<float> read_numbers(const TensorView& view) {
  const auto pieces = pieces_of(view, TensorType::f32);
  std::vector<float> numbers;
  PieceMemory memory;
  std::vector<std::byte> bytes;
  for (std::uint64_t i = 0; i < pieces->piece_count(); ++i) {
    EXPECT_THAT(pieces->make(i, memory, bytes), test::Succeeds());
    const std::size_t before = numbers.size();
    numbers.resize(before + bytes.size() / sizeof(float));
    std::memcpy(&numbers[before], bytes.data(), bytes.size());
  }
  return numbers;
}

/// The transforms of one architecture, which `config` configures.
class Transforms {
 public:
  explicit Transforms(std::string_view transforms, std::string_view config = R"({"n": 0})")
      : config_(Config::parse(R"({"architectures": ["X"], )" + std::string(config.substr(1)),
                              "config.json")
                    .value()),
        table_(read_table(transforms)) {}

  Result<std::vector<TensorView>> views_of(const Tensor& tensor, TensorType type) {
    std::vector<std::byte>& bytes = files_.emplace_back();
    bytes.resize(tensor.numbers.size() * find_type(type)->block_bytes);
    EXPECT_THAT(quantize(type, tensor.numbers, tensor.numbers.size(), bytes), test::Succeeds());
    return transformer_.apply(
        view_of(tensor.name, tensor.shape,
                std::make_shared<StoredNumbers>(borrow_memory(bytes), 0, type,
                                                find_type(type)->block_bytes)));
  }

  /// What the transforms make of a tensor.
  std::vector<Tensor> of(const Tensor& tensor, TensorType type = TensorType::f32) {
    const auto views = views_of(tensor, type);
    EXPECT_THAT(views, test::Succeeds());
    std::vector<Tensor> made;
    if (!views) return made;
    for (const TensorView& view : *views) {
      made.push_back({view.shape, read_numbers(view), view.name});
    }
    return made;
  }

  /// The message of the refusal of a tensor.
  std::string refusal(const Tensor& tensor) {
    const auto views = views_of(tensor, TensorType::f32);
    EXPECT_FALSE(views);
    return views ? "" : views.error().message();
  }

  [[nodiscard]] const TransformRule& rule() const { return table_.find("X")->transforms.front(); }
  [[nodiscard]] Result<void> undo(ReturningTensor& tensor) const {
    return undo_operation(rule(), {.config = config_}, tensor);
  }

 private:
  static RuleTable read_table(std::string_view transforms) {
    const std::string entry =
        R"({"X": {"architecture": "x", "transforms": [)" + std::string(transforms) + "]}}";
    const RuleText files[] = {{"shared.json",
                               R"({"drop_everywhere": [], "drop_after_renames": [],
                                   "always_f32": [], "folders": {}})"},
                              {"x.json", entry}};
    return RuleTable::parse(files).value();
  }

  Config config_;
  RuleTable table_;
  std::list<std::vector<std::byte>> files_;
  RuleContext rules_{.config = config_};
  TransformContext context_{.rules = rules_};
  Transformer transformer_{*table_.find("X"), context_};
};

std::string rule(std::string_view op, std::string_view members = "") {
  return R"({"names": ["t"], "op": ")" + std::string(op) + '"' +
         (members.empty() ? "" : ", " + std::string(members)) + "}";
}

TEST(ShapeOperations, DropAndAppendAxesOfOnePosition) {
  const Tensor kernels = counted({4, 1, 3});
  EXPECT_THAT(Transforms(rule("squeeze")).of(kernels),
              ElementsAre(Tensor{{4, 3}, kernels.numbers}));
  EXPECT_THAT(Transforms(rule("squeeze_axis", R"("axis": 1)")).of(kernels),
              ElementsAre(Tensor{{4, 3}, kernels.numbers}));
  EXPECT_THAT(Transforms(rule("squeeze_axis", R"("axis": 0)")).refusal(kernels),
              HasSubstr("an axis of one position"));
  EXPECT_THAT(Transforms(rule("squeeze_axis", R"("axis": -4)")).refusal(kernels),
              HasSubstr("it has no axis -4"));
  EXPECT_THAT(Transforms(rule("append_axis")).of(counted({3})),
              ElementsAre(Tensor{{3, 1}, {0, 1, 2}}));
}

TEST(ShapeOperations, HaveAWayBackWhereTheShapeIsKnown) {
  ReturningTensor kernels{.name = "t", .shape = {3, 4}};
  ASSERT_THAT(Transforms(rule("squeeze_axis", R"("axis": 1)")).undo(kernels), test::Succeeds());
  EXPECT_THAT(kernels.shape, ElementsAre(3, 1, 4));
  ReturningTensor column{.name = "t", .shape = {1, 3}};
  ASSERT_THAT(Transforms(rule("append_axis")).undo(column), test::Succeeds());
  EXPECT_THAT(column.shape, ElementsAre(3));
  EXPECT_THAT(Transforms(rule("append_axis")).undo(column), test::FailsWith(Errc::size_mismatch));
  ReturningTensor convolution{.name = "t", .shape = {3, 1, 4, 1}};
  ASSERT_THAT(Transforms(rule("reshape_conv")).undo(convolution), test::Succeeds());
  EXPECT_THAT(convolution.shape, ElementsAre(3, 1, 4));
  EXPECT_THAT(Transforms(rule("softplus")).undo(column), test::FailsWith(Errc::import_refused));
}

TEST(ShapeOperations, ReshapeKeepsTheNumbersInTheirOrder) {
  const std::string_view config = R"({"groups": 2})";
  const Tensor norm = counted({6});
  EXPECT_THAT(Transforms(rule("reshape", R"("shape": ["groups", null])"), config).of(norm),
              ElementsAre(Tensor{{2, 3}, norm.numbers}));
  EXPECT_THAT(Transforms(rule("reshape", R"("shape": ["groups", "2"])"), config).refusal(norm),
              HasSubstr("its 6 elements do not make the sizes of reshape"));
  for (const Tensor& kernels : {counted({4, 1, 3}), counted({4, 3})}) {
    EXPECT_THAT(Transforms(rule("reshape_conv")).of(kernels),
                ElementsAre(Tensor{{1, 4, 1, 3}, kernels.numbers}));
  }
  // After a transpose, the order is that of the transposed matrix.
  EXPECT_THAT(Transforms(rule("transpose") + ", " + rule("reshape", R"("shape": ["6"])"))
                  .of(counted({2, 3})),
              ElementsAre(Tensor{{6}, {0, 3, 1, 4, 2, 5}}));
}

TEST(ShapeOperations, SplitRowsCutsBlocksOfGivenSizes) {
  Transforms split(rule("split_rows", R"("sizes": ["q", "1", null], "to": ["a", "b", "c"])"),
                   R"({"q": 2})");
  EXPECT_THAT(split.of(counted({4, 2})),
              ElementsAre(Tensor{{2, 2}, {0, 1, 2, 3}, "a"}, Tensor{{1, 2}, {4, 5}, "b"},
                          Tensor{{1, 2}, {6, 7}, "c"}));
  EXPECT_THAT(split.refusal(counted({3, 2})), HasSubstr("its 3 positions do not make the sizes"));
  Transforms inner(rule("split_rows", R"("sizes": ["1", "2"], "to": ["a", "b"], "axis": -1)"));
  EXPECT_THAT(inner.of(counted({2, 3})),
              ElementsAre(Tensor{{2, 1}, {0, 3}, "a"}, Tensor{{2, 2}, {1, 2, 4, 5}, "b"}));
}

TEST(ShapeOperations, SplitLastHalfTransposedMakesGateAndUp) {
  Transforms split(rule("split_last_half_transposed", R"("to": ["gate", "up"])"));
  // [1, 2, 4] is cut to [1, 2, 2], twice, and swapped.
  EXPECT_THAT(split.of(counted({1, 2, 4})), ElementsAre(Tensor{{1, 2, 2}, {0, 4, 1, 5}, "gate"},
                                                        Tensor{{1, 2, 2}, {2, 6, 3, 7}, "up"}));
}

TEST(ShapeOperations, ViewExpertsCutsRowsOfExperts) {
  Transforms view(rule("view_experts", R"("count": "experts", "to": ["e.weight"])"),
                  R"({"experts": 2})");
  EXPECT_THAT(view.of(counted({4, 2})),
              ElementsAre(Tensor{{2, 2, 2}, counted({8}).numbers, "e.weight"}));
  EXPECT_THAT(view.refusal(counted({3, 2})), HasSubstr("no multiple of 2"));
}

TEST(HeadOperations, QkvzSplitJoinsThePartsOfAllHeads) {
  // Two heads of q (1), k (1), v (2), z (2).
  Transforms split(rule("qkvz_split", R"("heads": "2", "key_size": "1", "value_size": "2",
                                         "to": ["qkv", "z"])"));
  EXPECT_THAT(split.of(counted({12, 1})),
              ElementsAre(Tensor{{8, 1}, {0, 6, 1, 7, 2, 3, 8, 9}, "qkv"},
                          Tensor{{4, 1}, {4, 5, 10, 11}, "z"}));
  EXPECT_THAT(split.refusal(counted({13, 1})), HasSubstr("no multiple"));
}

TEST(HeadOperations, ReorderVHeadsTilesGroupedHeads) {
  const std::string heads = R"("key_heads": "2", "value_heads": "4")";
  // Heads (2, 2) of two rows: 0 1 | 2 3 || 4 5 | 6 7.
  EXPECT_THAT(Transforms(rule("reorder_v_heads", heads)).of(counted({8})),
              ElementsAre(Tensor{{8}, {0, 1, 4, 5, 2, 3, 6, 7}}));
  // The first rows stay.
  EXPECT_THAT(Transforms(rule("reorder_v_heads", heads + R"(, "first": "3")")).of(counted({7, 1})),
              ElementsAre(Tensor{{7, 1}, {0, 1, 2, 3, 5, 4, 6}}));
  EXPECT_THAT(Transforms(rule("reorder_v_heads", heads + R"(, "axis": -1)")).of(counted({2, 4})),
              ElementsAre(Tensor{{2, 4}, {0, 2, 1, 3, 4, 6, 5, 7}}));
  EXPECT_THAT(
      Transforms(rule("reorder_v_heads", heads + R"(, "first": "8")")).refusal(counted({8})),
      HasSubstr("no rows of value heads"));
  // Other operations follow, though the tensor has two parts now.
  EXPECT_THAT(Transforms(rule("reorder_v_heads", heads + R"(, "first": "1")") + ", " +
                         rule("append_axis") + ", " + rule("multiply", R"("by": ["2"])"))
                  .of(counted({5})),
              ElementsAre(Tensor{{5, 1}, {0, 2, 6, 4, 8}}));
}

TEST(HeadOperations, RegroupHeadsPutsEvenRowsFirst) {
  // Two heads of six rows, of which four turn.
  Transforms reorder(
      rule("regroup_heads", R"("head_size": "6", "rotary": "4", "sizes": [null, "2"])"));
  EXPECT_THAT(reorder.of(counted({12})),
              ElementsAre(Tensor{{12}, {0, 2, 1, 3, 4, 5, 6, 8, 7, 9, 10, 11}}));
  EXPECT_THAT(Transforms(rule("regroup_heads", R"("head_size": "4", "sizes": [null, "2"])"))
                  .of(counted({4, 2})),
              ElementsAre(Tensor{{4, 2}, {0, 1, 4, 5, 2, 3, 6, 7}}));
  EXPECT_THAT(reorder.refusal(counted({10})), HasSubstr("10 rows are no heads of 6"));
}

TEST(HeadOperations, RegroupHeadsSwapsTwoAxesOfSomeRows) {
  // Two of three axes, of six rows of seven.
  Transforms axes(
      rule("regroup_heads", R"("head_size": "7", "rotary": "6", "sizes": ["2", "3", null])"));
  EXPECT_THAT(axes.of(counted({7})), ElementsAre(Tensor{{7}, {0, 3, 1, 4, 2, 5, 6}}));
  // Pairs of rows, in the first of two heads alone.
  Transforms pairs(
      rule("regroup_heads", R"("head_size": "8", "sizes": [null, "2", "2"], "heads": "1")"));
  EXPECT_THAT(pairs.of(counted({16})),
              ElementsAre(Tensor{{16}, {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}));
  EXPECT_THAT(axes.refusal(counted({6})), HasSubstr("6 rows are no heads of 7"));
}

TEST(NumberOperations, ResizeGridMixesFourNeighbours) {
  Transforms resize(rule("resize_grid", R"("side": "3")"));
  EXPECT_THAT(resize.of(counted({1, 4, 1})),
              ElementsAre(Tensor{{1, 9, 1}, {0, 0.5F, 1, 1, 1.5F, 2, 2, 2.5F, 3}}));
  EXPECT_THAT(resize.of(counted({1, 9, 2})), ElementsAre(counted({1, 9, 2})));
  EXPECT_THAT(resize.refusal(counted({1, 5, 1})), HasSubstr("side * side"));
}

TEST(RowOperations, PadAndDropRows) {
  const std::string_view config = R"({"vocab_size": 3, "pad_token_id": 1})";
  Transforms pad(rule("pad_rows", R"("rows": "vocab_size")"), config);
  EXPECT_THAT(pad.of(counted({2, 2})), ElementsAre(Tensor{{3, 2}, {0, 1, 2, 3, 0, 0}}));
  EXPECT_THAT(pad.of(counted({4, 1})), ElementsAre(counted({4, 1})));
  Transforms drop(rule("drop_rows", R"("first": "1 + pad_token_id")"), config);
  EXPECT_THAT(drop.of(counted({3, 2})), ElementsAre(Tensor{{1, 2}, {4, 5}}));
  EXPECT_THAT(drop.refusal(counted({2, 2})), HasSubstr("all of its 2 rows would go"));
  EXPECT_THAT(Transforms(rule("zero_slot")).of(counted({2, 1, 2})),
              ElementsAre(Tensor{{3, 2}, {0, 0, 0, 1, 2, 3}}));
}

TEST(RowOperations, RepeatFirstRowHasNoOther) {
  Transforms repeat(rule("repeat_first_row", R"("count": "3")"));
  EXPECT_THAT(repeat.of(counted({2, 2})), ElementsAre(Tensor{{3, 2}, {0, 1, 0, 1, 0, 1}}));
  EXPECT_THAT(Transforms(rule("repeat_first_row", R"("count": "65537")")).refusal(counted({2, 2})),
              HasSubstr("at most 65536 equal rows"));
}

TEST(NumberOperations, ExponentialsAreRoundedOnce) {
  const Tensor numbers{{5}, {-2, 0, 1, 3.25F, 100}};
  std::vector<float> powers;
  std::vector<float> softened;
  for (const float number : numbers.numbers) {
    powers.push_back(static_cast<float>(-std::exp(static_cast<double>(number))));
    softened.push_back(static_cast<float>(std::log1p(std::exp(static_cast<double>(number)))));
  }
  EXPECT_THAT(Transforms(rule("neg_exp")).of(numbers), ElementsAre(Tensor{{5}, powers}));
  EXPECT_THAT(Transforms(rule("softplus")).of(numbers), ElementsAre(Tensor{{5}, softened}));
  // F16 is rounded to F16 before it becomes F32.
  const auto half = Transforms(rule("neg_exp")).of({{1}, {1}}, TensorType::f16);
  ASSERT_EQ(half.size(), 1u);
  EXPECT_EQ(half[0].numbers[0], f32_from_f16(f16_from_f32(powers[2])));
}

TEST(NumberOperations, MultiplyRoundsEachProduct) {
  Transforms twice(rule("multiply", R"("by": ["a", "list.1"])"), R"({"a": 0.1, "list": [7, 0.3]})");
  const Tensor tensor{{2}, {3, 5}};
  EXPECT_THAT(twice.of(tensor), ElementsAre(Tensor{{2}, {3 * 0.1F * 0.3F, 5 * 0.1F * 0.3F}}));
  const auto round = [](float number) { return f32_from_f16(f16_from_f32(number)); };
  EXPECT_THAT(
      twice.of(tensor, TensorType::f16),
      ElementsAre(Tensor{{2}, {round(round(3 * 0.1F) * 0.3F), round(round(5 * 0.1F) * 0.3F)}}));
  EXPECT_THAT(Transforms(rule("multiply", R"("by": ["a"])"), R"({"a": "x"})").refusal(tensor),
              HasSubstr("is no number"));
}

TEST(NumberOperations, MultiplyRowsHasAFactorForEachBlock) {
  const std::string members = R"("by": ["factors"], "sizes": ["1", "2", null])";
  EXPECT_THAT(Transforms(rule("multiply_rows", members), R"({"factors": [2, 10, 100]})")
                  .of(counted({4, 2})),
              ElementsAre(Tensor{{4, 2}, {0, 2, 20, 30, 40, 50, 600, 700}}));
  EXPECT_THAT(Transforms(rule("multiply_rows", members), R"({"factors": [2, 10]})")
                  .refusal(counted({4, 2})),
              HasSubstr("3 factors are expected"));
}

TEST(NumberOperations, NormalizeColumnsDividesByTheirLength) {
  EXPECT_THAT(Transforms(rule("normalize_columns")).of({{2, 2}, {3, 0, 4, 2}}),
              ElementsAre(Tensor{{2, 2}, {3 / (5 + 1e-7F), 0, 4 / (5 + 1e-7F), 2 / (2 + 1e-7F)}}));
}

TEST(NumberOperations, SubtractMeanAndTernaryKnowAllNumbers) {
  EXPECT_THAT(Transforms(rule("subtract_mean")).of({{4}, {1, 2, 3, 6}}),
              ElementsAre(Tensor{{4}, {-2, -1, 0, 3}}));
  // The mean of the absolute values is 2: 1 / 2 and -1 / 2 are halves, which go to 0.
  EXPECT_THAT(Transforms(rule("ternary")).of({{6}, {1, -1, 1.5F, -6, 0.5F, 2}}),
              ElementsAre(Tensor{{6}, {0, 0, 2, -2, 0, 2}}));
  EXPECT_THAT(Transforms(rule("ternary")).of({{2}, {0, 0}}), ElementsAre(Tensor{{2}, {0, 0}}));
}

/// More numbers than a piece has, so that the facts of all pieces count in each.
TEST(NumberOperations, FactsAreThoseOfTheWholeTensor) {
  Tensor tensor{{600, 1000}, std::vector<float>(600'000, 1.0F)};
  tensor.numbers.back() = 600'001.0F;
  const auto made = Transforms(rule("subtract_mean")).of(tensor);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].numbers.front(), -1.0F);  // the mean is 2
  EXPECT_EQ(made[0].numbers.back(), 599'999.0F);
}

TEST(NameOperations, ExactSetsTheNameOfTheResult) {
  const auto views =
      Transforms(R"({"names": ["m.{layer}.t"], "op": "exact", "to": ["blk.{layer}.x"]})")
          .views_of(counted({1}, "m.3.t"), TensorType::f32);
  ASSERT_THAT(views, test::Succeeds());
  EXPECT_EQ(views->at(0).name, "blk.3.x");
  EXPECT_TRUE(views->at(0).has_gguf_name);
}

TEST(NameOperations, FirstOnlyTakesOneOfSeveralNames) {
  Transforms first(R"({"names": ["a", "b"], "op": "first_only", "to": ["shared"]})");
  EXPECT_THAT(first.of(counted({1}, "b")), ElementsAre(Tensor{{1}, {0}, "shared"}));
  EXPECT_THAT(first.of(counted({2}, "a")), ElementsAre());
  EXPECT_THAT(first.of(counted({2}, "c")), ElementsAre(counted({2}, "c")));
}

TEST(NameOperations, RenumberGivesALayerTheNumberOfAList) {
  Transforms renumber(R"x({"names": ["m.{layer}.{base}"], "op": "renumber",
                           "layer": "at(places, layer())", "to": ["v.{layer}.{base}"]})x",
                      R"({"places": [4, 0]})");
  EXPECT_THAT(renumber.of(counted({1}, "m.0.a.b")), ElementsAre(counted({1}, "v.4.a.b")));
  EXPECT_THAT(renumber.of(counted({1}, "m.1.a")), ElementsAre(counted({1}, "v.0.a")));
  EXPECT_THAT(renumber.refusal(counted({1}, "m.2.a")), HasSubstr("the layer of m.2.a"));
}

TEST(NumberOperations, BatchNormBecomesAFactorAndANumber) {
  Transforms fold(R"({"names": ["n.{layer}.{part}"], "parts": ["w", "b", "mean", "var"],
                      "op": "batch_norm", "to": ["n.{layer}.factor", "n.{layer}.added"]})");
  const auto give = [&](const char* name, std::vector<float> numbers) {
    return fold.of({{numbers.size()}, std::move(numbers), name});
  };
  EXPECT_TRUE(give("n.7.b", {1, 2}).empty());
  EXPECT_TRUE(give("n.7.mean", {3, 5}).empty());
  EXPECT_TRUE(give("n.7.var", {4, 0}).empty());
  EXPECT_TRUE(give("n.8.b", {1, 2}).empty());  // of another layer
  const auto made = give("n.7.w", {6, 1});
  ASSERT_EQ(made.size(), 2u);
  const float first = 6 / std::sqrt(4 + 1e-5F);
  const float second = 1 / std::sqrt(1e-5F);
  EXPECT_EQ(made[0], (Tensor{{2}, {first, second}, "n.7.factor"}));
  EXPECT_EQ(made[1], (Tensor{{2}, {1 - 3 * first, 2 - 5 * second}, "n.7.added"}));
}

TEST(NameOperations, StackPartsHasTheOrderOfTheParts) {
  Transforms transforms(R"({"names": ["x_{part}"], "op": "stack_parts", "parts": ["r", "a"],
                            "to": ["fused"]})");
  EXPECT_THAT(transforms.of(counted({1, 2}, "x_a")), testing::IsEmpty());
  EXPECT_THAT(transforms.of(Tensor{{1, 2}, {8, 9}, "x_r"}),
              ElementsAre(Tensor{{2, 1, 2}, {8, 9, 0, 1}, "fused"}));
  EXPECT_THAT(transforms.of(counted({1, 2}, "x_a")), testing::IsEmpty());
  EXPECT_THAT(transforms.refusal(counted({2, 1}, "x_r")), HasSubstr("its shape differs"));
}

TEST(NameOperations, CopyComesBeforeTheTensor) {
  EXPECT_THAT(Transforms(rule("copy", R"("to": ["c"])")).of(counted({2})),
              ElementsAre(counted({2}, "c"), counted({2})));
}

TEST(NameOperations, IntegersAreNoFloats) {
  EXPECT_THAT(Transforms(rule("as_i32")).refusal(counted({2})), HasSubstr("whole numbers"));
  EXPECT_THAT(Transforms(rule("from_positions", R"("limit": "9")")).refusal(counted({2})),
              HasSubstr("a list of I64"));
}

TEST(NameOperations, DropIfEqualComparesNumbers) {
  const std::string drop = R"({"names": ["head"], "op": "drop_if_equal", "other": "embed"})";
  Tensor other = counted({2, 2}, "head");
  Transforms unknown(drop);
  EXPECT_EQ(unknown.of(other).size(), 1u);  // nothing to compare with
  Transforms known(drop);
  EXPECT_EQ(known.of(counted({2, 2}, "embed")).size(), 1u);
  EXPECT_THAT(known.of(other), ElementsAre());
  other.numbers.back() = 7;
  EXPECT_EQ(known.of(other).size(), 1u);
  EXPECT_EQ(known.of(counted({4}, "head")).size(), 1u);
}

}  // namespace
}  // namespace ingot::huggingface

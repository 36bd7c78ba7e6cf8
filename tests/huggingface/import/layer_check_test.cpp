// SPDX-License-Identifier: MIT
// Folders in which a layer lacks a tensor that the others have.
#include "huggingface/import/tensors/layer_check.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/expect_error.hpp"

namespace ingot::test {
namespace {

using huggingface::PlannedTensor;
using testing::AllOf;
using testing::HasSubstr;

/// Tensors of layers: "0 attn_q.weight".
std::vector<PlannedTensor> plan_of(const std::vector<std::string>& tensors) {
  std::vector<PlannedTensor> plan;
  for (const std::string& tensor : tensors) {
    const std::size_t space = tensor.find(' ');
    const std::string layer = tensor.substr(0, space);
    const std::string part = tensor.substr(space + 1);
    PlannedTensor& planned = plan.emplace_back();
    planned.info.name = "blk." + layer + "." + part;
    planned.info.sources = {"layers." + layer + "." + part};
  }
  return plan;
}

std::string refusal_of(const std::vector<std::string>& tensors, std::uint64_t layers) {
  const auto checked = huggingface::check_layers(plan_of(tensors), layers);
  return checked ? std::string() : checked.error().message();
}

TEST(LayerCheck, RefusesALayerThatLacksATensor) {
  const std::string refusal =
      refusal_of({"0 attn_q.weight", "0 attn_q.bias", "1 attn_q.weight", "2 attn_q.weight",
                  "2 attn_q.bias", "2 ffn_up.weight", "0 ffn_up.weight"},
                 3);
  EXPECT_THAT(refusal, AllOf(HasSubstr("blk.1.attn_q.bias, blk.1.ffn_up.weight"),
                             HasSubstr("layers.0.attn_q.bias")));
}

TEST(LayerCheck, RefusesALayerWithoutTensors) {
  EXPECT_THAT(refusal_of({"0 attn_q.weight", "2 attn_q.weight"}, 3), HasSubstr("\"blk.1\""));
}

TEST(LayerCheck, TakesDenseLayersBesideLayersWithExperts) {
  const std::vector<std::string> mixed = {
      "0 attn_q.weight",       "0 ffn_norm.weight",    "0 ffn_up.weight",
      "0 ffn_down.weight",     "1 attn_q.weight",      "1 ffn_norm.weight",
      "1 ffn_gate_inp.weight", "1 ffn_up_exps.weight", "1 ffn_up_shexp.weight",
      "1 exp_probs_b.bias",    "2 attn_q.weight",      "2 ffn_norm.weight",
      "2 ffn_gate_inp.weight", "2 ffn_up_exps.weight", "2 ffn_up_shexp.weight",
      "2 exp_probs_b.bias"};
  EXPECT_EQ(refusal_of(mixed, 3), "");
  for (std::size_t left_out = 4; left_out < mixed.size(); ++left_out) {
    std::vector<std::string> less = mixed;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(left_out));
    EXPECT_THAT(refusal_of(less, 3),
                HasSubstr("blk." + mixed[left_out].substr(0, 1) + "." + mixed[left_out].substr(2)));
  }
}

TEST(LayerCheck, ADenseLayerHasWhatIsNoFeedForwardPart) {
  EXPECT_THAT(refusal_of({"0 ffn_up.weight", "1 attn_q.weight", "1 ffn_up_exps.weight"}, 2),
              HasSubstr("blk.0.attn_q.weight"));
}

TEST(LayerCheck, TakesOneLayerThatPredictsTheTokenAfterTheNext) {
  EXPECT_EQ(refusal_of({"0 attn_q.weight", "1 attn_q.weight", "1 nextn.eh_proj.weight"}, 2), "");
}

TEST(LayerCheck, NamesSomeOfManyTensors) {
  std::vector<std::string> tensors = {"0 attn_q.weight"};
  for (char letter = 'a'; letter < 'k'; ++letter) tensors.push_back("1 " + std::string(1, letter));
  EXPECT_THAT(refusal_of(tensors, 2), HasSubstr("blk.0.h and 2 more"));
}

}  // namespace
}  // namespace ingot::test

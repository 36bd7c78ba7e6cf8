// SPDX-License-Identifier: MIT
// Tensor tables of models as people have them, without weights.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

#include "ingot/recipe.hpp"

namespace ingot::test {

/// Names and shapes of a model, and the facts of its metadata.
struct ModelShape {
  ModelTraits traits;
  std::deque<std::string> names;
  std::deque<std::vector<std::uint64_t>> shapes;
  std::vector<TensorInfo> tensors;

  void add(std::string name, std::initializer_list<std::uint64_t> shape,
           TensorType type = TensorType::f16) {
    names.push_back(std::move(name));
    shapes.emplace_back(shape);
    std::uint64_t elements = 1;
    for (const std::uint64_t dimension : shape) elements *= dimension;
    TensorInfo info;
    info.name = names.back();
    info.shape = shapes.back();
    info.element_count = elements;
    info.type = type;
    tensors.push_back(info);
  }

  [[nodiscard]] std::size_t position(std::string_view name) const {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].name == name) return i;
    }
    return tensors.size();
  }
};

struct ShapeOptions {
  std::string architecture = "llama";
  std::uint64_t layers = 8;
  std::uint64_t heads = 8;
  std::uint64_t heads_kv = 8;
  std::uint64_t experts = 0;
  bool has_output = true;
  bool has_fused_attention = false;
  std::uint64_t width = 512;
};

inline ModelShape make_shape(const ShapeOptions& options) {
  ModelShape model;
  model.traits = {.architecture = options.architecture,
                  .block_count = options.layers,
                  .head_count = options.heads,
                  .head_count_kv = options.heads_kv,
                  .expert_count = options.experts};
  const std::uint64_t width = options.width;
  const std::uint64_t kv = width / options.heads * options.heads_kv;
  model.add("token_embd.weight", {width, 1000});
  for (std::uint64_t i = 0; i < options.layers; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    model.add(layer + "attn_norm.weight", {width}, TensorType::f32);
    if (options.has_fused_attention) {
      model.add(layer + "attn_qkv.weight", {width, width + 2 * kv});
    } else {
      model.add(layer + "attn_q.weight", {width, width});
      model.add(layer + "attn_k.weight", {width, kv});
      model.add(layer + "attn_v.weight", {width, kv});
    }
    if (options.architecture == "qwen2") model.add(layer + "attn_q.bias", {width});
    model.add(layer + "attn_output.weight", {width, width});
    model.add(layer + "ffn_norm.weight", {width}, TensorType::f32);
    if (options.experts > 1) {
      model.add(layer + "ffn_gate_inp.weight", {width, options.experts}, TensorType::f32);
      model.add(layer + "ffn_gate_exps.weight", {width, 1024, options.experts});
      model.add(layer + "ffn_up_exps.weight", {width, 1024, options.experts});
      model.add(layer + "ffn_down_exps.weight", {1024, width, options.experts});
    } else {
      model.add(layer + "ffn_gate.weight", {width, 1024});
      model.add(layer + "ffn_up.weight", {width, 1024});
      model.add(layer + "ffn_down.weight", {1024, width});
    }
  }
  model.add("output_norm.weight", {width}, TensorType::f32);
  if (options.has_output) model.add("output.weight", {width, 1000});
  return model;
}

}  // namespace ingot::test

// SPDX-License-Identifier: MIT
// The tensors of a layer of a model, and the sections of a bump file that they fill.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "formats/bump/bump_layout.hpp"
#include "ingot/model.hpp"

namespace ingot::formats {

/// The tensors of a layer; a bias may be nullptr.
struct LayerTensors {
  const TensorInfo* ln1 = nullptr;
  const TensorInfo* ln2 = nullptr;
  const TensorInfo* q = nullptr;
  const TensorInfo* k = nullptr;
  const TensorInfo* v = nullptr;
  const TensorInfo* o = nullptr;
  const TensorInfo* gate = nullptr;
  const TensorInfo* up = nullptr;
  const TensorInfo* down = nullptr;
  const TensorInfo* q_bias = nullptr;
  const TensorInfo* k_bias = nullptr;
  const TensorInfo* v_bias = nullptr;
  TensorType gate_and_up_type = TensorType::f32;  // types in the file
};

/// The widths that tensors of a layer can have. Version 3 has that of all heads of queries together
/// only as that of the embedding.
struct LayerWidths {
  std::uint64_t embedding = 0;
  std::uint64_t queries = 0;
  std::uint64_t keys = 0;
  std::uint64_t feed_forward = 0;
};

/// A tensor of a layer: its required shape and its destination.
struct LayerTensor {
  const TensorInfo* LayerTensors::*member;
  std::string_view name;                ///< The name after "blk.N.".
  formats::BumpRole section;            ///< The section that it fills, alone or with the next.
  const char* word;                     ///< The word for a matrix in messages.
  std::uint64_t LayerWidths::*columns;  ///< The columns, or the elements of a norm or bias.
  std::uint64_t LayerWidths::*rows;     ///< nullptr: a norm or bias.
  const char* group;                    ///< The tensors that are all there; nullptr: a bias.
};

inline constexpr auto layer_tensors = [] {
  using enum formats::BumpRole;
  using Tensors = LayerTensors;
  constexpr auto embedding = &LayerWidths::embedding;
  constexpr auto queries = &LayerWidths::queries;
  constexpr auto keys = &LayerWidths::keys;
  constexpr auto feed_forward = &LayerWidths::feed_forward;
  constexpr const char* attention = "attention tensors (q, k, v, output)";
  constexpr const char* network = "feed-forward tensors (gate, up, down)";
  return std::array<LayerTensor, 12>{{
      {&Tensors::ln1, "attn_norm.weight", ln1_gamma, nullptr, embedding, nullptr, "norms"},
      {&Tensors::ln2, "ffn_norm.weight", ln2_gamma, nullptr, embedding, nullptr, "norms"},
      {&Tensors::q, "attn_q.weight", wq, "wq", embedding, queries, attention},
      {&Tensors::k, "attn_k.weight", wk, "wk", embedding, keys, attention},
      {&Tensors::v, "attn_v.weight", wv, "wv", embedding, keys, attention},
      {&Tensors::o, "attn_output.weight", wo, "wo", queries, embedding, attention},
      {&Tensors::gate, "ffn_gate.weight", w1, "gate", embedding, feed_forward, network},
      {&Tensors::up, "ffn_up.weight", w1, "up", embedding, feed_forward, network},
      {&Tensors::down, "ffn_down.weight", w2, "down", feed_forward, embedding, network},
      {&Tensors::q_bias, "attn_q.bias", bq, nullptr, queries, nullptr, nullptr},
      {&Tensors::k_bias, "attn_k.bias", bk, nullptr, keys, nullptr, nullptr},
      {&Tensors::v_bias, "attn_v.bias", bv, nullptr, keys, nullptr, nullptr},
  }};
}();

}  // namespace ingot::formats

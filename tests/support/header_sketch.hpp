// SPDX-License-Identifier: MIT
// Headers of models as large as real ones, without their weights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ingot/model.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {

/// A header to which a test adds keys and tensors, in any order.
class HeaderSketch {
 public:
  explicit HeaderSketch(std::string architecture) : architecture_(std::move(architecture)) {
    keys_.push_back(
        [this](GgufBuilder& file) { file.pair("general.architecture", architecture_); });
  }
  HeaderSketch(const HeaderSketch&) = delete;
  HeaderSketch& operator=(const HeaderSketch&) = delete;

  /// The key `<architecture>.<suffix>`.
  template <class T>
  HeaderSketch& set(const std::string& suffix, T value) {
    return set_key(architecture_ + "." + suffix, value);
  }
  template <class T>
  HeaderSketch& set_key(const std::string& key, T value) {
    keys_.push_back([key, value](GgufBuilder& file) { file.pair(key, value); });
    return *this;
  }
  template <class T>
  HeaderSketch& set_each(const std::string& suffix, std::vector<T> values) {
    const std::string key = architecture_ + "." + suffix;
    keys_.push_back([key, values](GgufBuilder& file) {
      constexpr bool is_flag = std::is_same_v<T, bool>;
      file.array_key(key, is_flag ? ValueType::boolean : ValueType::uint32, values.size());
      for (const T value : values) {
        is_flag ? file.u8(value ? 1 : 0) : file.u32(static_cast<std::uint32_t>(value));
      }
    });
    return *this;
  }
  HeaderSketch& tensor(std::string name, std::vector<std::uint64_t> shape,
                       TensorType type = TensorType::f16) {
    tensors_.push_back({std::move(name), std::move(shape), type});
    return *this;
  }

  [[nodiscard]] Bytes bytes() const {
    GgufBuilder file;
    for (const auto& add : keys_) add(file);
    std::uint64_t offset = 0;
    for (const Tensor& tensor : tensors_) {
      file.tensor(tensor.name, tensor.shape, tensor.type, offset);
      const TensorTypeInfo& info = *find_type(tensor.type);
      std::uint64_t elements = 1;
      for (const std::uint64_t dimension : tensor.shape) elements *= dimension;
      const std::uint64_t size = elements / info.block_elements * info.block_bytes;
      offset += (size + 31) / 32 * 32;
    }
    return file.pad_to(32).bytes();
  }

  /// The model, whose data is not there.
  [[nodiscard]] Result<Model> open() const {
    const auto file = std::make_shared<Bytes>(bytes());
    const auto read = [file](std::uint64_t offset, std::span<std::byte> destination) {
      std::fill(destination.begin(), destination.end(), std::byte{0});
      if (offset >= file->size()) return true;
      const auto present = std::min<std::uint64_t>(destination.size(), file->size() - offset);
      std::memcpy(destination.data(), file->data() + offset, static_cast<std::size_t>(present));
      return true;
    };
    return Model::open_source(read_through(std::uint64_t{1} << 60, read));
  }

 private:
  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> shape;
    TensorType type;
  };

  std::string architecture_;
  std::vector<std::function<void(GgufBuilder&)>> keys_;
  std::vector<Tensor> tensors_;
};

/// The numbers of a model with attention in all layers.
struct AttentionShape {
  std::uint32_t layers = 16;
  std::uint32_t embedding = 2048;
  std::uint32_t heads = 32;
  std::uint32_t kv_heads = 8;
  std::uint32_t head_width = 64;
  std::uint32_t feed_forward = 8192;
  std::uint32_t vocabulary = 32000;
  std::uint32_t context = 32768;
};

inline void set_attention(HeaderSketch& sketch, const AttentionShape& shape) {
  sketch.set("block_count", shape.layers).set("context_length", shape.context);
  sketch.set("embedding_length", shape.embedding).set("vocab_size", shape.vocabulary);
  sketch.set("feed_forward_length", shape.feed_forward);
  sketch.set("attention.head_count", shape.heads);
  sketch.set("attention.head_count_kv", shape.kv_heads);
  sketch.set("attention.key_length", shape.head_width);
  sketch.set("attention.value_length", shape.head_width);
}

/// The tensors of a llama of that shape: F16 matrices, F32 norms.
inline void add_llama_tensors(HeaderSketch& sketch, const AttentionShape& shape,
                              bool has_output = true) {
  const std::uint64_t width = shape.embedding;
  const std::uint64_t queries = std::uint64_t{shape.heads} * shape.head_width;
  const std::uint64_t keys = std::uint64_t{shape.kv_heads} * shape.head_width;
  sketch.tensor("token_embd.weight", {width, shape.vocabulary});
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    sketch.tensor(layer + "attn_norm.weight", {width}, TensorType::f32);
    sketch.tensor(layer + "attn_q.weight", {width, queries});
    sketch.tensor(layer + "attn_k.weight", {width, keys});
    sketch.tensor(layer + "attn_v.weight", {width, keys});
    sketch.tensor(layer + "attn_output.weight", {queries, width});
    sketch.tensor(layer + "ffn_norm.weight", {width}, TensorType::f32);
    sketch.tensor(layer + "ffn_gate.weight", {width, shape.feed_forward});
    sketch.tensor(layer + "ffn_up.weight", {width, shape.feed_forward});
    sketch.tensor(layer + "ffn_down.weight", {shape.feed_forward, width});
  }
  sketch.tensor("output_norm.weight", {width}, TensorType::f32);
  if (has_output) sketch.tensor("output.weight", {width, shape.vocabulary});
}

}  // namespace ingot::test

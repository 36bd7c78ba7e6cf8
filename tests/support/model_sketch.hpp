// SPDX-License-Identifier: MIT
// A small model that a test changes in one point and writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/model_writer.hpp"
#include "ingot/quantize.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {

struct SketchTensor {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<std::uint64_t> shape;
  Bytes data;
};

/// Weights that are different in each tensor, and the same in each run.
[[nodiscard]] inline Bytes make_weights(TensorType type, const std::vector<std::uint64_t>& shape,
                                        unsigned seed) {
  std::mt19937 random(seed);
  std::uint64_t elements = 1;
  for (const std::uint64_t dimension : shape) elements *= dimension;
  std::vector<float> floats(static_cast<std::size_t>(elements));
  for (float& value : floats) value = static_cast<float>(random() % 4001) / 1000.0F - 2.0F;
  const TensorTypeInfo& info = *find_type(type);
  Bytes data(floats.size() / info.block_elements * info.block_bytes);
  const auto row = shape.empty() ? 1 : static_cast<std::size_t>(shape[0]);
  if (!quantize(type, floats, row, data)) std::abort();
  return data;
}

class ModelSketch {
 public:
  template <class T>
  ModelSketch& set(const std::string& key, T value) {
    if constexpr (std::is_convertible_v<T, std::string_view>) {
      // A copy, as the caller's text may be gone when the model is written.
      return set_by(
          key, [key, text = std::string(value)](ModelWriter& writer) { writer.set(key, text); });
    } else {
      return set_by(key, [key, value](ModelWriter& writer) { writer.set(key, value); });
    }
  }
  ModelSketch& set_by(const std::string& key, std::function<void(ModelWriter&)> set) {
    remove(key);
    keys_.emplace_back(key, std::move(set));
    return *this;
  }
  ModelSketch& remove(const std::string& key) {
    std::erase_if(keys_, [&](const auto& entry) { return entry.first == key; });
    return *this;
  }

  /// Adds a tensor, or puts another one in its place.
  ModelSketch& tensor(const std::string& name, TensorType type,
                      const std::vector<std::uint64_t>& shape) {
    return tensor(name, type, shape, make_weights(type, shape, ++seed_));
  }
  ModelSketch& tensor(const std::string& name, TensorType type,
                      const std::vector<std::uint64_t>& shape, Bytes data) {
    SketchTensor made{name, type, shape, std::move(data)};
    const auto old = find(name);
    if (old == tensors.end()) {
      tensors.push_back(std::move(made));
    } else {
      *old = std::move(made);
    }
    return *this;
  }
  ModelSketch& remove_tensor(const std::string& name) {
    std::erase_if(tensors, [&](const SketchTensor& tensor) { return tensor.name == name; });
    return *this;
  }
  std::vector<SketchTensor>::iterator find(const std::string& name) {
    return std::find_if(tensors.begin(), tensors.end(),
                        [&](const SketchTensor& tensor) { return tensor.name == name; });
  }
  const Bytes& data(const std::string& name) { return find(name)->data; }

  /// Writes the model and returns its path.
  std::string write(const std::string& path, WriteFormat format = {}) const {
    ModelWriter writer;
    for (const auto& [key, set] : keys_) set(writer);
    for (const SketchTensor& tensor : tensors) {
      const Result<void> added = writer.add_tensor(
          tensor.name, tensor.type, tensor.shape, [&](const DataSink& sink) -> Result<void> {
            Bytes data = tensor.data;
            if (format.byte_order == Endian::big) {
              INGOT_TRY_VOID(swap_byte_order(tensor.type, data));
            }
            return sink(data);
          });
      if (!added) std::abort();
    }
    if (!writer.write(path, format, true)) std::abort();
    return path;
  }

  std::vector<SketchTensor> tensors;

 private:
  std::vector<std::pair<std::string, std::function<void(ModelWriter&)>>> keys_;
  unsigned seed_ = 0;
};

struct SketchShape {
  std::string architecture = "llama";
  std::uint32_t layers = 2;
  std::uint32_t embedding = 32;
  std::uint32_t heads = 4;
  std::uint32_t kv_heads = 2;
  std::uint32_t head_width = 8;
  std::uint32_t feed_forward = 48;
  std::uint32_t vocabulary = 10;
  std::uint32_t context = 8;
  TensorType type = TensorType::f32;
};

/// A model with all that a llama has.
[[nodiscard]] inline ModelSketch sketch_llama(const SketchShape& shape = {}) {
  ModelSketch sketch;
  const std::string prefix = shape.architecture + ".";
  sketch.set("general.architecture", shape.architecture);
  sketch.set(prefix + "block_count", shape.layers);
  sketch.set(prefix + "context_length", shape.context);
  sketch.set(prefix + "embedding_length", shape.embedding);
  sketch.set(prefix + "feed_forward_length", shape.feed_forward);
  sketch.set(prefix + "attention.head_count", shape.heads);
  sketch.set(prefix + "attention.head_count_kv", shape.kv_heads);
  sketch.set(prefix + "attention.layer_norm_rms_epsilon", 1e-6F);
  sketch.set(prefix + "rope.freq_base", 500000.0F);
  const TensorType norm = TensorType::f32;
  const std::uint64_t width = shape.embedding;
  const std::uint64_t query_rows = std::uint64_t{shape.heads} * shape.head_width;
  const std::uint64_t key_rows = std::uint64_t{shape.kv_heads} * shape.head_width;
  sketch.tensor("token_embd.weight", shape.type, {width, shape.vocabulary});
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    sketch.tensor(layer + "attn_norm.weight", norm, {width});
    sketch.tensor(layer + "attn_q.weight", shape.type, {width, query_rows});
    sketch.tensor(layer + "attn_k.weight", shape.type, {width, key_rows});
    sketch.tensor(layer + "attn_v.weight", shape.type, {width, key_rows});
    sketch.tensor(layer + "attn_output.weight", shape.type, {query_rows, width});
    sketch.tensor(layer + "ffn_norm.weight", norm, {width});
    sketch.tensor(layer + "ffn_gate.weight", shape.type, {width, shape.feed_forward});
    sketch.tensor(layer + "ffn_up.weight", shape.type, {width, shape.feed_forward});
    sketch.tensor(layer + "ffn_down.weight", shape.type, {shape.feed_forward, width});
  }
  sketch.tensor("output_norm.weight", norm, {width});
  return sketch;
}

}  // namespace ingot::test

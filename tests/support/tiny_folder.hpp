// SPDX-License-Identifier: MIT
// Model folders of a few small tensors, in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ingot/import.hpp"
#include "ingot/store.hpp"

namespace ingot::test {

struct TensorSketch {
  std::string name;
  std::vector<std::uint64_t> shape;  ///< Rows first, as in safetensors.
};

/// One safetensors file. `append(i, bytes)` adds number i of a tensor to its bytes, in the type.
template <class Append>
std::string safetensors_of(const std::vector<TensorSketch>& tensors, const std::string& dtype,
                           Append append) {
  std::string header;
  std::string data;
  for (const TensorSketch& tensor : tensors) {
    std::string shape;
    std::uint64_t count = 1;
    for (const std::uint64_t size : tensor.shape) {
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
      count *= size;
    }
    const std::size_t begin = data.size();
    for (std::uint64_t i = 0; i < count; ++i) append(i, data);
    header += (header.empty() ? "{\"" : ",\"") + tensor.name + R"(":{"dtype":")" + dtype +
              R"(","shape":[)" + shape + R"(],"data_offsets":[)" + std::to_string(begin) + "," +
              std::to_string(data.size()) + "]}";
  }
  header += "}";
  const std::uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + header + data;
}

/// A safetensors file with the number i at index i of each tensor, as F32.
inline std::string safetensors_of(const std::vector<TensorSketch>& tensors) {
  return safetensors_of(tensors, "F32", [](std::uint64_t i, std::string& bytes) {
    const auto number = static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  });
}

/// Three tokens in every form that a tokenizer has in model folders.
inline const std::vector<std::pair<std::string, std::string>> tokenizer_files = {
    {"tokenizer.json",
     R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
         "pre_tokenizer": {"type": "ByteLevel"}})"},
    {"tokenizer.model",
     "\x0A\x03\x0A\x01"
     "a\x0A\x03\x0A\x01"
     "b\x0A\x03\x0A\x01"
     "c"},
};

/// A folder in memory: a token table of 3 rows of 8, one layer, and more.
class TinyFolder {
 public:
  using Files = std::vector<std::pair<std::string, std::string>>;

  /// `config` holds members of config.json beside its class, `others` names and bytes of files.
  TinyFolder(const std::string& model_class, const std::string& config,
             std::vector<TensorSketch> tensors, const Files& others = {}) {
    tensors.push_back({"embed_tokens.weight", {3, 8}});
    tensors.push_back({"layers.0.self_attn.o_proj.weight", {8, 8}});
    files_ = tokenizer_files;
    files_.emplace_back("config.json", R"({"architectures": [")" + model_class + "\"], " + config +
                                           R"(, "num_hidden_layers": 1, "vocab_size": 3})");
    files_.emplace_back("model.safetensors", safetensors_of(tensors));
    files_.insert(files_.end(), others.begin(), others.end());
    for (const auto& [name, text] : files_) {
      store_.add("tiny/" + name, std::as_bytes(std::span(text)));
    }
  }

  [[nodiscard]] Result<std::unique_ptr<Import>> plan(bool as_reference = false) const {
    return plan(ImportOptions{.as_reference = as_reference});
  }
  [[nodiscard]] Result<std::unique_ptr<Import>> plan(ImportOptions options) const {
    options.pre = "gpt-2";
    if (!options.type) options.type = TensorType::f32;
    return plan_import(store_, "tiny", options);
  }

 private:
  Files files_;
  MemoryStore store_;
};

}  // namespace ingot::test

// SPDX-License-Identifier: MIT
// Bump files of every layout, put together from their description.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "formats/bump/bump_header.hpp"
#include "formats/bump/bump_layout.hpp"
#include "ingot/digest.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {

struct BumpParts {
  std::uint32_t version = 3;
  BumpCodes codes = BumpCodes::doc;
  formats::BumpLayout layout = {};
  std::uint32_t merges = 0;  // in the header, with the checksum after them
  std::uint32_t vocabulary_bytes = 0;
  bool has_late_table = false;
  bool has_tokenizer_header = false;  // checksum at 0x58
  std::string description = {};       // of version 5
};

inline void append_number(Bytes& bytes, std::uint64_t number, int size) {
  for (int i = 0; i < size; ++i, number >>= 8)
    bytes.push_back(static_cast<std::byte>(number & 0xFF));
}

inline Bytes sha256_bytes(std::span<const std::byte> bytes) {
  const std::string digits = digest_of(DigestAlgorithm::sha256, bytes);
  Bytes digest;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    digest.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return digest;
}

/// The file; sections hold bytes that differ from their neighbours.
inline Bytes build_bump(const BumpParts& parts) {
  const formats::BumpHeaderBytes header =
      formats::make_bump_header(parts.version, parts.layout.shape);
  Bytes file(header.begin(), header.end());
  if (parts.has_tokenizer_header) {
    Bytes numbers;
    append_number(numbers, parts.merges, 4);
    append_number(numbers, parts.vocabulary_bytes, 4);
    std::copy(numbers.begin(), numbers.end(), file.begin() + 0x50);
  }
  if (parts.has_late_table) file.resize(152);
  const std::size_t payload = parts.version == 2 ? 128 : file.size();
  if (parts.version > 2) {
    append_number(file, parts.layout.types.size(), 4);
    for (const TensorType type : parts.layout.types) {
      append_number(file, *formats::bump_code_of(type, parts.codes), 1);
    }
  }
  const auto sections = formats::lay_out(parts.layout);
  if (!sections) std::abort();
  for (const formats::BumpSection& section : *sections) {
    for (std::uint64_t i = 0; i < section.size_bytes; ++i) {
      file.push_back(static_cast<std::byte>((i * 7 + file.size()) % 251));
    }
  }
  const Bytes checksum = sha256_bytes(std::span(file).subspan(payload));
  const std::size_t offset =
      parts.has_tokenizer_header ? 0x58 : formats::bump_checksum_offset(parts.version);
  std::copy(checksum.begin(), checksum.end(), file.begin() + static_cast<std::ptrdiff_t>(offset));
  if (parts.version == 5) {
    const auto text = std::as_bytes(std::span(parts.description));
    file.insert(file.end(), text.begin(), text.end());
    for (const char character : std::string_view("BUMPV5MD")) {
      file.push_back(static_cast<std::byte>(character));
    }
    append_number(file, parts.description.size(), 8);
    const Bytes digest = sha256_bytes(text);
    file.insert(file.end(), digest.begin(), digest.end());
  }
  return file;
}

/// A layout without padding, all weights of one type. Widths are whole blocks of every type.
inline formats::BumpLayout plain_layout(TensorType type, std::uint64_t layers = 2) {
  formats::BumpLayout layout = {};
  formats::BumpShape& shape = layout.shape;
  shape.layers = layers;
  shape.vocabulary = 5;
  shape.embedding = shape.aligned_embedding = 256;
  shape.feed_forward = shape.aligned_feed_forward = 512;
  shape.context = 3;
  shape.aligned_context = 16;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_width = shape.aligned_head = 64;
  layout.types = {type, TensorType::f32};
  for (std::uint64_t i = 0; i < layers; ++i) {
    for (int entry = 0; entry < 14; ++entry) {
      const bool is_weight = entry >= 2 && entry % 2 == 0;
      layout.types.push_back(is_weight ? type : TensorType::f32);
    }
  }
  layout.types.insert(layout.types.end(), {TensorType::f32, TensorType::f32});
  return layout;
}

/// Without biases and position embedding, as one converter of version 4 wrote.
inline formats::BumpLayout short_layout(TensorType type, bool has_output) {
  formats::BumpLayout layout = plain_layout(type);
  layout.has_biases = layout.has_pos_emb = false;
  layout.has_output = has_output;
  layout.types = {type};
  for (std::uint64_t i = 0; i < layout.shape.layers; ++i) {
    layout.types.insert(layout.types.end(),
                        {TensorType::f32, type, type, type, type, TensorType::f32, type, type});
  }
  layout.types.push_back(TensorType::f32);
  if (has_output) layout.types.push_back(type);
  return layout;
}

}  // namespace ingot::test

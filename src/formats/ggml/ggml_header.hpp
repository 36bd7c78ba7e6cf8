// SPDX-License-Identifier: MIT
// The files of LLaMA models from before GGUF: GGML, GGMF and GGJT. Little-endian.
//
//   magic; GGMF and GGJT: u32 version
//   u32 n_vocab, n_embd, n_mult, n_head, n_layer, n_rot, ftype
//   each token: u32 bytes, text; GGMF and GGJT: f32 score
//   each tensor, to the end: u32 dimensions, name bytes, type; u32 each dimension, the fastest
//     first; name; GGJT: zeros up to a multiple of 32 bytes of the file; data
//
// Source: convert-llama-ggml-to-gguf.py of llama.cpp, and the changes of ggml in May 2023.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/limits.hpp"
#include "ingot/source.hpp"
#include "ingot/tensor.hpp"
#include "ingot/types.hpp"

namespace ingot::formats {

/// One of the formats before GGUF.
struct GgmlFormat {
  const char* magic;  ///< The first four bytes.
  const char* name;
  bool has_version;  ///< A version after the magic, and a score after each token.
  bool is_aligned;   ///< Data begins at multiples of 32 bytes.
};

/// The format of a file by its first bytes; nullptr if it is none of these.
[[nodiscard]] const GgmlFormat* find_ggml_format(std::span<const std::byte> first_bytes) noexcept;

struct GgmlToken {
  std::string text;  ///< The text; may hold any bytes.
  float score = 0;
};

struct GgmlTensor {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<std::uint64_t> shape;  ///< Dimension 0, the fastest-varying, first.
  std::uint64_t file_offset = 0;     ///< The offset of its data.
};

/// Everything but the data.
struct GgmlHeader {
  const GgmlFormat* format = nullptr;
  std::uint32_t version = 1;  ///< 1 where the format has none.
  std::uint32_t embedding = 0;
  std::uint32_t heads = 0;
  std::uint32_t layers = 0;
  std::uint32_t file_type = 0;
  std::vector<GgmlToken> tokens;
  std::vector<GgmlTensor> tensors;
};

/// Reads the header. Errc::ggml_invalid with the offset; Errc::ggml_layout for quantized weights in
/// an old layout; Errc::limit_exceeded. Linear in the tokens and tensors; skips data.
[[nodiscard]] Result<GgmlHeader> read_ggml_header(const Source& source, const Limits& limits);

}  // namespace ingot::formats

// SPDX-License-Identifier: MIT
// How large a sample model is, and where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::cli {

enum class SampleArch : std::uint8_t { llama, qwen2 };

[[nodiscard]] std::string_view name_of(SampleArch arch) noexcept;

/// What the user asked for; what is absent is chosen.
struct ShapeRequest {
  SampleArch arch = SampleArch::llama;
  std::optional<std::uint64_t> parameters;
  std::optional<std::uint32_t> layers;
  std::optional<std::uint32_t> embedding;
  std::optional<std::uint32_t> feed_forward;
  std::optional<std::uint32_t> heads;
  std::optional<std::uint32_t> kv_heads;
  std::optional<std::uint32_t> experts;
  std::optional<std::uint32_t> vocabulary;
  std::optional<std::uint32_t> context;
  std::uint32_t block_elements = 1;  ///< Rows of matrices must be whole blocks.
};

struct SampleShape {
  SampleArch arch = SampleArch::llama;
  std::uint32_t layers = 0;
  std::uint32_t embedding = 0;
  std::uint32_t feed_forward = 0;
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t experts = 0;  ///< 0: one dense feed-forward net per layer
  std::uint32_t vocabulary = 0;
  std::uint32_t context = 0;
  std::uint32_t block_elements = 1;

  [[nodiscard]] std::uint32_t head_size() const noexcept { return embedding / heads; }
  [[nodiscard]] std::uint32_t kv_size() const noexcept { return head_size() * kv_heads; }
  [[nodiscard]] std::uint32_t experts_used() const noexcept { return experts < 2 ? experts : 2; }
  [[nodiscard]] std::uint64_t parameters() const noexcept;
};

/// The shape that fulfils the request: what was asked for stays, the rest is chosen so that the
/// parameters come as near to the wished number as they can.
[[nodiscard]] SampleShape choose_shape(const ShapeRequest& request);

/// Why no model can have this shape; empty if one can.
[[nodiscard]] std::string shape_problem(const SampleShape& shape);

/// The number that "350M", "1B", "1.5B" or "1000000" stands for; nothing for anything else.
[[nodiscard]] std::optional<std::uint64_t> parse_parameters(std::string_view text);

}  // namespace ingot::cli

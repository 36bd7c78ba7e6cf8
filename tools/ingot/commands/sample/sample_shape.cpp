// SPDX-License-Identifier: MIT
#include "commands/sample/sample_shape.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "commands/sample/sample_vocabulary.hpp"

namespace ingot::cli {
namespace {

// Two layers of 256: rows are whole blocks of every tensor type, and the file stays small.
constexpr std::uint32_t default_layers = 2;
constexpr std::uint32_t default_embedding = 256;
constexpr std::uint32_t default_feed_forward = 768;
constexpr std::uint32_t small_vocabulary = 1024;
constexpr std::uint32_t large_vocabulary = 32000;
constexpr std::uint64_t large_model = 64'000'000;

// The widths to try, narrow ones in small steps to hit small numbers of parameters too.
constexpr std::uint32_t narrowest = 32;
constexpr std::uint32_t widest = 16384;

constexpr std::uint32_t max_layers = 512;
// Width per layer: 4096 / 32 and 8192 / 80 are what people build.
constexpr std::uint64_t usual_width_per_layer = 112;

std::uint32_t step_after(std::uint32_t embedding, bool has_free_layers) {
  if (embedding < 256) return 32;
  if (!has_free_layers) return 128;  // the width alone has to hit the number
  return embedding < 2048 ? 256 : 512;
}

/// How many heads people give a model of this width.
std::uint32_t usual_heads(std::uint32_t embedding) {
  for (const std::uint32_t size : {128u, 64u, 32u, 16u, 8u, 4u}) {
    // A few heads at least: 16 of 128, 4 of 64, 2 of 16.
    if (embedding % size == 0 && embedding >= size * size / 16) return embedding / size;
  }
  return std::max(1u, embedding / 2);
}

std::uint32_t usual_feed_forward(std::uint32_t embedding) {
  if (embedding == default_embedding) return default_feed_forward;
  const std::uint32_t step = embedding < 256 ? 32 : 256;
  return (embedding * 7 / 2 + step - 1) / step * step;
}

/// Completes a shape for a given width; `layers` stays.
SampleShape complete(const ShapeRequest& request, std::uint32_t embedding, std::uint32_t layers) {
  SampleShape shape;
  shape.arch = request.arch;
  shape.block_elements = request.block_elements;
  shape.layers = layers;
  shape.embedding = embedding;
  shape.feed_forward = request.feed_forward.value_or(usual_feed_forward(embedding));
  shape.heads = request.heads.value_or(usual_heads(embedding));
  const bool can_share_four = shape.heads % 4 == 0 && shape.heads >= 8;
  const std::uint32_t groups = can_share_four ? 4 : shape.heads % 2 == 0 ? 2 : 1;
  shape.kv_heads = request.kv_heads.value_or(shape.heads / groups);
  shape.experts = request.experts.value_or(0);
  shape.vocabulary = request.vocabulary.value_or(
      request.parameters.value_or(0) >= large_model ? large_vocabulary : small_vocabulary);
  shape.context = request.context.value_or(embedding >= 1024 ? 8192 : 2048);
  return shape;
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

/// How little a shape pleases: first how far it misses the number, then how odd it looks.
std::uint64_t penalty(const SampleShape& shape, std::uint64_t parameters) {
  // In thousandths; a miss below three percent counts less than looks.
  const std::uint64_t miss = distance(shape.parameters(), parameters) * 1000 / parameters;
  const std::uint64_t usual = usual_width_per_layer * shape.layers;
  const std::uint64_t odd =
      std::max<std::uint64_t>(shape.embedding, usual) * 10 /
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(shape.embedding, usual));
  return (miss <= 30 ? miss / 10 : miss * 100) + odd;
}

/// The layers that bring a width nearest to the wished number.
std::uint32_t nearest_layers(const ShapeRequest& request, std::uint32_t embedding,
                             std::uint64_t parameters) {
  const std::uint64_t one = complete(request, embedding, 1).parameters();
  const std::uint64_t layer = complete(request, embedding, 2).parameters() - one;
  const std::uint64_t rest = one - layer;
  const std::uint64_t wanted = parameters > rest ? (parameters - rest + layer / 2) / layer : 1;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, max_layers));
}

SampleShape search_shape(const ShapeRequest& request, std::uint64_t parameters) {
  SampleShape best;
  std::pair<bool, std::uint64_t> best_penalty{true, ~std::uint64_t{0}};  // is impossible, penalty
  const std::uint32_t first = request.embedding.value_or(narrowest);
  const std::uint32_t last = request.embedding.value_or(widest);
  for (std::uint32_t embedding = first; embedding <= last;
       embedding += step_after(embedding, !request.layers)) {
    const std::uint32_t layers =
        request.layers ? *request.layers : nearest_layers(request, embedding, parameters);
    const SampleShape shape = complete(request, embedding, layers);
    const std::pair found(!shape_problem(shape).empty(), penalty(shape, parameters));
    if (found >= best_penalty) continue;
    best = shape;
    best_penalty = found;
  }
  return best;
}

}  // namespace

std::string_view name_of(SampleArch arch) noexcept {
  return arch == SampleArch::llama ? "llama" : "qwen2";
}

std::uint64_t SampleShape::parameters() const noexcept {
  const std::uint64_t width = embedding;
  const std::uint64_t kv_width = kv_size();
  const std::uint64_t attention = 2 * width * width + 2 * width * kv_width;
  const std::uint64_t biases = arch == SampleArch::qwen2 ? width + 2 * kv_width : 0;
  const std::uint64_t nets = std::max(experts, 1u);
  const std::uint64_t net = nets * 3 * width * feed_forward + (experts > 0 ? width * experts : 0);
  const std::uint64_t norms = 2 * width;
  return layers * (attention + biases + net + norms) + width + 2 * width * vocabulary;
}

SampleShape choose_shape(const ShapeRequest& request) {
  if (request.parameters) return search_shape(request, *request.parameters);
  return complete(request, request.embedding.value_or(default_embedding),
                  request.layers.value_or(default_layers));
}

std::string shape_problem(const SampleShape& shape) {
  if (shape.embedding % shape.heads != 0) {
    return fmt::format("the embedding must be a multiple of the heads, and {} is none of {}",
                       shape.embedding, shape.heads);
  }
  if (shape.head_size() % 2 != 0) {
    return fmt::format("each head must have an even size, and {} / {} is {}", shape.embedding,
                       shape.heads, shape.head_size());
  }
  if (shape.kv_heads > shape.heads || shape.heads % shape.kv_heads != 0) {
    return fmt::format("the heads must be a multiple of the key-value heads, and {} is none of {}",
                       shape.heads, shape.kv_heads);
  }
  if (shape.experts > 0 && shape.arch != SampleArch::llama) {
    return fmt::format("--experts goes with --arch llama only, not {}", name_of(shape.arch));
  }
  for (const std::uint32_t row : {shape.embedding, shape.feed_forward}) {
    if (row % shape.block_elements == 0) continue;
    return fmt::format(
        "rows of this type are blocks of {}: --embedding and --feed-forward must be multiples of "
        "it, and {} is none",
        shape.block_elements, row);
  }
  const std::uint32_t least = least_vocabulary(shape.arch);
  if (shape.vocabulary < least) {
    return fmt::format(
        "the vocabulary must have at least {} tokens, one for each byte and the "
        "special ones",
        least);
  }
  return {};
}

std::optional<std::uint64_t> parse_parameters(std::string_view text) {
  constexpr std::uint64_t most = 10'000'000'000'000;
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 3> scales = {
      {{"kK", 1'000}, {"mM", 1'000'000}, {"bBgG", 1'000'000'000}}};
  std::uint64_t scale = 1;
  for (const auto& [letters, factor] : scales) {
    if (!text.empty() && letters.find(text.back()) != letters.npos) scale = factor;
  }
  if (scale > 1) text.remove_suffix(1);
  std::uint64_t number = 0;
  bool has_digits = false;
  bool is_fraction = false;
  for (const char c : text) {
    if (c == '.' && !is_fraction && has_digits) {
      is_fraction = true;
      continue;
    }
    if (c < '0' || c > '9' || number > most) return std::nullopt;
    if (is_fraction && scale == 1) return std::nullopt;
    if (is_fraction) scale /= 10;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
    has_digits = true;
  }
  if (!has_digits || number == 0 || number > most / scale) return std::nullopt;
  return number * scale;
}

}  // namespace ingot::cli

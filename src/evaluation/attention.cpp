// SPDX-License-Identifier: MIT
#include "evaluation/attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "evaluation/product.hpp"
#include "evaluation/token_math.hpp"
#include "ingot/half.hpp"
#include "ingot/parallel.hpp"

namespace ingot::evaluation {
namespace {

using Lanes = std::array<float, panel_tokens>;

/// The work on one head of one chunk. Its keys become rows of a matrix, so that scores are a
/// product. Its values become rows of another matrix, which is multiplied by the weights of the
/// tokens.
class HeadWork {
 public:
  HeadWork(const Settings& settings, const Batch& batch, std::size_t window, BufferPool& buffers)
      : settings_(settings),
        window_(window),
        tokens_(batch.chunk_tokens),
        padded_tokens_(batch.panels_of_chunk() * panel_tokens),
        key_rows_(buffers, (padded_tokens_ + group_rows) * settings.key_size),
        value_rows_(buffers, rounded_up(settings.value_size, group_rows) * padded_tokens_),
        scores_(buffers, padded_tokens_ * panel_tokens) {}

  /// @param first_panel  of the chunk.
  /// @param head         of the keys and values.
  void take_keys_and_values(const Panels& keys, const Panels& values, std::size_t first_panel,
                            std::size_t head) {
    const std::size_t key_size = settings_.key_size;
    for (std::size_t at = 0; at < padded_tokens_; at += panel_tokens) {
      const std::size_t panel = first_panel + at / panel_tokens;
      for (std::size_t i = 0; i < key_size; ++i) {
        const float* x = keys.row(panel, head * key_size + i);
        for (std::size_t t = 0; t < panel_tokens; ++t) {
          key_rows_.data()[(at + t) * key_size + i] = cached(x[t]);
        }
      }
      for (std::size_t i = 0; i < settings_.value_size; ++i) {
        const float* x = values.row(panel, head * settings_.value_size + i);
        float* row = value_rows_.data() + i * padded_tokens_ + at;
        for (std::size_t t = 0; t < panel_tokens; ++t) row[t] = cached(x[t]);
      }
    }
  }

  /// The mixture for the queries of a panel, which begins at `position` of the chunk.
  void mix(std::size_t position, const float* queries, float* mixed) {
    const std::size_t end = std::min(position + panel_tokens, tokens_);
    const std::size_t begin =
        window_ > 0 && position + 1 > window_ ? position + 1 - window_ : std::size_t{0};
    const std::size_t key_size = settings_.key_size;
    multiply_panel({key_rows_.data() + begin * key_size, key_size, end - begin}, key_size, queries,
                   scores_.data(), false);
    weigh(position, begin, end);
    multiply_panel({value_rows_.data() + begin, padded_tokens_, settings_.value_size}, end - begin,
                   scores_.data(), mixed, false);
  }

 private:
  /// A key or value as it comes back from the cache of an engine.
  [[nodiscard]] float cached(float x) const noexcept {
    return settings_.rounds_cache ? f32_from_f16(f16_from_f32(x)) : x;
  }

  [[nodiscard]] bool sees(std::size_t query, std::size_t key) const noexcept {
    return key <= query && (window_ == 0 || query - key < window_);
  }

  /// Turns scores of the keys from `begin` on into weights.
  void weigh(std::size_t position, std::size_t begin, std::size_t end) noexcept {
    float* scores = scores_.data();
    Lanes largest;
    largest.fill(-std::numeric_limits<float>::infinity());
    for (std::size_t key = begin; key < end; ++key) {
      float* row = scores + (key - begin) * panel_tokens;
      for (std::size_t t = 0; t < panel_tokens; ++t) row[t] *= settings_.attention_scale;
      apply_cap(settings_.attention_cap, std::span(row, panel_tokens));
      for (std::size_t t = 0; t < panel_tokens; ++t) {
        if (sees(position + t, key)) largest[t] = std::max(largest[t], row[t]);
      }
    }
    Lanes sums{};
    for (std::size_t key = begin; key < end; ++key) {
      float* row = scores + (key - begin) * panel_tokens;
      for (std::size_t t = 0; t < panel_tokens; ++t) {
        row[t] = sees(position + t, key) ? std::exp(row[t] - largest[t]) : 0.0F;
        sums[t] += row[t];
      }
    }
    for (std::size_t key = begin; key < end; ++key) {
      float* row = scores + (key - begin) * panel_tokens;
      for (std::size_t t = 0; t < panel_tokens; ++t) row[t] /= sums[t];
    }
  }

  const Settings& settings_;
  std::size_t window_;
  std::size_t tokens_;
  std::size_t padded_tokens_;
  BufferPool::Loan key_rows_;
  BufferPool::Loan value_rows_;
  BufferPool::Loan scores_;
};

}  // namespace

Result<void> attend(const Settings& settings, const Batch& batch, std::size_t window,
                    const Panels& queries, const Panels& keys, const Panels& values, Panels& mixed,
                    BufferPool& buffers, unsigned thread_count) {
  const std::size_t heads = settings.head_count;
  const std::size_t queries_of_key = heads / settings.kv_head_count;
  return spread(batch.chunk_count * heads, 1, thread_count,
                [&](std::uint64_t item, std::uint64_t) -> Result<void> {
                  const std::size_t head = item % heads;
                  const std::size_t first_panel = item / heads * batch.panels_of_chunk();
                  HeadWork work(settings, batch, window, buffers);
                  work.take_keys_and_values(keys, values, first_panel, head / queries_of_key);
                  for (std::size_t i = 0; i < batch.panels_of_chunk(); ++i) {
                    work.mix(i * panel_tokens,
                             queries.row(first_panel + i, head * settings.key_size),
                             mixed.row(first_panel + i, head * settings.value_size));
                  }
                  return {};
                });
}

}  // namespace ingot::evaluation

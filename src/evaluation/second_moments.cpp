// SPDX-License-Identifier: MIT
#include "evaluation/second_moments.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "evaluation/kernels/product.hpp"
#include "ingot/parallel.hpp"

namespace ingot::evaluation {
namespace {

/// Panels of tokens that are multiplied at once: the inputs of panel_tokens columns stay in the
/// first cache.
constexpr std::size_t run_panels = 8;
constexpr std::size_t run_tokens = run_panels * panel_tokens;

/// Copies the real tokens of some panels of a feature, one after the other; returns their number.
std::size_t gather(const Panels& inputs, std::size_t feature, std::size_t first_panel,
                   std::span<const std::uint8_t> tokens, float* to, std::size_t stride) noexcept {
  std::size_t count = 0;
  for (std::size_t panel = 0; panel < tokens.size(); ++panel) {
    const float* from = inputs.row(first_panel + panel, feature);
    for (std::size_t t = 0; t < tokens[panel]; ++t) to[count++ * stride] = from[t];
  }
  return count;
}

}  // namespace

SecondMoments::SecondMoments(std::size_t columns, std::size_t block_columns)
    : columns_(columns),
      block_columns_(std::min(block_columns, columns)),
      panels_of_block_(to_size(divide_up(block_columns_, panel_tokens))),
      sums_(to_size(memory_for(columns, block_columns) / sizeof(float))) {
  std::fill_n(sums_.data(), to_size(memory_for(columns, block_columns) / sizeof(float)), 0.0F);
}

std::uint64_t SecondMoments::memory_for(std::uint64_t columns,
                                        std::uint64_t block_columns) noexcept {
  const std::uint64_t size = std::min(columns, block_columns);
  return divide_up(columns, size) * rounded_up(to_size(size), panel_tokens) * size * sizeof(float);
}

std::size_t SecondMoments::columns_of(std::size_t block) const noexcept {
  return std::min(block_columns_, columns_ - block * block_columns_);
}

std::size_t SecondMoments::offset_of(std::size_t block, std::size_t panel) const noexcept {
  return (block * panels_of_block_ + panel) * block_columns_ * panel_tokens;
}

void SecondMoments::add(const Panels& inputs, std::span<const std::uint8_t> tokens,
                        BufferPool& buffers, ThreadTeam& team) {
  const std::uint64_t products = divide_up(columns_, block_columns_) * panels_of_block_;
  const auto work = [&](std::uint64_t product, std::uint64_t) -> Result<void> {
    const std::size_t place = to_size(product);
    add_product(place / panels_of_block_, place % panels_of_block_, inputs, tokens, buffers);
    return {};
  };
  (void)team.spread(products, 1, work);  // no product can fail
}

void SecondMoments::add_product(std::size_t block, std::size_t panel, const Panels& inputs,
                                std::span<const std::uint8_t> tokens, BufferPool& buffers) {
  const std::size_t rows = columns_of(block);
  if (panel * panel_tokens >= rows) return;
  const std::size_t first = block * block_columns_;
  const std::size_t others = std::min(panel_tokens, rows - panel * panel_tokens);
  // Rows lie apart by a little more, so that they begin in different sets of the caches.
  constexpr std::size_t stride = run_tokens + 16;
  BufferPool::Loan of_rows(buffers, rounded_up(rows, group_rows) * stride);
  BufferPool::Loan of_panel(buffers, run_tokens * panel_tokens);
  std::fill_n(of_panel.data(), run_tokens * panel_tokens, 0.0F);
  for (std::size_t begin = 0; begin < tokens.size(); begin += run_panels) {
    const auto run = tokens.subspan(begin, std::min(run_panels, tokens.size() - begin));
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      count = gather(inputs, first + i, begin, run, of_rows.data() + i * stride, 1);
    }
    for (std::size_t i = 0; i < others; ++i) {
      gather(inputs, first + panel * panel_tokens + i, begin, run, of_panel.data() + i,
             panel_tokens);
    }
    multiply_panel({of_rows.data(), stride, rows}, count, of_panel.data(),
                   sums_.data() + offset_of(block, panel), true);
  }
}

void SecondMoments::read_means(std::size_t column, float count,
                               std::span<float> row) const noexcept {
  const std::size_t block = column / block_columns_;
  const std::size_t i = column % block_columns_;
  std::fill(row.begin(), row.end(), 0.0F);
  for (std::size_t j = 0; j < columns_of(block) && j < row.size(); ++j) {
    const float* sums = sums_.data() + offset_of(block, j / panel_tokens) + i * panel_tokens;
    row[j] = count > 0.0F ? sums[j % panel_tokens] / count : 0.0F;
  }
}

}  // namespace ingot::evaluation

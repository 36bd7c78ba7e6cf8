// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "codec/blocks/block.hpp"
#include "codec/blocks/fp4.hpp"
#include "codec/blocks/iq1.hpp"
#include "codec/blocks/iq2.hpp"
#include "codec/blocks/iq3.hpp"
#include "codec/blocks/iq4.hpp"
#include "codec/blocks/k2.hpp"
#include "codec/blocks/k3.hpp"
#include "codec/blocks/k4.hpp"
#include "codec/blocks/k5.hpp"
#include "codec/blocks/k6.hpp"
#include "codec/blocks/legacy4.hpp"
#include "codec/blocks/legacy5.hpp"
#include "codec/blocks/sign.hpp"
#include "codec/blocks/ternary.hpp"
#include "codec/codec.hpp"
#include "codec/statistics/runs.hpp"

namespace ingot::codec {
namespace {

/// The unit of run number `run` of a block.
using UnitOf = double (*)(const std::byte* block, std::size_t run);

/// The unit is the block's scale, divided by a power of two.
template <class Block, int divisor = 1>
double scale_of(const std::byte* block, std::size_t) {
  return static_cast<double>(f16_at(load_block<Block>(block, 0).scale.data())) / divisor;
}
template <class Block>
double minimum_of(const std::byte* block) {
  return static_cast<double>(f16_at(load_block<Block>(block, 0).minimum.data()));
}

double unit_of_iq1_m(const std::byte* block, std::size_t) {
  return static_cast<double>(f32_from_f16(scale_bits_of(load_block<BlockIQ1_M>(block, 0)))) / 8;
}
double unit_of_mxfp4(const std::byte* block, std::size_t) {
  return static_cast<double>(half_e8m0(load_block<BlockMXFP4>(block, 0).exponent));
}
double unit_of_nvfp4(const std::byte* block, std::size_t run) {
  return static_cast<double>(half_ue4m3(load_block<BlockNVFP4>(block, 0).scales[run]));
}

/// What the integers of a type's runs are multiplied by. Where there are minimums: their factor,
/// and where in a block both factors lie. The factor is subtracted, or added in types without
/// groups.
struct RunUnits {
  TensorType type;
  UnitOf unit;
  double (*minimum)(const std::byte* block) = nullptr;
  std::size_t scale_offset = 0;
  std::size_t minimum_offset = 0;
};

template <class Block>
constexpr RunUnits with_minimum(TensorType type) noexcept {
  return {type, scale_of<Block>, minimum_of<Block>, offsetof(Block, scale),
          offsetof(Block, minimum)};
}

/// In the order of run_shapes.
constexpr RunUnits run_units[] = {
    {TensorType::q4_0, scale_of<BlockQ4_0>},
    with_minimum<BlockQ4_1>(TensorType::q4_1),
    {TensorType::q5_0, scale_of<BlockQ5_0>},
    with_minimum<BlockQ5_1>(TensorType::q5_1),
    with_minimum<BlockQ2_K>(TensorType::q2_k),
    {TensorType::q3_k, scale_of<BlockQ3_K>},
    with_minimum<BlockQ4_K>(TensorType::q4_k),
    with_minimum<BlockQ5_K>(TensorType::q5_k),
    {TensorType::q6_k, scale_of<BlockQ6_K>},
    {TensorType::iq2_xxs, scale_of<BlockIQ2_XXS, 8>},
    {TensorType::iq2_xs, scale_of<BlockIQ2_XS, 8>},
    {TensorType::iq2_s, scale_of<BlockIQ2_S, 8>},
    {TensorType::iq3_xxs, scale_of<BlockIQ3_XXS, 4>},
    {TensorType::iq3_s, scale_of<BlockIQ3_S>},
    {TensorType::iq1_s, scale_of<BlockIQ1_S, 8>},
    {TensorType::iq1_m, unit_of_iq1_m},
    {TensorType::iq4_nl, scale_of<BlockIQ4_NL>},
    {TensorType::iq4_xs, scale_of<BlockIQ4_XS>},
    {TensorType::tq1_0, scale_of<BlockTQ1_0>},
    {TensorType::tq2_0, scale_of<BlockTQ2_0>},
    {TensorType::q2_0, scale_of<BlockQ2_0>},
    {TensorType::q1_0, scale_of<BlockQ1_0>},
    {TensorType::mxfp4, unit_of_mxfp4},
    {TensorType::nvfp4, unit_of_nvfp4},
};

static_assert(std::equal(std::begin(run_units), std::end(run_units), std::begin(run_shapes),
                         std::end(run_shapes), [](const RunUnits& units, const RunShape& shape) {
                           return units.type == shape.type;
                         }));

constexpr std::size_t most_block_bytes = sizeof(BlockQ5_K);  // of a type that has minimums
constexpr std::size_t most_block_elements = 256;             // of a type that has runs

/// Sums of t, t^2, t * m, m and m^2.
struct RunTotals {
  std::int64_t t = 0;
  std::int64_t t_squares = 0;
  std::int64_t t_m = 0;
  std::int64_t m = 0;
  std::int64_t m_squares = 0;

  void add(std::int64_t one_t, std::int64_t one_m) noexcept {
    t += one_t;
    t_squares += one_t * one_t;
    t_m += one_t * one_m;
    m += one_m;
    m_squares += one_m * one_m;
  }
};

/// The integer that `unit` was multiplied by; 0 if any would do, or none.
std::int64_t multiple_of(double unit, float product) noexcept {
  const double quotient = static_cast<double>(product) / unit;
  return std::abs(quotient) < 65536.0 ? static_cast<std::int64_t>(quotient) : 0;
}

/// The integers t and m of a block: what it decodes to if one of its two factors is 0 is a multiple
/// of the other, and exact.
class BlockMultiples {
 public:
  BlockMultiples(const TensorTypeInfo& type, DequantizeReference dequantize, const RunUnits& units,
                 const std::byte* block) noexcept
      : block_(block) {
    if (units.minimum == nullptr) {
      dequantize(block, products_, 1);
      return;
    }
    dequantize_without(type, dequantize, units.minimum_offset, products_);
    dequantize_without(type, dequantize, units.scale_offset, minimums_);
    minimum_ = units.minimum(block);
    // Where there are no groups, the minimum is added.
    if (run_shape_of(type.type).groups == 0) minimum_ = -minimum_;
  }

  [[nodiscard]] double minimum() const noexcept { return minimum_; }

  /// Adds weight i to the totals of its run, or of its lane in it.
  void add_to(RunTotals& totals, std::size_t i, double unit) const noexcept {
    totals.add(multiple_of(unit, products_[i]), multiple_of(-minimum_, minimums_[i]));
  }

 private:
  void dequantize_without(const TensorTypeInfo& type, DequantizeReference dequantize,
                          std::size_t field_offset, float* floats) const noexcept {
    std::byte copy[most_block_bytes];
    std::copy_n(block_, type.block_bytes, copy);
    std::fill_n(copy + field_offset, 2, std::byte{0});
    dequantize(copy, floats, 1);
  }

  const std::byte* block_;
  double minimum_ = 0.0;
  float products_[most_block_elements];
  float minimums_[most_block_elements] = {};
};

void add_extremes(const float* floats, std::size_t count, NumberSums& sums) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    sums.min = std::min(sums.min, floats[i] + 0.0f);
    sums.max = std::max(sums.max, floats[i] + 0.0f);
    if (floats[i] == 0.0f) ++sums.zeros;
  }
}

/// Weights first .. first + shape.elements - 1 of a block.
struct RunOfBlock {
  const RunShape& shape;
  const BlockMultiples& multiples;
  double unit;
  std::size_t first;
};

/// Long runs: run r adds to number r % 4.
class LongRunSums {
 public:
  void add(const RunOfBlock& run) noexcept {
    RunTotals totals;
    for (std::size_t i = 0; i < run.shape.elements; ++i) {
      run.multiples.add_to(totals, run.first + i, run.unit);
    }
    const double minimum = run.multiples.minimum();
    double sum = run.unit * static_cast<double>(totals.t);
    double squares = run.unit * run.unit * static_cast<double>(totals.t_squares);
    if (run.shape.has_minimums) {
      sum -= minimum * static_cast<double>(totals.m);
      squares -= (run.unit + run.unit) * minimum * static_cast<double>(totals.t_m);
      squares += minimum * minimum * static_cast<double>(totals.m_squares);
    }
    sums_[runs_ % 4] += sum;
    squares_[runs_ % 4] += squares;
    ++runs_;
  }

  void add_to(NumberSums& sums) const noexcept {
    sums.sum += total_of(sums_);
    sums.squares += total_of(squares_);
  }

 private:
  std::size_t runs_ = 0;
  double sums_[4] = {};
  double squares_[4] = {};
};

/// Short runs, of 16 or 32: in floats, weight i in lane i % 16 / 2. Of n weights in a lane, the
/// squares are n times
///   unit^2 * (t_squares - t * t / n) + (unit * t - n * minimum)^2 / n
/// where there are minimums: nothing cancels out.
class ShortRunSums {
 public:
  void add(const RunOfBlock& run) noexcept {
    RunTotals totals[8];
    for (std::size_t i = 0; i < run.shape.elements; ++i) {
      run.multiples.add_to(totals[i % 16 / 2], run.first + i, run.unit);
    }
    const auto unit = static_cast<float>(run.unit);
    const auto minimum = static_cast<float>(run.multiples.minimum());
    const auto n = static_cast<std::int64_t>(run.shape.elements / 8);
    for (std::size_t lane = 0; lane < 8; ++lane) {
      const RunTotals& total = totals[lane];
      float sum = static_cast<float>(total.t) * unit;
      float squares = static_cast<float>(total.t_squares) * (unit * unit);
      if (run.shape.has_minimums) {
        sum -= minimum * static_cast<float>(n);
        squares = static_cast<float>(n * total.t_squares - total.t * total.t) * (unit * unit);
        squares += sum * sum;
      }
      sums_[lane] += sum;
      squares_[lane] += squares;
    }
    divisor_ = run.shape.has_minimums ? static_cast<double>(n) : 1.0;
  }

  void add_to(NumberSums& sums) const noexcept {
    sums.sum += total_of(sums_);
    sums.squares += total_of(squares_) / divisor_;
  }

 private:
  float sums_[8] = {};
  float squares_[8] = {};
  double divisor_ = 1.0;
};

template <class RunSums>
void add_runs(const TensorTypeInfo& type, DequantizeReference dequantize, const std::byte* src,
              std::size_t block_count, NumberSums& sums) noexcept {
  const auto* found = std::find_if(std::begin(run_shapes), std::end(run_shapes),
                                   [&](const RunShape& one) { return one.type == type.type; });
  const RunShape& shape = *found;
  const RunUnits& units = run_units[found - std::begin(run_shapes)];
  RunSums run_sums;
  for (std::size_t b = 0; b < block_count; ++b) {
    const std::byte* block = src + b * type.block_bytes;
    const BlockMultiples multiples(type, dequantize, units, block);
    for (std::size_t run = 0; run < type.block_elements / shape.elements; ++run) {
      run_sums.add({shape, multiples, units.unit(block, run), run * shape.elements});
    }
    float floats[most_block_elements];
    dequantize(block, floats, 1);
    add_extremes(floats, type.block_elements, sums);
  }
  run_sums.add_to(sums);
}

}  // namespace

void sum_runs_ref(const TensorTypeInfo& type, DequantizeReference dequantize, const std::byte* src,
                  std::size_t block_count, NumberSums& sums) noexcept {
  const bool is_short = run_shape_of(type.type).elements <= most_short_run;
  (is_short ? add_runs<ShortRunSums> : add_runs<LongRunSums>)(type, dequantize, src, block_count,
                                                              sums);
}

void sum_blocks_ref(const TensorTypeInfo& type, DequantizeReference dequantize,
                    const std::byte* src, std::size_t block_count, NumberSums& sums) noexcept {
  const bool has_runs = run_shape_of(type.type).elements != 0;
  (has_runs ? sum_runs_ref : sum_floats_ref)(type, dequantize, src, block_count, sums);
}

}  // namespace ingot::codec

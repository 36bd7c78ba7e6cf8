// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "ingot/error_feedback.hpp"

namespace ingot {
namespace {

/// The part of its mean that is added to the diagonal, as columns that never differ, or had no
/// input, would have no inverse.
constexpr double damping = 0.01;

/// Sums of diagonals up to this one keep all later numbers in the range of floats.
constexpr double greatest_trace = 1e37;

/// The lower triangle of a square matrix, row by row.
class Triangle {
 public:
  explicit Triangle(std::size_t size) : size_(size), numbers_(size * (size + 1) / 2) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] double* row(std::size_t i) noexcept { return numbers_.data() + i * (i + 1) / 2; }

 private:
  std::size_t size_;
  std::vector<double> numbers_;
};

/// Replaces the symmetric matrix A = V V^T by V^T, with V upper triangular. False if a pivot is
/// below `least`: no smaller than the least eigenvalue of a positive definite A.
bool factorise(Triangle& a, double least) noexcept {
  for (std::size_t k = a.size(); k-- > 0;) {
    double* const column = a.row(k);
    if (!(column[k] >= least)) return false;
    const double root = std::sqrt(column[k]);
    column[k] = root;
    for (std::size_t i = 0; i < k; ++i) column[i] /= root;
    for (std::size_t i = 0; i < k; ++i) {
      double* const rest = a.row(i);
      const double factor = column[i];
      for (std::size_t j = 0; j <= i; ++j) rest[j] -= factor * column[j];
    }
  }
  return true;
}

/// Replaces a lower triangular matrix by its inverse, which is one, too.
void invert(Triangle& a) {
  std::vector<double> given(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    double* const row = a.row(k);
    std::copy_n(row, k + 1, given.begin());
    std::fill_n(row, k, 0.0);
    for (std::size_t i = 0; i < k; ++i) {
      const double* const above = a.row(i);
      const double factor = given[i];
      for (std::size_t j = 0; j <= i; ++j) row[j] -= factor * above[j];
    }
    for (std::size_t j = 0; j < k; ++j) row[j] /= given[k];
    row[k] = 1.0 / given[k];
  }
}

// Vectors of the compiler, which every CPU has or takes apart into numbers.
using Lanes [[gnu::vector_size(16)]] = float;
constexpr std::size_t lane_count = 4;
constexpr std::size_t vectors = 4;
constexpr std::size_t step_floats = lane_count * vectors;

Lanes load(const float* from) noexcept {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

/// Sums products by their position modulo 16, then adds these sums.
float dot(const float* a, const float* b, std::size_t count) noexcept {
  std::array<Lanes, vectors> sums{};
  std::size_t i = 0;
  for (; i + step_floats <= count; i += step_floats) {
    for (std::size_t k = 0; k < vectors; ++k) {
      sums[k] += load(a + i + k * lane_count) * load(b + i + k * lane_count);
    }
  }
  std::size_t k = 0;
  for (; i + lane_count <= count; ++k, i += lane_count) sums[k] += load(a + i) * load(b + i);
  for (std::size_t lane = 0; i < count; ++lane, ++i) sums[k][lane] += a[i] * b[i];
  const Lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return (all[0] + all[1]) + (all[2] + all[3]);
}

std::size_t triangle_numbers(std::size_t columns, std::size_t block_columns) noexcept {
  const std::size_t rest = columns % block_columns;
  return columns / block_columns * (block_columns * (block_columns - 1) / 2) +
         (rest > 0 ? rest * (rest - 1) / 2 : 0);
}

}  // namespace

InputMoments::InputMoments(std::size_t columns, std::size_t block_columns, bool has_feedback)
    : columns_(columns), block_columns_(block_columns), diagonal_(columns) {
  const std::size_t count = triangle_numbers(columns, block_columns);
  upper_.resize(count);
  if (!has_feedback) return;
  feedback_.resize(count);
  weights_.resize(columns);
}

std::size_t InputMoments::block_count() const noexcept {
  return columns_ / block_columns_ + (columns_ % block_columns_ != 0 ? 1 : 0);
}

std::size_t InputMoments::columns_of(std::size_t block) const noexcept {
  return std::min(block_columns_, columns_ - block * block_columns_);
}

bool InputMoments::set_block(std::size_t block, std::span<const float> moments) {
  const std::size_t size = columns_of(block);
  const std::size_t first = block * block_columns_;
  for (std::size_t j = 0; j < size; ++j) {
    const float* row = moments.data() + j * size;
    diagonal_[first + j] = row[j];
    const Place place = place_of(first + j);
    std::copy_n(row + j + 1, place.count, upper_.data() + place.first);
  }
  return weights_.empty() || set_feedback(block, moments);
}

bool InputMoments::set_feedback(std::size_t block, std::span<const float> moments) {
  const std::size_t size = columns_of(block);
  const std::size_t first = block * block_columns_;
  double trace = 0.0;
  for (std::size_t j = 0; j < size; ++j) trace += double{diagonal_[first + j]};
  // Without any input all columns are alike, and no column can help another.
  const double added = trace > 0.0 ? damping * trace / static_cast<double>(size) : 1.0;
  Triangle factors(size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) factors.row(i)[j] = double{moments[j * size + i]};
    factors.row(i)[i] = double{moments[i * size + i]} + added;
  }
  if (!(trace <= greatest_trace) || !factorise(factors, 0.5 * added)) return false;
  // H = V V^T, so its inverse is U^T U with U the inverse of V; here is its transpose.
  invert(factors);
  for (std::size_t j = 0; j < size; ++j) {
    const double own = factors.row(j)[j];
    weights_[first + j] = static_cast<float>(1.0 / (own * own));
    float* const feedback = feedback_.data() + place_of(first + j).first;
    for (std::size_t k = j + 1; k < size; ++k) {
      feedback[k - j - 1] = static_cast<float>(factors.row(k)[j] / own);
    }
  }
  return true;
}

void InputMoments::multiply_upper(const float* x, float* sums) const noexcept {
  for (std::size_t j = 0; j < columns_; ++j) {
    const Place place = place_of(j);
    sums[j] = dot(upper_.data() + place.first, x + j + 1, place.count);
  }
}

double InputMoments::product(const float* x, const float* sums_of_x, const float* y,
                             const float* sums_of_y) const noexcept {
  double sum = 0.0;
  for (std::size_t j = 0; j < columns_; ++j) {
    const double own = double{diagonal_[j]} * double{x[j]} * double{y[j]};
    sum += own + (double{x[j]} * double{sums_of_y[j]} + double{y[j]} * double{sums_of_x[j]});
  }
  return sum;
}

}  // namespace ingot

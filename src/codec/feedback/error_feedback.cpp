// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "codec/best/best.hpp"
#include "codec/feedback/recode_block.hpp"

namespace ingot::codec {
namespace {

/// The rows whose blocks are searched at once: enough for all lanes of the searches.
constexpr std::size_t batch_rows = 64;

/// The least factor for correcting a row. Below it the codes are wrong, and not the scales.
constexpr double least_factor = 0.5;
constexpr double greatest_factor = 2.0;

/// The output errors of one row.
class RowMeter {
 public:
  explicit RowMeter(const InputMoments& moments)
      : moments_(moments),
        difference_(moments.column_count()),
        sums_of_x_(difference_.size()),
        sums_(difference_.size()) {}

  void set_source(const float* x) noexcept {
    x_ = x;
    moments_.multiply_upper(x, sums_of_x_.data());
    signal_ = moments_.product(x, sums_of_x_.data(), x, sums_of_x_.data());
  }
  [[nodiscard]] OutputEnergy energy_of(const float* decoded) noexcept {
    for (std::size_t i = 0; i < difference_.size(); ++i) difference_[i] = x_[i] - decoded[i];
    const float* e = difference_.data();
    moments_.multiply_upper(e, sums_.data());
    return {moments_.product(e, sums_.data(), e, sums_.data()), signal_};
  }
  /// The factor of a decoded row that makes its outputs nearest to those of the source.
  [[nodiscard]] double factor_of(const float* decoded) noexcept {
    moments_.multiply_upper(decoded, sums_.data());
    return moments_.product(x_, sums_of_x_.data(), decoded, sums_.data()) /
           moments_.product(decoded, sums_.data(), decoded, sums_.data());
  }

 private:
  const InputMoments& moments_;
  const float* x_ = nullptr;
  double signal_ = 0.0;
  std::vector<float> difference_;
  std::vector<float> sums_of_x_;
  std::vector<float> sums_;
};

/// Encodes some rows with feedback.
class FeedbackEncoder {
 public:
  FeedbackEncoder(const BestEncoder& encoder, const InputMoments& moments)
      : encoder_(encoder),
        moments_(moments),
        codec_(*find_codec(encoder.type)),
        recode_(find_recoder(encoder.type)),
        elements_(find_type(encoder.type)->block_elements),
        bytes_(find_type(encoder.type)->block_bytes),
        row_blocks_(moments.column_count() / elements_),
        decoded_(moments.column_count()),
        meter_(moments) {}

  /// @param kept  the rows as they are encoded without feedback; receives better ones.
  [[nodiscard]] OutputEnergy run(std::span<const float> source, std::byte* kept) {
    const std::size_t columns = moments_.column_count();
    const std::size_t row_count = source.size() / columns;
    current_.assign(source.begin(), source.end());
    rows_.resize(row_count * row_blocks_ * bytes_);
    for (std::size_t b = 0; b < row_blocks_; ++b) encode_column(b, row_count);
    OutputEnergy energy;
    for (std::size_t r = 0; r < row_count; ++r) {
      const std::size_t offset = r * row_blocks_ * bytes_;
      energy.add(choose(source.data() + r * columns, rows_.data() + offset, kept + offset));
    }
    return energy;
  }

 private:
  /// Block `b` of all rows.
  void encode_column(std::size_t b, std::size_t row_count) {
    const std::size_t columns = moments_.column_count();
    const std::size_t first = b * elements_;
    values_.resize(row_count * elements_);
    blocks_.resize(row_count * bytes_);
    for (std::size_t r = 0; r < row_count; ++r) {
      std::copy_n(&current_[r * columns + first], elements_, &values_[r * elements_]);
    }
    quantize_best(encoder_, {.src = values_.data(),
                             .dst = blocks_.data(),
                             .row_elements = elements_,
                             .row_count = row_count,
                             .importances = moments_.residual_weights().data() + first});
    for (std::size_t r = 0; r < row_count; ++r) {
      std::byte* const block = &blocks_[r * bytes_];
      recode_(block, first, &current_[r * columns], moments_);
      std::memcpy(&rows_[(r * row_blocks_ + b) * bytes_], block, bytes_);
    }
  }

  /// Keeps the row with the lower output error.
  [[nodiscard]] OutputEnergy choose(const float* x, std::byte* found, std::byte* kept) noexcept {
    meter_.set_source(x);
    codec_.dequantize(kept, decoded_.data(), row_blocks_, Stores::cached);
    const OutputEnergy plain = meter_.energy_of(decoded_.data());
    codec_.dequantize(found, decoded_.data(), row_blocks_, Stores::cached);
    rescale(found);
    const OutputEnergy energy = meter_.energy_of(decoded_.data());
    if (!(energy.error < plain.error)) return plain;  // also if the energy is NaN
    std::memcpy(kept, found, row_blocks_ * bytes_);
    return energy;
  }

  void rescale(std::byte* row) noexcept {
    if (encoder_.rescale == nullptr) return;
    const double factor = meter_.factor_of(decoded_.data());
    if (!(factor >= least_factor && factor <= greatest_factor)) return;
    for (std::size_t b = 0; b < row_blocks_; ++b) encoder_.rescale(row + b * bytes_, factor);
    codec_.dequantize(row, decoded_.data(), row_blocks_, Stores::cached);
  }

  const BestEncoder& encoder_;
  const InputMoments& moments_;
  const Codec& codec_;
  RecodeBlock recode_;
  std::size_t elements_;  // elements of a block
  std::size_t bytes_;     // bytes of a block
  std::size_t row_blocks_;
  std::vector<float> current_;     // the rows, with the errors that they have to correct
  std::vector<float> values_;      // values of one block of each row
  std::vector<std::byte> blocks_;  // encoded blocks, likewise
  std::vector<std::byte> rows_;    // rows encoded with feedback
  std::vector<float> decoded_;     // one row
  RowMeter meter_;
};

}  // namespace

OutputEnergy quantize_with_feedback(TensorType type, const FloatRows& rows,
                                    const InputMoments& moments) {
  const BestEncoder& encoder = *find_best_encoder(type);
  quantize_best(encoder, rows);
  FeedbackEncoder feedback(encoder, moments);
  const std::size_t columns = moments.column_count();
  const std::size_t row_bytes = to_size(find_type(type)->bytes_of(columns));
  OutputEnergy energy;
  for (std::size_t first = 0; first < rows.row_count; first += batch_rows) {
    const std::size_t count = std::min(batch_rows, rows.row_count - first);
    energy.add(
        feedback.run({rows.src + first * columns, count * columns}, rows.dst + first * row_bytes));
  }
  return energy;
}

}  // namespace ingot::codec

namespace ingot {

bool has_feedback(TensorType type) noexcept { return codec::find_recoder(type) != nullptr; }

Result<OutputEnergy> quantize_with_feedback(TensorType type, std::span<const float> src,
                                            std::span<std::byte> dst, const InputMoments& moments,
                                            std::span<const float> importance) {
  if (!has_feedback(type)) return fail(Errc::unsupported_type, {});
  const TensorTypeInfo& info = *find_type(type);
  const std::size_t columns = moments.column_count();
  if (columns == 0 || columns % info.block_elements != 0 || src.size() % columns != 0 ||
      dst.size() != info.bytes_of(src.size()) ||
      (!importance.empty() && importance.size() != columns)) {
    return fail(Errc::size_mismatch, {},
                "rows, blocks, moments and importance must fit one another");
  }
  return codec::quantize_with_feedback(type,
                                       {.src = src.data(),
                                        .dst = dst.data(),
                                        .row_elements = columns,
                                        .row_count = src.size() / columns,
                                        .importances = importance.data()},
                                       moments);
}

Result<OutputEnergy> measure_outputs(std::span<const float> source, std::span<const float> decoded,
                                     const InputMoments& moments) {
  const std::size_t columns = moments.column_count();
  if (columns == 0 || source.size() % columns != 0 || decoded.size() != source.size()) {
    return fail(Errc::size_mismatch, {}, "rows, decoded rows and moments must fit one another");
  }
  codec::RowMeter meter(moments);
  OutputEnergy energy;
  for (std::size_t first = 0; first < source.size(); first += columns) {
    meter.set_source(source.data() + first);
    energy.add(meter.energy_of(decoded.data() + first));
  }
  return energy;
}

}  // namespace ingot

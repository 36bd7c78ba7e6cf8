// SPDX-License-Identifier: MIT
#include "quantization/type_budget.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/checked.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"
#include "quantization/choose_offers.hpp"
#include "quantization/error_sums.hpp"
#include "quantization/quantize_work.hpp"
#include "work/threads/shared_progress.hpp"

namespace ingot::quantization {
namespace {

using enum TensorType;

/// Types to choose among, for tensors with and without importance data. The float types that a
/// source may have are added for each tensor.
constexpr TensorType ladder[] = {iq1_s,   iq1_m, iq2_xxs, iq2_xs, iq2_s,  q2_k,
                                 iq3_xxs, iq3_s, q3_k,    iq4_xs, iq4_nl, q4_0,
                                 q4_k,    q5_0,  q5_k,    q5_1,   q6_k,   q8_0};

/// Elements that are sampled of each tensor: enough that the error is known to about a percent.
constexpr std::uint64_t sample_elements = std::uint64_t{1} << 15;
constexpr std::uint64_t least_rows = 8;
/// The part of a longer row that is looked at; whole blocks of every type.
constexpr std::uint64_t longest_part = std::uint64_t{1} << 14;

std::uint64_t size_of(TensorType type, std::uint64_t elements) noexcept {
  return find_type(type)->bytes_of(elements);
}

bool is_possible(TensorType type, const PlannedTensor& planned, bool has_data) noexcept {
  const TensorTypeInfo& info = *find_type(type);
  if (planned.source->row_elements() % info.block_elements != 0) return false;
  if (has_data) return true;
  return info.weights != ImportanceWeights::required &&
         info.weights != ImportanceWeights::recommended;
}

/// The costs of errors of tensors.
class Costs {
 public:
  explicit Costs(std::span<const TensorSensitivity> sensitivities) {
    std::vector<double> alphas[2];
    for (const TensorSensitivity& sensitivity : sensitivities) {
      by_name_.emplace(sensitivity.name, &sensitivity);
      for (const bool is_weighted : {false, true}) {
        alphas[is_weighted].push_back(sensitivity.alpha(is_weighted));
      }
    }
    if (sensitivities.empty()) return;
    for (const bool is_weighted : {false, true}) {
      const auto middle =
          alphas[is_weighted].begin() + static_cast<std::ptrdiff_t>(sensitivities.size() / 2);
      std::nth_element(alphas[is_weighted].begin(), middle, alphas[is_weighted].end());
      medians_[is_weighted] = *middle;
    }
  }

  /// @param error     of sampled rows.
  /// @param elements  of the whole tensor, for each one that was sampled.
  [[nodiscard]] double cost_of(std::string_view name, const TensorError& error, bool is_weighted,
                               double elements) const {
    if (!(error.weighted_signal > 0.0)) return 0.0;
    const double relative = error.weighted_error / error.weighted_signal;
    if (by_name_.empty()) return std::sqrt(relative * error.weighted_error * elements);
    const auto found = by_name_.find(name);
    return relative *
           (found == by_name_.end() ? medians_[is_weighted] : found->second->alpha(is_weighted));
  }

 private:
  std::map<std::string_view, const TensorSensitivity*> by_name_;
  double medians_[2] = {0.0, 0.0};
};

/// Measures the cost of one tensor in each type.
class OfferMaker {
 public:
  OfferMaker(const Model& model, const QuantizeModelOptions& options, const Costs& costs,
             double usual_importance, const PlannedTensor& planned)
      : model_(model),
        options_(options),
        costs_(costs),
        usual_importance_(usual_importance),
        planned_(planned),
        tensor_(*planned.source),
        entry_(find_importance(options.importance, tensor_)) {}

  Result<std::vector<TypeOffer>> make() {
    INGOT_TRY_VOID(read_sample());
    std::vector<TypeOffer> offers;
    for (const TensorType type : ladder) {
      if (!is_possible(type, planned_, entry_ != nullptr)) continue;
      INGOT_TRY(const TypeOffer offer, measure(type));
      offers.push_back(offer);
    }
    // No type needs to be larger than the source, or than half precision.
    const bool is_wide = tensor_.type == f32 || tensor_.type == f64;
    INGOT_TRY(const TypeOffer offer, measure(is_wide ? f16 : tensor_.type));
    offers.push_back(offer);
    return offers;
  }

 private:
  Result<void> read_sample() {
    const std::uint64_t columns = tensor_.row_elements();
    const std::uint64_t rows = tensor_.element_count / columns;
    part_ = to_size(std::min<std::uint64_t>(columns, longest_part));
    const std::uint64_t wanted =
        std::clamp<std::uint64_t>(sample_elements / part_, least_rows, std::max(rows, least_rows));
    const std::uint64_t count = std::min(rows, wanted);
    sampled_rows_.clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      // Evenly over all rows, experts included; the product may be large.
      sampled_rows_.push_back(
          static_cast<std::uint64_t>(static_cast<long double>(i) * rows / count));
    }
    source_.resize(to_size(count) * part_);
    weights_.resize(source_.size());
    const TensorTypeInfo& type = *find_type(tensor_.type);
    const std::uint64_t rows_per_matrix = tensor_.shape.size() > 1 ? tensor_.shape[1] : 1;
    const std::uint64_t experts = tensor_.shape.size() > 2 ? tensor_.shape[2] : 1;
    std::vector<std::byte> stored(to_size(type.bytes_of(part_)));
    for (std::size_t i = 0; i < sampled_rows_.size(); ++i) {
      const std::uint64_t row = sampled_rows_[i];
      const auto floats = std::span(source_).subspan(i * part_, part_);
      INGOT_TRY_VOID(model_.read(tensor_, row * type.bytes_of(columns), stored));
      INGOT_TRY_VOID(dequantize(tensor_.type, stored, floats,
                                {.byte_order = model_.files()[tensor_.shard].byte_order}));
      const auto weights = std::span(weights_).subspan(i * part_, part_);
      std::fill(weights.begin(), weights.end(), static_cast<float>(usual_importance_));
      if (entry_ == nullptr) continue;
      const std::uint64_t expert = row / rows_per_matrix % experts;
      INGOT_TRY_VOID(options_.importance->read_weights(*entry_, expert * columns, weights));
    }
    for (float& number : source_) {
      if (!std::isfinite(number)) number = 0.0f;  // refused, or wanted, when all is read
    }
    return {};
  }

  Result<TypeOffer> measure(TensorType type) {
    TypeOffer offer{.type = type, .size_bytes = size_of(type, tensor_.element_count)};
    std::vector<std::byte> blocks(to_size(size_of(type, part_)));
    std::vector<float> decoded(part_);
    const Effort effort = effort_of(options_, type, planned_.grid);
    TensorError error;
    for (std::size_t i = 0; i < sampled_rows_.size(); ++i) {
      const auto source = std::span<const float>(source_).subspan(i * part_, part_);
      const auto weights = std::span<const float>(weights_).subspan(i * part_, part_);
      const auto used = entry_ != nullptr ? weights : std::span<const float>();
      INGOT_TRY_VOID(quantize(type, source, part_, blocks, {.importance = used, .effort = effort}));
      INGOT_TRY_VOID(dequantize(type, blocks, decoded));
      add_weighted(source, decoded, weights, error);
    }
    const auto sampled = static_cast<double>(source_.size());
    offer.cost = costs_.cost_of(tensor_.name, error, entry_ != nullptr,
                                static_cast<double>(tensor_.element_count) / sampled);
    return offer;
  }

  const Model& model_;
  const QuantizeModelOptions& options_;
  const Costs& costs_;
  double usual_importance_;
  const PlannedTensor& planned_;
  const TensorInfo& tensor_;
  const ImatrixEntry* entry_;
  std::uint64_t part_ = 0;  // elements of a row that are looked at
  std::vector<std::uint64_t> sampled_rows_;
  std::vector<float> source_;
  std::vector<float> weights_;
};

/// The mean over all columns of the matrix: the importance of a tensor without data. 1 without a
/// matrix.
Result<double> mean_importance(const ImportanceMatrix* matrix) {
  if (matrix == nullptr) return 1.0;
  double sum = 0.0;
  double count = 0.0;
  std::vector<float> weights;
  for (const ImatrixEntry& entry : matrix->entries()) {
    // A sample of each is enough: the first columns of the first expert.
    weights.resize(static_cast<std::size_t>(std::min(entry.column_count(), longest_part)));
    INGOT_TRY_VOID(matrix->read_weights(entry, 0, weights));
    double entry_sum = 0.0;
    for (const float weight : weights) entry_sum += static_cast<double>(weight);
    sum += entry_sum;
    count += static_cast<double>(weights.size());
  }
  return count > 0 && sum > 0 ? sum / count : 1.0;
}

/// Whether the target decides about a tensor: options and patterns come first.
bool is_free(const PlannedTensor& planned) noexcept {
  return planned.choice.reason == TypeReason::base || planned.choice.reason == TypeReason::mixture;
}

/// Bytes for all tensors without their padding; for a file size as many as certainly fit.
Result<std::uint64_t> budget_for(const Model& model, const QuantizeModelOptions& options,
                                 const QuantizePlan& plan) {
  if (options.target_bits_per_weight) {
    const double bytes =
        *options.target_bits_per_weight * static_cast<double>(plan.element_count) / 8.0;
    return static_cast<std::uint64_t>(std::clamp(bytes, 0.0, 1e18));
  }
  INGOT_TRY(const std::uint64_t file_bytes, quantized_file_bytes(model, plan, options, {}));
  const std::uint64_t header_and_padding = file_bytes - plan.size_bytes;
  // Padding may grow with other types, by less than an alignment for each tensor.
  const std::uint64_t slack = plan.tensors.size() * model.files()[0].alignment;
  const std::uint64_t target = *options.target_file_bytes;
  return target > header_and_padding + slack ? target - header_and_padding - slack : 0;
}

}  // namespace

std::optional<std::uint32_t> guess_file_type(const QuantizePlan& plan) {
  // Matrices of the layers, then all matrices, then all tensors.
  std::array<std::map<TensorType, std::uint64_t>, 3> elements;
  for (const PlannedTensor& tensor : plan.tensors) {
    const TensorRole role = tensor.choice.role;
    const bool is_apart = role == TensorRole::output || role == TensorRole::token_embedding;
    const bool is_matrix = tensor.source->shape.size() > 1;
    elements[!is_matrix ? 2 : is_apart ? 1 : 0][tensor.choice.type] += tensor.source->element_count;
  }
  for (const auto& kind : elements) {
    const auto most = std::max_element(
        kind.begin(), kind.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != kind.end()) return file_type_of(most->first);
  }
  return std::nullopt;
}

Result<void> fit_to_target(const Model& model, const QuantizeModelOptions& options,
                           QuantizePlan& plan, const QuantizeProgress& progress) {
  std::vector<std::size_t> free_tensors;
  std::uint64_t fixed_bytes = 0;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlannedTensor& planned = plan.tensors[i];
    if (is_free(planned) && planned.source->element_count > 0) {
      free_tensors.push_back(i);
    } else {
      fixed_bytes += planned.size_bytes;
    }
  }
  INGOT_TRY(const std::uint64_t budget, budget_for(model, options, plan));
  if (budget < fixed_bytes) {
    return fail(
        Errc::target_too_small, {},
        "tensors that are not quantized have " + std::to_string(fixed_bytes) + " bytes already");
  }
  INGOT_TRY(const double usual_importance, mean_importance(options.importance));
  const Costs costs(options.sensitivities);
  std::vector<std::vector<TypeOffer>> offers(free_tensors.size());
  SharedProgress shared_progress(progress);
  INGOT_TRY_VOID(spread(free_tensors.size(), 1, options.thread_count,
                        [&](std::uint64_t first, std::uint64_t) -> Result<void> {
                          const std::size_t i = to_size(first);
                          const PlannedTensor& planned = plan.tensors[free_tensors[i]];
                          OfferMaker maker(model, options, costs, usual_importance, planned);
                          INGOT_TRY(offers[i], maker.make());
                          return shared_progress.add(planned.source->size_bytes);
                        }));
  INGOT_TRY(const ChosenOffers chosen, choose_offers(offers, budget - fixed_bytes));
  plan.target = chosen.outcome;
  for (std::size_t i = 0; i < free_tensors.size(); ++i) {
    PlannedTensor& planned = plan.tensors[free_tensors[i]];
    const TypeOffer& offer = offers[i][chosen.positions[i]];
    planned.choice.type = offer.type;
    planned.choice.reason = TypeReason::target;
    planned.choice.instead_of.reset();
    planned.size_bytes = offer.size_bytes;
    planned.estimated_cost = offer.cost;
  }
  plan.file_type = guess_file_type(plan);
  return {};
}

}  // namespace ingot::quantization

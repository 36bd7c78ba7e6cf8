// SPDX-License-Identifier: MIT
// Operations that change the numbers of a tensor, a piece at a time while they are read.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/import/tensors/lora_product.hpp"
#include "huggingface/import/tensors/operation_steps.hpp"
#include "ingot/quantize.hpp"

namespace ingot::huggingface {
namespace {

/// Changes every number by itself, wherever it is.
Views change_each(TensorView view, float (*change)(float number, float constant),
                  float constant = 0) {
  if (is_product(view)) return refuse(view.name, "an adapter cannot change numbers of this tensor");
  for (Arrangement& part : view.parts) {
    part.source = change_numbers(part.source, [=](std::uint64_t, std::span<float> numbers) {
      for (float& number : numbers) number = change(number, constant);
      return Result<void>();
    });
  }
  return list_of(std::move(view));
}

/// Changes numbers by their places.
Result<void> change_by_place(TensorView& view, NumberChange change,
                             std::optional<TensorType> type = {}) {
  INGOT_TRY_VOID(make_uncut(view));
  std::shared_ptr<const NumberSource>& source = view.parts.front().source;
  source = change_numbers(source, std::move(change), type);
  return {};
}

/// Numbers of the configuration, of which some may be lists.
Result<std::vector<float>> factors(const RuleContext& context, std::span<const Expression> by,
                                   std::string_view tensor) {
  std::vector<float> found;
  for (const Expression& expression : by) {
    INGOT_TRY(const nlohmann::json value, expression.evaluate(context));
    const nlohmann::json list = value.is_array() ? value : nlohmann::json::array({value});
    for (const nlohmann::json& number : list) {
      if (!number.is_number()) {
        return refuse("config.json", "a factor for " + std::string(tensor) + " is no number");
      }
      found.push_back(static_cast<float>(number.get<double>()));
    }
  }
  return found;
}

/// Computes in double and rounds once: the reference's own e^x is off by a bit on some processors.
float neg_exp(float number) { return static_cast<float>(-std::exp(static_cast<double>(number))); }

/// Undoes one more change of the numbers, after those that are undone already.
void return_numbers(ReturningTensor& tensor, ReturnedNumber next) {
  if (tensor.number) {
    next = [first = std::move(tensor.number), second = std::move(next)](float number) {
      return second(first(number));
    };
  }
  tensor.number = std::move(next);
}

/// Refuses factors other than 1, which config.json of the way back has.
Result<void> undo_factors(std::span<const Expression> by, const RuleContext& context,
                          const ReturningTensor& tensor) {
  INGOT_TRY(const std::vector<float> found, factors(context, by, tensor.name));
  if (std::ranges::all_of(found, [](float factor) { return factor == 1; })) return {};
  return refuse(std::string(tensor.name), "its factors are not 1, so that rounding may not return");
}

/// Facts on all numbers of a tensor.
using FactMaker =
    std::function<Result<std::vector<double>>(const NumberSource& source, std::uint64_t count)>;

/// Facts that are made when they are needed first. Thread-safe.
class LateFacts {
 public:
  LateFacts(std::shared_ptr<const NumberSource> source, std::uint64_t count, FactMaker make)
      : source_(std::move(source)), count_(count), make_(std::move(make)) {}

  [[nodiscard]] Result<std::span<const double>> get() {
    const std::lock_guard lock(mutex_);
    if (facts_.empty()) {
      INGOT_TRY(facts_, make_(*source_, count_));
    }
    return std::span<const double>(facts_);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const NumberSource> source_;
  std::uint64_t count_;
  FactMaker make_;
  std::vector<double> facts_;
};

/// Changes numbers by their places and by facts on all of them.
Views change_by_facts(TensorView view, FactMaker make, std::optional<TensorType> type,
                      void (*change)(std::span<const double> facts, std::uint64_t first,
                                     std::span<float> numbers)) {
  INGOT_TRY_VOID(make_uncut(view));
  const auto facts =
      std::make_shared<LateFacts>(view.parts.front().source, element_count(view), std::move(make));
  const auto change_piece = [=](std::uint64_t first, std::span<float> numbers) -> Result<void> {
    INGOT_TRY(const std::span<const double> ready, facts->get());
    change(ready, first, numbers);
    return {};
  };
  INGOT_TRY_VOID(change_by_place(view, change_piece, type));
  return list_of(std::move(view));
}

/// The mean of the numbers, or of their absolute values, summed in double.
FactMaker mean(bool is_absolute) {
  return [=](const NumberSource& source, std::uint64_t count) -> Result<std::vector<double>> {
    double sum = 0;
    INGOT_TRY_VOID(
        for_each_piece(source, count, [&](std::uint64_t, std::span<const float> numbers) {
          for (const float number : numbers) sum += is_absolute ? std::abs(number) : number;
          return Result<void>();
        }));
    return std::vector<double>{sum / static_cast<double>(count)};
  };
}

/// The same facts as numbers of a type that has one element per block.
FactMaker rounded_to(TensorType type, FactMaker make) {
  return [=](const NumberSource& source, std::uint64_t count) -> Result<std::vector<double>> {
    INGOT_TRY(std::vector<double> facts, make(source, count));
    for (double& fact : facts) {
      auto number = static_cast<float>(fact);
      std::array<std::byte, sizeof(double)> stored{};
      const std::span bytes = std::span(stored).first(find_type(type)->block_bytes);
      INGOT_TRY_VOID(quantize(type, {&number, 1}, 1, bytes));
      INGOT_TRY_VOID(dequantize(type, bytes, {&number, 1}));
      fact = number;
    }
    return facts;
  };
}

/// The length of each column of a matrix.
FactMaker column_lengths(std::uint64_t columns) {
  return [=](const NumberSource& source, std::uint64_t count) -> Result<std::vector<double>> {
    std::vector<double> sums(static_cast<std::size_t>(columns));
    INGOT_TRY_VOID(
        for_each_piece(source, count, [&](std::uint64_t first, std::span<const float> numbers) {
          for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto number = static_cast<double>(numbers[i]);
            sums[static_cast<std::size_t>((first + i) % columns)] += number * number;
          }
          return Result<void>();
        }));
    for (double& sum : sums) sum = std::sqrt(sum);
    return sums;
  };
}

}  // namespace

Views apply(const AddValue& operation, const TransformStep&, TensorView view) {
  return change_each(
      std::move(view), [](float number, float added) { return number + added; },
      static_cast<float>(operation.value));
}

Result<void> undo(const AddValue& operation, const RuleContext&, ReturningTensor& tensor) {
  return_numbers(tensor, [removed = static_cast<float>(operation.value)](float number) {
    return number - removed;
  });
  return {};
}

Views apply(const NegExp&, const TransformStep&, TensorView view) {
  return change_each(std::move(view), [](float number, float) { return neg_exp(number); });
}

/// Numbers below -e have fewer logarithms in F32 than there are of them: one that is no result of
/// the import comes back as the nearest that is.
Result<void> undo(const NegExp&, const RuleContext&, ReturningTensor& tensor) {
  return_numbers(tensor, [](float number) {
    const auto logarithm = static_cast<float>(std::log(-static_cast<double>(number)));
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float other :
         {std::nextafter(logarithm, -infinity), std::nextafter(logarithm, infinity)}) {
      if (neg_exp(logarithm) != number && neg_exp(other) == number) return other;
    }
    return logarithm;
  });
  return {};
}

Views apply(const Softplus&, const TransformStep&, TensorView view) {
  return change_each(std::move(view), [](float number, float) {
    // ln(1 + e^x) is x + ln(1 + e^-x), which has no e^x that overflows.
    const auto wide = static_cast<double>(number);
    return static_cast<float>(std::max(wide, 0.0) + std::log1p(std::exp(-std::abs(wide))));
  });
}

Views apply(const Multiply& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::vector<float> by, factors(step.context.rules, operation.by, step.name));
  std::vector<TensorView> views = list_of(std::move(view));
  for (const float factor : by) {
    INGOT_TRY(views, change_each(
                         std::move(views.front()),
                         [](float number, float constant) { return number * constant; }, factor));
  }
  return views;
}

Result<void> undo(const Multiply& operation, const RuleContext& context, ReturningTensor& tensor) {
  return undo_factors(operation.by, context, tensor);
}

Views apply(const MultiplyRows& operation, const TransformStep& step, TensorView view) {
  if (view.shape.empty() || view.shape[0] == 0) return refuse(view.name, "it has no rows");
  INGOT_TRY(const std::vector<float> by, factors(step.context.rules, operation.by, step.name));
  INGOT_TRY(const auto sizes, settle_sizes(step, operation.sizes, view.shape[0], false));
  if (by.size() != sizes.size()) {
    return refuse("config.json",
                  std::to_string(sizes.size()) + " factors are expected for " + step.name);
  }
  const std::uint64_t columns = element_count(view) / view.shape[0];
  std::vector<std::uint64_t> ends;
  for (const std::uint64_t size : sizes) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + size * columns);
  }
  INGOT_TRY_VOID(change_by_place(view, [=](std::uint64_t first, std::span<float> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto end = std::ranges::upper_bound(ends, first + i);
      numbers[i] *= by[static_cast<std::size_t>(end - ends.begin())];
    }
    return Result<void>();
  }));
  return list_of(std::move(view));
}

Result<void> undo(const MultiplyRows& operation, const RuleContext& context,
                  ReturningTensor& tensor) {
  return undo_factors(operation.by, context, tensor);
}

Views apply(const NormalizeColumns&, const TransformStep&, TensorView view) {
  constexpr std::uint64_t max_columns = std::uint64_t{1} << 24;
  if (view.shape.size() != 2 || view.shape[1] > max_columns) {
    return refuse(view.name,
                  "a matrix of at most " + std::to_string(max_columns) + " columns is expected");
  }
  const std::uint64_t columns = view.shape[1];
  return change_by_facts(
      std::move(view), column_lengths(columns), TensorType::f32,
      [](std::span<const double> lengths, std::uint64_t first, std::span<float> numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          const auto column = static_cast<std::size_t>((first + i) % lengths.size());
          numbers[i] /= static_cast<float>(lengths[column]) + 1e-7F;
        }
      });
}

Views apply(const SubtractMean&, const TransformStep&, TensorView view) {
  INGOT_TRY_VOID(make_uncut(view));
  // The reference computes in the type of the file, before it makes F32 of the numbers.
  const TensorType stored = view.parts.front().source->type();
  const bool is_half = stored == TensorType::bf16 || stored == TensorType::f16;
  const TensorType type = is_half ? stored : TensorType::f32;
  return change_by_facts(
      std::move(view), rounded_to(type, mean(false)), type,
      [](std::span<const double> facts, std::uint64_t, std::span<float> numbers) {
        for (float& number : numbers) number -= static_cast<float>(facts[0]);
      });
}

Views apply(const Ternary&, const TransformStep&, TensorView view) {
  return change_by_facts(
      std::move(view), mean(true), {},
      [](std::span<const double> facts, std::uint64_t, std::span<float> numbers) {
        const float inverse = 1.0F / std::max(static_cast<float>(facts[0]), 1e-5F);
        for (float& number : numbers) {
          // Halves go to the even number.
          number = std::clamp(std::nearbyint(number * inverse), -1.0F, 1.0F) / inverse;
        }
      });
}

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
// Operations that encoders of images and sound need.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "huggingface/folder/config.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/import/tensors/operation_steps.hpp"

namespace ingot::huggingface {
namespace {

/// What PyTorch adds to a variance.
constexpr float batch_norm_epsilon = 1e-5F;

/// The largest side of a square of positions: an image of 65536 pixels a side in patches of 16.
constexpr std::uint64_t max_grid_side = 4096;

/// The parts of a batch norm, in the order of a rule's `parts`.
enum BatchNormPart : std::size_t { weight, bias, running_mean, running_var, batch_norm_parts };

using Numbers = std::shared_ptr<const NumberSource>;

/// Changes each number by the one in the same place of `other`.
Numbers combine(Numbers numbers, Numbers other, float (*change)(float number, float other)) {
  return change_numbers(
      std::move(numbers),
      [other = std::move(other), change](std::uint64_t first,
                                         std::span<float> changed) -> Result<void> {
        std::vector<std::byte> scratch;
        std::vector<float> others(changed.size());
        INGOT_TRY_VOID(read_floats(*other, first, scratch, others));
        std::ranges::transform(changed, others, changed.begin(), change);
        return {};
      },
      TensorType::f32);
}

/// A position of the new square between two of the old one.
struct Between {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  float share = 0;  ///< Of the second one.
};

/// Positions of a square of `to` x `to`, mixed of those of a square of `from` x `from`.
class ResizedGrid final : public NumberSource {
 public:
  ResizedGrid(Numbers source, std::uint64_t from, std::uint64_t to, std::uint64_t width)
      : source_(std::move(source)), from_(from), to_(to), width_(width) {}

  [[nodiscard]] TensorType type() const noexcept override { return TensorType::f32; }
  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    std::vector<float> mixed(destination.size() / sizeof(float));
    for (std::size_t done = 0; done < mixed.size();) {
      const std::uint64_t position = (first + done) / width_;
      const std::uint64_t begin = (first + done) % width_;
      const std::size_t count =
          static_cast<std::size_t>(std::min<std::uint64_t>(width_ - begin, mixed.size() - done));
      INGOT_TRY_VOID(mix(position, begin, std::span(mixed).subspan(done, count)));
      done += count;
    }
    std::memcpy(destination.data(), mixed.data(), destination.size());
    return {};
  }

 private:
  /// In F32, as PyTorch computes it.
  [[nodiscard]] Between between(std::uint64_t index) const {
    const float scale =
        to_ > 1 ? static_cast<float>(from_ - 1) / static_cast<float>(to_ - 1) : 0.0F;
    const float place = scale * static_cast<float>(index);
    const auto before = std::min(static_cast<std::uint64_t>(place), from_ - 1);
    return {before, std::min(before + 1, from_ - 1), place - static_cast<float>(before)};
  }

  [[nodiscard]] Result<void> mix(std::uint64_t position, std::uint64_t begin,
                                 std::span<float> mixed) const {
    const Between row = between(position / to_);
    const Between column = between(position % to_);
    const std::array<std::pair<std::uint64_t, float>, 4> neighbours = {
        {{row.first * from_ + column.first, (1 - row.share) * (1 - column.share)},
         {row.first * from_ + column.second, (1 - row.share) * column.share},
         {row.second * from_ + column.first, row.share * (1 - column.share)},
         {row.second * from_ + column.second, row.share * column.share}}};
    std::vector<std::byte> scratch;
    std::vector<float> numbers(mixed.size());
    for (const auto& [place, share] : neighbours) {
      INGOT_TRY_VOID(read_floats(*source_, place * width_ + begin, scratch, numbers));
      for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] += share * numbers[i];
    }
    return {};
  }

  Numbers source_;
  std::uint64_t from_;
  std::uint64_t to_;
  std::uint64_t width_;
};

}  // namespace

Views apply(const ResizeGrid& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t to, step.number(operation.side, "side"));
  INGOT_TRY_VOID(make_uncut(view));
  const Shape shape = view.shape;
  const auto from = shape.size() == 3 && shape[0] == 1
                        ? static_cast<std::uint64_t>(std::sqrt(static_cast<double>(shape[1])))
                        : 0;
  if (from == 0 || from * from != shape[1] || to > max_grid_side) {
    return refuse(view.name, "[1, side * side, width] is expected, of a side up to " +
                                 std::to_string(max_grid_side));
  }
  if (from == to) return list_of(std::move(view));
  const Numbers numbers = std::move(view.parts.front().source);
  TensorView resized = view_of(view.name, {1, to * to, shape[2]},
                               std::make_shared<ResizedGrid>(numbers, from, to, shape[2]));
  resized.sources = std::move(view.sources);
  resized.applied = std::move(view.applied);
  return list_of(std::move(resized));
}

Views apply(const Renumber& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const nlohmann::json value, operation.layer.evaluate(step.context.rules));
  NameParts parts = step.parts;
  INGOT_TRY(parts.layer, count_of(value, "the layer of " + view.name));
  INGOT_TRY(view.name, fill_pattern(operation.to[0], parts, step.name));
  return list_of(std::move(view));
}

Views apply(const BatchNorm& operation, const TransformStep& step, TensorView view) {
  const std::vector<std::string>& names = step.rule.parts;
  const auto part =
      static_cast<std::size_t>(std::ranges::find(names, step.parts.part) - names.begin());
  INGOT_TRY_VOID(make_uncut(view));
  auto& stacks = step.waiting.stacks;
  const std::string layer = std::to_string(step.parts.layer.value_or(0));
  const auto stack = stacks.try_emplace({&step.rule, layer}).first;
  stack->second.wanted = batch_norm_parts;
  stack->second.views.try_emplace({part, 0}, std::move(view));
  if (stack->second.views.size() < batch_norm_parts) return list_of();

  WaitingStack whole = std::move(stacks.extract(stack).mapped());
  const auto of = [&](BatchNormPart wanted) -> TensorView& { return whole.views.at({wanted, 0}); };
  const auto numbers = [&](BatchNormPart wanted) { return of(wanted).parts.front().source; };
  for (const auto& [place, one] : whole.views) {
    if (one.shape != of(weight).shape) {
      return refuse(one.name, "its shape differs from that of the weight");
    }
  }
  const Numbers factor = combine(numbers(weight), numbers(running_var), [](float w, float var) {
    return w / std::sqrt(var + batch_norm_epsilon);
  });
  const Numbers shift =
      combine(numbers(running_mean), factor, [](float mean, float by) { return mean * by; });
  TensorView multiplied = of(weight);
  multiplied.parts.front().source = factor;
  TensorView added = of(bias);
  added.parts.front().source =
      combine(numbers(bias), shift, [](float b, float by) { return b - by; });
  for (const auto& [place, one] : whole.views) {
    if (place.first != weight) multiplied.sources.push_back(one.sources.front());
  }
  added.sources = multiplied.sources;
  return named_halves(step, operation.to, std::move(multiplied), std::move(added));
}

}  // namespace ingot::huggingface

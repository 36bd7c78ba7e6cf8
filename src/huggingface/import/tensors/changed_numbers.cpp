// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/changed_numbers.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/gather.hpp"
#include "ingot/quantize.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::uint64_t piece_numbers = std::uint64_t{1} << 16;

class ChangedNumbers final : public NumberSource {
 public:
  ChangedNumbers(std::shared_ptr<const NumberSource> source, NumberChange change, TensorType type)
      : source_(std::move(source)), change_(std::move(change)), type_(type) {}

  [[nodiscard]] TensorType type() const noexcept override { return type_; }
  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    std::vector<std::byte> scratch;
    std::vector<float> numbers(destination.size() / find_type(type_)->block_bytes);
    INGOT_TRY_VOID(read_floats(*source_, first, scratch, numbers));
    INGOT_TRY_VOID(change_(first, numbers));
    return quantize(type_, numbers, numbers.size(), destination);
  }
  [[nodiscard]] const NumberSource* unchanged() const noexcept override {
    return source_->unchanged();
  }

 private:
  std::shared_ptr<const NumberSource> source_;
  NumberChange change_;
  TensorType type_;
};

class ZeroNumbers final : public NumberSource {
 public:
  explicit ZeroNumbers(TensorType type) : type_(type) {}
  [[nodiscard]] TensorType type() const noexcept override { return type_; }
  [[nodiscard]] Result<void> read(std::uint64_t, std::span<std::byte> destination) const override {
    std::ranges::fill(destination, std::byte{0});
    return {};
  }

 private:
  TensorType type_;
};

/// The numbers of parts in the order of their axes.
class JoinedNumbers final : public NumberSource {
 public:
  explicit JoinedNumbers(std::vector<Arrangement> parts) {
    std::uint64_t elements = 0;
    for (Arrangement& part : parts) {
      std::uint64_t size = 1;
      std::vector<Step> steps;
      for (const Axis& axis : part.axes) {
        size *= size_of(axis);
        steps.insert(steps.end(), axis.begin(), axis.end());
      }
      if (size == 0) continue;
      steps = simplify(steps);
      if (steps.empty()) steps.push_back({});
      parts_.push_back({std::move(part.source), part.first, std::move(steps), elements});
      elements += size;
    }
  }

  [[nodiscard]] TensorType type() const noexcept override { return parts_.front().source->type(); }
  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    const std::size_t bytes = find_type(type())->block_bytes;
    std::vector<std::byte> scratch;
    while (!destination.empty()) {
      // A run is along the innermost step.
      const Part& part =
          *std::prev(std::ranges::upper_bound(parts_, first, {}, &Part::first_element));
      const Step inner = part.steps.back();
      std::uint64_t rest = first - part.first_element;
      const std::uint64_t begin = rest % inner.size;
      std::uint64_t place = part.first + begin * inner.stride;
      rest /= inner.size;
      for (std::size_t i = part.steps.size() - 1; i-- > 0;) {
        place += rest % part.steps[i].size * part.steps[i].stride;
        rest /= part.steps[i].size;
      }
      const std::uint64_t count =
          std::min<std::uint64_t>(inner.size - begin, destination.size() / bytes);
      const Step run[] = {{count, inner.stride}};
      const std::size_t run_bytes = static_cast<std::size_t>(count) * bytes;
      INGOT_TRY_VOID(gather(*part.source, place, run, scratch, destination.first(run_bytes)));
      destination = destination.subspan(run_bytes);
      first += count;
    }
    return {};
  }

 private:
  struct Part {
    std::shared_ptr<const NumberSource> source;
    std::uint64_t first;
    std::vector<Step> steps;
    std::uint64_t first_element;
  };
  std::vector<Part> parts_;
};

}  // namespace

Result<void> read_floats(const NumberSource& source, std::uint64_t first,
                         std::vector<std::byte>& scratch, std::span<float> numbers) {
  scratch.resize(numbers.size() * find_type(source.type())->block_bytes);
  INGOT_TRY_VOID(source.read(first, scratch));
  return dequantize(source.type(), scratch, numbers);
}

std::shared_ptr<const NumberSource> change_numbers(std::shared_ptr<const NumberSource> source,
                                                   NumberChange change,
                                                   std::optional<TensorType> type) {
  const bool stays_f16 = source->type() == TensorType::f16;
  const TensorType usual = stays_f16 ? TensorType::f16 : TensorType::f32;
  return std::make_shared<ChangedNumbers>(std::move(source), std::move(change),
                                          type.value_or(usual));
}

std::shared_ptr<const NumberSource> zero_numbers(TensorType type) {
  return std::make_shared<ZeroNumbers>(type);
}

Result<void> make_plain(TensorView& view) {
  const TensorType type = view.parts.front().source->type();
  for (const Arrangement& part : view.parts) {
    if (part.source->type() != type) return refuse(view.name, "its parts have different types");
  }
  TensorView plain = view_of({}, view.shape, nullptr);
  const Arrangement& only = view.parts.front();
  if (view.parts.size() == 1 && only.first == 0 && only.axes == plain.parts.front().axes) return {};
  if (std::ranges::count(view.shape, 0u) != 0) return refuse(view.name, "it has no elements");
  plain.parts.front().source = std::make_shared<JoinedNumbers>(std::move(view.parts));
  view.parts = std::move(plain.parts);
  return {};
}

Result<void> for_each_piece(
    const NumberSource& source, std::uint64_t count,
    const std::function<Result<void>(std::uint64_t first, std::span<const float> numbers)>& use) {
  std::vector<std::byte> scratch;
  std::vector<float> numbers;
  for (std::uint64_t first = 0; first < count; first += numbers.size()) {
    numbers.resize(static_cast<std::size_t>(std::min(count - first, piece_numbers)));
    INGOT_TRY_VOID(read_floats(source, first, scratch, numbers));
    INGOT_TRY_VOID(use(first, numbers));
  }
  return {};
}

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
// Operations that join tensors of different names, copy them, and keep integers.
#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "base/byte_order.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/import/tensors/operation_steps.hpp"

namespace ingot::huggingface {
namespace {

/// The most numbers that from_positions takes: as many as a vocabulary has.
constexpr std::uint64_t max_positions = std::uint64_t{1} << 20;

/// Integers of 64 bits in 32.
class NarrowIntegers final : public NumberSource {
 public:
  explicit NarrowIntegers(std::shared_ptr<const NumberSource> source)
      : source_(std::move(source)) {}

  [[nodiscard]] TensorType type() const noexcept override { return TensorType::i32; }
  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    std::vector<std::byte> wide(destination.size() * 2);
    INGOT_TRY_VOID(source_->read(first, wide));
    for (std::size_t at = 0; at < destination.size(); at += sizeof(std::int32_t)) {
      const auto number = static_cast<std::int64_t>(load_little<std::uint64_t>(&wide[at * 2]));
      if (number < std::numeric_limits<std::int32_t>::min() ||
          number > std::numeric_limits<std::int32_t>::max()) {
        return refuse(std::to_string(number), "the number does not fit 32 bits");
      }
      const auto narrow = static_cast<std::int32_t>(number);
      std::memcpy(&destination[at], &narrow, sizeof narrow);
    }
    return {};
  }

 private:
  std::shared_ptr<const NumberSource> source_;
};

/// Integers of 64 bits in memory.
class HeldIntegers final : public NumberSource {
 public:
  explicit HeldIntegers(std::vector<std::int64_t> numbers) : numbers_(std::move(numbers)) {}
  [[nodiscard]] TensorType type() const noexcept override { return TensorType::i64; }
  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    std::memcpy(destination.data(), &numbers_[static_cast<std::size_t>(first)], destination.size());
    return {};
  }

 private:
  std::vector<std::int64_t> numbers_;
};

/// The tensors of all parts in their order, once the last of them has come; until then nothing.
Result<std::vector<TensorView>> collect_parts(const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(part_of(view, 0));
  const std::vector<std::string>& parts = step.rule.parts;
  const auto part =
      static_cast<std::size_t>(std::ranges::find(parts, step.parts.part) - parts.begin());
  auto& stacks = step.waiting.stacks;
  const std::string layer = std::to_string(step.parts.layer.value_or(0));
  const auto stack = stacks.try_emplace({&step.rule, layer}).first;
  stack->second.wanted = parts.size();
  if (!stack->second.views.try_emplace({part, 0}, std::move(view)).second) {
    return refuse(step.name, "the tensor is there twice");
  }
  std::vector<TensorView> whole;
  if (stack->second.views.size() < parts.size()) return whole;
  WaitingStack found = std::move(stacks.extract(stack).mapped());
  for (auto& [place, one] : found.views) whole.push_back(std::move(one));
  return whole;
}

}  // namespace

Views apply(const StackParts& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(std::vector<TensorView> whole, collect_parts(step, std::move(view)));
  if (whole.empty()) return list_of();
  TensorView result;
  INGOT_TRY(result.name, step.filled(operation.to[0]));
  result.applied.emplace_back(StackParts::name);
  for (TensorView& one : whole) {
    if (result.parts.empty()) {
      result.type = one.type;
      result.shape = one.shape;
      result.shape.insert(result.shape.begin(), whole.size());
    } else if (!std::equal(one.shape.begin(), one.shape.end(), result.shape.begin() + 1,
                           result.shape.end())) {
      return refuse(one.name, "its shape differs from that of the first of its stack");
    }
    result.parts.push_back(std::move(one.parts.front()));
    result.sources.push_back(one.sources.front());
  }
  return list_of(std::move(result));
}

Views apply(const JoinColumns& operation, const TransformStep& step, TensorView view) {
  if (view.shape.size() != 2 || view.shape[0] > max_stacked) {
    return refuse(view.name,
                  "a matrix of at most " + std::to_string(max_stacked) + " rows is expected");
  }
  INGOT_TRY(const std::vector<TensorView> whole, collect_parts(step, std::move(view)));
  if (whole.empty()) return list_of();
  TensorView result = {.shape = {whole.front().shape[0], 0}, .place = TensorPlace::before_others};
  INGOT_TRY(result.name, step.filled(operation.to[0]));
  result.applied.emplace_back(JoinColumns::name);
  for (const TensorView& one : whole) {
    if (one.shape[0] != result.shape[0]) {
      return refuse(one.name, "it has not as many rows as the one that it is joined to");
    }
    result.shape[1] += one.shape[1];
    result.sources.push_back(one.sources.front());
  }
  for (std::size_t row = 0; row < result.shape[0]; ++row) {
    for (const TensorView& one : whole) {
      Arrangement& part = result.parts.emplace_back(one.parts.front());
      INGOT_TRY_VOID(cut_axis(part, part.axes.front(), row, 1));
    }
  }
  return list_of(std::move(result));
}

Views apply(const CopyTensor& operation, const TransformStep& step, TensorView view) {
  view.applied.pop_back();
  TensorView copy = view;
  INGOT_TRY(copy.name, step.filled(operation.to[0]));
  return list_of(std::move(copy), std::move(view));
}

Views apply(const AsInt32&, const TransformStep&, TensorView view) {
  INGOT_TRY(Arrangement* const part, part_of(view, 0));
  if (part->source->type() == TensorType::i64) {
    part->source = std::make_shared<NarrowIntegers>(std::move(part->source));
  } else if (part->source->type() != TensorType::i32) {
    return refuse(view.name, "whole numbers are expected");
  }
  view.type = TensorType::i32;
  view.place = TensorPlace::first;
  return list_of(std::move(view));
}

Views apply(const FromPositions& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t limit, step.number(operation.limit, "limit"));
  INGOT_TRY_VOID(make_uncut(view));
  Arrangement& part = view.parts.front();
  const std::uint64_t count = element_count(view);
  if (part.source->type() != TensorType::i64 || view.shape.size() != 1 || count > max_positions) {
    return refuse(view.name, "a list of I64 is expected");
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof(std::int64_t));
  INGOT_TRY_VOID(part.source->read(0, bytes));
  std::vector<std::int64_t> numbers;
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < count; ++i) {
    const auto stored = load_little<std::uint64_t>(&bytes[i * sizeof(std::int64_t)]);
    const auto number = static_cast<std::int64_t>(stored + i);
    if (number < 0 || static_cast<std::uint64_t>(number) >= limit) {
      return refuse(view.name, "number " + std::to_string(i) + " becomes " +
                                   std::to_string(number) + ", where " + std::to_string(limit) +
                                   " is the limit");
    }
    if (!seen.insert(number).second) {
      return refuse(view.name, std::to_string(number) + " is there twice");
    }
    numbers.push_back(number);
  }
  part.source = std::make_shared<HeldIntegers>(std::move(numbers));
  view.type = TensorType::i64;
  view.place = TensorPlace::last;
  return list_of(std::move(view));
}

/// The plan takes codes with their scales before any transform.
Views apply(const Mxfp4Stack&, const TransformStep& step, const TensorView&) {
  return refuse(step.name, "codes of FP4 with scales beside them are expected");
}

}  // namespace ingot::huggingface

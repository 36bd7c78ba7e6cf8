// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/rule_operations.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/import/tensors/lora_product.hpp"
#include "huggingface/import/tensors/operation_steps.hpp"

namespace ingot::huggingface {
namespace {

template <class Operation>
concept is_undone = requires(const Operation& operation, const RuleContext& context,
                             ReturningTensor& tensor) {
  undo(operation, context, tensor);
};

template <class Operation>
concept is_arranging = requires(const Operation& operation, const RuleContext& context,
                                Shapes shapes) {
  shape_before(operation, context, shapes);
};

template <class Operation>
Failure no_way_back(std::string_view tensor) {
  return refuse(std::string(tensor),
                "the transform " + std::string(Operation::name) + " has no way back");
}

}  // namespace

std::uint64_t element_count(const TensorView& view) noexcept {
  std::uint64_t count = 1;
  for (const std::uint64_t size : view.shape) count *= size;  // a tensor, whose size was checked
  return count;
}

Result<void> make_uncut(TensorView& view) {
  if (is_product(view)) return refuse(view.name, "an adapter for this tensor cannot be cut here");
  return make_plain(view);
}

Result<Arrangement*> part_of(TensorView& view, std::size_t axis_count) {
  if (view.parts.size() != 1) INGOT_TRY_VOID(make_uncut(view));
  Arrangement& part = view.parts.front();
  if (part.axes.size() < axis_count) {
    return refuse(view.name, "at least " + std::to_string(axis_count) + " dimensions are expected");
  }
  return &part;
}

Result<std::size_t> find_axis(const TensorView& view, std::int64_t number) {
  const auto count = static_cast<std::int64_t>(view.shape.size());
  if (number < -count || number >= count) {
    return refuse(view.name, "it has no axis " + std::to_string(number));
  }
  return static_cast<std::size_t>(number < 0 ? count + number : number);
}

Result<void> swap_last_axes(TensorView& view) {
  INGOT_TRY(Arrangement* const part, part_of(view, 2));
  std::iter_swap(part->axes.rbegin(), std::next(part->axes.rbegin()));
  settle_shape(view);
  return {};
}

Result<std::vector<std::uint64_t>> settle_sizes(const TransformStep& step,
                                                std::span<const Expression> sizes,
                                                std::uint64_t whole, bool by_product) {
  std::vector<std::uint64_t> settled;
  std::uint64_t* open = nullptr;
  std::uint64_t known = by_product ? 1 : 0;
  bool fits = true;
  settled.reserve(sizes.size());
  for (const Expression& size : sizes) {
    std::uint64_t& value = settled.emplace_back(0);
    if (!size.is_set()) {
      if (open != nullptr) return refuse("rule", "only one size may be left open");
      open = &value;
      continue;
    }
    INGOT_TRY(value, step.number(size, "size"));
    fits = fits && !(by_product ? __builtin_mul_overflow(known, value, &known)
                                : __builtin_add_overflow(known, value, &known));
  }
  if (fits && open != nullptr && known < whole) {
    *open = by_product ? whole / known : whole - known;
    known = by_product ? known * *open : whole;
  } else if (fits && open != nullptr && by_product && known == whole) {
    *open = 1;
  }
  const bool is_full = std::ranges::count(settled, 0u) == 0;
  if (fits && known == whole && is_full) return settled;
  return refuse(step.name, "its " + std::to_string(whole) +
                               (by_product ? " elements" : " positions") +
                               " do not make the sizes of " + std::string(step.operation_name()));
}

Result<void> name_results(const TransformStep& step, std::span<const std::string> patterns,
                          std::span<TensorView> views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    INGOT_TRY(views[i].name, step.filled(patterns[i]));
  }
  return {};
}

Views named_halves(const TransformStep& step, const ResultNames<2>& to, TensorView first,
                   TensorView second) {
  std::vector<TensorView> views = list_of(std::move(first), std::move(second));
  INGOT_TRY_VOID(name_results(step, to, views));
  return views;
}

Result<std::uint64_t> TransformStep::number(const Expression& expression,
                                            std::string_view which) const {
  return expression.evaluate_count(context.rules, "the number `" + std::string(which) + "`");
}

std::string_view TransformStep::operation_name() const {
  return std::visit([]<class Operation>(const Operation&) { return Operation::name; },
                    rule.operation);
}

Result<std::string> TransformStep::filled(const std::string& pattern) const {
  return fill_pattern(pattern, parts, name);
}

Result<std::vector<TensorView>> apply_operation(const TransformStep& step, TensorView view) {
  return std::visit(
      [&]<class Operation>(const Operation& operation) {
        // The others change no numbers, or name themselves.
        constexpr bool is_quiet =
            one_of<Operation, RenameTensor, DropTensor, DropLayers, DropZeros, StackTensors,
                   FirstOnly, DropIfEqual, ExactName, StackParts, JoinColumns, Renumber>;
        if (!is_quiet) view.applied.emplace_back(Operation::name);
        return apply(operation, step, std::move(view));
      },
      step.rule.operation);
}

Result<void> undo_operation(const TransformRule& rule, const RuleContext& context,
                            ReturningTensor& tensor) {
  return std::visit(
      [&]<class Operation>(const Operation& operation) -> Result<void> {
        if constexpr (is_undone<Operation>) return undo(operation, context, tensor);
        return no_way_back<Operation>(tensor.name);
      },
      rule.operation);
}

bool arranges(const TransformRule& rule) {
  return std::visit([]<class Operation>(const Operation&) { return is_arranging<Operation>; },
                    rule.operation);
}

Result<std::vector<std::string>> result_names(const TransformRule& rule, const NameParts& parts,
                                              const std::string& name) {
  std::vector<std::string> patterns;
  std::visit(
      [&]<class Operation>(const Operation& operation) {
        if constexpr (requires { operation.to.size(); }) {
          patterns.assign(operation.to.begin(), operation.to.end());
        }
      },
      rule.operation);
  if (patterns.empty() || patterns[0].empty()) return std::vector<std::string>{name};
  for (std::string& pattern : patterns) {
    INGOT_TRY(pattern, fill_pattern(pattern, parts, name));
  }
  return patterns;
}

Result<std::vector<std::uint64_t>> shape_before_operation(
    const TransformRule& rule, const RuleContext& context,
    std::span<const std::vector<std::uint64_t>> shapes) {
  return std::visit(
      [&]<class Operation>(const Operation& operation) -> Result<std::vector<std::uint64_t>> {
        if constexpr (is_arranging<Operation>) return shape_before(operation, context, shapes);
        return no_way_back<Operation>("tensors");
      },
      rule.operation);
}

}  // namespace ingot::huggingface

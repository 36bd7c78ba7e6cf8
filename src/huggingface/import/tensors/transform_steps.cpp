// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/transform_steps.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "ingot/types.hpp"

namespace ingot::huggingface {
namespace {

template <class... View>
std::vector<TensorView> list_of(View... view) {
  std::vector<TensorView> views;
  (views.push_back(std::move(view)), ...);
  return views;
}

/// The only part of a view with at least `axis_count` dimensions.
Result<Arrangement*> part_of(TensorView& view, std::size_t axis_count) {
  if (view.parts.size() != 1) return refuse(view.name, "it was joined before");
  Arrangement& part = view.parts.front();
  if (part.axes.size() < axis_count) {
    return refuse(view.name, "at least " + std::to_string(axis_count) + " dimensions are expected");
  }
  return &part;
}

Result<void> swap_last_axes(TensorView& view) {
  INGOT_TRY(Arrangement* const part, part_of(view, 2));
  std::iter_swap(part->axes.rbegin(), std::next(part->axes.rbegin()));
  settle_shape(view);
  return {};
}

Result<void> pair_rows(TensorView& view, std::uint64_t heads) {
  INGOT_TRY(Arrangement* const part, part_of(view, 1));
  INGOT_TRY(const std::vector<Axis> axes, split_axis(part->axes[0], {heads, 2, 0}));
  part->axes[0] = join_axes(std::array{axes[0], axes[2], axes[1]});
  return {};
}

/// Takes one position of the part `cut`, and all of the other part, of an axis that `sizes` cuts in
/// two.
Result<TensorView> slice(const TensorView& view, std::size_t axis,
                         std::array<std::uint64_t, 2> sizes, std::size_t cut, std::uint64_t index) {
  TensorView result = view;
  Arrangement& part = result.parts.front();
  INGOT_TRY(std::vector<Axis> axes, split_axis(part.axes[axis], {sizes[0], sizes[1]}));
  INGOT_TRY_VOID(cut_axis(part, axes[cut], index, 1));
  part.axes[axis] = axes[1 - cut];
  settle_shape(result);
  return result;
}

/// Keeps every `count`-th position of an axis, from `index` on.
Result<TensorView> every(const TensorView& view, std::size_t axis, std::uint64_t count,
                         std::uint64_t index) {
  return slice(view, axis, {0, count}, 1, index);
}

/// The block `index` of `count` equal blocks along an axis.
Result<TensorView> block(const TensorView& view, std::size_t axis, std::uint64_t count,
                         std::uint64_t index) {
  return slice(view, axis, {count, 0}, 0, index);
}

/// Queries, keys and values of rows (groups, queries of a group + 2, r).
Result<std::array<TensorView, 3>> split_groups(const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number("heads"));
  INGOT_TRY(const std::uint64_t groups, step.number("kv_heads"));
  INGOT_TRY(Arrangement* const whole, part_of(view, 1));
  if (heads % groups != 0) {
    return refuse(view.name, "the number of heads must be a multiple of that of key heads");
  }
  const std::uint64_t queries = heads / groups;
  INGOT_TRY(const std::vector<Axis> axes, split_axis(whole->axes[0], {groups, queries + 2, 0}));
  const std::array<std::pair<std::uint64_t, std::uint64_t>, 3> ranges = {
      {{0, queries}, {queries, 1}, {queries + 1, 1}}};
  std::array<TensorView, 3> views = {view, view, view};
  for (std::size_t i = 0; i < views.size(); ++i) {
    Arrangement& part = views[i].parts.front();
    Axis within = axes[1];
    INGOT_TRY_VOID(cut_axis(part, within, ranges[i].first, ranges[i].second));
    part.axes[0] = join_axes(std::array{axes[0], within, axes[2]});
    settle_shape(views[i]);
  }
  return views;
}

std::size_t axis_from_end(const TensorView& view, std::int64_t axis) {
  const auto count = static_cast<std::int64_t>(view.shape.size());
  return static_cast<std::size_t>(axis < 0 ? count + axis : axis);
}

}  // namespace

Result<std::uint64_t> TransformStep::number(std::string_view which) const {
  const auto found = rule.numbers.find(which);
  if (found == rule.numbers.end()) {
    return refuse("rule", rule.operation + " needs " + std::string(which));
  }
  return found->second.evaluate_count(context.rules, "the number `" + std::string(which) + "`");
}

Result<std::string> TransformStep::result_name(std::size_t index) const {
  if (index >= rule.to.size()) return refuse("rule", rule.operation + " needs more names");
  return fill_pattern(rule.to[index], parts, name);
}

Views rope_pairs(const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number("heads"));
  INGOT_TRY_VOID(pair_rows(view, heads));
  return list_of(std::move(view));
}

Views transpose(const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(swap_last_axes(view));
  if (!step.rule.to.empty()) {
    INGOT_TRY(view.name, step.result_name(0));
  }
  return list_of(std::move(view));
}

Views add(const TransformStep& step, TensorView view) {
  view.added += step.rule.value;
  return list_of(std::move(view));
}

Views rename(const TransformStep& step, TensorView view) {
  INGOT_TRY(const bool is_meant, applies(step.rule, step.context.rules));
  if (is_meant) {
    INGOT_TRY(view.name, step.result_name(0));
  }
  return list_of(std::move(view));
}

Views name_halves(const TransformStep& step, TensorView first, TensorView second) {
  INGOT_TRY(first.name, step.result_name(0));
  INGOT_TRY(second.name, step.result_name(1));
  return list_of(std::move(first), std::move(second));
}

Views split_rows_half(const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(part_of(view, 2));
  const std::size_t axis = view.shape.size() - 2;
  INGOT_TRY(TensorView first, block(view, axis, 2, 0));
  INGOT_TRY(TensorView second, block(view, axis, 2, 1));
  return name_halves(step, std::move(first), std::move(second));
}

Views deinterleave(const TransformStep& step, TensorView view) {
  const std::size_t axis = axis_from_end(view, step.rule.axis);
  INGOT_TRY_VOID(part_of(view, axis + 1));
  INGOT_TRY(TensorView even, every(view, axis, 2, 0));
  INGOT_TRY(TensorView odd, every(view, axis, 2, 1));
  return name_halves(step, std::move(even), std::move(odd));
}

Views transpose_deinterleave(const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(swap_last_axes(view));
  return deinterleave(step, std::move(view));
}

Views split_interleaved_qkv(const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number("heads"));
  INGOT_TRY(Arrangement* const part, part_of(view, 1));
  INGOT_TRY(const std::vector<Axis> axes, split_axis(part->axes[0], {heads, 3, 0}));
  part->axes[0] = join_axes(std::array{axes[1], axes[0], axes[2]});
  return list_of(std::move(view));
}

Views grouped_qkv(const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number("heads"));
  INGOT_TRY(const std::uint64_t groups, step.number("kv_heads"));
  INGOT_TRY(auto views, split_groups(step, std::move(view)));
  INGOT_TRY_VOID(pair_rows(views[0], heads));
  INGOT_TRY_VOID(pair_rows(views[1], groups));
  for (std::size_t i = 0; i < views.size(); ++i) {
    INGOT_TRY(views[i].name, step.result_name(i));
  }
  return list_of(std::move(views[0]), std::move(views[1]), std::move(views[2]));
}

Views falcon_qkv(const TransformStep& step, TensorView view) {
  INGOT_TRY(auto views, split_groups(step, view));
  std::vector<Arrangement> parts;
  for (TensorView& one : views) parts.push_back(std::move(one.parts.front()));
  view.parts = std::move(parts);
  return list_of(std::move(view));
}

Views three_parts(const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(part_of(view, 1));
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < 3; ++i) {
    INGOT_TRY(TensorView part, block(view, 0, 3, i));
    if (i < step.rule.part_heads.size() && step.rule.part_heads[i].is_set()) {
      INGOT_TRY(const std::uint64_t heads,
                step.rule.part_heads[i].evaluate_count(step.context.rules, "the number of heads"));
      INGOT_TRY_VOID(pair_rows(part, heads));
    }
    INGOT_TRY(part.name, step.result_name(i));
    views.push_back(std::move(part));
  }
  return views;
}

Views mla_split(const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number("heads"));
  INGOT_TRY(const std::uint64_t nope, step.number("nope"));
  INGOT_TRY(const std::uint64_t values, step.number("v"));
  INGOT_TRY(Arrangement* const whole, part_of(view, 2));
  if (nope > whole->axes[0].front().size || values > whole->axes[0].front().size) {
    return refuse(view.name, "it has fewer rows than one head");
  }
  INGOT_TRY(const std::vector<Axis> axes, split_axis(whole->axes[0], {heads, nope + values}));
  const Axis columns = whole->axes[1];
  TensorView k_b = view;
  Arrangement& k_part = k_b.parts.front();
  Axis k_rows = axes[1];
  INGOT_TRY_VOID(cut_axis(k_part, k_rows, 0, nope));
  k_part.axes = {axes[0], columns, k_rows};
  settle_shape(k_b);
  INGOT_TRY(k_b.name, step.result_name(0));
  Arrangement& v_part = view.parts.front();
  Axis v_rows = axes[1];
  INGOT_TRY_VOID(cut_axis(v_part, v_rows, nope, values));
  v_part.axes = {axes[0], v_rows, columns};
  settle_shape(view);
  INGOT_TRY(view.name, step.result_name(1));
  return list_of(std::move(k_b), std::move(view));
}

Views cut_rows_to_vocab(const TransformStep& step, TensorView view) {
  INGOT_TRY(Arrangement* const part, part_of(view, 1));
  const std::uint64_t tokens = step.context.tokens.size();
  if (tokens == 0) return refuse(view.name, "the number of tokens is not known");
  if (tokens < view.shape[0]) {
    INGOT_TRY_VOID(cut_axis(*part, part->axes[0], 0, tokens));
    settle_shape(view);
  } else {
    view.applied.pop_back();
  }
  return list_of(std::move(view));
}

Views take_rows(const TransformStep& step, TensorView view) {
  INGOT_TRY(const bool is_meant, applies(step.rule, step.context.rules));
  if (!is_meant) {
    view.applied.pop_back();
    return list_of(std::move(view));
  }
  INGOT_TRY(const Arrangement* const whole, part_of(view, 2));
  const Array& texts = step.context.tokens;
  TensorView rows = view;
  rows.parts.clear();
  rows.shape.front() = step.rule.tokens.size();
  INGOT_TRY(rows.name, step.result_name(0));
  for (const std::string& token : step.rule.tokens) {
    const auto found = std::ranges::find_if(texts, [&](const Value& text) {
      return text.get<std::string_view>().value_or("") == token;
    });
    if (found == texts.end()) return refuse(view.name, "no token is \"" + token + "\"");
    const auto id = static_cast<std::uint64_t>(std::distance(texts.begin(), found));
    Arrangement& row = rows.parts.emplace_back(*whole);
    INGOT_TRY_VOID(cut_axis(row, row.axes.front(), id, 1));
  }
  if (step.rule.to.size() < 2) return list_of(std::move(rows));
  view.applied.pop_back();
  INGOT_TRY(view.name, step.result_name(1));
  return list_of(std::move(rows), std::move(view));
}

Views drop(const TransformStep& step, TensorView view) {
  INGOT_TRY(const bool is_meant, applies(step.rule, step.context.rules));
  return is_meant ? list_of() : list_of(std::move(view));
}

Views drop_layers(const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t first, step.number("first"));
  if (step.parts.layer.value_or(0) >= first) return list_of();
  return list_of(std::move(view));
}

Views drop_zeros(const TransformStep&, TensorView view) {
  constexpr std::size_t piece_bytes = 1 << 16;
  INGOT_TRY(const Arrangement* const part, part_of(view, 0));
  const std::uint64_t element_bytes = find_type(part->source->type())->block_bytes;
  std::uint64_t count = 1;
  for (const std::uint64_t size : view.shape) count *= size;
  std::vector<std::byte> bytes;
  for (std::uint64_t first = 0; first < count;) {
    const std::uint64_t taken = std::min(count - first, piece_bytes / element_bytes);
    bytes.resize(static_cast<std::size_t>(taken * element_bytes));
    INGOT_TRY_VOID(part->source->read(first, bytes));
    // -0.0 is zero, too; no float of 0 has other bits than those of the sign.
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool is_top = (i + 1) % element_bytes == 0;
      if ((bytes[i] & std::byte(is_top ? 0x7f : 0xff)) != std::byte{0}) {
        return refuse(view.name,
                      "only zeros are expected here; the architecture has no place for it");
      }
    }
    first += taken;
  }
  return list_of();
}

}  // namespace ingot::huggingface

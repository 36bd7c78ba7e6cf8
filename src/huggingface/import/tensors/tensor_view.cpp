// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/tensor_view.hpp"

#include <algorithm>
#include <utility>

#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {
namespace {

Failure does_not_divide(std::uint64_t size, std::uint64_t part) {
  return refuse(
      {}, "a dimension of " + std::to_string(size) + " is no multiple of " + std::to_string(part));
}

/// Takes steps of the product `size` from the end of `axis`.
Result<Axis> take_inner(Axis& axis, std::uint64_t size) {
  Axis taken;
  std::uint64_t needed = size;
  while (needed > 1) {
    if (axis.empty()) return does_not_divide(1, size);
    Step& last = axis.back();
    if (needed % last.size == 0) {
      needed /= last.size;
      taken.push_back(last);
      axis.pop_back();
    } else if (last.size % needed == 0) {
      taken.push_back({needed, last.stride});
      last = {last.size / needed, last.stride * needed};
      needed = 1;
    } else {
      return does_not_divide(last.size, needed);
    }
  }
  std::ranges::reverse(taken);
  return taken;
}

}  // namespace

std::uint64_t size_of(const Axis& axis) noexcept {
  std::uint64_t size = 1;
  for (const Step& step : axis) size *= step.size;  // a part of a tensor, whose size was checked
  return size;
}

TensorView view_of(std::string name, std::vector<std::uint64_t> shape,
                   std::shared_ptr<const NumberSource> source) {
  Arrangement part{.source = std::move(source)};
  part.axes.resize(shape.size());
  std::uint64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    part.axes[i] = {{shape[i], stride}};
    stride *= shape[i];
  }
  TensorView view{.name = name, .shape = std::move(shape)};
  view.sources.push_back(std::move(name));
  view.parts.push_back(std::move(part));
  return view;
}

Result<std::vector<Axis>> split_axis(const Axis& axis, std::vector<std::uint64_t> sizes) {
  const std::uint64_t whole = size_of(axis);
  std::uint64_t known = 1;
  for (const std::uint64_t size : sizes) {
    if (size != 0 && __builtin_mul_overflow(known, size, &known))
      return does_not_divide(whole, size);
  }
  if (whole == 0 || whole % known != 0) return does_not_divide(whole, known);
  const auto open = std::ranges::find(sizes, 0u);
  if (open != sizes.end()) {
    *open = whole / known;
  } else if (whole != known) {
    return refuse({},
                  "a dimension of " + std::to_string(whole) + " must be " + std::to_string(known));
  }
  Axis rest = axis;
  std::vector<Axis> axes(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0;) {
    INGOT_TRY(axes[i], take_inner(rest, sizes[i]));
  }
  return axes;
}

Axis join_axes(std::span<const Axis> axes) {
  Axis joined;
  for (const Axis& axis : axes) joined.insert(joined.end(), axis.begin(), axis.end());
  return joined;
}

Result<void> cut_axis(Arrangement& part, Axis& axis, std::uint64_t begin, std::uint64_t count) {
  const std::uint64_t size = size_of(axis);
  if (begin > size || count > size - begin) {
    return refuse({}, "a dimension of " + std::to_string(size) + " has no positions " +
                          std::to_string(begin) + " to " + std::to_string(begin + count));
  }
  if (axis.size() > 1) return refuse({}, "the dimension was reordered before");
  if (axis.empty()) axis.push_back({});
  part.first += begin * axis.front().stride;
  axis.front().size = count;
  return {};
}

Result<TensorView> join_rows_of_experts(TensorView first, TensorView second) {
  if (first.shape.size() != 3 || second.shape.size() != 3 || first.shape[0] != second.shape[0] ||
      first.shape[2] != second.shape[2]) {
    return refuse(second.name, "its shape does not fit that of " + first.name);
  }
  const auto experts = static_cast<std::size_t>(first.shape[0]);
  for (TensorView* const view : {&first, &second}) {
    if (view->parts.size() == experts) continue;
    if (view->parts.size() != 1) return refuse(view->name, "its experts cannot be told apart");
    std::vector<Arrangement> parts;
    for (std::size_t expert = 0; expert < experts; ++expert) {
      Arrangement& part = parts.emplace_back(view->parts.front());
      INGOT_TRY_VOID(cut_axis(part, part.axes.front(), expert, 1));
    }
    view->parts = std::move(parts);
  }
  TensorView joined = std::move(first);
  std::vector<Arrangement> parts;
  for (std::size_t expert = 0; expert < experts; ++expert) {
    parts.push_back(std::move(joined.parts[expert]));
    parts.push_back(std::move(second.parts[expert]));
  }
  joined.parts = std::move(parts);
  joined.shape[1] += second.shape[1];
  joined.sources.insert(joined.sources.end(), second.sources.begin(), second.sources.end());
  return joined;
}

void settle_shape(TensorView& view) {
  view.shape.clear();
  for (const Axis& axis : view.parts.front().axes) view.shape.push_back(size_of(axis));
}

}  // namespace ingot::huggingface

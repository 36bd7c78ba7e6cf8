// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/lora_product.hpp"

#include <algorithm>
#include <optional>

#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {
namespace {

Failure no_product(const TensorView& view) {
  return refuse(view.name, "an adapter for this tensor cannot be kept as two halves");
}

/// Whether an axis counts rows of the product, or columns; nothing if it has one position.
Result<std::optional<bool>> counts_rows(const TensorView& view, const Axis& axis,
                                        std::uint64_t column_count) {
  std::optional<bool> found;
  for (const Step& step : axis) {
    if (step.size == 1) continue;
    const bool is_row = step.stride >= column_count;
    if (found && *found != is_row) return no_product(view);
    found = is_row;
  }
  return found;
}

/// Arranges one half of a part of a view, with the ranks as its outermost or innermost axis.
Arrangement half_part(const Arrangement& part, const LoraProduct& product, bool of_rows,
                      const Axis& axis, bool ranks_first) {
  const LoraHalf& half = product.half(of_rows);
  const std::uint64_t columns = product.column_count();
  const std::uint64_t first = of_rows ? part.first / columns : part.first % columns;
  Axis positions;
  for (const Step& step : axis) {
    const std::uint64_t stride = of_rows ? step.stride / columns : step.stride;
    positions.push_back({step.size, stride * half.stride});
  }
  const Axis ranks = {{product.rank(), half.rank_stride}};
  Arrangement result{.source = half.numbers, .first = first * half.stride};
  result.axes =
      ranks_first ? std::vector<Axis>{ranks, positions} : std::vector<Axis>{positions, ranks};
  return result;
}

/// Adds the halves of one part. Which axis counts rows, a transpose decides.
Result<void> add_part(const TensorView& view, const Arrangement& part, bool is_token_embedding,
                      LoraHalves& halves) {
  const auto* const product = dynamic_cast<const LoraProduct*>(part.source.get());
  if (product == nullptr || part.axes.size() != 2) return no_product(view);
  const std::uint64_t columns = product->column_count();
  INGOT_TRY(const std::optional<bool> outer, counts_rows(view, part.axes[0], columns));
  INGOT_TRY(const std::optional<bool> inner, counts_rows(view, part.axes[1], columns));
  const bool outer_is_rows = outer ? *outer : !inner.value_or(false);
  if (inner.value_or(!outer_is_rows) == outer_is_rows) return no_product(view);
  Arrangement rows = half_part(part, *product, outer_is_rows, part.axes[0], false);
  Arrangement of_columns =
      half_part(part, *product, !outer_is_rows, part.axes[1], !is_token_embedding);
  halves.a.sources.push_back(product->half(is_token_embedding == outer_is_rows).name);
  halves.b.sources.push_back(product->half(is_token_embedding != outer_is_rows).name);
  if (is_token_embedding) std::swap(rows, of_columns);
  halves.a.parts.push_back(std::move(of_columns));
  halves.b.parts.push_back(std::move(rows));
  return {};
}

std::uint64_t rank_of(const Arrangement& part) {
  return static_cast<const LoraProduct&>(*part.source).rank();
}

}  // namespace

Result<void> LoraProduct::read(std::uint64_t, std::span<std::byte>) const {
  return refuse(columns_.name, "an adapter changes a tensor that the model must have without it");
}

bool is_product(const TensorView& view) {
  return !view.parts.empty() &&
         dynamic_cast<const LoraProduct*>(view.parts.front().source.get()) != nullptr;
}

Result<LoraHalves> halves_of(const TensorView& view, bool is_token_embedding) {
  if (view.shape.size() < 2) return no_product(view);
  LoraHalves halves;
  halves.a.applied = halves.b.applied = view.applied;
  for (const Arrangement& part : view.parts) {
    INGOT_TRY_VOID(add_part(view, part, is_token_embedding, halves));
    if (rank_of(part) != rank_of(view.parts.front())) {
      return refuse(view.name, "the ranks of the tensors that it is stacked of differ");
    }
  }
  const std::uint64_t rank = rank_of(view.parts.front());
  const std::uint64_t columns = view.shape.back();
  const std::uint64_t rows = view.shape[view.shape.size() - 2];
  halves.a.shape = {rank, columns};
  halves.b.shape = {rows, rank};
  if (is_token_embedding) {
    halves.a.shape = {rows, rank};
    halves.b.shape = {columns, rank};
  }
  if (view.shape.size() == 3 && view.shape[0] == view.parts.size()) {
    halves.a.shape.insert(halves.a.shape.begin(), view.shape[0]);
    halves.b.shape.insert(halves.b.shape.begin(), view.shape[0]);
  } else if (view.shape.size() != 2) {
    return no_product(view);
  } else if (view.parts.size() > 1) {
    // Rows were joined: all have the same columns.
    const auto& parts = halves.a.parts;
    const bool is_one =
        std::ranges::count(parts, parts.front()) == static_cast<std::ptrdiff_t>(parts.size());
    if (!is_one || is_token_embedding) return no_product(view);
    halves.a.parts.resize(1);
    halves.a.sources.resize(1);
    halves.b.sources.resize(1);
  }
  return halves;
}

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
// Numbers that are computed from other numbers while they are read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "huggingface/import/tensors/number_source.hpp"
#include "huggingface/import/tensors/tensor_view.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// Changes numbers that follow one another in their source, of which the first is number `first`.
using NumberChange = std::function<Result<void>(std::uint64_t first, std::span<float> numbers)>;

/// The numbers of `source`, changed in F32. F16 stays F16, all else becomes F32, unless a type is
/// given.
[[nodiscard]] std::shared_ptr<const NumberSource> change_numbers(
    std::shared_ptr<const NumberSource> source, NumberChange change,
    std::optional<TensorType> type = {});

/// Zeros of a type that has one element per block.
[[nodiscard]] std::shared_ptr<const NumberSource> zero_numbers(TensorType type);

/// Joins the parts of a view to one that has its numbers in their order, whatever was done to them,
/// and whose axes have a step each. Nothing is read. Errc::import_refused if parts have different
/// types.
[[nodiscard]] Result<void> make_plain(TensorView& view);

/// Reads numbers as F32.
[[nodiscard]] Result<void> read_floats(const NumberSource& source, std::uint64_t first,
                                       std::vector<std::byte>& scratch, std::span<float> numbers);

/// Gives all `count` numbers of a source to `use`, a piece at a time.
[[nodiscard]] Result<void> for_each_piece(
    const NumberSource& source, std::uint64_t count,
    const std::function<Result<void>(std::uint64_t first, std::span<const float> numbers)>& use);

}  // namespace ingot::huggingface

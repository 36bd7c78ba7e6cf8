// SPDX-License-Identifier: MIT
// A tensor of the result as an arrangement of the numbers of tensors of the folder: nothing is read
// or moved before it is written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "huggingface/import/tensors/number_source.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// `size` steps of `stride` numbers.
struct Step {
  std::uint64_t size = 1;
  std::uint64_t stride = 1;
  [[nodiscard]] bool operator==(const Step&) const = default;
};

/// One dimension: nested steps, the outermost first. Its size is the product of their sizes.
using Axis = std::vector<Step>;

[[nodiscard]] std::uint64_t size_of(const Axis& axis) noexcept;

/// An arrangement of numbers of one source, row-major: the outermost axis first.
struct Arrangement {
  std::shared_ptr<const NumberSource> source = {};
  std::uint64_t first = 0;  ///< The number at position 0 of all axes.
  std::vector<Axis> axes = {};
  [[nodiscard]] bool operator==(const Arrangement&) const = default;
};

/// Where a tensor stands in the result: groups in this order, each in the order of the folder.
enum class TensorPlace : std::uint8_t { first, before_others, usual, last };

/// A tensor under way from the folder to the result.
struct TensorView {
  std::string name = {};                  ///< The name in the folder, until it is mapped.
  std::vector<std::uint64_t> shape = {};  ///< Row-major: the outermost dimension first.
  /// The parts make the tensor one after the other. If there is one part, its axes are the
  /// dimensions.
  std::vector<Arrangement> parts = {};
  bool has_gguf_name = false;           ///< `name` is that of the result.
  std::optional<TensorType> type = {};  ///< Its type, if that is not chosen by its name.
  TensorPlace place = TensorPlace::usual;
  std::vector<std::string> sources = {};  ///< Tensors of the folder.
  std::vector<std::string> applied = {};  ///< Transforms, in order.
};

/// The view of a whole tensor.
[[nodiscard]] TensorView view_of(std::string name, std::vector<std::uint64_t> shape,
                                 std::shared_ptr<const NumberSource> source);

/// Cuts an axis into axes of the given sizes, the outermost first, one of which may be 0 and then
/// takes the remaining size. Errc::import_refused if the sizes do not fit.
[[nodiscard]] Result<std::vector<Axis>> split_axis(const Axis& axis,
                                                   std::vector<std::uint64_t> sizes);

/// The axis that counts through `axes`, the last one fastest.
[[nodiscard]] Axis join_axes(std::span<const Axis> axes);

/// The positions begin ... begin + count - 1 of an axis of one step.
[[nodiscard]] Result<void> cut_axis(Arrangement& part, Axis& axis, std::uint64_t begin,
                                    std::uint64_t count);

/// The rows of each expert of `first`, then those of the same expert of `second`: [experts, rows,
/// columns] twice become [experts, 2 rows, columns].
[[nodiscard]] Result<TensorView> join_rows_of_experts(TensorView first, TensorView second);

/// Sets `shape` to the axes of the only part.
void settle_shape(TensorView& view);

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
#include <array>

#include "base/checked.hpp"
#include "codec/grid/grid_finder.hpp"
#include "ingot/quantize.hpp"
#include "ingot/tensor_profile.hpp"

namespace ingot {

Result<std::optional<WeightGrid>> find_grid(const Model& model, const TensorInfo& tensor) {
  const TensorTypeInfo* const type = find_type(tensor.type);
  if (type == nullptr || tensor.row_elements() == 0) return std::nullopt;
  const codec::GridSample sample(tensor.row_elements(), tensor.row_count());
  const std::uint64_t count = sample.part_elements();
  // Super-blocks have as many weights as a part, or more than all of a row.
  if (count % type->block_elements != 0) return std::nullopt;
  std::array<std::byte, codec::GridSample::longest_part * 8> stored;
  std::array<float, codec::GridSample::longest_part> weights;
  codec::GridFinder finder;
  for (std::uint64_t part = 0; part < sample.part_count(); ++part) {
    const auto floats = std::span(weights).first(to_size(count));
    INGOT_TRY(const std::span<const std::byte> bytes,
              model.fetch(tensor, type->bytes_of(sample.first_element(part)),
                          std::span(stored).first(to_size(type->bytes_of(count)))));
    INGOT_TRY_VOID(dequantize(tensor.type, bytes, floats,
                              {.byte_order = model.files()[tensor.shard].byte_order}));
    if (!finder.add(floats)) break;
  }
  return finder.result();
}

}  // namespace ingot

// SPDX-License-Identifier: MIT
// The keys of a set of shards.
#pragma once

#include <cstdint>

#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/shard_name.hpp"

namespace ingot {

/// The keys of a model, in their order, without those of the set.
[[nodiscard]] ModelWriter keys_of(const Model& model);

/// The version and byte order of a model's first file.
[[nodiscard]] WriteFormat format_of(const Model& model) noexcept;

/// general.alignment, or the default.
[[nodiscard]] std::uint64_t alignment_of(const ModelWriter& keys);

}  // namespace ingot

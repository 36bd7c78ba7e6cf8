// SPDX-License-Identifier: MIT
// The keys of a set of shards.
#pragma once

#include <cstdint>
#include <string_view>

#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"

namespace ingot {

inline constexpr std::string_view split_index_key = "split.no";
inline constexpr std::string_view split_count_key = "split.count";
inline constexpr std::string_view split_tensors_key = "split.tensors.count";

/// Whether a key describes the set and not the model.
[[nodiscard]] bool is_split_key(std::string_view key) noexcept;

/// The keys of a model, in their order, without those of the set.
[[nodiscard]] ModelWriter keys_of(const Model& model);

/// The version and byte order of a model's first file.
[[nodiscard]] WriteFormat format_of(const Model& model) noexcept;

/// general.alignment, or the default.
[[nodiscard]] std::uint64_t alignment_of(const ModelWriter& keys);

}  // namespace ingot

// SPDX-License-Identifier: MIT
// The files of a model in safetensors: one file, or shards with an index.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/store.hpp"

namespace ingot::formats {

/// The shard of each tensor by the index; file names without a folder.
using WeightMap = std::map<std::string, std::string, std::less<>>;

/// Parses an index (`weight_map` of `*.safetensors.index.json`). A file name that leads out of the
/// folder, or a tensor that is named twice, is refused: Errc::index_mismatch.
[[nodiscard]] INGOT_EXPORT Result<WeightMap> parse_weight_map(std::string_view text);

struct SafetensorsFiles {
  std::vector<std::string> names;  ///< The names in the store; at least one; sorted.
  WeightMap weight_map;            ///< The map; empty if there is no index.
};

/// The files that a name in a store means: a file, any shard (`NAME-00001-of-00003.safetensors`) of
/// a set, an index, or a folder with one of these.
[[nodiscard]] Result<SafetensorsFiles> find_safetensors_files(const Store& store,
                                                              const std::string& name);

}  // namespace ingot::formats

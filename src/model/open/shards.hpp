// SPDX-License-Identifier: MIT
// Several files that are one model.
//
// A set is named NAME-00001-of-00003.gguf and described by the keys split.no (from 0), split.count
// and split.tensors.count, as llama.cpp writes and reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ingot/shard_name.hpp"
#include "ingot/store.hpp"
#include "model/open/model_state.hpp"

namespace ingot {

/// The set to which the files of a model belong.
struct ShardSet {
  std::string prefix;  ///< The prefix; empty if the files are not named as a set.
  std::uint32_t count = 1;
  std::vector<std::string> paths;      ///< The paths of the files that exist; may be empty.
  std::vector<std::uint32_t> indexes;  ///< One index for each path.
  bool is_in_file_system = false;
};

/// Looks for the other shards beside an open file of a store, opens them and makes one model of
/// all. Errc::shard_mismatch if a file of that name is another shard by its metadata.
[[nodiscard]] Result<std::unique_ptr<detail::ModelState>> open_with_shards(
    const Store& store, const std::string& name, LoadedFile file, const OpenOptions& options);

/// Makes one model of files in the order of the set. Errc::tensor_duplicate if two of them hold a
/// tensor of the same name.
[[nodiscard]] Result<std::unique_ptr<detail::ModelState>> assemble(std::vector<LoadedFile> files,
                                                                   ShardSet set);

/// A model of one file that was not opened by a path with a name of its own.
[[nodiscard]] Result<Model> open_loaded(Result<LoadedFile> file);

}  // namespace ingot

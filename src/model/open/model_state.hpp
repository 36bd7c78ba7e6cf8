// SPDX-License-Identifier: MIT
// The state of an open model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/name_index.hpp"
#include "format/parse.hpp"
#include "ingot/model.hpp"
#include "io/file_stamp.hpp"

namespace ingot {

/// Memory from malloc: large blocks grow without being copied.
struct FreeMemory {
  void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
};
using GrowingBytes = std::unique_ptr<std::byte[], FreeMemory>;

/// One file, open and parsed.
struct LoadedFile {
  std::unique_ptr<Source> source;  ///< The source; empty for a pipe, which is already consumed.
  GrowingBytes header_bytes;       ///< The header, if the source is not in memory.
  // --- the gap in these bytes that a layout index skipped
  std::uint64_t gap_begin = 0;
  std::uint64_t gap_end = 0;
  std::uint64_t file_bytes = 0;
  bool is_restored = false;            ///< Seen through the journal of an edit that was cut off.
  std::optional<Error> notice;         ///< About that.
  std::optional<io::FileStamp> stamp;  ///< The stamp of a file that was opened by its path.
  format::Structure structure;
};

struct detail::ModelState {
  std::vector<LoadedFile> loaded;       ///< The files by ascending shard index.
  std::vector<ModelFile> files;         ///< One file for each of `loaded`.
  std::vector<TensorInfo> all_tensors;  ///< The tensors; only if there are several files.
  format::NameIndex all_tensor_index;   ///< The index; only if there are several files.
  std::string shard_prefix;             ///< The set's file names without their numbers.
  std::uint32_t shard_count = 1;
  bool is_split = false;
  std::vector<Error> notices;

  [[nodiscard]] std::span<const TensorInfo> tensors() const noexcept {
    return loaded.size() == 1 ? loaded[0].structure.tensors : all_tensors;
  }
};

/// Gives the rest of the module access to private parts of Model.
struct ModelAccess {
  [[nodiscard]] static const detail::ModelState& state(const Model& model) noexcept {
    return *model.state_;
  }
  [[nodiscard]] static Model make(std::unique_ptr<detail::ModelState> state) {
    return Model(std::move(state));
  }
};

}  // namespace ingot

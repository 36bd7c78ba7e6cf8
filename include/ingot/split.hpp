// SPDX-License-Identifier: MIT
// Split a model into shards, and merge shards into one file (target ingot::convert).
//
// A set is named NAME-00001-of-00003.gguf (shard_name.hpp). Each file has the keys split.no
// (uint16, from 0), split.count (uint16) and split.tensors.count (int32, of all files), after its
// other keys. The first file has all other keys; later ones have only general.alignment, where it
// is not 32. That is what llama.cpp reads and, but for the alignment, which it forgets, writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/tensor.hpp"

namespace ingot {

/// Limits for cutting a model. `max_bytes` and `max_tensors` may be combined; at least one limit
/// must be given.
struct SplitLimits {
  std::uint64_t max_bytes = 0;            ///< The size of each file, header and padding included;
                                          ///< 0: any.
  std::uint64_t max_tensors = 0;          ///< The tensors of each file; 0: any.
  std::uint32_t shard_count = 0;          ///< The exact number of shards, as equal in size as
                                          ///< possible; 0: any.
  bool is_first_without_tensors = false;  ///< The first file holds only keys.
};

/// One file of a plan: consecutive tensors.
struct PlannedShard {
  std::size_t first_tensor = 0;
  std::size_t tensor_count = 0;
  std::uint64_t file_bytes = 0;  ///< The exact size of the file that ModelWriter makes.
};

template <class Visitor>
void describe(Visitor& visit, const PlannedShard& shard) {
  visit("first_tensor", shard.first_tensor, "", "index in the model");
  visit("tensors", shard.tensor_count, "tensors", "of the shard");
  visit("bytes", shard.file_bytes, "bytes", "of the whole file");
}

struct SplitPlan {
  std::vector<PlannedShard> shards;  ///< The shards in order; never empty.
  std::size_t tensor_count = 0;      ///< The tensors of all files.
};

/// Plans shards from names, types, shapes and keys alone: nothing is read, so a model that does not
/// exist yet can be planned. Tensors stay in their order.
///
/// @param keys     a writer with all keys of the model, without split.*, and no tensors.
/// @param tensors  in the order of the model; `name`, `shape` and `size_bytes` count.
/// @param format   of the files to come.
/// @return Errc::split_impossible if no cut keeps the limits, with the limits that would work: a
/// tensor or the
///          keys alone are larger than `max_bytes`, there are fewer tensors than shards, or it
///          would take more than max_shard_count. Errc::invalid_argument for limits that make no
///          sense.
///
/// Linear, times 64 at most for `shard_count`.
[[nodiscard]] INGOT_EXPORT Result<SplitPlan> plan_split(const ModelWriter& keys,
                                                        std::span<const TensorInfo> tensors,
                                                        const SplitLimits& limits,
                                                        WriteFormat format = {});

/// Plans the shards of a model as it is, in its own format.
[[nodiscard]] INGOT_EXPORT Result<SplitPlan> plan_split(const Model& model,
                                                        const SplitLimits& limits);

/// Properties of a single file that shards do not keep, so that merging them gives an equal model
/// but not the same bytes: gaps between tensors, bytes after the last one, a quirk that writing
/// repairs (see serialise_header(const Model&)). Empty if merging restores every byte, and for a
/// model that is a set already. Reads the header and the padding after each tensor.
[[nodiscard]] INGOT_EXPORT Result<std::string> describe_abnormal_form(const Model& model);

/// A writer with the keys that the file `shard` of a plan has, to which its tensors are to be
/// added.
[[nodiscard]] INGOT_EXPORT ModelWriter shard_keys(const Model& model, const SplitPlan& plan,
                                                  std::uint32_t shard);

/// Makes the keys of a shard from those of a writer, as for `plan_split`.
[[nodiscard]] INGOT_EXPORT ModelWriter shard_keys(const ModelWriter& keys, const SplitPlan& plan,
                                                  std::uint32_t shard);

struct MoveOptions {
  bool may_replace = false;
  /// Receives the bytes written so far; false ends the work with Errc::interrupted.
  std::function<bool(std::uint64_t done_bytes)> progress = {};
};

/// Writes the shards of a plan beside one another as PREFIX-00001-of-....gguf, in the format of the
/// model. No name appears before every file is complete and flushed; until then a failure or a kill
/// leaves nothing behind. Older shards of these names go aside as .NAME.ingot-old while the new
/// ones get theirs, so that never old and new ones are beside each other; a failure puts them back,
/// and a kill leaves them there. Data is copied by the system, or shared with the model's file,
/// where that is possible; memory is bounded.
///
/// @return  Errc::already_exists before anything is written if a shard is there; Errc::same_file,
///          whatever the options, if a shard would replace a file of the model.
[[nodiscard]] INGOT_EXPORT Result<void> write_shards(const Model& model, const SplitPlan& plan,
                                                     const std::string& prefix,
                                                     const MoveOptions& options = {});

/// Makes the writer of a shard: its keys (`shard_keys`) and its tensors.
using MakeShard = std::function<Result<ModelWriter>(std::uint32_t shard)>;

/// Writes the shards of a model that does not exist yet: calls `make` for one shard after the
/// other.
[[nodiscard]] INGOT_EXPORT Result<void> write_shards(const SplitPlan& plan, const MakeShard& make,
                                                     const std::string& prefix, WriteFormat format,
                                                     const MoveOptions& options = {});

/// Whether the files of a model can be merged without losing anything: all are there and belong
/// together, the count of tensors is right, and later files have no keys of their own.
/// Otherwise Errc::not_a_set, Errc::set_incomplete or Errc::shard_mismatch.
[[nodiscard]] INGOT_EXPORT Result<void> check_mergeable(const Model& model);

/// The size of the file that `merge` writes.
[[nodiscard]] INGOT_EXPORT Result<std::uint64_t> merged_bytes(const Model& model);

/// Merges the files of a model into one, after `check_mergeable`, and removes the split.* keys: a
/// model that write_shards cut comes back to the byte, unless the original had quirks that writing
/// repairs (see serialise_header(const Model&)), gaps between tensors or bytes after the last one.
/// Atomic, bounded in memory. Errc::already_exists; Errc::same_file if `path` is a file of the set.
[[nodiscard]] INGOT_EXPORT Result<void> merge(const Model& model, const std::string& path,
                                              const MoveOptions& options = {});

}  // namespace ingot

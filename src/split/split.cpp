// SPDX-License-Identifier: MIT
#include "ingot/split.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/messages.hpp"
#include "base/paths.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/output_file.hpp"
#include "ingot/output_set.hpp"
#include "ingot/shard_name.hpp"

namespace ingot {
namespace {

/// Refuses an output that is an input. Most outputs do not exist yet.
Result<void> check_is_no_input(const Model& model, const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  for (const ModelFile& file : model.files()) {
    if (is_same_file(file.path, path)) return fail(Errc::same_file, path);
  }
  return {};
}

/// Refuses outputs that exist and may not be replaced.
Result<void> check_target(const std::string& path, bool may_replace) {
  std::error_code ignored;
  if (!may_replace && std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    return fail(Errc::already_exists, path);
  }
  return {};
}

/// The keys of a shard, from all keys.
template <class Entries>
ModelWriter make_shard_keys(const SplitPlan& plan, std::uint32_t shard, const Entries& entries) {
  ModelWriter writer;
  for (const KeyValue& entry : entries) {
    if (is_split_key(entry.key)) continue;
    const bool is_other_alignment =
        entry.key == keys::general_alignment &&
        entry.value.get<std::uint64_t>().value_or(0) != default_alignment;
    if (shard == 0 || is_other_alignment) writer.set_value(entry.key, entry.value);
  }
  writer.set(keys::split_no, static_cast<std::uint16_t>(shard));
  writer.set(keys::split_count, static_cast<std::uint16_t>(plan.shards.size()));
  writer.set(keys::split_tensors_count, static_cast<std::int32_t>(plan.tensor_count));
  return writer;
}

/// Adds up the bytes that several files have written.
class Meter {
 public:
  explicit Meter(const MoveOptions& options) : options_(options) {}

  [[nodiscard]] std::function<bool(std::uint64_t)> of_next_file() {
    if (!options_.progress) return {};
    return [this](std::uint64_t file_bytes) {
      return options_.progress(finished_bytes_ + file_bytes);
    };
  }
  void finish_file(std::uint64_t file_bytes) noexcept { finished_bytes_ += file_bytes; }

 private:
  const MoveOptions& options_;
  std::uint64_t finished_bytes_ = 0;
};

Result<ModelWriter> copied_shard(const Model& model, const SplitPlan& plan, std::uint32_t index) {
  const PlannedShard& shard = plan.shards[index];
  ModelWriter writer = shard_keys(model, plan, index);
  for (std::size_t i = 0; i < shard.tensor_count; ++i) {
    const TensorInfo& tensor = model.tensors()[shard.first_tensor + i];
    INGOT_TRY_VOID(writer.add_tensor(tensor.name, model, tensor));
  }
  return writer;
}

Result<void> check_plan(const Model& model, const SplitPlan& plan) {
  std::size_t next = 0;
  for (const PlannedShard& shard : plan.shards) {
    if (shard.first_tensor != next && shard.tensor_count != 0) break;
    next += shard.tensor_count;
  }
  if (!plan.shards.empty() && plan.shards.size() <= max_shard_count &&
      next == model.tensors().size() && plan.tensor_count == next) {
    return {};
  }
  return fail(Errc::invalid_argument, "plan", "it was not made for this model");
}

/// Whether all keys of a later shard are in the first one too.
Result<void> check_keys(const Model& model, const ModelFile& shard) {
  for (const KeyValue& entry : shard.metadata) {
    if (is_split_key(entry.key) || entry.key == keys::general_alignment) continue;
    const Value* first = model.find(entry.key);
    const bool is_same =
        first != nullptr && first->type() == entry.value.type() &&
        first->as_array().element_type() == entry.value.as_array().element_type() &&
        std::ranges::equal(first->bytes(), entry.value.bytes());
    if (is_same) continue;
    return fail(Errc::shard_mismatch, shard.path,
                "it has the key " + std::string(entry.key) +
                    (first == nullptr ? ", which the first shard has not" : " with another value"));
  }
  return {};
}

}  // namespace

ModelWriter shard_keys(const Model& model, const SplitPlan& plan, std::uint32_t shard) {
  return make_shard_keys(plan, shard, model.metadata());
}

ModelWriter shard_keys(const ModelWriter& keys, const SplitPlan& plan, std::uint32_t shard) {
  return make_shard_keys(plan, shard, keys.metadata());
}

Result<void> write_shards(const Model& model, const SplitPlan& plan, const std::string& prefix,
                          const MoveOptions& options) {
  INGOT_TRY_VOID(check_plan(model, plan));
  const auto count = static_cast<std::uint32_t>(plan.shards.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    INGOT_TRY_VOID(check_is_no_input(model, shard_file_name(prefix, i, count)));
  }
  return write_shards(
      plan, [&](std::uint32_t shard) { return copied_shard(model, plan, shard); }, prefix,
      WriteFormat::of(model), options);
}

Result<void> write_shards(const SplitPlan& plan, const MakeShard& make, const std::string& prefix,
                          WriteFormat format, const MoveOptions& options) {
  const auto count = static_cast<std::uint32_t>(plan.shards.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    INGOT_TRY_VOID(check_target(shard_file_name(prefix, i, count), options.may_replace));
  }
  Meter meter(options);
  const SharedSearch search;
  OutputSet files(options.may_replace);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string path = shard_file_name(prefix, i, count);
    INGOT_TRY(const ModelWriter writer, make(i));
    INGOT_TRY(OutputFile file, with_subject(path, writer.prepare(path, format, options.may_replace,
                                                                 meter.of_next_file())));
    meter.finish_file(plan.shards[i].file_bytes);
    INGOT_TRY_VOID(files.add(path, std::move(file)).transform([](OutputFile*) {}));
  }
  return files.commit(KeyFile::first);
}

Result<void> check_mergeable(const Model& model) {
  const ModelFile& first = model.files()[0];
  if (!model.is_split()) return fail(Errc::not_a_set, first.path);
  if (model.files().size() < model.shard_count()) {
    for (const Error& notice : model.notices()) {
      if (notice.code == Errc::shard_missing) {
        return fail(Errc::set_incomplete, notice.subject, notice.detail);
      }
    }
    return fail(Errc::set_incomplete, first.path);
  }
  for (const Error& notice : model.notices()) {
    if (notice.code == Errc::shard_keys_wrong) {
      return fail(Errc::shard_mismatch, notice.subject, notice.detail);
    }
  }
  for (std::size_t i = 1; i < model.files().size(); ++i) {
    INGOT_TRY_VOID(check_keys(model, model.files()[i]));
  }
  return {};
}

namespace {

Result<ModelWriter> merged(const Model& model) {
  ModelWriter writer = ModelWriter::with_keys_of(model);
  for (const TensorInfo& tensor : model.tensors()) {
    INGOT_TRY_VOID(writer.add_tensor(tensor.name, model, tensor));
  }
  return writer;
}

}  // namespace

Result<std::uint64_t> merged_bytes(const Model& model) {
  INGOT_TRY(const ModelWriter writer, merged(model));
  return writer.file_bytes(WriteFormat::of(model));
}

Result<void> merge(const Model& model, const std::string& path, const MoveOptions& options) {
  INGOT_TRY_VOID(check_mergeable(model));
  INGOT_TRY_VOID(check_is_no_input(model, path));
  INGOT_TRY_VOID(check_target(path, options.may_replace));
  INGOT_TRY(const ModelWriter writer, merged(model));
  return with_subject(
      path, writer.write(path, WriteFormat::of(model), options.may_replace, options.progress));
}

}  // namespace ingot

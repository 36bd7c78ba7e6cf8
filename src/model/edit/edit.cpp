// SPDX-License-Identifier: MIT
#include "ingot/edit.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/paths.hpp"
#include "base/ranges.hpp"
#include "io/file_lock.hpp"
#include "io/in_place_file.hpp"
#include "model/edit/edit_state.hpp"
#include "model/open/load.hpp"
#include "model/open/shards.hpp"

namespace ingot {

std::string_view name_of(EditWay way) noexcept {
  constexpr std::array<std::string_view, 5> names = {"nothing", "in_place", "insert_range",
                                                     "shared_copy", "copy"};
  return name_at(names, way);
}

bool ModelEdit::State::removes_tensors() const {
  return std::ranges::any_of(tensors, &TensorEdit::is_removed);
}

Result<void> ModelEdit::State::lock() {
  constexpr int tries = 10;
  const std::optional<ShardName> name = parse_shard_name(path);
  const std::string first = name ? shard_file_name(name->prefix, 0, name->count) : path;
  for (int i = 1;; ++i) {
    Result<io::InPlaceFile> file = io::InPlaceFile::open(path, wait);
    const std::string remark = io::identify(first) ? "" : set_aside_remark(first);
    if (file && remark.empty()) {
      locked = *std::move(file);
      return {};
    }
    if (!file && (file.error().code != Errc::io_error || !name || i == tries)) {
      return fail(std::move(file).error());
    }
    // While a set is replaced, a file may be missing or belong to the other set. The folder is not
    // locked during the wait for the file, as the holder of the file may wait for the folder.
    if (file)
      file = fail(Errc::shard_missing, first, remark.substr(2) + "; write the set again first");
    INGOT_TRY(const auto naming,
              io::lock_directory(io::directory_of(path), wait, io::LockKind::shared));
    if (!naming.is_open() || i == tries) return fail(std::move(file).error());
  }
}

Result<void> ModelEdit::State::open_model() {
  const JournalLock lock = locked ? JournalLock::is_held : JournalLock::take;
  INGOT_TRY(LoadedFile file, load_path(path, options, {.lock = lock}));
  INGOT_TRY(auto opened, open_with_shards(file_system(), path, std::move(file), options));
  model.emplace(ModelAccess::make(std::move(opened)));
  return {};
}

ModelEdit::ModelEdit(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
ModelEdit::ModelEdit(ModelEdit&&) noexcept = default;
ModelEdit& ModelEdit::operator=(ModelEdit&&) noexcept = default;
ModelEdit::~ModelEdit() = default;

Result<ModelEdit> ModelEdit::open(const std::string& path, const OpenOptions& options,
                                  const EditOptions& edit_options) {
  auto state = std::make_unique<State>();
  state->path = io::real_path(path);
  state->options = options;
  state->options.with_shards = false;
  state->options.is_header_only = false;  // its data is copied
  state->options.uses_index = false;
  state->wait = edit_options.wait.value_or(lock_wait());
  if (edit_options.lock == EditLock::at_open) {
    INGOT_TRY_VOID(state->lock());
  }
  INGOT_TRY_VOID(state->open_model());
  const ModelFile& file = state->model->files()[0];
  state->keys.reserve(file.metadata.size());
  for (const KeyValue& entry : file.metadata) {
    const std::size_t position = state->keys.size();
    state->key_places.add(entry.key, position);
    state->keys.push_back({.original = position, .name = std::string(entry.key)});
  }
  state->tensors.resize(file.tensors.size());
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    state->tensor_places.add(file.tensors[i].name, i);
  }
  return ModelEdit(std::move(state));
}

const Model& ModelEdit::model() const noexcept { return *state_->model; }

void ModelEdit::set(std::string_view key, const Value& value) {
  OwnedValue copy = OwnedValue::copy_of(value);
  const auto [place, is_new] = state_->key_places.add(key, state_->keys.size());
  if (is_new) state_->keys.push_back({.name = std::string(key)});
  state_->keys[place].value = std::move(copy);
}

std::optional<Value> ModelEdit::find(std::string_view key) const {
  const auto place = state_->key_places.find(key);
  if (!place) return std::nullopt;
  const KeyEdit& entry = state_->keys[*place];
  if (entry.value) return entry.value->value();
  return model().files()[0].metadata[entry.original].value;
}

Result<void> ModelEdit::remove_key(std::string_view key) {
  const auto place = state_->key_places.remove(key);
  if (!place) return fail(Errc::key_not_found, std::string(key));
  state_->keys[*place].is_removed = true;
  if (key == padding_key && !state_->wanted_slack_bytes) reserve(0);
  return {};
}

Result<void> ModelEdit::rename_key(std::string_view key, std::string_view new_key) {
  INGOT_TRY(const std::size_t place, state_->key_places.rename(key, new_key, Errc::key_not_found));
  if (key == new_key) return {};
  state_->keys[place].name = new_key;
  state_->keys[place].is_renamed = true;
  return {};
}

Result<void> ModelEdit::remove_tensor(std::string_view name) {
  const auto place = state_->tensor_places.remove(name);
  if (!place) return fail(Errc::tensor_not_found, std::string(name));
  state_->tensors[*place].is_removed = true;
  return {};
}

Result<void> ModelEdit::rename_tensor(std::string_view name, std::string_view new_name) {
  INGOT_TRY(const std::size_t place,
            state_->tensor_places.rename(name, new_name, Errc::tensor_not_found));
  if (name == new_name) return {};
  state_->tensors[place] = {.new_name = std::string(new_name), .is_renamed = true};
  return {};
}

void ModelEdit::reserve(std::uint64_t slack_bytes) { state_->wanted_slack_bytes = slack_bytes; }

void ModelEdit::add_index() { state_->wants_index = true; }

Result<EditPlan> ModelEdit::plan(const std::string& output) const {
  INGOT_TRY(EditDraft draft,
            draft_edit(*state_, {.output = output, .may_change_in_place = output.empty()}));
  return draft.plan;
}

}  // namespace ingot

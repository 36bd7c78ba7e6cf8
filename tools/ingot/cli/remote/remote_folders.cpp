// SPDX-License-Identifier: MIT
// Repositories as folders, and files of references on this system.

#include <algorithm>
#include <ingot/remote.hpp>
#include <ingot/shard_name.hpp>
#include <map>
#include <optional>
#include <vector>

#include "cli/console.hpp"
#include "cli/remote/remote_state.hpp"
#include "cli/remote/stored_file.hpp"
#include "cli/remote_models.hpp"

namespace ingot::cli {

bool RemoteModels::is_repository(const std::string& argument) const {
  if (!is_meant(argument)) return false;
  const Result<Reference> reference = state_->reference_of(argument);
  const bool is_hub = reference && (reference->kind == ReferenceKind::hub ||
                                    reference->kind == ReferenceKind::model_scope);
  return is_hub && reference->path.empty() && reference->quantization.empty();
}

Result<std::vector<RepositoryModel>> RemoteModels::list(Console& console,
                                                        const std::string& argument) {
  INGOT_TRY(Reference reference, state_->reference_of(argument));
  INGOT_TRY(const RemoteStore* store, state_->open_repository(console, argument, reference));
  const std::string revision = reference.revision;
  std::vector<RepositoryModel> models;
  std::map<std::string, std::size_t> sets;  ///< Prefixes of shards, and where their model is.
  for (const RemoteFile& file : store->files()) {
    if (!format_by_ending(file.name)) continue;
    const std::optional<ShardName> shard = parse_shard_name(file.name);
    const auto known = shard ? sets.find(shard->prefix) : sets.end();
    if (known != sets.end()) {
      models[known->second].file_bytes += file.size_bytes.value_or(0);
      models[known->second].version += file.sha256;
      continue;
    }
    if (shard) sets[shard->prefix] = models.size();
    reference.revision = revision;
    reference.path = file.name;
    const std::string plain = reference.display();
    // A named commit needs no further look at the repository.
    reference.revision = store->commit();
    models.push_back({reference.display(), file.name, file.size_bytes.value_or(0), plain,
                      file.sha256.empty() ? store->commit() : file.sha256});
  }
  return models;
}

/// The repository that was opened for an argument: a store without a file that is meant.
RemoteStore* RemoteModels::State::find_repository(const std::string& argument) {
  for (auto& [opened, store] : stores) {
    if (opened == argument && store.name().empty()) return &store;
  }
  return nullptr;
}

/// Asks for the files of a repository, once for each argument.
Result<RemoteStore*> RemoteModels::State::open_repository(Console& console,
                                                          const std::string& argument,
                                                          const Reference& reference) {
  if (RemoteStore* const known = find_repository(argument)) return known;
  remark(console, argument, reference);
  INGOT_TRY(const RemoteOptions remote, options());
  if (!first_request) first_request = std::chrono::steady_clock::now();
  return keep(console, argument, RemoteStore::open_repository(reference, remote));
}

/// Keeps a store that was opened for an argument, after remarks on the requests for it.
Result<RemoteStore*> RemoteModels::State::keep(Console& console, const std::string& argument,
                                               Result<RemoteStore> store) {
  report_requests(console, argument);
  if (!store) return fail(std::move(store).error());
  return &stores.emplace_back(argument, *std::move(store)).second;
}

Result<RemoteFolder> RemoteModels::open_folder(Console& console, const std::string& argument) {
  INGOT_TRY(const Reference reference, state_->reference_of(argument));
  INGOT_TRY(const RemoteStore* store, state_->open_repository(console, argument, reference));
  return RemoteFolder{store, reference.repository};
}

Result<void> RemoteModels::prepare_files(Console& console, const std::string& argument,
                                         std::span<const std::string> names, std::uint64_t passes) {
  const RemoteStore* const store = state_->find_repository(argument);
  if (store == nullptr) return {};
  std::vector<const RemoteFile*> files;
  std::uint64_t total_bytes = 0;
  for (const RemoteFile& file : store->files()) {
    const bool is_wanted = std::find(names.begin(), names.end(), file.name) != names.end();
    if (!is_wanted || !file.local_path.empty()) continue;
    files.push_back(&file);
    total_bytes += passes * file.size_bytes.value_or(0);
  }
  INGOT_TRY_VOID(state_->permit(console, argument, total_bytes));
  store->allow_more_bytes(total_bytes);
  for (const RemoteFile* file : files) {
    const FileRange whole{0, file->size_bytes.value_or(0)};
    store->expect(file->name, {&whole, 1});
  }
  return {};
}

std::string RemoteModels::local_name(const std::string& argument) const {
  if (!is_meant(argument)) return argument;
  const Result<Reference> reference = state_->reference_of(argument);
  if (!reference) return argument;
  if (reference->kind == ReferenceKind::local) return reference->path;
  if (reference->kind == ReferenceKind::registry) return reference->model;
  if (reference->kind != ReferenceKind::web && reference->path.empty()) {
    return reference->repository;
  }
  const bool is_web = reference->kind == ReferenceKind::web;
  std::string path = is_web ? reference->display() : reference->path;  // without the password
  if (is_web) path = path.substr(0, path.find('?'));
  return path.substr(path.rfind('/') + 1);
}

Result<const RemoteStore*> RemoteModels::open_store(Console& console, const std::string& argument) {
  INGOT_TRY(const Reference reference, state_->reference_of(argument));
  if (state_->is_insecure) console.remark(argument, "certificates are NOT checked");
  INGOT_TRY(RemoteOptions options, state_->options());
  options.max_fetch_bytes = RemoteOptions().max_fetch_bytes;
  if (!state_->first_request) state_->first_request = std::chrono::steady_clock::now();
  return state_->keep(console, argument, RemoteStore::open(reference, options));
}

Result<std::string> find_here(Console& console, const std::string& argument) {
  RemoteModels& remote = console.remote();
  if (!remote.is_meant(argument)) return argument;
  const Result<Reference> reference = parse_reference(argument);
  const bool is_path = argument.starts_with("file://");
  if (reference && is_path && reference->kind == ReferenceKind::local) return reference->path;
  INGOT_TRY(const RemoteStore* store, remote.open_store(console, argument));
  const std::vector<RemoteFile> files = store->model_files();
  if (!files.empty() && !files[0].local_path.empty()) return files[0].local_path;
  return fail(Errc::invalid_argument, argument,
              "it is on a server; 'ingot download' it first, and take that file");
}

}  // namespace ingot::cli

// SPDX-License-Identifier: MIT
// The models that programs keep on this system (target ingot::remote).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/export.h"

namespace ingot {

/// Folders in which programs keep models. They are read, never written.
struct LocalStores {
  std::vector<std::string> hub_caches;  ///< Of the hub's programs: models--ORG--REPO/snapshots/...
  std::string ollama_models;            ///< With manifests/ and blobs/; or empty.
  std::vector<std::string> lm_studio;   ///< PUBLISHER/REPO/FILE.gguf
  std::vector<std::string> llama_cpp;
  std::vector<std::string> folders;  ///< Of the user.
};

/// The stores of this user: HF_HUB_CACHE or HF_HOME, OLLAMA_MODELS or ~/.ollama/models,
/// ~/.lmstudio/models and ~/.cache/lm-studio/models, LLAMA_CACHE or ~/.cache/llama.cpp, and the
/// folders that INGOT_MODELS lists with colons between them.
[[nodiscard]] INGOT_EXPORT LocalStores local_stores();

/// A model in a store: a GGUF file, or the first of a set of shards.
struct LocalModel {
  std::string name;   ///< A reference that needs no server, such as "ollama:llama3"; a path
                      ///< where the store has no names. Not escaped.
  std::string store;  ///< "huggingface", "ollama", "lmstudio", "llama.cpp" or "local"
  std::string path;   ///< The path of the file.
  std::optional<std::string> sha256;  ///< The digest by which the store names the file.
};

template <class Visitor>
void describe(Visitor& visit, const LocalModel& model) {
  visit("name", model.name, "", "a reference that every command takes");
  visit("store", model.store, "", "huggingface, ollama, lmstudio, llama.cpp or local");
  visit("path", model.path, "", "of the file, or of the first shard");
  visit("sha256", model.sha256, "", "by which the store names the file; null where it does not");
}

/// The models of the stores, by store and name; a file that a store has under several names is
/// listed under the first, but by Ollama under each, as its names are models. Folders that are not
/// there have none, links to folders are not followed, and of each store at most 100,000 files are
/// looked at. Only names are read, and the manifests of Ollama. Thread-safe.
[[nodiscard]] INGOT_EXPORT std::vector<LocalModel> list_local_models(const LocalStores& stores);

}  // namespace ingot

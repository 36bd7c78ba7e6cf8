// SPDX-License-Identifier: MIT
// The place of a model's files: a file system, memory, or a place of your own, such as a server.
//
//   MemoryStore store;
//   store.add("model-00001-of-00002.gguf", first);
//   store.add("model-00002-of-00002.gguf", second);
//   Result<Model> model = Model::open(store, "model-00001-of-00002.gguf");
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/source.hpp"

namespace ingot {

/// Files by name. A name is folders and a file with `/` between them, as in a path. Implement it to
/// open sets of shards and foreign formats from anywhere; all members may be called from several
/// threads at once. What opens a model from a store does not keep it.
class INGOT_EXPORT Store {
 public:
  virtual ~Store();

  /// Opens a file. Errc::io_error if there is none; Errc::not_a_regular_file for a folder.
  [[nodiscard]] virtual Result<std::unique_ptr<Source>> open(const std::string& name) const = 0;

  /// The names of the files in a folder, as `open` takes them, in any order; "" is the folder of
  /// names without `/`. Errc::io_error if there is no such folder, or if this cannot be told: then
  /// the shards beside a file are not found.
  [[nodiscard]] virtual Result<std::vector<std::string>> list(const std::string& folder) const = 0;

  /// The name of a file in messages and in `ModelFile::path`; `name` itself unless overridden.
  [[nodiscard]] virtual std::string locate(const std::string& name) const;
};

/// The files of this system, whose names are paths; they are read with pread.
[[nodiscard]] INGOT_EXPORT const Store& file_system() noexcept;

/// Files in memory. The bytes are borrowed: they must outlive the models that are opened from it.
class INGOT_EXPORT MemoryStore final : public Store {
 public:
  /// Adds a file, or replaces the one of this name. Not while another thread uses the store.
  void add(std::string name, std::span<const std::byte> bytes);

  [[nodiscard]] Result<std::unique_ptr<Source>> open(const std::string& name) const override;
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& folder) const override;

 private:
  std::map<std::string, std::span<const std::byte>, std::less<>> files_;
};

}  // namespace ingot

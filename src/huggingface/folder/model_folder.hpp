// SPDX-License-Identifier: MIT
// A folder with a Hugging Face model: its files by name, read within limits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/source.hpp"
#include "ingot/store.hpp"

namespace ingot::huggingface {

/// The largest config.json, README.md or other small file that is read.
inline constexpr std::uint64_t max_text_bytes = std::uint64_t{1} << 20;
/// The largest tokenizer.json, tokenizer.model or index that is read.
inline constexpr std::uint64_t max_table_bytes = std::uint64_t{256} << 20;

/// A folder of a store. Borrows the store. Thread-safe.
class ModelFolder {
 public:
  /// @param path  the folder in `store`; "" is the folder of names without `/`.
  /// @param name the folder's name for `general.name`; the last part of `path` if it
  ///              is empty.
  [[nodiscard]] INGOT_EXPORT static Result<ModelFolder> open(const Store& store, std::string path,
                                                             std::string name = {});

  /// Whether the folder has Mistral's own form: params.json, and weights in
  /// consolidated*.safetensors. Where config.json is there, too, that counts, but for
  /// `read_as_mistral`.
  [[nodiscard]] bool is_mistral() const noexcept { return is_mistral_; }
  /// Errc::import_refused without params.json.
  [[nodiscard]] Result<void> read_as_mistral();
  /// The file that describes the model: config.json or params.json.
  [[nodiscard]] std::string_view config_file() const noexcept;
  /// The index of the weights, which a folder need not have.
  [[nodiscard]] std::string_view index_file() const noexcept;
  /// How the names of the files of weights begin: "model" or "consolidated".
  [[nodiscard]] std::string_view weights_name() const noexcept;
  /// Whether a name is that of a file of weights: model*.safetensors or consolidated*.safetensors.
  [[nodiscard]] bool is_weight_file(std::string_view name) const noexcept;

  /// The last part of the path, e.g. "Qwen3-0.6B".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The names of the files directly in it, sorted.
  [[nodiscard]] const std::vector<std::string>& files() const noexcept { return files_; }
  [[nodiscard]] INGOT_EXPORT bool has(std::string_view file) const;
  /// The names of the files in a folder directly below, sorted; none if there is no such folder.
  [[nodiscard]] INGOT_EXPORT std::vector<std::string> files_in(std::string_view folder) const;
  /// The name of a file in messages.
  [[nodiscard]] INGOT_EXPORT std::string locate(std::string_view file) const;

  /// A file, which may lie in a folder below: "1_Pooling/config.json". A name that leads out of the
  /// folder is refused: Errc::import_refused.
  [[nodiscard]] INGOT_EXPORT Result<std::unique_ptr<Source>> open_file(std::string_view file) const;

  /// The whole file; Errc::limit_exceeded if it is longer than `max_bytes`.
  [[nodiscard]] INGOT_EXPORT Result<std::string> read_text(
      std::string_view file, std::uint64_t max_bytes = max_text_bytes) const;

 private:
  [[nodiscard]] std::string path_of(std::string_view file) const;

  const Store* store_ = nullptr;
  std::string path_;
  std::string name_;
  std::vector<std::string> files_;
  bool is_mistral_ = false;
};

}  // namespace ingot::huggingface

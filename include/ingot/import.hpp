// SPDX-License-Identifier: MIT
// Import folders of Hugging Face models as GGUF (target ingot::import).
//
//   Result<std::unique_ptr<Import>> import = plan_import(file_system(), "Qwen3-0.6B", {});
//   if (import) (*import)->write("qwen3.gguf");
//
// The result has the tensors, keys, types and order of the reference converter,
// convert_hf_to_gguf.py of llama.cpp: see docs/import.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/import_options.hpp"
#include "ingot/metadata.hpp"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/split.hpp"
#include "ingot/store.hpp"
#include "ingot/types.hpp"

namespace ingot {

/// Receives the bytes written so far; false ends the work with Errc::interrupted.
using ImportProgress = std::function<bool(std::uint64_t done_bytes)>;

/// A key of the result.
struct ImportedKey {
  std::string key;
  std::string origin;  ///< E.g. "config.json", "tokenizer.model", "README.md".
};

template <class Visitor>
void describe(Visitor& visit, const ImportedKey& key) {
  visit("key", key.key, "", "the key");
  visit("from", key.origin, "",
        "the file or the option that the value comes from, or `rule` for what the architecture "
        "lays down");
}

/// A tensor of the result.
struct ImportedTensor {
  std::string name = {};
  TensorType type = TensorType::f32;
  std::vector<std::uint64_t> shape = {};  ///< Dimension 0, the fastest-varying, first.
  std::uint64_t size_bytes = 0;           ///< The size of a tensor of `type` and `shape`.
  std::vector<std::string> sources = {};  ///< The tensors of the folder that it is made of.
  std::string transform = {};             ///< E.g. "rope_pairs"; empty if the values stay in place.
  /// Whether the result has every bit of every value; set with ImportOptions::exact.
  std::optional<bool> exact = {};
  std::optional<double> max_error = {};  ///< The largest difference of a value in the result.
};

template <class Visitor>
void describe(Visitor& visit, const ImportedTensor& tensor) {
  visit("name", tensor.name, "", "the tensor");
  visit("type", tensor.type, "", "its type in the result");
  visit("shape", tensor.shape, "", "the fastest-varying dimension first");
  visit("bytes", tensor.size_bytes, "bytes", "of the tensor");
  visit("transform", tensor.transform, "",
        "what is done with the values; empty where they stay in place");
  visit("from", tensor.sources, "", "the tensors of the folder that it is made of");
  visit("exact", tensor.exact, "",
        "whether it holds every value of the folder bit for bit; null unless the type is `exact`");
  visit("max_error", tensor.max_error, "", "the largest difference of a value; null likewise");
}

/// A folder that has been checked and planned, and not yet written. The store must outlive it.
class INGOT_EXPORT Import {
 public:
  virtual ~Import();

  [[nodiscard]] const std::vector<ImportedKey>& keys() const noexcept { return keys_; }
  [[nodiscard]] const std::vector<ImportedTensor>& tensors() const noexcept { return tensors_; }
  /// Remarks for the user, each complete with subject and detail.
  [[nodiscard]] const std::vector<Error>& remarks() const noexcept { return remarks_; }
  /// The tensors of the folder that belong to other parts of the model, such as those of a
  /// projector to the import of a text model.
  [[nodiscard]] const std::vector<std::string>& left_out() const noexcept { return left_out_; }
  /// The bits of the integers that weights of the folder are made of, which ImportOptions::exact
  /// keeps; 0 if they are stored as floats.
  [[nodiscard]] std::uint64_t code_bits() const noexcept { return code_bits_; }
  /// The type of the weights.
  [[nodiscard]] TensorType type() const noexcept { return type_; }
  /// The name of the file where none is given, e.g. "Qwen3-0.6B-F16.gguf".
  [[nodiscard]] const std::string& file_name() const noexcept { return file_name_; }
  /// The keys with their values, in order, valid as long as the import.
  [[nodiscard]] virtual std::vector<KeyValue> metadata() const = 0;
  /// The size of the file.
  [[nodiscard]] virtual Result<std::uint64_t> file_bytes() const = 0;

  /// Writes the model. It appears at `path` complete or not at all; see ModelWriter::write. Tensors
  /// are read, reordered and encoded by many threads; memory is bounded by the header and a few
  /// pieces of tensors.
  [[nodiscard]] virtual Result<void> write(const std::string& path, bool replace = false,
                                           const ImportProgress& progress = {}) const = 0;

  /// The result as a model without a file: a read of a tensor reads the folder, reorders and
  /// encodes. So every function for models works on a folder, with the same bytes as for a file.
  /// Valid as long as the import. Memory is bounded by the header and a few pieces of tensors.
  [[nodiscard]] virtual Result<Model> open_model() const = 0;

  /// Writes the shards of `plan_split(*open_model(), limits)`: the bytes that `write` and a split
  /// of its file give. They are called PREFIX-00001-of-....gguf; see write_shards of split.hpp.
  ///
  /// @param only  writes this shard alone, from 0; the others can be made elsewhere.
  [[nodiscard]] virtual Result<void> write_shards(const SplitPlan& plan, const std::string& prefix,
                                                  std::optional<std::uint32_t> only = {},
                                                  bool replace = false,
                                                  const ImportProgress& progress = {}) const = 0;

 protected:
  std::vector<ImportedKey> keys_;
  std::vector<ImportedTensor> tensors_;
  std::vector<Error> remarks_;
  std::vector<std::string> left_out_;
  std::uint64_t code_bits_ = 0;
  TensorType type_ = TensorType::f16;
  std::string file_name_;
};

/// Checks everything that can be checked before a byte is written: the architecture is known, every
/// tensor has a place, no layer and no expert is missing, and shapes agree with config.json.
///
/// @param folder  a folder of `store` with config.json, *.safetensors and the tokenizer's files.
[[nodiscard]] INGOT_EXPORT Result<std::unique_ptr<Import>> plan_import(
    const Store& store, const std::string& folder, const ImportOptions& options = {});

/// Plans the import of a LoRA adapter: a folder with adapter_config.json and
/// adapter_model.safetensors, as PEFT writes it. The result is an adapter in GGUF, as
/// convert_lora_to_gguf.py makes it.
///
/// @param base_folder  a folder of `base_store` with config.json of the model that the adapter is
///                     for; its weights are not needed.
/// @param options      without a type, that of the adapter's first tensor.
/// @return  Errc::adapter_invalid for an adapter that breaks the rules or that GGUF cannot hold;
///          Errc::adapter_mismatch if it is for another base.
[[nodiscard]] INGOT_EXPORT Result<std::unique_ptr<Import>> plan_adapter_import(
    const Store& store, const std::string& folder, const Store& base_store,
    const std::string& base_folder, const ImportOptions& options = {});

/// The base model that a folder with an adapter names, which may be empty; nothing if the folder
/// has no adapter, or has the weights of a model beside it.
[[nodiscard]] INGOT_EXPORT std::optional<std::string> find_adapter_base(const Store& store,
                                                                        const std::string& folder);

/// The class that config.json of a folder names, if plan_import knows it; nothing if it does not,
/// or if the folder has no such file.
[[nodiscard]] INGOT_EXPORT std::optional<std::string> find_importable_class(
    const Store& store, const std::string& folder);

}  // namespace ingot

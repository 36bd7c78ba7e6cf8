// SPDX-License-Identifier: MIT
// Convert a model to another file format, or to GGUF of another kind (target ingot::convert).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/interop.hpp"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/tensor_stream.hpp"
#include "ingot/types.hpp"

namespace ingot {

/// Gives the tensors of an output other names: rename_as_in_folders (folder_export.hpp) those of
/// Hugging Face models. `remarks` gets lines for the user.
using RenameTensors = std::function<Result<std::vector<OutputTensor>>(
    const Model& model, std::vector<OutputTensor> tensors, std::vector<Error>& remarks)>;

/// The two numberings of element types in bump files.
enum class BumpCodes : std::uint8_t { doc, engine };

/// Options of bump files alone. See docs/convert.md.
struct BumpOptions {
  std::uint32_t version = 3;                      ///< 3 or 4
  std::optional<BumpCodes> codes = {};            ///< Default: doc for 3; 4 has only engine.
  std::optional<std::uint64_t> context = {};      ///< Tokens; default: by the model.
  std::optional<std::string> config_path = {};    ///< Default: config.json beside the output.
  std::optional<std::string> manifest_path = {};  ///< Default: no manifest.
  bool allow_loss = false;            ///< Leave out tensors for which the format has no place.
  bool widen = false;                 ///< Decode weights of types that it cannot hold to F32.
  bool is_strictly_original = false;  ///< Read metadata as the original converter does.
};

template <class Visitor>
void describe_options(Visitor& visit, BumpOptions& options) {
  visit("bump_version", options.version);
  visit("dtype_codes", options.codes);
  visit("ctx_size", options.context);
  visit("config_out", options.config_path);
  visit("manifest_out", options.manifest_path);
  visit("allow_loss", options.allow_loss);
  visit("widen", options.widen);
  visit("strict_original", options.is_strictly_original);
}

struct ConvertOptions {
  /// The type of float and quantized tensors in the output: F32, F16, BF16 or F64. Default: as they
  /// are where the format can hold that, else F32. Integers stay.
  std::optional<TensorType> type = {};
  bool all_tensors = false;  ///< GGUF: also norms and biases get `type`; else F32, as engines want.
  RenameTensors rename = {};                    ///< safetensors and npz; default: names stay.
  std::uint64_t max_file_bytes = 0;             ///< safetensors: 0, or where a new shard begins.
  std::optional<std::uint32_t> version = {};    ///< GGUF: default 3.
  std::optional<Endian> byte_order = {};        ///< GGUF: default that of the model.
  std::optional<std::uint32_t> alignment = {};  ///< GGUF: default that of the model.
  bool has_index = false;                       ///< GGUF: write a layout index.
  BumpOptions bump = {};
  /// Files that no output may replace, besides those of the model: where it was opened from another
  /// format, OpenedModel::paths.
  std::vector<std::string> inputs = {};
  bool replace = false;       ///< Outputs that exist are replaced; else Errc::already_exists.
  unsigned thread_count = 0;  ///< 0: as many as the machine has cores.
};

template <class Visitor>
void describe_options(Visitor& visit, ConvertOptions& options) {
  visit("type", options.type);
  visit("all_tensors", options.all_tensors);
  visit("names", options.rename);
  visit("max_size", options.max_file_bytes);
  visit("gguf_version", options.version);
  visit("endian", options.byte_order);
  visit("align", options.alignment);
  describe_options(visit, options.bump);
  visit("force", options.replace);
  visit("threads", options.thread_count);
}

/// A conversion that has been checked and not yet done. The model must outlive it.
class INGOT_EXPORT Conversion {
 public:
  virtual ~Conversion();

  /// Remarks for the user, each complete with subject and detail.
  [[nodiscard]] const std::vector<Error>& remarks() const noexcept { return remarks_; }

  /// Flaws of the result: Errc::not_loadable where no engine can load it, because the source lacks
  /// keys or tensors.
  [[nodiscard]] const std::vector<Error>& warnings() const noexcept { return warnings_; }

  /// The files that will appear, all of them or none.
  [[nodiscard]] const std::vector<std::string>& outputs() const noexcept { return outputs_; }

  /// The largest number that progress receives.
  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return total_bytes_; }

  /// Writes the files. They appear when all are complete; nothing is left of a conversion that
  /// fails or is stopped. Memory is bounded by the tables of the model and some 64 MiB.
  [[nodiscard]] virtual Result<void> run(const WriteProgress& progress = {}) const = 0;

 protected:
  std::vector<Error> remarks_;
  std::vector<Error> warnings_;
  std::vector<std::string> outputs_;
  std::uint64_t total_bytes_ = 0;
};

/// Checks everything that can be checked before a byte is written, and plans a conversion to a file
/// `path` of a format.
///
/// @param model  borrowed until the conversion is destroyed. Open it with FileAccess::read where
///               memory is scarce: pages of mapped files count as memory.
/// @return  the reason why the format cannot hold the model, with the tensor or key;
/// Errc::same_file if an
///          output is a file of the model; Errc::invalid_argument for options that make no sense.
[[nodiscard]] INGOT_EXPORT Result<std::unique_ptr<Conversion>> plan_conversion(
    const Model& model, FileFormat format, const std::string& path,
    const ConvertOptions& options = {});

}  // namespace ingot

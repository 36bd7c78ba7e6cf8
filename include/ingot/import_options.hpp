// SPDX-License-Identifier: MIT
// Options of the import of model folders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ingot/types.hpp"

namespace ingot {

struct ImportOptions {
  /// The type of the weights: F32, F16, BF16, Q8_0, TQ1_0 or TQ2_0. Default: that of the first
  /// tensor of two or more dimensions that is BF16 or F16, else F16.
  std::optional<TensorType> type = {};
  /// Whether each tensor gets the smallest type that holds every value of it, instead of `type`:
  /// weights that are quantized keep their bits, all others the type that they have.
  bool exact = false;
  /// The value of `tokenizer.ggml.pre`. Default: by the tokenizer.
  std::optional<std::string> pre = {};
  /// Whether to write exactly what the reference converter writes, including its known defects.
  bool as_reference = false;
  /// Whether to read params.json and consolidated*.safetensors, Mistral's own form, also where
  /// config.json is there, too.
  bool mistral_format = false;
  /// The class whose rules count instead of those of config.json; the metadata tell.
  std::optional<std::string> as_class = {};
  std::optional<std::string> model_name = {};  ///< Replaces `general.name`.
  /// The text of a JSON object whose members replace keys of `general.*`.
  std::optional<std::string> metadata = {};
  /// The name to use for the folder where no other name is known. Default: its own.
  std::optional<std::string> folder_name = {};
  /// The folder of the model that a draft belongs to, in the file system: its tokenizer is that of
  /// the draft.
  std::optional<std::string> target_folder = {};
  /// Layers that predict further tokens alone, with the embeddings and the output: a draft of the
  /// model in a file of its own.
  bool next_layers_only = false;
  /// Leaves layers that predict further tokens out.
  bool without_next_layers = false;
  /// Gate and up matrices of experts become one tensor.
  bool fuse_experts = false;
  /// Matrices of FP8 become Q8_0, whatever the type.
  bool fp8_as_q8_0 = false;
  /// Imports the layers behind the pooling of a sentence-transformers model, which the folder has
  /// as modules of their own.
  bool dense_modules = false;
  /// Whether to make the projector of the folder, the file that engines load beside the model:
  /// its encoders of images and sound, and what makes tokens of them.
  bool mmproj = false;
  unsigned thread_count = 0;  ///< 0: as many as the machine has cores.
};

template <class Visitor>
void describe_options(Visitor& visit, ImportOptions& options) {
  visit("type", options.type);
  visit("exact", options.exact);
  visit("pre", options.pre);
  visit("as_reference", options.as_reference);
  visit("mistral_format", options.mistral_format);
  visit("class_", options.as_class);
  visit("model_name", options.model_name);
  visit("metadata", options.metadata);
  visit("folder_name", options.folder_name);
  visit("target_model_dir", options.target_folder);
  visit("mtp", options.next_layers_only);
  visit("no_mtp", options.without_next_layers);
  visit("fuse_gate_up_exps", options.fuse_experts);
  visit("fp8_as_q8", options.fp8_as_q8_0);
  visit("sentence_transformers_dense_modules", options.dense_modules);
  visit("mmproj", options.mmproj);
  visit("threads", options.thread_count);
}

}  // namespace ingot

// SPDX-License-Identifier: MIT
// Every tensor of the result before anything is written.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "huggingface/folder/config.hpp"
#include "huggingface/folder/model_folder.hpp"
#include "huggingface/import/tensors/piece_source.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "huggingface/rules/architecture_rules.hpp"
#include "ingot/error.hpp"
#include "ingot/import.hpp"
#include "ingot/metadata.hpp"

namespace ingot::huggingface {

/// The types that an import encodes.
inline constexpr std::array import_types = {TensorType::f32,  TensorType::f16,   TensorType::bf16,
                                            TensorType::q8_0, TensorType::tq1_0, TensorType::tq2_0};

[[nodiscard]] constexpr bool is_import_type(TensorType type) noexcept {
  return std::ranges::find(import_types, type) != import_types.end();
}

struct PlannedTensor {
  ImportedTensor info;
  std::shared_ptr<const PieceSource> pieces;
  TensorPlace place = TensorPlace::usual;
};

struct TensorTask {
  const Config& config;
  const RuleTable& table;
  const Architecture& architecture;
  std::vector<SourceTensor> tensors;  ///< The tensors as in the folder.
  TensorType type = TensorType::f16;  ///< The type of the weights.
  bool is_exact = false;              ///< ImportOptions::exact, and then `type` is of no weight.
  bool as_reference = false;          ///< ImportOptions::as_reference
  bool fp8_as_q8_0 = false;           ///< ImportOptions::fp8_as_q8_0
  bool fuses_experts = false;         ///< ImportOptions::fuse_experts
  /// Layers before it are left out, and other tensors but embeddings, norm of the output and
  /// output.
  std::optional<std::uint64_t> first_layer = {};
  std::span<const NamedShape> shapes = {};  ///< RuleContext::tensors
  const Config* target = nullptr;           ///< RuleContext::target
  Array tokens = {};                        ///< Their texts, by id; borrowed. Empty: not known.
  /// Norms and products of the halves of an adapter, not the tensors of a whole model.
  bool is_adapter = false;
  bool is_projector = false;  ///< Encoders and a projector, not a text model.
  unsigned thread_count = 0;  ///< ImportOptions::thread_count
};

struct TensorPlan {
  std::vector<PlannedTensor> tensors;  ///< The tensors in the order of the result.
  std::vector<Error> remarks;
  std::vector<std::string> left_out = {};  ///< Import::left_out
  std::uint64_t code_bits = 0;             ///< Import::code_bits
};

/// Gives the tensors of the folder the names by which rules know them, and leaves out those that
/// are not imported: their names go to `left_out`.
[[nodiscard]] Result<std::vector<SourceTensor>> rename_tensors(const RuleTable& table,
                                                               const Architecture& architecture,
                                                               const Config& config,
                                                               std::vector<SourceTensor> tensors,
                                                               std::vector<std::string>& left_out);

/// The type of the first tensor of two or more dimensions that is BF16 or F16; else F16.
[[nodiscard]] TensorType guess_type(const std::vector<SourceTensor>& tensors);

/// @param task  its tensors are renamed.
/// @return  the reason why the result would be wrong: tensors without a name in GGUF, missing
///          layers or experts, shapes that contradict config.json.
[[nodiscard]] Result<TensorPlan> plan_tensors(TensorTask task);

}  // namespace ingot::huggingface

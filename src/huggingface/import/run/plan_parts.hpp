// SPDX-License-Identifier: MIT
// The parts that plans of models and of adapters have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "huggingface/import/general/general_keys.hpp"
#include "huggingface/import/tensors/tensor_plan.hpp"
#include "ingot/error.hpp"
#include "ingot/types.hpp"

namespace ingot::huggingface {

/// The version of ggml's quantized layouts, `general.quantization_version`.
inline constexpr std::uint32_t quantization_version = 2;

/// Fails with Errc::unsupported_type for a type that no import encodes.
[[nodiscard]] Result<void> check_type(TensorType type);

/// Counts as gguf-py does: an expert counts once in `expert`, everything else in `shared`.
[[nodiscard]] ParameterCounts count_parameters(const TensorPlan& plan);

/// The tensors of a folder as expressions see them.
[[nodiscard]] std::vector<NamedShape> shapes_of(const std::vector<SourceTensor>& tensors);

/// The rules for a folder: those of its class, or of a variant of it.
/// Errc::architecture_unsupported for a class that no rule is for.
///
/// @param as_class  ImportOptions::as_class: whose rules count instead.
[[nodiscard]] Result<const Architecture*> find_rules(
    const RuleTable& table, const ModelFolder& folder, const Config& config,
    const std::optional<std::string>& as_class = {});

/// The rules that come nearest to a folder, and what they do not fit, for messages.
[[nodiscard]] std::string describe_nearest(const RuleTable& table, const ModelFolder& folder,
                                           const Config& config);

}  // namespace ingot::huggingface

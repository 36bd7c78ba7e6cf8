// SPDX-License-Identifier: MIT
// The writer of a format: the rows of formats.def point to these.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ingot/convert.hpp"

namespace ingot::formats {

using Plan = Result<std::unique_ptr<Conversion>>(const Model& model, const std::string& path,
                                                 const ConvertOptions& options);
using PlanFunction = Plan*;

Plan plan_bump;
Plan plan_gguf;
Plan plan_npz;
Plan plan_safetensors;
inline constexpr PlanFunction no_writer = nullptr;

/// A conversion of the class `Planned`, which plans itself for a path.
template <class Planned>
[[nodiscard]] Result<std::unique_ptr<Conversion>> planned(const Model& model,
                                                          const std::string& path,
                                                          const ConvertOptions& options) {
  auto conversion = std::make_unique<Planned>(model, options);
  INGOT_TRY_VOID(conversion->plan(path));
  return std::unique_ptr<Conversion>(std::move(conversion));
}

/// Plans the tensors of a model for a format without quantized types, under the names that the
/// options want. `holds` tests whether the format has a type; other types become F32, and so does
/// the type of the options if the format lacks it. Remarks list the losses.
[[nodiscard]] Result<std::vector<OutputTensor>> plan_plain_tensors(const Model& model,
                                                                   const ConvertOptions& options,
                                                                   bool (*holds)(TensorType),
                                                                   std::vector<Error>& remarks);

}  // namespace ingot::formats

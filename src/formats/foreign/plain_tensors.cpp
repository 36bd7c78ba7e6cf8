// SPDX-License-Identifier: MIT
// The tensors of a model for formats without blocks.
#include "formats/foreign/planner.hpp"

namespace ingot::formats {
namespace {

TensorType choose_type(TensorType stored, const ConvertOptions& options,
                       bool (*holds)(TensorType)) {
  if (is_integer(stored) && holds(stored)) return stored;
  const TensorType wanted = options.type.value_or(stored);
  return holds(wanted) ? wanted : TensorType::f32;
}

}  // namespace

Result<std::vector<OutputTensor>> plan_plain_tensors(const Model& model,
                                                     const ConvertOptions& options,
                                                     bool (*holds)(TensorType),
                                                     std::vector<Error>& remarks) {
  std::vector<OutputTensor> outputs;
  for (const TensorInfo& tensor : model.tensors()) {
    INGOT_TRY(OutputTensor output, output_of(tensor, choose_type(tensor.type, options, holds)));
    outputs.push_back(std::move(output));
  }
  if (options.rename) return options.rename(model, std::move(outputs), remarks);
  return outputs;
}

}  // namespace ingot::formats

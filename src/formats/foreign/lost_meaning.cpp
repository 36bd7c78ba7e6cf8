// SPDX-License-Identifier: MIT
#include "formats/foreign/lost_meaning.hpp"

#include <algorithm>
#include <string>

#include "base/messages.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/text.hpp"
#include "types/recipe_weights.hpp"

namespace ingot::formats {
namespace {

/// Whether the model is a GGUF file. No file holds the header of a model of another format.
bool is_gguf(const Model& model) noexcept { return model.origin(0, 0).has_value(); }

/// A tensor whose name GGUF does not have; nullptr if the model has names of GGUF.
const TensorInfo* find_foreign_name(const Model& model) {
  const auto is_known = [](const TensorInfo& tensor) {
    return parse_layer_name(tensor.name).has_value() || tensor.name == "token_embd.weight";
  };
  const auto tensors = model.tensors();
  return tensors.empty() || std::ranges::any_of(tensors, is_known) ? nullptr : tensors.data();
}

}  // namespace

std::optional<Error> find_missing_meaning(const Model& model) {
  if (is_gguf(model) || model.find(keys::general_architecture) != nullptr) return std::nullopt;
  std::string missing = "it has no general.architecture";
  if (model.find(keys::tokenizer_ggml_tokens) == nullptr) missing += ", no tokenizer";
  if (const TensorInfo* tensor = find_foreign_name(model)) {
    missing +=
        ", and tensor names that are not those of GGUF, such as " + quoted_name(tensor->name);
  }
  return Error{.code = Errc::not_loadable,
               .subject = {},
               .detail = missing +
                         "; a folder of the model with its config.json is imported as a whole: "
                         "`ingot convert FOLDER OUT` without --names"};
}

void set_file_type(const Model& model, ModelWriter& keys,
                   const std::function<TensorType(const TensorInfo&)>& type_in_result) {
  const Value* stored = model.find(keys::general_file_type);
  if (stored == nullptr) return;
  const RecipeWeights before(model.tensors());
  RecipeWeights after;
  bool is_changed = false;
  for (const TensorInfo& tensor : model.tensors()) {
    const TensorType type = type_in_result(tensor);
    after.add(tensor, type);
    is_changed = is_changed || type != tensor.type;
  }
  const std::optional<TensorType> most = after.most();
  // The label of a mixture stays right as long as most of its weights keep their types.
  const bool is_right =
      before.most() == most && !after.contradict(stored->get<std::uint64_t>().value_or(0));
  const bool may_stay = !is_changed && is_gguf(model);  // a copy keeps even a wrong one
  if (may_stay || !most || is_right) return;
  if (const auto file_type = file_type_of(*most)) {
    keys.set(keys::general_file_type, *file_type);
  } else {
    keys.remove(keys::general_file_type);
  }
}

}  // namespace ingot::formats

// SPDX-License-Identifier: MIT
// Rules about the metadata of the model: types of standard keys, numbers of the
// architecture, the recipe.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/messages.hpp"
#include "check/rules.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/projectors.hpp"
#include "ingot/text.hpp"
#include "model/open/model_header.hpp"
#include "types/recipe_weights.hpp"

namespace ingot::check::rules {
namespace {

/// The type of a value, for people.
std::string describe_value(const Value& value) {
  if (value.is_array()) {
    return "an array of " + std::string(name_of(value.as_array().element_type()));
  }
  if (const Result<std::int64_t> number = value.get<std::int64_t>()) {
    return std::string(name_of(value.type())) + " " + std::to_string(*number);
  }
  return std::string(name_of(value.type()));
}

bool is_array_of(const Value& value, std::initializer_list<ValueType> types) {
  if (!value.is_array()) return false;
  const ValueType element = value.as_array().element_type();
  return std::ranges::find(types, element) != types.end();
}

/// Whether the value of a standard key has its form.
bool has_form(const Value& value, KeyForm form) {
  const bool is_number = value.get<std::uint64_t>().has_value();
  // Models of some kinds have -1 for layers that have none.
  const bool has_integers = value.is_array() && is_integer(value.as_array().element_type());
  const KeyType usual = usual_type(form);
  switch (form) {
    case KeyForm::number:
      return is_number;
    case KeyForm::number_or_list:
      return is_number || has_integers;
    case KeyForm::number_or_flags:
      return is_number || has_integers || is_array_of(value, {ValueType::boolean});
    case KeyForm::real:
      return is_float(value.type());
    case KeyForm::integers:
      return is_array_of(value, {ValueType::int32, ValueType::uint32});
    case KeyForm::bytes:
      return is_array_of(value, {ValueType::int8, ValueType::uint8});
    default:
      return usual.is_array ? is_array_of(value, {usual.type}) : value.type() == usual.type;
  }
}

struct Bounds {
  std::string_view suffix;
  std::uint64_t least;
  std::uint64_t most;
  bool is_of_attention;  // 0 is allowed in an architecture without
};

// The upper bounds are generous: the largest models have 126 layers, 2^14 elements a row, some 10^7
// tokens of context. Larger ones overflow sizes in loaders that multiply before they check.
constexpr std::array bounds = {
    // Positions are signed and have 32 bits in llama.cpp.
    Bounds{suffixes::context_length, 1, (std::uint64_t{1} << 31) - 1, false},
    Bounds{suffixes::embedding_length, 1, std::uint64_t{1} << 24, false},
    Bounds{suffixes::block_count, 1, std::uint64_t{1} << 16, false},
    Bounds{suffixes::feed_forward_length, 1, std::uint64_t{1} << 28, true},
    Bounds{suffixes::attention_head_count, 1, std::uint64_t{1} << 20, true},
    Bounds{suffixes::attention_head_count_kv, 1, std::uint64_t{1} << 20, true},
    Bounds{suffixes::attention_key_length, 1, std::uint64_t{1} << 20, true},
    Bounds{suffixes::attention_value_length, 1, std::uint64_t{1} << 20, true},
    Bounds{suffixes::rope_dimension_count, 0, std::uint64_t{1} << 20, false},
    Bounds{suffixes::expert_count, 0, std::uint64_t{1} << 16, false},
    Bounds{suffixes::expert_used_count, 0, std::uint64_t{1} << 16, false},
    Bounds{suffixes::vocab_size, 1, std::uint64_t{1} << 28, false},
};

void report_own(Inspection& inspection, std::string_view suffix, std::string message) {
  inspection.report_key(inspection.own_key(suffix), std::move(message));
}

/// Numbers that differ from layer to layer: loaders want one for each. 0 is for layers without.
void layer_arrays(Inspection& inspection) {
  const auto layers = inspection.own_number(suffixes::block_count);
  for (const Bounds& bound : bounds) {
    const Value* value = inspection.model().find(inspection.own_key(bound.suffix));
    if (value == nullptr || !value->is_array()) continue;
    const Array numbers = value->as_array();
    if (layers && numbers.size() != *layers) {
      report_own(
          inspection, bound.suffix,
          "it has " + plural(numbers.size(), "element") + " for " + plural(*layers, "layer"));
    }
    for (const Value each : numbers) {
      const Result<std::uint64_t> number = each.get<std::uint64_t>();
      if (number && *number <= bound.most) continue;
      report_own(inspection, bound.suffix, "an element is no number that makes sense");
      break;
    }
  }
}

}  // namespace

void architecture_unknown(Inspection& inspection) {
  const std::string_view name = inspection.architecture();
  if (name.empty() || find_architecture(name) != nullptr) return;
  inspection.report({.key = keys::general_architecture},
                    "the architecture \"" + escape_shortened(name, 60) + "\" is not known");
}

void projector_type_unknown(Inspection& inspection) {
  const Architecture* row = inspection.row();
  if (row == nullptr) return;
  for (const auto& variant : unchecked_variants(*row, ModelHeader(inspection.model()))) {
    if (variant.is_known) continue;
    inspection.report_model(variant.text.empty()
                                ? "no key says that it has an encoder"
                                : "the type " + in_quotes(variant.text) + " is not known");
  }
}

void projector_mismatch(Inspection& inspection) {
  if (inspection.projector() == nullptr) return;
  const auto report = [&](std::string message) { inspection.report_model(std::move(message)); };
  if (inspection.summary().projector) return report("the model is a projector itself");
  const Summary other = summarize(*inspection.projector());
  if (!other.projector) {
    return report("what is to go with it is no projector but " +
                  in_quotes(other.architecture.value_or("")));
  }
  const PairFacts& own = inspection.pair()->model;
  const PairFacts& facts = inspection.pair()->projector;
  if (!own.vision_width) return;  // key_missing
  const auto compare = [&](std::string_view what, const std::optional<std::uint64_t>& output) {
    if (!output || *output == *own.vision_width) return;
    report("the projector's " + std::string(what) + " have width " + std::to_string(*output) +
           ", the model takes " + std::to_string(*own.vision_width));
  };
  compare("images", facts.vision_width);
  compare("sounds", facts.audio_width);
  if (facts.fed_layers != own.fed_layers) {
    report("the projector feeds " + plural(facts.fed_layers, "layer") +
           " beside the first, the model has " + std::to_string(own.fed_layers) + " that are fed");
  }
}

void projector_origin(Inspection& inspection) {
  if (!inspection.pair()) return;
  const auto& [own, facts] = *inspection.pair();
  if (own.identities.empty() || facts.identities.empty()) return;
  if (match_pair(own, facts) != PairStrength::unrelated) return;
  const auto name_of_model = [](const Model& model) {
    return in_quotes(model.get_or<std::string_view>(keys::general_name, "without a name"));
  };
  inspection.report_model("the projector is of " + name_of_model(*inspection.projector()) +
                          ", the model is " + name_of_model(inspection.model()) +
                          ", and no name or base model is the same");
}

void projector_tokens(Inspection& inspection) {
  if (!inspection.pair()) return;
  if (inspection.model().find(keys::tokenizer_ggml_tokens) == nullptr) return;
  const auto& [own, facts] = *inspection.pair();
  for (const std::string& token : facts.tokens) {
    if (std::ranges::binary_search(own.tokens, token)) continue;
    inspection.report_key(keys::tokenizer_ggml_tokens,
                          "the engine puts " + in_quotes(token) +
                              " around images, and the vocabulary does not have it");
  }
}

void projector_template(Inspection& inspection) {
  const auto text = inspection.model().get_or<std::string_view>(keys::tokenizer_chat_template, {});
  if (text.empty() || !inspection.pair()) return;
  const PairFacts& facts = inspection.pair()->projector;
  const auto misses = [&](bool is_wanted, std::string_view word) {
    return is_wanted && text.find(word) == std::string_view::npos;
  };
  if (misses(!facts.vision_type.empty(), "image") || misses(!facts.audio_type.empty(), "audio")) {
    inspection.report_key(keys::tokenizer_chat_template,
                          "the template does not speak of what the projector takes");
  }
}

void projector_type_unchecked(Inspection& inspection) {
  if (inspection.projector() != nullptr) {
    const auto other = summarize(*inspection.projector()).projector;
    if (other && !other->vision_output && !other->audio_output) {
      inspection.report_model("whether the projector fits is not known: its type is not described");
    }
  }
  const Architecture* row = inspection.row();
  if (row == nullptr) return;
  for (const auto& variant : unchecked_variants(*row, ModelHeader(inspection.model()))) {
    if (!variant.is_known) continue;
    inspection.report_model("the tensors of a projector of type " + in_quotes(variant.text) +
                            " are not described");
  }
}

void key_type(Inspection& inspection) {
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    const MetadataKeyInfo* info = find_key(entry.key, inspection.architecture());
    if (info == nullptr || has_form(entry.value, info->form)) return;
    if (entry.key == keys::general_architecture) return;  // architecture_missing
    inspection.report_key(entry,
                          "it is " + describe_value(entry.value) + "; it should be " +
                              std::string(name_of(info->form)),
                          file);
  });
}

void key_missing(Inspection& inspection) {
  const Architecture* architecture = inspection.row();
  if (architecture == nullptr) return;
  for (const std::string& key : missing_keys(*architecture, ModelHeader(inspection.model()))) {
    inspection.report({.key = key}, "it is missing");
  }
}

void key_implausible(Inspection& inspection) {
  const Architecture* architecture = find_architecture(inspection.architecture());
  const auto report = [&](std::string_view suffix, std::string message) {
    report_own(inspection, suffix, std::move(message));
  };
  layer_arrays(inspection);
  if (const Architecture* row = inspection.row()) {
    for (const auto sentence : refusals_of(*row, ModelHeader(inspection.model()))) {
      inspection.report_model(std::string(sentence));
    }
  }
  for (const Bounds& bound : bounds) {
    const auto number = inspection.own_number(bound.suffix);
    if (!number) continue;
    const bool may_be_zero =
        bound.is_of_attention && (architecture == nullptr || !architecture->has_attention);
    if (*number > bound.most) report(bound.suffix, std::to_string(*number) + " is too much");
    if (*number < bound.least && !may_be_zero) report(bound.suffix, "it is 0");
  }
  const auto heads = inspection.own_number(suffixes::attention_head_count);
  const auto kv_heads = inspection.own_number(suffixes::attention_head_count_kv);
  const auto width = inspection.own_number(suffixes::embedding_length);
  if (heads && kv_heads && *heads != 0 && *kv_heads != 0 && *heads % *kv_heads != 0) {
    report(suffixes::attention_head_count_kv,
           std::to_string(*kv_heads) + " does not divide the " + std::to_string(*heads) + " heads");
  }
  const bool has_key_length = inspection.own_number(suffixes::attention_key_length).has_value();
  if (heads && width && *heads != 0 && *width % *heads != 0 && !has_key_length) {
    report(suffixes::attention_head_count,
           std::to_string(*heads) + " heads do not divide the width " + std::to_string(*width));
  }
  for (const std::string_view suffix :
       {suffixes::attention_layer_norm_rms_epsilon, suffixes::attention_layer_norm_epsilon,
        suffixes::rope_freq_base}) {
    const Value* value = inspection.model().find(inspection.own_key(suffix));
    const Result<double> number = value != nullptr ? value->get<double>() : Result<double>(1.0);
    if (number && *number <= 0.0) report(suffix, "it is " + format_float(*number));
  }
  const auto experts = inspection.own_number(suffixes::expert_count);
  const auto used = inspection.own_number(suffixes::expert_used_count);
  if (experts && used && *used > *experts) {
    report(suffixes::expert_used_count, std::to_string(*used) + " of " + std::to_string(*experts));
  }
}

void layer_limit(Inspection& inspection) {
  constexpr std::uint64_t max_layers = 512;  // LLAMA_MAX_LAYERS of llama.cpp
  const auto layers = inspection.own_number(suffixes::block_count);
  if (!layers || *layers <= max_layers) return;
  inspection.report({.key = inspection.own_key(suffixes::block_count)},
                    std::to_string(*layers) + " layers");
}

void quantization_version(Inspection& inspection) {
  const Model& model = inspection.model();
  constexpr std::uint64_t current = 2;  // GGML_QNT_VERSION
  if (const Value* version = model.find(keys::general_quantization_version)) {
    const std::uint64_t number = version->get<std::uint64_t>().value_or(current);
    if (number == current) return;  // of a wrong type: key_type
    return inspection.report_key(
        keys::general_quantization_version,
        "it is " + std::to_string(number) + "; loaders of today decode version 2");
  }
  const auto tensors = model.tensors();
  const auto quantized = std::ranges::find_if(
      tensors, [](const TensorInfo& tensor) { return is_quantized(tensor.type); });
  if (quantized == tensors.end()) return;
  inspection.report_key(keys::general_quantization_version,
                        "it is missing, and tensors are quantized");
}

void file_type_wrong(Inspection& inspection) {
  const auto file_type = inspection.summary().file_type;
  if (!file_type || inspection.is_incomplete()) return;
  const RecipeWeights weights(inspection.model().tensors());
  if (!weights.contradict(*file_type)) return;
  const FileTypeInfo& info = *find_file_type(*file_type);
  const std::string type(find_type(info.weights)->name);
  const std::string most(find_type(*weights.most())->name);
  inspection.report_key(keys::general_file_type,
                        "it is " + std::to_string(*file_type) + ", " + std::string(info.name) +
                            (weights.of(info.weights) == 0 ? ", but no matrix is " + type
                                                           : ", but most weights are " + most));
}

void file_type_unusual(Inspection& inspection) {
  const auto file_type = inspection.summary().file_type;
  if (!file_type) return;
  const FileTypeInfo* info = find_file_type(*file_type);
  if (info == nullptr) {
    return inspection.report_key(keys::general_file_type,
                                 std::to_string(*file_type) + " is not known");
  }
  const RecipeWeights weights(inspection.model().tensors());
  const std::uint64_t share = weights.of(info->weights);
  if (share == 0 || weights.contradict(*file_type)) return;  // file_type_wrong
  const TensorType most = *weights.most();
  if (weights.of(most) <= share) return;
  inspection.report_key(keys::general_file_type, "it is " + std::string(info->name) +
                                                     ", but most weights are " +
                                                     std::string(find_type(most)->name));
}

void vocabulary_only(Inspection& inspection) {
  if (!inspection.model().tensors().empty()) return;
  inspection.report_model(inspection.model().find(keys::tokenizer_ggml_tokens) != nullptr
                              ? "it holds a vocabulary and no weights"
                              : "it holds no weights");
}

}  // namespace ingot::check::rules

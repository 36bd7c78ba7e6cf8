// SPDX-License-Identifier: MIT
#include "huggingface/folder/projector_config.hpp"

#include <initializer_list>
#include <string>
#include <utility>

#include "huggingface/folder/json_text.hpp"
#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::json;

/// The places of an encoder's configuration.
constexpr std::initializer_list<const char*> vision_places = {"vision_config"};
constexpr std::initializer_list<const char*> audio_places = {"whisper_config", "audio_config",
                                                             "encoder_config"};
constexpr std::initializer_list<const char*> text_places = {"text_config", "llm_config",
                                                            "lm_config", "language_config", "lfm"};

/// The names of the number of layers.
constexpr std::initializer_list<const char*> layer_names = {
    "n_layers",       "num_hidden_layers",   "n_layer", "num_layers", "depth", "layers",
    "encoder_layers", "vt_num_hidden_layers"};

/// The first of some members that is an object; null if none is.
json find_object(const json& values, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const json* const found = find_member(values, name);
    if (found != nullptr && found->is_object()) return *found;
  }
  return json();
}

std::string class_named_by(const json& values) {
  const json* const classes = find_member(values, "architectures");
  const bool is_named = classes != nullptr && classes->is_array() && !classes->empty() &&
                        classes->front().is_string();
  return is_named ? classes->front().get<std::string>() : std::string();
}

/// Two encoders in a row, as DeepSeek-OCR has them: the members of the second one count as those of
/// the whole, the first one is `sam`.
void settle_encoders_in_row(json& vision) {
  const json width = find_object(vision, {"width"});
  const json* const first = find_member(width, "sam_vit_b");
  const json* const second = find_member(width, "clip-l-14-224");
  if (first == nullptr || second == nullptr || !second->is_object()) return;
  vision.update(*second);
  vision["sam"] = *first;
}

/// Lays the members of a file over others, and over them those of one of its objects.
Result<void> lay_over(const ModelFolder& folder, const char* file, const char* inner,
                      json& members) {
  if (!folder.has(file)) return {};
  INGOT_TRY(const json read, read_json(folder, file));
  if (!read.is_object()) return refuse(folder.locate(file), "an object was expected");
  members.update(read);
  const json object = find_object(read, {inner});
  if (object.is_object()) members.update(object);
  return {};
}

json count_layers(const json& encoder) {
  for (const char* name : layer_names) {
    if (const json* const count = find_member(encoder, name)) return *count;
  }
  return json();
}

}  // namespace

Result<Config> read_projector_config(const ModelFolder& folder) {
  if (folder.is_mistral()) {
    return refuse(folder.locate(folder.config_file()),
                  "projectors are made of folders with config.json; Mistral's own form has none");
  }
  INGOT_TRY(json values, read_json(folder, "config.json"));
  if (!values.is_object()) return refuse(folder.locate("config.json"), "an object was expected");
  // Models of several parts have those that read below a member of its own.
  const json thinker = find_object(values, {"thinker_config"});
  const json& parts = thinker.is_object() ? thinker : values;

  json vision = find_object(parts, vision_places);
  const json audio = find_object(parts, audio_places);
  json text = values;
  if (const json own = find_object(parts, text_places); own.is_object()) text.update(own);
  std::string model_class = class_named_by(vision);
  if (model_class.empty()) model_class = class_named_by(values);
  if (model_class.empty()) {
    return refuse(folder.locate("config.json"), "`architectures` must name the class of the model");
  }
  settle_encoders_in_row(vision);

  json preprocessor = json::object();
  INGOT_TRY_VOID(lay_over(folder, "preprocessor_config.json", "media_proc_cfg", preprocessor));
  INGOT_TRY_VOID(lay_over(folder, "processor_config.json", "image_processor", preprocessor));

  for (const char* name : layer_names) values.erase(name);
  values["num_hidden_layers"] = count_layers(vision.is_object() ? vision : audio);
  values["vision"] = std::move(vision);
  values["audio"] = audio;
  values["text"] = std::move(text);
  values["preprocessor"] = std::move(preprocessor);
  return Config::of(std::move(values), std::move(model_class));
}

}  // namespace ingot::huggingface

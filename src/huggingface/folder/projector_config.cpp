// SPDX-License-Identifier: MIT
#include "huggingface/folder/projector_config.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.hpp"
#include "huggingface/folder/json_text.hpp"
#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::json;

/// The places of an encoder's configuration.
constexpr std::initializer_list<const char*> vision_places = {"vision_config"};
constexpr std::initializer_list<const char*> audio_places = {
    "whisper_config", "audio_config", "encoder_config", "speech_config", "sound_config", "encoder"};
/// That of an encoder of sounds with a folder of its own.
constexpr const char* audio_folder = "audio_tokenizer/config.json";
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
  if (second != nullptr && second->is_object()) vision.update(*second);
  if (first != nullptr) vision["sam"] = *first;
}

/// A whole number of 32 bits, 0 if it is none.
std::int64_t whole_in(const json& value) {
  const double number = value.is_number_integer() ? value.get<double>() : 0;
  return std::abs(number) <= std::numeric_limits<std::int32_t>::max()
             ? static_cast<std::int64_t>(number)
             : 0;
}

json::array_t list_in(const json& values, const char* name) {
  const json* const found = find_member(values, name);
  return found != nullptr && found->is_array() ? found->get_ref<const json::array_t&>()
                                               : json::array_t();
}

/// A number of a layer; one below 0 counts from the end.
std::int64_t layer_in(const json& value, const json& count) {
  const std::int64_t layer = whole_in(value);
  return layer < 0 ? layer + whole_in(count) : layer;
}

/// Several projectors, as Granite 4 has them, each of which reads what a layer of the encoder gives
/// and adds to the input of a layer of the text model: in the order of the latter. The members:
/// their layers of the encoder; their numbers among the spatial ones, -1 for others; the place of
/// each one of a kind; the sides of a rate "4/8"; sizes of images, the width first.
json settle_projectors(const json& values, const json& vision, const json& text) {
  constexpr const char* layers = "num_hidden_layers";
  const json vision_count = vision.value(layers, json());
  struct Projector {
    std::int64_t text_layer;
    std::int64_t vision_layer;
    const char* kind;
    std::size_t number;
  };
  std::vector<Projector> projectors;
  json::array_t pairs = list_in(values, "deepstack_layer_map");
  std::sort(pairs.begin(), pairs.end());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!pairs[i].is_array() || pairs[i].size() != 2) continue;
    projectors.push_back({layer_in(pairs[i][1], text.value(layers, json())),
                          layer_in(pairs[i][0], vision_count), "layerwise", i});
  }
  const json::array_t targets = list_in(values, "spatial_target_layers");
  const std::int64_t seen = layer_in(values.value("spatial_vision_layer", json(-1)), vision_count);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    projectors.push_back({whole_in(targets[i]), seen, "spatial", i});
  }
  std::ranges::stable_sort(projectors, {}, &Projector::text_layer);

  json settled = {{"layerwise", json(pairs.size(), json())},
                  {"spatial", json(targets.size(), json())}};
  for (std::size_t place = 0; place < projectors.size(); ++place) {
    const Projector& projector = projectors[place];
    const bool is_spatial = std::string_view(projector.kind) == "spatial";
    settled["vision_layers"].push_back(projector.vision_layer);
    settled["spatial_offsets"].push_back(is_spatial ? json(projector.number) : json(-1));
    settled[projector.kind][projector.number] = place;
  }
  for (const json& size : list_in(values, "image_grid_pinpoints")) {
    if (!size.is_array() || size.size() != 2) continue;
    settled["pinpoints"].push_back(size[1]);
    settled["pinpoints"].push_back(size[0]);
  }
  const json rate = values.value("downsample_rate", json());
  if (!rate.is_string()) return settled;
  std::string_view window = rate.get_ref<const std::string&>();
  if (const auto side = parse_number<std::int64_t>(take_part(window, '/'))) {
    settled["query_side"] = *side;
  }
  if (const auto side = parse_number<std::int64_t>(window)) settled["window_side"] = *side;
  return settled;
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
  json audio = find_object(parts, audio_places);
  if (folder.has(audio_folder)) {
    INGOT_TRY(audio, read_json(folder, audio_folder));
  }
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

  const bool has_several = find_member(values, "deepstack_layer_map") != nullptr ||
                           find_member(values, "spatial_target_layers") != nullptr;
  if (has_several && vision.is_object()) {
    values["projectors"] = settle_projectors(values, vision, text);
  }
  for (const char* name : layer_names) values.erase(name);
  values["num_hidden_layers"] = count_layers(vision.is_object() ? vision : audio);
  values["vision"] = std::move(vision);
  values["audio"] = audio;
  values["text"] = std::move(text);
  values["preprocessor"] = std::move(preprocessor);
  return Config::of(std::move(values), std::move(model_class));
}

}  // namespace ingot::huggingface

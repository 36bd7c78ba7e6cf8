// SPDX-License-Identifier: MIT
#include "commands/card/card_data.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ingot/estimate.hpp>
#include <ingot/metadata_keys.hpp>
#include <ingot/summary.hpp>
#include <ingot/text.hpp>
#include <map>
#include <utility>

#include "commands/output_name.hpp"
#include "text/chat_facts.hpp"
#include "text/chat_json.hpp"
#include "text/model_facts.hpp"
#include "text/whole_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// More of anything is no fact for a card.
constexpr std::size_t max_text_size = 1000;
constexpr std::size_t max_list_size = 100;
constexpr std::size_t max_cards = 6;

/// The hub's names of tasks that models in GGUF do.
constexpr std::string_view pipelines[] = {"text-generation",      "image-text-to-text",
                                          "any-to-any",           "audio-text-to-text",
                                          "video-text-to-text",   "feature-extraction",
                                          "sentence-similarity",  "text-ranking",
                                          "text-classification",  "fill-mask",
                                          "translation",          "summarization",
                                          "text2text-generation", "automatic-speech-recognition",
                                          "text-to-speech"};

std::string text_of_key(const Model& model, std::string_view key) {
  const auto text = find_text(model, key);
  return text && text->size() <= max_text_size ? std::string(*text) : std::string();
}

std::vector<std::string> texts_of_key(const Model& model, std::string_view key) {
  std::vector<std::string> texts;
  const Value* const value = model.find(key);
  if (value == nullptr || !value->is_array()) return texts;
  for (const Value& element : value->as_array()) {
    if (texts.size() == max_list_size) break;
    const auto text = element.get<std::string_view>();
    if (text && !text->empty() && text->size() <= max_text_size) texts.emplace_back(*text);
  }
  return texts;
}

/// The models that this one is made from: the one that was quantized, or those before it.
void find_bases(const Model& model, CardFacts& facts) {
  for (const std::string_view key : {keys::general_source_huggingface_repository,
                                     keys::general_source_repo_url, keys::general_repo_url}) {
    const std::string source = repository_of(text_of_key(model, key));
    if (source.empty()) continue;
    facts.base_models = {source};
    facts.is_quantized = true;
    return;
  }
  for (std::size_t i = 0; i < max_list_size; ++i) {
    const std::string base =
        repository_of(text_of_key(model, fmt::format("general.base_model.{}.repo_url", i)));
    if (base.empty()) return;
    facts.base_models.push_back(base);
  }
}

void take_metadata(const Model& model, CardFacts& facts) {
  // The hub knows licenses by names in lower case.
  facts.license = lower_case(text_of_key(model, keys::general_license));
  facts.license_name = text_of_key(model, keys::general_license_name);
  facts.license_link = text_of_key(model, keys::general_license_link);
  facts.quantized_by = text_of_key(model, keys::general_quantized_by);
  facts.languages = texts_of_key(model, keys::general_languages);
  facts.tags = texts_of_key(model, keys::general_tags);
  if (facts.base_models.empty()) find_bases(model, facts);
  const auto pipeline = std::ranges::find_first_of(facts.tags, pipelines);
  if (pipeline != facts.tags.end()) {
    facts.pipeline_tag = *pipeline;
    facts.tags.erase(pipeline);
  }
  if (const auto chat = chat_facts(model)) {
    facts.prompt_format = chat->format;
    if (facts.pipeline_tag.empty()) facts.pipeline_tag = pipelines[0];
  }
  if (std::ranges::find(facts.tags, "gguf") == facts.tags.end()) facts.tags.emplace_back("gguf");
}

/// For each common card the longest context that fits; empty where nothing is known.
std::vector<std::optional<std::uint64_t>> contexts_of(const Model& model) {
  std::vector<std::optional<std::uint64_t>> contexts;
  const Result<MemoryProfile> profile = MemoryProfile::read(model);
  if (!profile || !profile->is_known_architecture()) return contexts;
  RunOptions options;
  options.context = profile->context_length();
  for (const std::uint64_t size : common_memory_sizes()) {
    options.devices = {{"card", usable_device_bytes(size), 0}};
    const Result<Advice> advice = profile->advise(options);
    if (!advice) return {};
    // Engines round a context up.
    const std::uint64_t own = options.context > 0 ? options.context : max_context;
    contexts.push_back(advice->context);
    if (contexts.back()) contexts.back() = std::min(*contexts.back(), own);
  }
  return contexts;
}

CardModel describe_model(const Model& model, std::string file) {
  while (file.size() > 1 && file.back() == '/') file.pop_back();
  const Summary summary = summarize(model);
  CardModel row{.name = name_of_file(file), .size_bytes = total_file_bytes(model)};
  if (!model.files().empty()) {
    row.file_count = model.files().size();
    if (row.file_count > 1) row.name = name_of_file(model.files().front().path);
  }
  row.type = file_type_name(summary.file_type.value_or(~std::uint64_t{0}));
  if (row.type.empty() && !summary.types.empty()) {
    const TensorTypeInfo* const type = find_type(summary.types[0].type);
    row.type = type == nullptr ? "?" : std::string(type->name);
  }
  row.bits_per_weight = summary.bits_per_weight;
  row.contexts = contexts_of(model);
  return row;
}

/// Leaves the columns of cards that tell models apart: from the first that holds any of them to the
/// first that holds all, with their own context.
void choose_cards(CardFacts& facts) {
  const std::span<const std::uint64_t> sizes = common_memory_sizes();
  std::size_t first = sizes.size();
  std::size_t last = 0;
  for (const CardModel& model : facts.models) {
    if (model.contexts.empty()) continue;
    const auto begin = model.contexts.begin();
    const auto fits = std::find_if(begin, model.contexts.end(), [](auto c) { return c > 0u; });
    const auto whole = std::find(begin, model.contexts.end(), model.contexts.back());
    first = std::min(first, static_cast<std::size_t>(fits - begin));
    last = std::max(last, static_cast<std::size_t>(whole - begin));
  }
  last = std::min({last + 1, first + max_cards, sizes.size()});
  for (CardModel& model : facts.models) {
    auto& all = model.contexts;
    if (first >= last) all.clear();
    if (all.empty()) continue;
    all = {all.begin() + static_cast<std::ptrdiff_t>(first),
           all.begin() + static_cast<std::ptrdiff_t>(last)};
  }
  if (first >= last) return;
  const auto shown = sizes.subspan(first, last - first);
  facts.card_bytes.assign(shown.begin(), shown.end());
}

}  // namespace

std::string repository_of(std::string_view text) {
  constexpr std::string_view hub = "https://huggingface.co/";
  if (text.starts_with(hub)) text.remove_prefix(hub.size());
  const auto is_part = [](std::string_view part) {
    constexpr std::size_t most = 96;
    return !part.empty() && part.size() <= most && part.front() != '.' && part.front() != '-' &&
           part.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
               "0123456789._-") == part.npos;
  };
  const std::size_t slash = text.find('/');
  if (slash == text.npos || !is_part(text.substr(0, slash)) || !is_part(text.substr(slash + 1))) {
    return {};
  }
  return std::string(text);
}

Result<void> read_results(const std::string& path, CardFacts& facts) {
  INGOT_TRY(const std::string content, read_whole(path, max_list_bytes));
  const auto refuse = [&](std::string what) {
    return fail(Errc::invalid_argument, path, what + "; `ingot evaluate --json` writes such files");
  };
  const auto document = parse_chat_json(content);
  if (!document) return refuse(document.error());
  const ChatValue* const others = document->find("others");
  if (others == nullptr || others->elements() == nullptr)
    return refuse("it has no list \"others\"");
  std::map<std::string, CardQuality> qualities;
  for (const ChatValue& other : *others->elements()) {
    const auto divergence = number_of(other.find("kl"));
    if (!divergence || !std::isfinite(*divergence)) return refuse("an entry has no number \"kl\"");
    qualities[name_of_file(text_of(other.find("file")))] = {
        *divergence, number_of(other.find("kl_error")).value_or(std::nan("")),
        number_of(other.find("same_top"))};
  }
  for (CardModel& model : facts.models) {
    const auto found = qualities.find(model.name);
    if (found != qualities.end()) model.quality = found->second;
  }
  facts.results_basis =
      fmt::format("{} tokens of {}", format_digits(count_of(document->find("scored_tokens"))),
                  name_of_file(text_of(document->find("text"))));
  return {};
}

ExitCode gather_card(const CardRequest& request, Console& console, CardFacts& facts) {
  facts.base_models = request.base_models;
  facts.is_quantized = !request.base_models.empty();
  for (const std::string& base : request.base_models) {
    if (!repository_of(base).empty()) continue;
    return console.refuse(base, "a base model is named as a hub names it: ORG/NAME");
  }
  for (const std::string& file : request.files) {
    INGOT_CLI_TRY(const Model model, console.open_model(file), console, file);
    if (facts.models.empty()) {
      take_metadata(model, facts);
      facts.title = text_of_key(model, keys::general_name);
    }
    facts.models.push_back(describe_model(model, console.remote().local_name(file)));
  }
  if (!request.title.empty()) facts.title = request.title;
  if (facts.title.empty()) facts.title = base_name(facts.models.front().name);
  choose_cards(facts);
  if (!request.results.empty()) {
    INGOT_CLI_TRY_VOID(read_results(request.results, facts), console, request.results);
  }
  return ExitCode::done;
}

}  // namespace ingot::cli

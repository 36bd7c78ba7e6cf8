// SPDX-License-Identifier: MIT
// Which files belong together, from their headers.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "base/ranges.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/summary.hpp"
#include "model/projectors/image_types.hpp"

namespace ingot {
namespace {

/// Letters and digits in lower case, so that "Qwen2.5-VL 7B" is "qwen25vl7b".
std::string plain_name(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

/// Names of the file and of the models that it was made of. An address counts by its last part.
std::vector<std::string> identities_of(const Model& model) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view key) {
    std::string_view text = model.get_or<std::string_view>(key, {});
    while (text.ends_with('/')) text.remove_suffix(1);
    if (key.ends_with("repo_url")) text.remove_prefix(text.rfind('/') + 1);
    if (std::string name = plain_name(text); !name.empty()) names.push_back(std::move(name));
  };
  add(keys::general_name);
  const auto bases = model.get_or<std::uint64_t>(keys::general_base_model_count, 0);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(bases, 64); ++i) {
    const std::string base = "general.base_model." + std::to_string(i);
    add(base + ".name");
    add(base + ".repo_url");
  }
  sort_unique(names);
  return names;
}

std::vector<std::string_view> all_token_texts() {
  std::vector<std::string_view> all;
  for (const detail::ImageType& type : detail::image_types()) {
    for (const std::string_view text : image_token_texts(type.name)) all.push_back(text);
  }
  sort_unique(all);
  return all;
}

/// Those texts around images that the vocabulary has.
std::vector<std::string> image_tokens_in(const Model& model) {
  const std::vector<std::string_view> wanted = all_token_texts();
  std::vector<std::string> found;
  const Value* tokens = model.find(keys::tokenizer_ggml_tokens);
  if (tokens == nullptr || !tokens->is_array()) return found;
  for (const Value& token : tokens->as_array()) {
    const auto text = token.get<std::string_view>();
    if (text && std::ranges::binary_search(wanted, *text)) found.emplace_back(*text);
  }
  sort_unique(found);
  return found;
}

bool have_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& one) { return std::ranges::count(b, one); });
}

}  // namespace

std::string_view name_of(PairStrength strength) noexcept {
  static constexpr std::array<std::string_view, 5> names = {"impossible", "unrelated", "unnamed",
                                                            "related", "same"};
  return name_at(names, strength);
}

PairFacts pair_facts(const Model& model) {
  const Summary summary = summarize(model);
  PairFacts facts;
  facts.identities = identities_of(model);
  facts.basename = plain_name(model.get_or<std::string_view>(keys::general_basename, {}));
  if (summary.projector) {
    facts.is_projector = true;
    facts.vision_type = summary.projector->vision_type.value_or("");
    facts.audio_type = summary.projector->audio_type.value_or("");
    facts.vision_width = summary.projector->vision_output;
    facts.audio_width = summary.projector->audio_output;
    // The projector of Qwen 3 VL feeds some of the first layers, too.
    facts.fed_layers = static_cast<std::uint64_t>(
        std::ranges::count_if(model.tensors(), [](const TensorInfo& tensor) {
          return tensor.name.starts_with("v.deepstack.") && tensor.name.ends_with(".fc1.weight");
        }));
    for (const std::string_view text : image_token_texts(facts.vision_type)) {
      facts.tokens.emplace_back(text);
    }
    sort_unique(facts.tokens);
    return facts;
  }
  if (model.get_or<std::string_view>(keys::general_type, "model") != "model") return facts;
  facts.vision_width = facts.audio_width = summary.embedding_length;
  if (const Value* fed = find_architecture_key(model, "n_deepstack_layers")) {
    facts.fed_layers = fed->get<std::uint64_t>().value_or(0);
  }
  facts.tokens = image_tokens_in(model);
  return facts;
}

PairStrength match_pair(const PairFacts& model, const PairFacts& projector) {
  if (model.is_projector || !projector.is_projector || !model.vision_width) {
    return PairStrength::impossible;
  }
  const auto fits = [&](const std::optional<std::uint64_t>& width) {
    return !width || *width == *model.vision_width;
  };
  const bool has_width = projector.vision_width || projector.audio_width;
  if (!has_width || !fits(projector.vision_width) || !fits(projector.audio_width) ||
      projector.fed_layers != model.fed_layers) {
    return PairStrength::impossible;
  }
  if (have_common(model.identities, projector.identities)) return PairStrength::same;
  if (!model.basename.empty() && model.basename == projector.basename) return PairStrength::related;
  if (!model.identities.empty() && !projector.identities.empty()) return PairStrength::unrelated;
  return std::ranges::includes(model.tokens, projector.tokens) ? PairStrength::unnamed
                                                               : PairStrength::unrelated;
}

std::vector<ProjectorPair> find_pairs(std::span<const PairFacts> files) {
  std::vector<ProjectorPair> pairs;
  std::vector<PairStrength> best(files.size(), PairStrength::impossible);
  std::vector<std::size_t> choices(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < files.size(); ++j) {
      const PairStrength strength = match_pair(files[i], files[j]);
      if (strength < PairStrength::unnamed) continue;
      pairs.push_back({.model = i, .projector = j, .strength = strength});
      best[i] = std::max(best[i], strength);
      best[j] = std::max(best[j], strength);
      ++choices[i];
      ++choices[j];
    }
  }
  std::erase_if(pairs, [&](const ProjectorPair& pair) {
    if (pair.strength != PairStrength::unnamed) return pair.strength < best[pair.model];
    return choices[pair.model] > 1 || choices[pair.projector] > 1;
  });
  return pairs;
}

}  // namespace ingot

// SPDX-License-Identifier: MIT
#include "commands/evaluate/evaluation_part.hpp"

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat_json.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

constexpr std::string_view kind = "ingot evaluation part";

auto wrong(std::string message) { return tl::unexpected<std::string>(std::move(message)); }

/// Reads a list of finite numbers; false if it is none.
template <class Number>
bool read_numbers(const ChatValue& object, std::string_view name, std::vector<Number>& numbers) {
  const ChatValue* list = object.find(name);
  if (list == nullptr || list->elements() == nullptr) return false;
  for (const ChatValue& element : *list->elements()) {
    const std::optional<double> number = number_of(&element);
    if (!number || !std::isfinite(*number)) return false;
    numbers.push_back(static_cast<Number>(*number));
  }
  return true;
}

/// Vectors of all models, of which each part has as many of a chunk.
bool read_models(const ChatValue& object, EvaluationPart& part) {
  const ChatValue* models = object.find("models");
  if (models == nullptr || models->elements() == nullptr) return false;
  for (const ChatValue& value : *models->elements()) {
    Embeddings& model = part.models.emplace_back();
    model.size = count_of(object.find("vector_size"));
    model.pooling = text_of(object.find("pooling"));
    if (!read_numbers(value, "vectors", model.values)) return false;
  }
  return !part.models.empty();
}

}  // namespace

void write_evaluation_part(JsonStream& json, const EvaluationPart& part) {
  const auto object = json.object();
  json.member("kind", kind);
  json.member("part", part.number);
  json.member("parts", part.count);
  json.member("basis", part.basis);
  json.member("chunk_tokens", part.found.chunk_tokens);
  json.member("chunk_count", part.found.chunk_count);
  if (!part.models.empty()) {
    json.member("pooling", part.models[0].pooling);
    json.member("vector_size", part.models[0].size);
    json.objects("models", part.models,
                 [&](const Embeddings& model) { json.values("vectors", model.values); });
    return;
  }
  json.member("scored_tokens", part.found.scored_tokens);
  json.values("chunk_losses", part.found.base.chunk_losses, Layout::line);
  json.objects("others", part.found.others, [&](const ModelComparison& other) {
    json.values("chunk_losses", other.score.chunk_losses);
    json.values("chunk_kl", other.chunk_divergences);
    json.values("chunk_same_top", other.chunk_same_tops);
    json.values("token_kl", other.sorted_divergences);
  });
}

tl::expected<EvaluationPart, std::string> read_evaluation_part(const std::string& path) {
  const Result<std::string> content = read_whole(path);
  if (!content) return wrong(content.error().message());
  const auto document = parse_chat_json(*content);
  if (!document) return wrong(document.error());
  if (text_of(document->find("kind")) != kind) {
    return wrong("this is no part of an evaluation, which `ingot evaluate --part` prints");
  }
  EvaluationPart part{.number = count_of(document->find("part")),
                      .count = count_of(document->find("parts")),
                      .basis = text_of(document->find("basis"))};
  part.found.chunk_tokens = count_of(document->find("chunk_tokens"));
  part.found.chunk_count = count_of(document->find("chunk_count"));
  if (document->find("models") != nullptr) {
    if (!read_models(*document, part)) return wrong("its \"models\" lack vectors");
    return part;
  }
  part.found.scored_tokens = count_of(document->find("scored_tokens"));
  const ChatValue* others = document->find("others");
  if (!read_numbers(*document, "chunk_losses", part.found.base.chunk_losses) || others == nullptr ||
      others->elements() == nullptr) {
    return wrong("it has no \"chunk_losses\" and \"others\"");
  }
  for (const ChatValue& value : *others->elements()) {
    ModelComparison other;
    if (!read_numbers(value, "chunk_losses", other.score.chunk_losses) ||
        !read_numbers(value, "chunk_kl", other.chunk_divergences) ||
        !read_numbers(value, "chunk_same_top", other.chunk_same_tops) ||
        !read_numbers(value, "token_kl", other.sorted_divergences)) {
      return wrong("one of its \"others\" lacks numbers");
    }
    part.found.others.push_back(std::move(other));
  }
  return part;
}

}  // namespace ingot::cli

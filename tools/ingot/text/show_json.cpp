// SPDX-License-Identifier: MIT
#include "text/show_json.hpp"

#include <ingot/metadata_keys.hpp>
#include <ingot/summary.hpp>
#include <ingot/text.hpp>
#include <optional>
#include <string_view>

#include "text/chat_facts.hpp"
#include "text/memory_facts.hpp"
#include "text/model_facts.hpp"
#include "text/shown_keys.hpp"
#include "text/value_text.hpp"
#include "text/vocabulary_facts.hpp"

namespace ingot::cli {
namespace {

/// Of a file of another format: what the two have in common.
void write_foreign_format(JsonStream& json, const ForeignFile& foreign) {
  const auto object = json.object("format");
  json.member("version", nullptr);
  json.member("endian", "little");
  json.member("alignment", nullptr);
  json.member("data_offset", foreign.data_offsets.front());
  json.member("file_size", foreign.file_bytes);
  json.member("trailing_bytes", 0u);
}

void write_format(JsonStream& json, const Model& model) {
  const ModelFile& file = model.files().front();
  const auto object = json.object("format");
  json.member("version", file.version);
  json.member("endian", file.byte_order == Endian::big ? "big" : "little");
  json.member("alignment", file.alignment);
  json.member("data_offset", file.data_offset);
  json.member("file_size", total_file_bytes(model));
  json.member("trailing_bytes", trailing_bytes(model));
  if (file.is_indexed) {
    json.member("verified", false);
    json.member("unread_keys", file.unread_keys);
  }
}

/// A number, or an array of numbers if the file gives one for each layer.
void write_layer_number(JsonStream& json, const Model& model, std::string_view name,
                        std::string_view key, const std::optional<LayerNumber>& number) {
  json.key(name);
  if (!number) return json.null();
  if (!number->is_per_layer) return json.value(number->minimum);
  const auto array = json.array(Layout::line);
  for (const Value layer : find_architecture_key(model, key)->as_array()) {
    json.value(layer.get<std::uint64_t>().value_or(0));
  }
}

void write_model(JsonStream& json, const Model& model, const Summary& summary) {
  const auto object = json.object("model");
  json.member("name", summary.name);
  json.member("architecture", summary.architecture);
  json.member("parameters", summary.parameter_count);
  json.member("bits_per_weight", summary.bits_per_weight);
  json.text_or_null("file_type", file_type_name(summary.file_type.value_or(~0ull)));
  json.member("file_type_id", summary.file_type);
  json.member("context_length", summary.context_length);
  json.member("block_count", summary.block_count);
  json.member("embedding_length", summary.embedding_length);
  write_layer_number(json, model, "feed_forward_length", suffixes::feed_forward_length,
                     summary.feed_forward_length);
  write_layer_number(json, model, "head_count", suffixes::attention_head_count, summary.head_count);
  write_layer_number(json, model, "head_count_kv", suffixes::attention_head_count_kv,
                     summary.head_count_kv);
  json.member("expert_count", summary.expert_count);
  json.member("expert_used_count", summary.expert_used_count);
  json.member("vocab_size", summary.vocab_size);
}

void write_tokenizer(JsonStream& json, const Model& model, const Summary& summary) {
  const auto object = json.object("tokenizer");
  json.member("model", summary.tokenizer_model);
  json.member("pre", summary.tokenizer_pre);
  json.member("pre_known", knows_pre_tokenizer(summary.tokenizer_model.value_or(""),
                                               summary.tokenizer_pre.value_or("")));
  json.member("chat_template", summary.has_chat_template);
  const std::optional<ChatFacts> chat = chat_facts(model);
  chat ? json.values("chat_features", chat->features, Layout::line)
       : json.member("chat_features", nullptr);
  json.key("chat_features_complete");
  chat ? json.value(!chat->reached_limit) : json.null();
  json.member("token_count", summary.token_count);
  json.member("merge_count", summary.merge_count);
  json.objects("special_tokens", special_tokens(model), [&](const SpecialToken& token) {
    json.member("role", token.role);
    json.member("id", token.id);
    json.member("text", token.text);
  });
}

void write_types(JsonStream& json, const Summary& summary) {
  json.objects("types", summary.types, [&](const TypeShare& share) {
    json.member("type", type_text(share.type));
    json.member("tensors", share.tensor_count);
    json.member("elements", share.element_count);
    json.member("bytes", share.size_bytes);
  });
}

void write_shards(JsonStream& json, const Model& model) {
  json.objects("shards", shard_facts(model), [&](const ShardFact& shard) {
    json.member("file", shard.path);
    json.member("index", shard.index);
    json.member("present", shard.is_present);
  });
}

/// What a file of another format says of itself; such files alone have this member.
void write_foreign(JsonStream& json, const ForeignFile& foreign) {
  const auto object = json.object("foreign");
  json.member("format", foreign.format);
  json.member("file_size", foreign.file_bytes);
  for (const FileFact& fact : foreign.facts) json.member(fact.name, fact.value);
}

}  // namespace

void write_show_json(JsonStream& json, const std::string& file, const Model& model,
                     const ForeignFile* foreign, bool shows_all_keys, const Traffic* traffic) {
  const Summary summary = summarize(model);
  const auto object = json.object();
  json.member("file", file);
  foreign != nullptr ? write_foreign_format(json, *foreign) : write_format(json, model);
  if (foreign != nullptr) write_foreign(json, *foreign);
  write_model(json, model, summary);
  write_tokenizer(json, model, summary);
  write_types(json, summary);
  json.member("tensor_count", model.tensors().size());
  json.member("metadata_count", shown_key_count(model, shows_all_keys));
  write_shards(json, model);
  json.key("memory");
  write_memory_facts(json, model);
  if (traffic != nullptr) write_traffic(json, *traffic);
}

}  // namespace ingot::cli

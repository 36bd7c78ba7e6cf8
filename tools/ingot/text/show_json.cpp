// SPDX-License-Identifier: MIT
#include "text/show_json.hpp"

#include <ingot/summary.hpp>
#include <ingot/text.hpp>
#include <ingot/vocabulary_statistics.hpp>
#include <optional>
#include <string_view>

#include "commands/json_members.hpp"
#include "text/chat_facts.hpp"
#include "text/memory_facts.hpp"
#include "text/model_facts.hpp"
#include "text/shown_keys.hpp"
#include "text/vocabulary_facts.hpp"

namespace ingot::cli {
namespace {

/// Writes what a file of another format has in common with GGUF.
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

void write_tokenizer(JsonStream& json, const Model& model, const Summary& summary) {
  const auto object = json.object("tokenizer");
  write_members(json, SummaryOfTokenizer{summary});
  json.member("pre_known", knows_pre_tokenizer(summary.tokenizer_model.value_or(""),
                                               summary.tokenizer_pre.value_or("")));
  const std::optional<ChatFacts> chat = chat_facts(model);
  json.text_or_null("prompt_format", chat ? chat->format : std::string_view());
  chat ? json.values("chat_features", chat->features, Layout::line)
       : json.member("chat_features", nullptr);
  json.key("chat_features_complete");
  chat ? json.value(!chat->reached_limit) : json.null();
  json.objects("special_tokens", special_tokens(model), [&](const SpecialToken& token) {
    json.member("role", token.role);
    json.member("id", token.id);
    json.member("text", token.text);
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
                     const ForeignFile* foreign, bool shows_all_keys, const Traffic* traffic,
                     const std::optional<RemoteFileName>& remote) {
  const Summary summary = summarize(model);
  const auto object = json.object();
  json.member("file", file);
  if (remote) {
    json.member("file_name", remote->file_name);
    json.text_or_null("commit", remote->commit);
  }
  foreign != nullptr ? write_foreign_format(json, *foreign) : write_format(json, model);
  if (foreign != nullptr) write_foreign(json, *foreign);
  json.begin_object("model");
  write_members(json, SummaryOfModel{summary});
  json.end();
  write_tokenizer(json, model, summary);
  if (summary.projector) {  // others do not have this member
    const auto projector = json.object("projector");
    write_members(json, *summary.projector);
  }
  json.objects("types", summary.types, [&](const TypeShare& share) { write_members(json, share); });
  write_optional(json, "lattice", usual_grid(model));
  json.member("tensor_count", model.tensors().size());
  json.member("metadata_count", shown_key_count(model, shows_all_keys));
  write_shards(json, model);
  json.key("memory");
  write_memory_facts(json, model);
  if (traffic != nullptr) write_traffic(json, *traffic);
}

}  // namespace ingot::cli

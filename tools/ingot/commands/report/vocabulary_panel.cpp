// SPDX-License-Identifier: MIT
#include "commands/report/vocabulary_panel.hpp"

#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>

#include "commands/vocab/vocabulary_statistics.hpp"

namespace ingot::cli {
namespace {

/// Longer texts are cut.
constexpr std::size_t token_columns = 60;

}  // namespace

void write_vocabulary_panel(JsonStream& json, const Model& model) {
  json.key("vocabulary");
  const Result<Vocabulary> vocabulary = Vocabulary::make(model);
  if (!vocabulary) return json.null();
  const auto panel = json.object();
  json.key("statistics");
  write_statistics(json, *vocabulary);
  const auto tokens = json.array("special_tokens");
  for (std::size_t i = 0; i < special_token_count; ++i) {
    const TokenId id = vocabulary->special(static_cast<SpecialToken>(i));
    if (!vocabulary->contains(id)) continue;
    const auto object = json.object(Layout::line);
    json.member("name", name_of(static_cast<SpecialToken>(i)));
    json.member("id", id);
    json.member("text", escape_shortened(vocabulary->text(id), token_columns));
  }
}

}  // namespace ingot::cli

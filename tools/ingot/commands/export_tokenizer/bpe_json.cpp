// SPDX-License-Identifier: MIT
// Byte-pair encoding in tokenizer.json.
#include <ingot/metadata_keys.hpp>
#include <ingot/text.hpp>
#include <string>
#include <unordered_set>

#include "commands/export_tokenizer/tokenizer_json_parts.hpp"

namespace ingot::cli {
namespace {

PreTokenizerFacts facts_of(const TokenizerSource& source) {
  return facts_of_pre_tokenizer(source.tokenizer.pre_tokenizer()).value_or(PreTokenizerFacts{});
}

void write_bpe_normalizer(JsonStream& json, TokenizerSource& source) {
  if (!source.tokenizer.flags().escapes_spaces) return json.null();
  write_replace(json, " ", space_symbol);
}

void write_bpe_pre_tokenizer(JsonStream& json, TokenizerSource& source) {
  const PreTokenizerFacts facts = facts_of(source);
  write_sequence(json, "pretokenizers", [&] {
    for (const std::string_view expression : facts.expressions) {
      begin_typed(json, "Split");
      json.begin_object("pattern", Layout::line);
      json.member("Regex", with_plain_characters(expression));
      json.end();
      json.member("behavior", "Isolated");
      json.member("invert", false);
      json.end();
    }
    if (facts.has_plain_text) return;
    begin_typed(json, "ByteLevel");
    json.member("add_prefix_space", false);
    json.member("trim_offsets", true);
    json.member("use_regex", false);
    json.end();
  });
}

void write_bpe_decoder(JsonStream& json, TokenizerSource& source) {
  if (!facts_of(source).has_plain_text) {
    begin_typed(json, "ByteLevel");
    json.member("add_prefix_space", true);
    json.member("trim_offsets", true);
    json.member("use_regex", true);
    return json.end();
  }
  write_sequence(json, "decoders", [&] {
    write_replace(json, space_symbol, " ");
    write_byte_fallback(json);
  });
}

/// The merges that the library takes: both sides and their product must be tokens, and no pair may
/// come twice.
class Merges {
 public:
  Merges(JsonStream& json, TokenizerSource& source) : json_(json), source_(source) {}

  void write() {
    json_.begin_array("merges");
    const Value* value = source_.model.find(keys::tokenizer_ggml_merges);
    if (value != nullptr) {
      for (const Value& merge : value->as_array()) {
        add(merge.get<std::string_view>().value_or(""));
      }
    }
    if (facts_of(source_).joins_newlines) add_newlines();
    json_.end();
    if (dropped_ != 0) {
      source_.warnings.push_back(
          std::to_string(dropped_) +
          " merges of texts that are no tokens are left out; ids can differ");
    }
  }

 private:
  void add(std::string_view merge) {
    const std::size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merge.size()) return;
    const std::string_view left = merge.substr(0, space);
    const std::string_view right = merge.substr(space + 1);
    const Vocabulary& vocabulary = source_.tokenizer;
    const bool is_known = vocabulary.find(left) != no_token && vocabulary.find(right) != no_token &&
                          vocabulary.find(std::string(left).append(right)) != no_token;
    if (!is_known) {
      ++dropped_;
    } else if (written_.emplace(merge).second) {
      write_merge(json_, left, right);
    }
  }

  /// A run of newlines that is a token is that token: here, because it is merged from the left.
  void add_newlines() {
    std::string run = "\n";
    for (;;) {
      const std::string longer = run + "\n";
      if (source_.tokenizer.find(longer) == no_token) return;
      add(run + " \n");
      run = longer;
    }
  }

  JsonStream& json_;
  TokenizerSource& source_;
  std::unordered_set<std::string> written_;
  std::size_t dropped_ = 0;
};

void write_bpe_model(JsonStream& json, TokenizerSource& source) {
  const PreTokenizerFacts facts = facts_of(source);
  write_bpe_options(json, "", false, facts.has_plain_text, facts.ignores_merges);
  write_vocabulary(json, source.tokenizer);
  Merges(json, source).write();
  json.end();
  const std::size_t missing = source.tokenizer.missing_bytes().size();
  if (missing != 0) {
    source.warnings.push_back("no token stands for " + std::to_string(missing) +
                              " bytes; ids of text that holds them can differ");
  }
}

}  // namespace

const FamilyParts bpe_parts = {TokenizerFamily::bpe, write_bpe_normalizer, write_bpe_pre_tokenizer,
                               write_bpe_decoder, write_bpe_model};

}  // namespace ingot::cli

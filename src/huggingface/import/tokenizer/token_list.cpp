// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/token_list.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"
#include "huggingface/import/tokenizer/special_block.hpp"
#include "tokenizer/vocabulary/escapes.hpp"

namespace ingot::huggingface {
namespace {

/// Text of each id of the trained vocabulary; views into the files or into `lines`.
using IdTexts = std::vector<std::pair<std::int64_t, std::string_view>>;

Result<void> add_members(JsonView vocabulary, const std::string& file, IdTexts& texts) {
  for (const auto& [text, id] : vocabulary.members()) {
    if (id.integer().value_or(-1) < 0) {
      return refuse(file, "the id of a token is no number from 0 on");
    }
    texts.emplace_back(*id.integer(), text);
  }
  return {};
}

void add_lines(std::string_view text, IdTexts& texts) {
  std::int64_t id = 0;
  while (!text.empty()) texts.emplace_back(id++, take_part(text, '\n'));
}

/// The trained vocabulary and the added tokens, from any files.
struct Vocabulary {
  std::string lines;     // vocab.txt
  JsonTree vocabulary;   // vocab.json
  JsonTree special_map;  // special_tokens_map.json
  std::string file;      // the file's name in messages
  IdTexts texts;
  std::map<std::int64_t, AddedToken> added;

  Result<void> read(const TokenizerFiles& files) {
    INGOT_TRY(added, files.added_by_id());
    return files.tokenizer.root().exists() ? read_tokenizer_json(files) : read_older_files(files);
  }

  Result<void> read_tokenizer_json(const TokenizerFiles& files) {
    file = files.folder->locate(file_names::tokenizer);
    const JsonView model = files.tokenizer.root()["model"];
    if (!model["vocab"].is_object()) {
      return refuse(
          file,
          "model.vocab is no object of texts and ids; BPE and WordPiece are imported, "
          "this is " +
              std::string(model["type"].is_text() ? model["type"].text() : "of no known type"));
    }
    return add_members(model["vocab"], file, texts);
  }

  Result<void> read_older_files(const TokenizerFiles& files) {
    const ModelFolder& folder = *files.folder;
    if (folder.has(file_names::vocabulary)) {
      file = folder.locate(file_names::vocabulary);
      INGOT_TRY(vocabulary, read_tree(folder, file_names::vocabulary));
      INGOT_TRY_VOID(add_members(vocabulary.root(), file, texts));
    } else if (folder.has(file_names::vocabulary_lines)) {
      file = folder.locate(file_names::vocabulary_lines);
      INGOT_TRY(const std::string text,
                folder.read_text(file_names::vocabulary_lines, max_table_bytes));
      lines = with_line_feeds(text);
      add_lines(lines, texts);
    } else {
      return refuse(
          folder.locate({}),
          "no tokenizer: tokenizer.json, tokenizer.model, vocab.json or vocab.txt is needed");
    }
    INGOT_TRY(const auto of_file, files.tokens_of_added_file());
    for (const AddedToken& token : of_file) added.emplace(token.id, token);
    INGOT_TRY(special_map, read_tree(folder, file_names::special_tokens));
    std::set<std::string_view> specials;
    for (const JsonView map : {special_map.root(), files.tokenizer_config.root()}) {
      for (const auto& [name, token] : map.members()) {
        if (name.ends_with("_token") && !content_of(token).empty()) {
          specials.insert(content_of(token));
        }
      }
    }
    for (const auto& [id, text] : texts) {
      if (specials.contains(text)) added.insert_or_assign(id, AddedToken{text, id, true});
    }
    return {};
  }
};

/// The number of ids of the result: `vocab_size`, or the number of different texts.
Result<std::size_t> count_ids(const Vocabulary& vocabulary, const Config& config) {
  INGOT_TRY(const auto wanted, config.find_count("vocab_size"));
  std::uint64_t count = 0;
  if (wanted) {
    count = *wanted;
  } else {
    std::unordered_set<std::string_view> texts;
    for (const auto& [id, text] : vocabulary.texts) texts.insert(text);
    for (const auto& [id, token] : vocabulary.added) texts.insert(token.text);
    count = texts.size();
  }
  return bounded_count(count, "vocab_size");
}

Failure beyond_vocabulary(const std::string& file, std::int64_t id, std::string_view text,
                          std::size_t count) {
  return refuse(file, "the token \"" + std::string(text) + "\" has the id " + std::to_string(id) +
                          ", where vocab_size is " + std::to_string(count) +
                          "; vocab_size must be above every id");
}

/// The longest token, in bytes, of which all cuts are looked up; those of Llama 2 have up to 48.
constexpr std::size_t longest_cut_token = 64;

/// Gives the token of the first merge the score 0, of the next one -1, and so on; tokens that no
/// merge makes get less than all others.
Result<void> score_by_merges(const TokenizerFiles& files, LlamaTokens& read) {
  std::vector<float>& scores = read.tokens.scores;
  std::unordered_map<std::string_view, std::size_t> ids;
  for (std::size_t id = 0; id < scores.size(); ++id) ids.emplace(read.tokens.texts[id], id);
  INGOT_TRY(const auto merges, read_merges(files));
  constexpr float no_score = 1;
  std::ranges::fill(scores, no_score);
  float score = 0;
  const float* previous = nullptr;
  for (const std::string& merge : merges) {
    const std::size_t space = std::min(merge.find(' ', 1), merge.size());
    const auto made =
        ids.find(merge.substr(0, space) + merge.substr(std::min(space + 1, merge.size())));
    if (made == ids.end()) continue;
    float& of_token = scores[made->second];
    if (of_token == no_score) {
      of_token = score--;
    } else if (&of_token != previous) {
      ++read.inexact_pairs;
    }
    previous = &of_token;
  }
  std::ranges::replace(scores, no_score, score);
  const std::unordered_set<std::string_view> known(merges.begin(), merges.end());
  for (std::size_t id = 0; id < scores.size(); ++id) {
    const std::string_view text = read.tokens.texts[id];
    const bool is_normal = read.tokens.kinds[id] == static_cast<std::int32_t>(TokenKind::normal);
    if (!is_normal || text.size() > longest_cut_token) continue;
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (!ids.contains(text.substr(0, i)) || !ids.contains(text.substr(i))) continue;
      const std::string merge = std::string(text.substr(0, i)) + " " + std::string(text.substr(i));
      if (!known.contains(merge)) ++read.inexact_pairs;
    }
  }
  return {};
}

}  // namespace

void TokenList::add(std::string text, float score, TokenKind kind) {
  texts.push_back(std::move(text));
  scores.push_back(score);
  kinds.push_back(static_cast<std::int32_t>(kind));
}

void TokenList::set(std::size_t id, std::string_view text, float score, TokenKind kind) {
  texts[id] = text;
  if (!scores.empty()) scores[id] = score;
  kinds[id] = static_cast<std::int32_t>(kind);
}

void TokenList::lay_over(const AddedToken& token, float score) {
  const bool is_control = token.is_special || looks_special(token.text);
  set(static_cast<std::size_t>(token.id),
      is_control ? std::string(token.text) : with_spaces(token.text), score,
      is_control ? TokenKind::control : TokenKind::user_defined);
}

Result<std::size_t> bounded_count(std::uint64_t count, std::string_view member) {
  if (count <= max_tokens) return static_cast<std::size_t>(count);
  return refuse(std::string(member), std::to_string(count) + " tokens, where at most " +
                                         std::to_string(max_tokens) + " are imported");
}

Result<TokenList> read_vocabulary(const TokenizerFiles& files, const Config& config) {
  Vocabulary vocabulary;
  INGOT_TRY_VOID(vocabulary.read(files));
  INGOT_TRY(const std::size_t count, count_ids(vocabulary, config));
  TokenList tokens;
  tokens.texts.reserve(count);
  for (std::size_t id = 0; id < count; ++id) {
    tokens.texts.push_back("[PAD" + std::to_string(id) + "]");
  }
  tokens.kinds.assign(count, static_cast<std::int32_t>(TokenKind::unused));
  for (const auto& [id, text] : vocabulary.texts) {
    if (static_cast<std::uint64_t>(id) >= count) {
      return beyond_vocabulary(vocabulary.file, id, text, count);
    }
    tokens.set(static_cast<std::size_t>(id), text, 0, TokenKind::normal);
  }
  for (const auto& [id, token] : vocabulary.added) {
    if (static_cast<std::uint64_t>(id) >= count) {
      return beyond_vocabulary(vocabulary.file, id, token.text, count);
    }
    tokens.lay_over(token, 0);
  }
  return tokens;
}

Result<TokenList> read_word_pieces(const TokenizerFiles& files, const Config& config) {
  INGOT_TRY(TokenList tokens, read_vocabulary(files, config));
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (tokens.kinds[id] == static_cast<std::int32_t>(TokenKind::control)) continue;
    std::string& text = tokens.texts[id];
    if (text.starts_with("##")) {
      text.erase(0, 2);
    } else {
      text.insert(0, space_letter);
    }
  }
  return tokens;
}

Result<std::uint64_t> count_token_ids(const TokenizerFiles& files) {
  std::uint64_t count = 0;
  const auto add = [&](std::int64_t id) {
    count = std::max(count, static_cast<std::uint64_t>(id) + 1);
  };
  if (!files.tokenizer.root().exists() && files.folder->has(file_names::sentencepiece)) {
    INGOT_TRY(const std::string bytes,
              files.folder->read_text(file_names::sentencepiece, max_table_bytes));
    INGOT_TRY(const SentencePieceModel model,
              parse_sentencepiece(bytes, files.folder->locate(file_names::sentencepiece)));
    INGOT_TRY(const auto of_file, files.tokens_of_added_file());
    for (const AddedToken& token : of_file) add(token.id);
    return std::max<std::uint64_t>(count, model.pieces.size());
  }
  Vocabulary vocabulary;
  INGOT_TRY_VOID(vocabulary.read(files));
  for (const auto& [id, text] : vocabulary.texts) add(id);
  for (const auto& [id, token] : vocabulary.added) add(id);
  return count;
}

bool is_llama_json(const TokenizerFiles& files) {
  const JsonView root = files.tokenizer.root();
  return root["model"]["type"].text() == "BPE" &&
         root["model"]["byte_fallback"].boolean().value_or(false) &&
         root["decoder"]["type"].text() == "Sequence";
}

Result<LlamaTokens> read_llama_json(const TokenizerFiles& files) {
  const std::string file = files.folder->locate(file_names::tokenizer);
  const JsonView config = files.tokenizer_config.root();
  std::set<std::string_view> specials;
  for (const char* kind : {"bos", "eos", "unk", "sep", "pad", "cls", "mask"}) {
    const std::string_view text = content_of(config[std::string(kind) + "_token"]);
    if (!text.empty()) specials.insert(text);
  }
  for (const JsonView token : config["additional_special_tokens"].elements()) {
    if (!content_of(token).empty()) specials.insert(content_of(token));
  }
  IdTexts texts;
  INGOT_TRY_VOID(add_members(files.tokenizer.root()["model"]["vocab"], file, texts));
  std::ranges::sort(texts);
  LlamaTokens read;
  TokenList& tokens = read.tokens;
  for (const auto& [id, text] : texts) {
    if (static_cast<std::uint64_t>(id) != tokens.size() || tokens.size() == max_tokens) {
      return refuse(file, "the ids of model.vocab are not the numbers from 0 on; the id " +
                              std::to_string(tokens.size()) + " is missing or there twice");
    }
    tokens.add(std::string(text), 0,
               tokenizer::byte_of_token(text) >= 0 ? TokenKind::byte
               : specials.contains(text)           ? TokenKind::control
                                                   : TokenKind::normal);
  }
  INGOT_TRY(const auto added, files.added_by_id());
  const std::size_t trained = tokens.size();
  for (const auto& [id, token] : added) {
    if (static_cast<std::uint64_t>(id) < trained) continue;
    tokens.add(std::string(token.text), 0,
               specials.contains(token.text) ? TokenKind::control : TokenKind::user_defined);
  }
  INGOT_TRY_VOID(score_by_merges(files, read));
  return read;
}

}  // namespace ingot::huggingface

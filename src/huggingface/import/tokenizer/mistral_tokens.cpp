// SPDX-License-Identifier: MIT
// Reads the tokenizers of Mistral's own form of folders.
// Source of the form of tekken.json: tekken.py of the project mistral-common.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/ranked_tokens.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"
#include "ingot/text.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"

namespace ingot::huggingface {
namespace {

/// The longest token, in bytes: each place in it may be that of a merge.
constexpr std::size_t longest_token = 1024;
/// The most merges, many times those of any vocabulary.
constexpr std::size_t most_merges = std::size_t{1} << 23;
constexpr std::size_t byte_count = 256;  // of tokens, the first ones

/// The special tokens of files up to version 7, which list none.
constexpr std::array<std::string_view, 20> first_specials = {"<unk>",
                                                             "<s>",
                                                             "</s>",
                                                             "[INST]",
                                                             "[/INST]",
                                                             "[AVAILABLE_TOOLS]",
                                                             "[/AVAILABLE_TOOLS]",
                                                             "[TOOL_RESULTS]",
                                                             "[/TOOL_RESULTS]",
                                                             "[TOOL_CALLS]",
                                                             "[IMG]",
                                                             "<pad>",
                                                             "[IMG_BREAK]",
                                                             "[IMG_END]",
                                                             "[PREFIX]",
                                                             "[MIDDLE]",
                                                             "[SUFFIX]",
                                                             "[SYSTEM_PROMPT]",
                                                             "[/SYSTEM_PROMPT]",
                                                             "[TOOL_CONTENT]"};

/// Reads tekken.json: special tokens, then the bytes of tokens in the order of their ranks.
class TekkenReader {
 public:
  TekkenReader(const ModelFolder& folder, JsonView root)
      : file_(folder.locate(file_names::tekken)), root_(root) {}

  Result<MistralTokens> read() {
    const JsonView config = root_["config"];
    read_.file = std::string(file_names::tekken);
    read_.is_tekken = true;
    read_.version = std::string(config["version"].text());
    INGOT_TRY(const std::size_t count, size_of("default_vocab_size"));
    INGOT_TRY(const std::size_t specials, size_of("default_num_special_tokens"));
    if (specials > count || count - specials < byte_count) {
      return refuse(file_, "default_vocab_size must count the special tokens and 256 bytes");
    }
    INGOT_TRY_VOID(read_specials(specials));
    INGOT_TRY_VOID(read_ranks(count - specials));
    for (const auto& [text, id] : {std::pair("<s>", &MistralTokens::bos),
                                   {"</s>", &MistralTokens::eos},
                                   {"<unk>", &MistralTokens::unknown},
                                   {"<pad>", &MistralTokens::padding}}) {
      const auto found = special_ids_.find(text);
      if (found == special_ids_.end()) {
        return refuse(file_, "it has no special token " + std::string(text));
      }
      read_.*id = found->second;
    }
    return std::move(read_);
  }

 private:
  Result<std::size_t> size_of(std::string_view member) const {
    const auto size = root_["config"][member].integer();
    if (!size || *size < 0 || static_cast<std::uint64_t>(*size) > max_tokens) {
      return refuse(
          file_, std::string(member) + " must be a number from 0 to " + std::to_string(max_tokens));
    }
    return static_cast<std::size_t>(*size);
  }

  /// Places that the file gives no token to are filled up.
  Result<void> read_specials(std::size_t count) {
    const JsonView listed = root_["special_tokens"];
    const auto version = parse_number<int>(
        std::string_view(read_.version).substr(read_.version.starts_with('v') ? 1 : 0));
    if (!version) return refuse(file_, "config.version must be v3 or a later one");
    if (!listed.exists() || listed.is_null()) {
      if (*version > 7) return refuse(file_, "special_tokens are missing");
      for (const std::string_view text : first_specials) {
        INGOT_TRY_VOID(add_special(text, static_cast<std::int64_t>(read_.tokens.size()), count));
      }
    }
    for (const JsonView token : listed.elements()) {
      if (!token["token_str"].is_text() || !token["rank"].integer()) {
        return refuse(file_, "a special token has a token_str and a rank");
      }
      INGOT_TRY_VOID(add_special(token["token_str"].text(), *token["rank"].integer(), count));
    }
    while (read_.tokens.size() < count) {
      const auto id = static_cast<std::int64_t>(read_.tokens.size());
      INGOT_TRY_VOID(add_special("<SPECIAL_" + std::to_string(id) + ">", id, count));
    }
    return {};
  }

  /// @param rank  the id, by which others find it; its place is that in the list.
  Result<void> add_special(std::string_view text, std::int64_t rank, std::size_t count) {
    const std::string named = "the special token " + std::string(text);
    if (read_.tokens.size() >= count || rank < 0 || static_cast<std::uint64_t>(rank) >= count) {
      return refuse(file_,
                    named + " is beyond default_num_special_tokens, " + std::to_string(count));
    }
    if (!special_ids_.emplace(text, static_cast<std::uint32_t>(rank)).second) {
      return refuse(file_, named + " is there twice");
    }
    read_.tokens.add(std::string(text), 0, TokenKind::control);
    return {};
  }

  Result<void> read_ranks(std::size_t count) {
    std::vector<std::string> tokens;
    for (const JsonView token : root_["vocab"].elements()) {
      if (tokens.size() == count) break;  // the file may hold more than the model uses
      const auto rank = static_cast<std::int64_t>(tokens.size());
      const auto read = base64_decode(token["token_bytes"].text());
      if (!read || read->empty() || read->size() > longest_token ||
          token["rank"].integer() != rank) {
        return refuse(file_, "token " + std::to_string(rank) + " is no base64 of at most " +
                                 std::to_string(longest_token) + " bytes with this rank");
      }
      tokens.emplace_back(reinterpret_cast<const char*>(read->data()), read->size());
      const bool is_byte =
          tokens.back().size() == 1 && static_cast<unsigned char>(tokens.back()[0]) == rank;
      if (tokens.size() <= byte_count && !is_byte) {
        return refuse(file_, "the first 256 tokens must be the bytes in their order");
      }
    }
    if (tokens.size() < count) {
      return refuse(file_, "it has " + std::to_string(tokens.size()) +
                               " tokens without the special ones, and default_vocab_size counts " +
                               std::to_string(count));
    }
    std::unordered_map<std::string_view, std::size_t> rank_of;
    for (std::size_t rank = 0; rank < count; ++rank) {
      if (!rank_of.emplace(tokens[rank], rank).second) {
        return refuse(file_, "token " + std::to_string(rank) + " is there twice");
      }
      read_.tokens.add(tokenizer::token_of_bytes(tokens[rank]), 0, TokenKind::normal);
    }
    for (std::size_t rank = byte_count; rank < count; ++rank) {
      INGOT_TRY_VOID(add_merges(tokens[rank], rank, rank_of));
    }
    return {};
  }

  /// All pairs of tokens that make a token, in the order of the ranks of their parts.
  Result<void> add_merges(std::string_view token, std::size_t rank,
                          const std::unordered_map<std::string_view, std::size_t>& rank_of) {
    std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> pairs;  // ranks, first length
    for (std::size_t length = 1; length < token.size(); ++length) {
      const auto left = rank_of.find(token.substr(0, length));
      const auto right = rank_of.find(token.substr(length));
      if (left == rank_of.end() || right == rank_of.end()) continue;
      pairs.emplace_back(left->second, right->second, length);
    }
    std::ranges::sort(pairs);
    if (pairs.empty() || read_.merges.size() + pairs.size() > most_merges) {
      return refuse(file_, "no two tokens make token " + std::to_string(rank) +
                               ", or too many pairs make tokens");
    }
    for (const auto& [left, right, length] : pairs) {
      read_.merges.push_back(tokenizer::token_of_bytes(token.substr(0, length)) + " " +
                             tokenizer::token_of_bytes(token.substr(length)));
    }
    return {};
  }

  std::string file_;
  JsonView root_;
  MistralTokens read_;
  std::map<std::string, std::uint32_t, std::less<>> special_ids_;
};

/// Reads tokenizer.model, or that of the latest version: tokenizer.model.v3.
Result<MistralTokens> read_pieces(const ModelFolder& folder, std::string file) {
  MistralTokens read;
  INGOT_TRY(const std::string text, folder.read_text(file, max_table_bytes));
  INGOT_TRY(const SentencePieceModel model, parse_sentencepiece(text, folder.locate(file)));
  read.tokens = list_pieces(model, model.pieces.size());
  const auto find = [&](std::string_view wanted) -> Result<std::uint32_t> {
    const auto found = std::ranges::find(model.pieces, wanted, &SentencePiece::text);
    if (found != model.pieces.end()) {
      return static_cast<std::uint32_t>(found - model.pieces.begin());
    }
    return refuse(folder.locate(file), "it has no token " + std::string(wanted));
  };
  INGOT_TRY(read.bos, find("<s>"));
  INGOT_TRY(read.eos, find("</s>"));
  INGOT_TRY(read.unknown, find("<unk>"));
  read.padding = find("<pad>").value_or(read.eos);
  const std::string_view suffix =
      std::string_view(file).substr(file_names::sentencepiece.size());  // ".v7m1", or nothing
  read.version = suffix.empty() ? "v1" : std::string(suffix.substr(1, suffix.find('m') - 1));
  read.file = std::move(file);
  return read;
}

}  // namespace

Result<MistralTokens> read_mistral_tokens(const TokenizerFiles& files) {
  const ModelFolder& folder = *files.folder;
  if (folder.has(file_names::tekken)) {
    INGOT_TRY(const JsonTree tree, read_tree(folder, file_names::tekken));
    return TekkenReader(folder, tree.root()).read();
  }
  std::string latest;
  for (const std::string& name : folder.files()) {
    if (name == file_names::sentencepiece || name.starts_with("tokenizer.model.v")) latest = name;
  }
  if (latest.empty()) {
    return refuse(folder.locate({}), "no tokenizer: tekken.json or tokenizer.model is needed");
  }
  return read_pieces(folder, std::move(latest));
}

}  // namespace ingot::huggingface

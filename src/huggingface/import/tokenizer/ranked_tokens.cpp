// SPDX-License-Identifier: MIT
// Reads files of ranks, which name tokens and not merges.
#include "huggingface/import/tokenizer/ranked_tokens.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"
#include "ingot/text.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"

namespace ingot::huggingface {
namespace {

/// The longest token, in bytes: the search for its merge takes the square of its length.
constexpr std::size_t longest_ranked_token = 1024;

constexpr std::array ranked_files = {
    RankedFile{"tiktoken.model", "kimi-k2"},
    RankedFile{"hy.tiktoken", "hunyuan"},
    RankedFile{"qwen.tiktoken", "qwen2"},
};

/// The bytes of tokens, by rank and the other way.
struct Ranks {
  std::vector<std::pair<std::uint32_t, std::string>> by_rank;  // in the order of the ranks
  std::unordered_map<std::string_view, std::uint32_t> rank_of;

  Result<void> read(std::string_view text, const std::string& file) {
    for (std::size_t line = 1; !text.empty(); ++line) {
      std::string_view rest = take_part(text, '\n');
      if (rest.ends_with('\r')) rest.remove_suffix(1);
      if (rest.empty()) continue;
      const std::string_view encoded = take_part(rest, ' ');
      const auto bytes = base64_decode(encoded);
      const auto rank = parse_number<std::uint32_t>(rest);
      if (!bytes || bytes->empty() || bytes->size() > longest_ranked_token || !rank ||
          *rank >= max_tokens || by_rank.size() >= max_tokens) {
        return refuse(file, "line " + std::to_string(line) + " is no base64 of at most " +
                                std::to_string(longest_ranked_token) + " bytes with a rank");
      }
      by_rank.emplace_back(
          *rank, std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
    }
    std::ranges::sort(by_rank);
    for (std::size_t i = 0; i < by_rank.size(); ++i) {
      const auto& [rank, bytes] = by_rank[i];
      const bool is_twice = i > 0 && by_rank[i - 1].first == rank;
      if (is_twice || !rank_of.emplace(bytes, rank).second) {
        return refuse(file, "the token of rank " + std::to_string(rank) + " is there twice");
      }
    }
    return {};
  }

  /// The two parts that are joined last to make a token; nothing if that makes it of more, or if
  /// it is one byte.
  [[nodiscard]] std::optional<std::pair<std::string_view, std::string_view>> parts_of(
      std::uint32_t own_rank, std::string_view token) const {
    std::vector<std::size_t> begins(token.size() + 1);  // of the parts, and the end
    for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = i;
    while (begins.size() > 3) {
      std::size_t best = 0;
      std::uint32_t best_rank = own_rank;
      for (std::size_t i = 1; i + 1 < begins.size(); ++i) {
        const auto joined =
            rank_of.find(token.substr(begins[i - 1], begins[i + 1] - begins[i - 1]));
        if (joined == rank_of.end() || joined->second >= best_rank) continue;
        best = i;
        best_rank = joined->second;
      }
      if (best == 0) return std::nullopt;
      begins.erase(begins.begin() + static_cast<std::ptrdiff_t>(best));
    }
    if (begins.size() != 3) return std::nullopt;
    return std::pair(token.substr(0, begins[1]), token.substr(begins[1]));
  }
};

/// The special tokens of Qwen 1, which its program lists, after the ranked ones.
std::vector<std::pair<std::int64_t, std::string>> specials_of_qwen(std::size_t first) {
  constexpr int extra_count = 205;
  std::vector<std::string> texts = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
  for (int i = 0; i < extra_count; ++i) texts.push_back("<|extra_" + std::to_string(i) + "|>");
  std::vector<std::pair<std::int64_t, std::string>> specials;
  for (std::string& text : texts) {
    specials.emplace_back(static_cast<std::int64_t>(first++), std::move(text));
  }
  return specials;
}

}  // namespace

std::optional<RankedFile> find_ranked_file(const ModelFolder& folder) {
  const auto found = std::ranges::find_if(
      ranked_files, [&](const RankedFile& file) { return folder.has(file.name); });
  return found == ranked_files.end() ? std::nullopt : std::optional(*found);
}

Result<RankedTokens> read_ranked_tokens(const TokenizerFiles& files, const Config& config,
                                        std::string_view file) {
  const std::string located = files.folder->locate(file);
  INGOT_TRY(const std::string text, files.folder->read_text(file, max_table_bytes));
  Ranks ranks;
  INGOT_TRY_VOID(ranks.read(text, located));
  RankedTokens read;
  INGOT_TRY(read.specials, files.tokens_of_config());
  std::vector<std::pair<std::int64_t, std::string>> specials;
  for (const AddedToken& token : read.specials) specials.emplace_back(token.id, token.text);
  if (specials.empty() && file == "qwen.tiktoken") {
    specials = specials_of_qwen(ranks.by_rank.size());
  }
  INGOT_TRY(const auto wanted, config.find_count("vocab_size"));
  if (!wanted) return refuse("config.json", "vocab_size is missing");
  INGOT_TRY(const std::size_t count, bounded_count(*wanted, "vocab_size"));
  for (std::size_t id = 0; id < count; ++id) {
    read.tokens.texts.push_back("[PAD" + std::to_string(id) + "]");
  }
  read.tokens.kinds.assign(count, static_cast<std::int32_t>(TokenKind::unused));
  const auto set = [&](std::int64_t id, std::string_view token, TokenKind kind) -> Result<void> {
    if (static_cast<std::uint64_t>(id) >= count) {
      return refuse(located, "the token of id " + std::to_string(id) + " is beyond vocab_size, " +
                                 std::to_string(count));
    }
    read.tokens.set(static_cast<std::size_t>(id), token, 0, kind);
    return {};
  };
  for (const auto& [rank, bytes] : ranks.by_rank) {
    INGOT_TRY_VOID(set(rank, tokenizer::token_of_bytes(bytes), TokenKind::normal));
    if (bytes.size() < 2) continue;
    if (const auto parts = ranks.parts_of(rank, bytes)) {
      read.merges.push_back(tokenizer::token_of_bytes(parts->first) + " " +
                            tokenizer::token_of_bytes(parts->second));
    }
  }
  for (const auto& [id, special] : specials) {
    INGOT_TRY_VOID(set(id, special, TokenKind::control));
  }
  return read;
}

}  // namespace ingot::huggingface

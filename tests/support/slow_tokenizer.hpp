// SPDX-License-Identifier: MIT
// The families of tokenizers as their definitions read: whole texts, no cuts, no caches, strings
// everywhere. For vocabularies without special tokens.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/vocabulary_sketch.hpp"
#include "tokenizer/pre_tokenize/pre_tokenizer.hpp"
#include "tokenizer/pre_tokenize/splitter.hpp"
#include "tokenizer/unicode/lenient_utf8.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"
#include "tokenizer/vocabulary/escapes.hpp"

namespace ingot::test {

class SlowTokenizer {
 public:
  explicit SlowTokenizer(const VocabularySketch& sketch) : sketch_(sketch) {
    for (const TokenSketch& token : sketch.tokens) {
      ids_.try_emplace(token.text, static_cast<TokenId>(ids_.size()));
      max_token_bytes_ = std::max(max_token_bytes_, token.text.size());
    }
    for (const std::string& merge : sketch.merges) {
      const std::size_t space = merge.find(' ', 1);
      ranks_.try_emplace({merge.substr(0, space), merge.substr(space + 1)}, ranks_.size());
    }
  }

  /// Tokens must differ from one another, and the first is the unknown one; texts are as the fuzz
  /// target makes them.
  [[nodiscard]] std::vector<TokenId> encode(const std::string& text) const {
    if (sketch_.model == "llama") return spm(with_symbols(text));
    if (sketch_.model == "gpt2") return bpe(text);
    if (sketch_.model == "bert") return wpm(text);
    if (sketch_.model == "t5") return ugm(joins_spaces() ? joined(text) : with_symbols(text));
    return sketch_.model == "rwkv" ? rwkv(text) : plamo2(text);
  }

 private:
  using Symbols = std::vector<std::string>;
  /// The smaller the earlier; nothing for a pair that stays apart.
  using Priority =
      std::function<std::optional<double>(const std::string& left, const std::string& right)>;

  [[nodiscard]] bool joins_spaces() const {
    return std::ranges::any_of(sketch_.flags, [](const auto& flag) {
      return flag.first == "remove_extra_whitespaces" && flag.second;
    });
  }
  /// Words alone, each after a space symbol.
  static std::string joined(const std::string& text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ' ') continue;
      if (i == 0 || text[i - 1] == ' ') result += tokenizer::space_symbol;
      result += text[i];
    }
    return result;
  }

  [[nodiscard]] TokenId find(std::string_view text) const {
    if (text.size() > max_token_bytes_) return no_token;
    const auto place = ids_.find(text);
    return place == ids_.end() ? no_token : place->second;
  }
  [[nodiscard]] float score(TokenId id) const {
    return sketch_.tokens[static_cast<std::size_t>(id)].score;
  }
  static std::string with_symbols(const std::string& text) {
    std::string result;
    for (const char c : text)
      result += c == ' ' ? std::string(tokenizer::space_symbol) : std::string(1, c);
    return result;
  }
  static Symbols characters(std::string_view text) {
    Symbols symbols;
    for (std::size_t i = 0; i < text.size(); i += symbols.back().size()) {
      symbols.emplace_back(text.substr(i, tokenizer::character_bytes(text[i])));
    }
    return symbols;
  }

  static Symbols merge(Symbols symbols, const Priority& priority) {
    constexpr double apart = std::numeric_limits<double>::infinity();
    std::vector<double> pairs(symbols.size(), apart);  // each symbol with the next one
    const auto look_at = [&](std::size_t i) {
      if (i + 1 < symbols.size()) pairs[i] = priority(symbols[i], symbols[i + 1]).value_or(apart);
    };
    for (std::size_t i = 0; i < symbols.size(); ++i) look_at(i);
    for (;;) {
      const auto best = std::ranges::min_element(pairs);  // the first of equal ones
      if (best == pairs.end() || *best == apart) return symbols;
      const auto place = best - pairs.begin();
      const auto left = static_cast<std::size_t>(place);
      symbols[left] += symbols[left + 1];
      symbols.erase(symbols.begin() + place + 1);
      pairs.erase(best);
      pairs.back() = apart;
      look_at(left);
      if (left != 0) look_at(left - 1);
    }
  }

  [[nodiscard]] std::vector<TokenId> spm(const std::string& text) const {
    std::vector<TokenId> ids;
    const auto by_score = [&](const std::string& left, const std::string& right) {
      const TokenId id = find(left + right);
      return id == no_token ? std::nullopt : std::optional<double>(-score(id));
    };
    for (const std::string& symbol : merge(characters(text), by_score)) {
      if (find(symbol) != no_token) {
        ids.push_back(find(symbol));
        continue;
      }
      for (const char byte : symbol) {
        const TokenId id = find(tokenizer::token_of_byte(static_cast<unsigned char>(byte)));
        const TokenId single = find(std::string(1, byte));
        ids.push_back(id != no_token ? id : single != no_token ? single : 0);
      }
    }
    return ids;
  }

  [[nodiscard]] std::vector<TokenId> bpe(const std::string& text) const {
    const auto by_rank = [&](const std::string& left, const std::string& right) {
      const auto place = ranks_.find({left, right});
      return place == ranks_.end() ? std::nullopt
                                   : std::optional(static_cast<double>(place->second));
    };
    std::vector<TokenId> ids;
    const auto* pre = tokenizer::find_pre_tokenizer(sketch_.pre);
    tokenizer::Splitter::of(*pre)->split(text, [&](std::string_view word) {
      const TokenId whole = find(tokenizer::token_of_bytes(word));
      if (whole != no_token && pre->has(tokenizer::PreTokenizer::ignore_merges)) {
        ids.push_back(whole);
        return;
      }
      for (const std::string& symbol :
           merge(characters(tokenizer::token_of_bytes(word)), by_rank)) {
        if (find(symbol) != no_token) {
          ids.push_back(find(symbol));
          continue;
        }
        for (const char byte : symbol) {
          const TokenId id = find(std::string(1, byte));
          if (id != no_token) ids.push_back(id);
        }
      }
    });
    return ids;
  }

  /// The longest token that the text begins with; its size.
  [[nodiscard]] std::size_t longest(std::string_view text) const {
    std::size_t size = std::min(text.size(), max_token_bytes_);
    while (size != 0 && find(text.substr(0, size)) == no_token) --size;
    return size;
  }

  [[nodiscard]] std::vector<TokenId> wpm(const std::string& text) const {
    std::vector<TokenId> ids;
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      if (end == begin) continue;
      std::string rest = std::string(tokenizer::space_symbol) + text.substr(begin, end - begin);
      std::vector<TokenId> word;
      while (!rest.empty()) {
        const std::size_t size = longest(rest);
        word.push_back(size == 0 ? 0 : find(rest.substr(0, size)));
        if (size == 0) word = {0};
        rest.erase(0, size == 0 ? rest.size() : size);
      }
      ids.insert(ids.end(), word.begin(), word.end());
      begin = end;
    }
    return ids;
  }

  [[nodiscard]] std::vector<TokenId> rwkv(std::string_view text) const {
    std::vector<TokenId> ids;
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t size = longest(text.substr(i));
      ids.push_back(size == 0 ? 0 : find(text.substr(i, size)));
      i += size == 0 ? 1 : size;
    }
    return ids;
  }

  [[nodiscard]] std::vector<TokenId> ugm(std::string_view text) const {
    struct Way {
      double sum = -std::numeric_limits<double>::infinity();
      std::size_t begin = 0;
      TokenId id = 0;
    };
    float lowest = std::numeric_limits<float>::infinity();
    for (const TokenSketch& token : sketch_.tokens) {
      if (token.kind == TokenKind::normal) lowest = std::min(lowest, token.score);
    }
    if (lowest == std::numeric_limits<float>::infinity()) lowest = 0.0F;
    std::vector<Way> ways(text.size() + 1);
    ways[0].sum = 0.0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = std::min(tokenizer::character_bytes(text[at]), text.size() - at);
      const auto offer = [&](std::size_t end, double sum, TokenId id) {
        if (sum > ways[end].sum) ways[end] = {sum, at, id};
      };
      bool has_single = false;
      const std::size_t last = std::min(text.size(), at + max_token_bytes_);
      for (std::size_t end = at + 1; end <= last; ++end) {
        const TokenId id = find(text.substr(at, end - at));
        if (id == no_token ||
            sketch_.tokens[static_cast<std::size_t>(id)].kind != TokenKind::normal)
          continue;
        has_single = has_single || end == at + size;
        offer(end, ways[at].sum + static_cast<double>(score(id)), id);
      }
      if (!has_single) offer(at + size, ways[at].sum + static_cast<double>(lowest - 10.0F), 0);
      at += size;
    }
    std::vector<TokenId> ids;
    for (std::size_t end = text.size(); end != 0; end = ways[end].begin) {
      if (ids.empty() || ids.back() != 0 || ways[end].id != 0) ids.push_back(ways[end].id);
    }
    std::ranges::reverse(ids);
    return ids;
  }

  [[nodiscard]] std::vector<TokenId> plamo2(std::string_view text) const {
    struct Way {
      double cost = 0.0;
      std::size_t size = 1;
      TokenId id = no_token;
    };
    std::vector<Way> ways(text.size() + 1);
    for (std::size_t at = text.size(); at-- != 0;) {
      ways[at].cost = std::numeric_limits<double>::infinity();
      for (std::size_t size = std::min(text.size() - at, max_token_bytes_); size != 0; --size) {
        const TokenId id = find(text.substr(at, size));
        const bool is_byte =
            id != no_token && sketch_.tokens[static_cast<std::size_t>(id)].kind == TokenKind::byte;
        if (id == no_token || is_byte) continue;
        const double cost = ways[at + size].cost - std::round(score(id) * 1e4);
        if (cost < ways[at].cost) ways[at] = {cost, size, id};
      }
      const double cost = ways[at + 1].cost + 1e7;
      if (cost < ways[at].cost) ways[at] = {cost, 1, no_token};
    }
    std::vector<TokenId> ids;
    for (std::size_t at = 0; at < text.size(); at += ways[at].size) {
      const TokenId byte = find(tokenizer::token_of_byte(static_cast<unsigned char>(text[at])));
      ids.push_back(ways[at].id == no_token ? byte : ways[at].id);
    }
    return ids;
  }

  const VocabularySketch& sketch_;
  std::map<std::string, TokenId, std::less<>> ids_;
  std::size_t max_token_bytes_ = 0;
  std::map<std::pair<std::string, std::string>, std::size_t> ranks_;
};

}  // namespace ingot::test

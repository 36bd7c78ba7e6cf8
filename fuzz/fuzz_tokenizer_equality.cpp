// SPDX-License-Identifier: MIT
// Property: every family gives the ids of its slow definition, for any vocabulary of a few letters
// and any text of them.

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "support/slow_tokenizer.hpp"

namespace {

using ingot::TokenKind;
using ingot::test::VocabularySketch;

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool is_empty() const { return size_ == 0; }
  std::size_t below(std::size_t count) {
    if (size_ == 0) return 0;
    --size_;
    return *data_++ % count;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

struct Family {
  const char* model;
  const char* pre;
  bool is_ascii;       // its texts are letters and spaces alone
  bool has_all_bytes;  // its vocabulary needs them
  bool joins_spaces = false;
};
constexpr std::array<Family, 8> families = {{{"llama", "", false, false},
                                             {"gpt2", "gpt-2", false, false},
                                             {"gpt2", "llama-bpe", false, false},
                                             {"bert", "", true, false},
                                             {"t5", "", true, false},
                                             {"rwkv", "", false, false},
                                             {"plamo2", "", true, true},
                                             {"t5", "", false, false, true}}};

std::string letter(Input& input, bool is_ascii) {
  constexpr std::array<const char*, 10> letters = {
      "a", "b", "c", " ", "\n", "'", "\xC3\xA9", "1", "\xC3\xB1", "\xE4\xB8\xAD"};
  return letters[input.below(is_ascii ? 4 : letters.size())];
}

/// The spelling of a text in tokens of the family.
std::string spelt(const Family& family, const std::string& text) {
  if (family.model == std::string_view("gpt2")) return ingot::tokenizer::token_of_bytes(text);
  if (family.model == std::string_view("rwkv") || family.model == std::string_view("plamo2")) {
    return text;
  }
  std::string result;
  for (const char c : text) {
    result += c == ' ' ? std::string(ingot::tokenizer::space_symbol) : std::string(1, c);
  }
  return result;
}

VocabularySketch make_sketch(const Family& family, Input& input) {
  VocabularySketch sketch{.model = family.model, .pre = family.pre};
  sketch.flags = {{"add_space_prefix", false}, {"remove_extra_whitespaces", family.joins_spaces}};
  sketch.add("<unk>", 0.0F, TokenKind::unknown);
  sketch.ids = {{"unknown", 0}, {"bos", 0}, {"eos", 0}, {"seperator", 0}};
  if (family.has_all_bytes) sketch.add_bytes();
  std::set<std::string> known;
  const auto add = [&](const std::string& text) {
    if (!known.insert(text).second) return;
    // Few different scores, so that there are ties.
    sketch.add(text, -0.25F * static_cast<float>(input.below(8)));
  };
  std::vector<std::string> symbols;
  const std::size_t token_count = input.below(24);
  for (std::size_t i = 0; i < token_count; ++i) {
    std::string text;
    if (family.pre[0] != '\0' && symbols.size() > 1) {
      const std::string left = symbols[input.below(symbols.size())];
      const std::string right = symbols[input.below(symbols.size())];
      text = left + right;
      if (text.size() > 64) continue;
      sketch.merges.push_back(left + " " + right);
      symbols.push_back(text);
      if (input.below(8) == 0) continue;  // a product without a token
    } else {
      const std::size_t size = 1 + input.below(4);
      for (std::size_t k = 0; k < size; ++k) text += letter(input, family.is_ascii);
      text = spelt(family, text);
      for (std::size_t at = 0; at < text.size(); at += symbols.back().size()) {
        symbols.push_back(text.substr(at, ingot::tokenizer::character_bytes(text[at])));
      }
    }
    add(text);
  }
  return sketch;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, std::min<std::size_t>(size, 400));
  const Family& family = families[input.below(families.size())];
  const VocabularySketch sketch = make_sketch(family, input);
  const auto tokenizer = sketch.make();
  if (!tokenizer) std::abort();
  const std::size_t repeats = 1 + 7 * input.below(3);
  std::string text;
  while (!input.is_empty()) text += letter(input, family.is_ascii);
  std::string whole;  // long enough, if repeated, for the cache of words
  for (std::size_t i = 0; i < repeats; ++i) whole += text;
  const auto ids = tokenizer->encode(whole, {.add_special = false});
  // A token of this sketch has at most one text, but a family may find it under another spelling.
  if (!ids || *ids != ingot::test::SlowTokenizer(sketch).encode(whole)) std::abort();
  return 0;
}

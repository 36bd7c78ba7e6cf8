// SPDX-License-Identifier: MIT
// Property: a text comes back from its ids, as it was or, where it is not UTF-8, as the family
// repairs it; the ranges of its tokens follow one another; all ways to encode and decode agree.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "ingot/text.hpp"
#include "support/vocabulary_sketch.hpp"
#include "tokenizer/unicode/lenient_utf8.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

Tokenizer make_spm() {
  test::VocabularySketch sketch{.model = "llama"};
  sketch.add("<unk>", 0.0F, TokenKind::unknown).add("<s>", 0.0F, TokenKind::control);
  sketch.add("</s>", 0.0F, TokenKind::control).add_bytes();
  for (const char* text :
       {"e", "t", "th", "the", "\xE2\x96\x81", "\xE2\x96\x81t", "\xE2\x96\x81the"}) {
    sketch.add(text, static_cast<float>(sketch.tokens.size()));
  }
  sketch.flags = {{"add_space_prefix", false}};
  return *sketch.make();
}

Tokenizer make_bpe(const std::string& pre) {
  test::VocabularySketch sketch{.model = "gpt2", .pre = pre};
  for (int byte = 0; byte < 256; ++byte) {
    sketch.add(tokenizer::token_of_bytes(std::string(1, static_cast<char>(byte))));
  }
  sketch.merges = {"t h", "th e", "\xC4\xA0 t", "\xC4\xA0t he", "h e", "\xC4\xA0 \xC4\xA0"};
  for (const char* text : {"th", "the", "\xC4\xA0t", "\xC4\xA0the", "he", "\xC4\xA0\xC4\xA0"}) {
    sketch.add(text);
  }
  return *sketch.make();
}

void check(const Tokenizer& tokenizer, const std::string& text, const std::string& expected) {
  const EncodeOptions options{.add_special = false};
  const auto ids = tokenizer.encode(text, options);
  require(ids.has_value());
  require(tokenizer.decode(*ids, {.clean_spaces = false}).value() == expected);
  require(tokenizer.count(text, options).value() == ids->size());
  std::vector<TokenId> buffer(ids->size());
  require(tokenizer.encode(text, buffer, options).value() == ids->size() && buffer == *ids);

  const auto with_ranges = tokenizer.encode_with_offsets(text, options);
  require(with_ranges.has_value() && with_ranges->ids == *ids);
  require(with_ranges->ranges.size() == ids->size());
  std::size_t end = 0;
  for (const ByteRange& range : with_ranges->ranges) {
    require(range.begin <= range.end && range.end <= text.size() && range.begin >= end);
    end = range.end;
  }
  if (is_utf8(text)) {
    StreamDecoder decoder(tokenizer);
    std::string streamed;
    for (const TokenId id : *ids) streamed += decoder.push(id).value();
    require(streamed + decoder.finish() == text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Tokenizer spm = make_spm();
  static const std::vector<Tokenizer> bpes = [] {
    std::vector<Tokenizer> made;
    for (const std::string_view pre : known_pre_tokenizers()) {
      // Those of the other spelling have no tokens for single bytes here.
      if (pre == "gemma4" || pre == "sarvam-moe" || pre == "whitespace") continue;
      if (pre.starts_with("granite-embed-multi-311m")) continue;
      made.push_back(make_bpe(std::string(pre)));
    }
    return made;
  }();
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  tokenizer::NormalizedText cleaned;
  tokenizer::clean(text, cleaned);
  // A lead byte without its character would take bytes of the space symbol with it.
  if (cleaned.text.find(tokenizer::space_symbol) == std::string::npos)
    check(spm, cleaned.text, cleaned.text);
  check(bpes[data[0] % bpes.size()], text, cleaned.text);
  return 0;
}

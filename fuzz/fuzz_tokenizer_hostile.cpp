// SPDX-License-Identifier: MIT
// Property: whatever the tokenizer of a file is, it is refused with an error that is not
// `internal`, or it encodes any text and decodes any ids, within the bounds of both.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "ingot/text.hpp"
#include "ingot/tokenizer.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

void use(const Vocabulary& vocabulary) {
  require(!name_of(vocabulary.family()).empty());
  std::vector<TokenId> ids;
  for (TokenId id = 0; vocabulary.contains(id) && id < 64; ++id) ids.push_back(id);
  for (const TokenId id : ids) {
    const TokenId first = vocabulary.find(vocabulary.text(id));
    require(vocabulary.text(id).empty() || (first != no_token && first <= id));
    require(!name_of(vocabulary.kind(id)).empty());
  }
  for (std::size_t i = 0; i < special_token_count; ++i) {
    const auto special = static_cast<SpecialToken>(i);
    require(!name_of(special).empty());
    const TokenId id = vocabulary.special(special);
    require(id == no_token || vocabulary.contains(id));
  }
  for (const TokenId id : vocabulary.end_of_generation()) {
    require(vocabulary.contains(id) && vocabulary.is_end_of_generation(id));
  }
  require(vocabulary.decode(ids).has_value());
  StreamDecoder decoder(vocabulary, false);
  for (const TokenId id : ids) require(decoder.push(id).has_value());
  require(is_utf8(decoder.finish()));
}

void encode(const Tokenizer& tokenizer, std::string_view text) {
  for (const bool parse_special : {false, true}) {
    const EncodeOptions options{.add_special = true, .parse_special = parse_special};
    const auto ids = tokenizer.encode(text, options);
    const auto with_ranges = tokenizer.encode_with_offsets(text, options);
    require(ids.has_value() == with_ranges.has_value());
    if (!ids) {
      require(ids.error().code == Errc::tokenizer_invalid);
      continue;
    }
    require(with_ranges->ids == *ids && with_ranges->ranges.size() == ids->size());
    for (const TokenId id : *ids) require(id == no_token || tokenizer.contains(id));
    for (const ByteRange& range : with_ranges->ranges) {
      require(range.begin <= range.end && range.end <= text.size());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = Model::open_memory(std::as_bytes(std::span(data, size)));
  if (!model) return 0;
  const auto vocabulary = Vocabulary::make(*model);
  if (!vocabulary) {
    require(vocabulary.error().code != Errc::internal);
    return 0;
  }
  use(*vocabulary);
  const auto tokenizer = Tokenizer::make(*model);
  if (!tokenizer) {
    require(tokenizer.error().code != Errc::internal);
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  encode(*tokenizer, "The quick  brown fox's <s>12345 \xE4\xB8\xAD\xC3\xA9\xFF<dna>acgt</dna>\n\n");
  encode(*tokenizer, bytes.substr(0, 2000));
  encode(*tokenizer, bytes.substr(bytes.size() - std::min<std::size_t>(bytes.size(), 300)));
  return 0;
}

// SPDX-License-Identifier: MIT
// Property: a text that is cut into parts of any size has the ids of the whole, in all families and
// for all pre-tokenizers; names are known that are listed; an expression with plain characters is
// no longer than with named ones.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "ingot/token_stream.hpp"
#include "ingot/vocabulary_statistics.hpp"
#include "support/stream_vocabularies.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ingot;
  static const std::vector<Tokenizer> tokenizers = test::all_tokenizers();
  if (size < 3) return 0;
  const Tokenizer& tokenizer = tokenizers[data[0] % tokenizers.size()];
  const bool parse_special = data[1] % 2 == 1;
  const std::size_t part_bytes = 1 + data[2] % 64;
  std::string_view text(reinterpret_cast<const char*>(data + 3), size - 3);
  const bool is_listed = std::ranges::binary_search(known_pre_tokenizers(), text);
  if (knows_pre_tokenizer("gpt2", text) != is_listed) std::abort();
  if (facts_of_pre_tokenizer(text).has_value() != (is_listed || text.empty())) std::abort();
  if (with_plain_characters(text).size() > text.size()) std::abort();
  if (const auto family = family_of(text); family && name_of(*family).empty()) std::abort();
  const auto ids = tokenizer.encode(text, {.parse_special = parse_special});
  std::vector<TokenId> parts;
  const auto read = [&](std::span<char> buffer) -> Result<std::size_t> {
    const std::size_t count = std::min(buffer.size(), text.size());
    std::memcpy(buffer.data(), text.data(), count);
    text.remove_prefix(count);
    return count;
  };
  const auto take = [&](const TokenizedPart& part) -> Result<void> {
    parts.insert(parts.end(), part.ids.begin(), part.ids.end());
    return {};
  };
  const auto done =
      encode_stream(tokenizer, read, take,
                    {.parse_special = parse_special, .thread_count = 1, .part_bytes = part_bytes});
  if (!ids || !done || parts != *ids) std::abort();
  return 0;
}

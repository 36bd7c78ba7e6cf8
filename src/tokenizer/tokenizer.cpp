// SPDX-License-Identifier: MIT
#include "ingot/tokenizer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/checked.hpp"
#include "ingot/parallel.hpp"
#include "tokenizer/encoder.hpp"
#include "tokenizer/unicode/unicode.hpp"
#include "tokenizer/vocabulary/token_keys.hpp"

namespace ingot {
namespace tokenizer {
namespace {

/// Bytes at the end of a text in which a place to cut it is looked for before the whole is
/// searched.
constexpr std::size_t cut_tail_bytes = 4096;

/// The tokens around a text that the family and the file want.
Surroundings surroundings_of(const VocabularyData& data) noexcept {
  const TokenId bos = data.special(SpecialToken::bos);
  switch (data.family) {
    case TokenizerFamily::wpm:
      return {bos, data.special(SpecialToken::sep)};
    case TokenizerFamily::spm:
    case TokenizerFamily::bpe:
    case TokenizerFamily::ugm:
      return {data.flags.adds_bos ? bos : no_token,
              data.flags.adds_eos ? data.special(SpecialToken::eos) : no_token};
    default:
      return {};
  }
}

/// The functions by family; nullptr for the family without texts.
constexpr MakeEncoder* makers[] = {nullptr,  make_spm,  make_bpe,   make_wpm,
                                   make_ugm, make_rwkv, make_plamo2};
static_assert(static_cast<std::size_t>(TokenizerFamily::plamo2) + 1 == std::size(makers));

Result<std::unique_ptr<const FamilyEncoder>> make_family(const Model& model,
                                                         const VocabularyData& data) {
  MakeEncoder* make = makers[static_cast<std::size_t>(data.family)];
  if (make != nullptr) return make(model, data);
  return fail(Errc::tokenizer_unknown, token_key("model"),
              "\"" + data.model_name + "\" has no texts to encode with");
}

}  // namespace

Encoder::Encoder(std::shared_ptr<const VocabularyData> data,
                 std::unique_ptr<const FamilyEncoder> family)
    : data_(std::move(data)),
      finder_(*data_),
      family_(std::move(family)),
      around_(surroundings_of(*data_)) {}

void Encoder::encode(std::string_view text, const EncodeOptions& options, Work& work) const {
  if (options.add_special && !options.continues && around_.first != no_token)
    work.put(around_.first, 0, 0);
  bool follows_special = !options.continues;
  for (const TextPart& part : finder_.split(text, options.parse_special, options.plain_ranges)) {
    if (part.id != no_token) {
      work.put(part.id, part.begin, part.end);
    } else {
      const std::size_t first = work.ranges.size();
      family_->encode(text.substr(part.begin, part.end - part.begin), follows_special, work);
      work.resolve_ranges(first, part.begin);
    }
    follows_special = part.id != no_token;
  }
  if (options.add_special && !options.is_continued && around_.last != no_token) {
    work.put(around_.last, text.size(), text.size());
  }
}

std::size_t Encoder::find_cut(std::string_view text, bool parse_special) const {
  constexpr std::size_t max_character_bytes = 4;
  const std::size_t open = std::max(finder_.open_bytes(parse_special), max_character_bytes);
  if (text.size() <= open) return 0;
  // Most texts can be cut near their end. A token that begins before the tail is closed at the
  // first character, other than white space, that it cannot reach.
  const std::size_t tail_begin = text.size() - std::min(text.size(), open + cut_tail_bytes);
  const std::string_view tail = text.substr(tail_begin);
  const auto closed = std::find_if_not(tail.begin() + static_cast<std::ptrdiff_t>(open), tail.end(),
                                       is_ascii_space);
  const std::size_t first = tail_begin + static_cast<std::size_t>(closed - tail.begin());
  if (tail_begin != 0 && first < text.size() - open) {
    const std::vector<bool> cuts = finder_.find_cuts(tail, parse_special);
    for (std::size_t place = text.size() - open; place > first; --place) {
      if (cuts[place - tail_begin] && family_->can_cut(text, place)) return place;
    }
  }
  const std::vector<bool> cuts = finder_.find_cuts(text, parse_special);
  for (std::size_t place = text.size() - open; place != 0; --place) {
    if (cuts[place] && family_->can_cut(text, place)) return place;
  }
  const bool has_special = std::find(cuts.begin() + 1, cuts.end(), false) != cuts.end();
  return has_special ? 0 : std::min(family_->final_end(text), text.size());
}

}  // namespace tokenizer

namespace {

/// Texts that a thread takes at a time: short ones take microseconds.
constexpr std::uint64_t texts_per_piece = 16;

Result<void> encode_checked(const tokenizer::Encoder& encoder, std::string_view text,
                            const EncodeOptions& options, tokenizer::Work& work) {
  if (text.size() > Tokenizer::max_text_bytes) {
    return fail(Errc::limit_exceeded, "the text",
                "it has " + std::to_string(text.size()) + " bytes; encode it in parts");
  }
  encoder.encode(text, options, work);
  if (work.is_too_long) {
    return fail(Errc::tokenizer_invalid, tokenizer::token_key("precompiled_charsmap"),
                "it makes the text too long");
  }
  return {};
}

}  // namespace

Tokenizer::Tokenizer(const Vocabulary& vocabulary,
                     std::shared_ptr<const tokenizer::Encoder> encoder)
    : Vocabulary(vocabulary), encoder_(std::move(encoder)) {}

Result<Tokenizer> Tokenizer::make(const Model& model, const TokenizerOptions& options) {
  INGOT_TRY(tokenizer::VocabularyData read,
            tokenizer::read_vocabulary(model, options.pre_tokenizer));
  const auto data = std::make_shared<const tokenizer::VocabularyData>(std::move(read));
  INGOT_TRY(auto family, tokenizer::make_family(model, *data));
  return Tokenizer(Vocabulary(data),
                   std::make_shared<const tokenizer::Encoder>(data, std::move(family)));
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text,
                                               const EncodeOptions& options) const {
  tokenizer::Work work(text.size(), false);
  INGOT_TRY_VOID(encode_checked(*encoder_, text, options, work));
  return std::move(work.ids);
}

Result<std::size_t> Tokenizer::encode(std::string_view text, std::span<TokenId> buffer,
                                      const EncodeOptions& options) const {
  INGOT_TRY(const std::vector<TokenId> ids, encode(text, options));
  std::copy_n(ids.begin(), std::min(ids.size(), buffer.size()), buffer.begin());
  return ids.size();
}

Result<std::size_t> Tokenizer::count(std::string_view text, const EncodeOptions& options) const {
  return encode(text, options).transform([](const auto& ids) { return ids.size(); });
}

bool Tokenizer::has_unknown_merges() const noexcept { return encoder_->has_unknown_merges(); }

std::size_t Tokenizer::find_cut(std::string_view text, bool parse_special) const {
  return encoder_->find_cut(text, parse_special);
}

Result<std::vector<std::vector<TokenId>>> Tokenizer::encode_batch(
    std::span<const std::string_view> texts, const EncodeOptions& options,
    unsigned thread_count) const {
  std::vector<std::vector<TokenId>> batch(texts.size());
  INGOT_TRY_VOID(spread(texts.size(), texts_per_piece, thread_count,
                        [&](std::uint64_t first, std::uint64_t count) -> Result<void> {
                          for (std::size_t i = to_size(first); i < first + count; ++i) {
                            INGOT_TRY(batch[i], encode(texts[i], options));
                          }
                          return {};
                        }));
  return batch;
}

Result<TokenizedText> Tokenizer::encode_with_offsets(std::string_view text,
                                                     const EncodeOptions& options) const {
  tokenizer::Work work(text.size(), true);
  INGOT_TRY_VOID(encode_checked(*encoder_, text, options, work));
  return TokenizedText{std::move(work.ids), std::move(work.ranges)};
}

}  // namespace ingot

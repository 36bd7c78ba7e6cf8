// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bitset>
#include <iterator>
#include <utility>

#include "tokenizer/vocabulary/byte_alphabet.hpp"
#include "tokenizer/vocabulary/escapes.hpp"
#include "tokenizer/vocabulary/vocabulary_data.hpp"

namespace ingot {
namespace tokenizer {
namespace {

using ByteSet = std::bitset<256>;

/// The bytes that a family encodes even where no longer token covers them.
ByteSet bytes_with_tokens(const VocabularyData& data) {
  ByteSet covered;
  const auto has = [&](std::string_view text) { return data.find(text) != no_token; };
  switch (data.family) {
    case TokenizerFamily::spm:
    case TokenizerFamily::bpe:
    case TokenizerFamily::plamo2:
      for (std::size_t byte = 0; byte < covered.size(); ++byte) {
        const std::string single(1, static_cast<char>(byte));
        covered[byte] = data.is_byte_encoded()
                            ? has(token_of_bytes(single))
                            : has(token_of_byte(static_cast<unsigned char>(byte))) || has(single);
      }
      break;
    case TokenizerFamily::rwkv:
      for (std::size_t id = 0; id < data.texts.size(); ++id) {
        const std::string text = unescape(data.texts[id]);
        if (text.size() == 1) covered.set(static_cast<unsigned char>(text[0]));
      }
      break;
    default:
      covered.set();
  }
  return covered;
}

}  // namespace
}  // namespace tokenizer

namespace {

constexpr std::string_view family_names[] = {"none", "SPM", "BPE", "WPM", "UGM", "RWKV", "PLaMo-2"};
constexpr std::string_view kind_names[] = {"undefined",    "normal", "unknown", "control",
                                           "user-defined", "unused", "byte"};
constexpr std::string_view special_names[] = {
#define INGOT_SPECIAL_TOKEN(enumerator, constant, key, older_key, description) #enumerator,
#include "ingot/special_tokens.def"
};

template <std::size_t count, class Enum>
std::string_view name_in(const std::string_view (&names)[count], Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < count ? names[index] : "";
}

}  // namespace

std::string_view name_of(TokenizerFamily family) noexcept { return name_in(family_names, family); }
std::string_view name_of(TokenKind kind) noexcept { return name_in(kind_names, kind); }
std::string_view name_of(SpecialToken special) noexcept { return name_in(special_names, special); }

Vocabulary::Vocabulary(std::shared_ptr<const tokenizer::VocabularyData> data) noexcept
    : data_(std::move(data)) {}

TokenizerFamily Vocabulary::family() const noexcept { return data_->family; }
std::string_view Vocabulary::model_name() const noexcept { return data_->model_name; }
std::string_view Vocabulary::pre_tokenizer() const noexcept { return data_->pre_name; }
const TokenizerFlags& Vocabulary::flags() const noexcept { return data_->flags; }
std::size_t Vocabulary::size() const noexcept { return data_->size(); }

namespace {

/// Whether the vocabulary has a text for an id.
bool has_text(const tokenizer::VocabularyData& data, TokenId id) noexcept {
  return id >= 0 && static_cast<std::size_t>(id) < data.texts.size();
}

}  // namespace

std::string_view Vocabulary::text(TokenId id) const noexcept {
  return has_text(*data_, id) ? data_->text(id) : std::string_view();
}

float Vocabulary::score(TokenId id) const noexcept {
  return has_text(*data_, id) ? data_->scores[static_cast<std::size_t>(id)] : 0.0F;
}

TokenKind Vocabulary::kind(TokenId id) const noexcept {
  return has_text(*data_, id) ? data_->kind(id) : TokenKind::undefined;
}

TokenKind Vocabulary::kind_in_file(TokenId id) const noexcept {
  return has_text(*data_, id) ? data_->file_kinds[static_cast<std::size_t>(id)]
                              : TokenKind::undefined;
}

bool Vocabulary::strips_left(TokenId id) const noexcept {
  return std::ranges::binary_search(data_->strip_left, id);
}

bool Vocabulary::strips_right(TokenId id) const noexcept {
  return std::ranges::binary_search(data_->strip_right, id);
}

TokenId Vocabulary::find(std::string_view text) const noexcept { return data_->find(text); }

bool Vocabulary::has_equal_texts() const noexcept {
  return data_->ids.size() != data_->texts.size();
}

TokenId Vocabulary::special(SpecialToken special) const noexcept {
  return static_cast<std::size_t>(special) < special_token_count ? data_->special(special)
                                                                 : no_token;
}

std::vector<std::uint8_t> Vocabulary::missing_bytes() const {
  std::vector<std::uint8_t> missing;
  const tokenizer::ByteSet covered = tokenizer::bytes_with_tokens(*data_);
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool is_in_utf8 = byte != 0xC0 && byte != 0xC1 && byte < 0xF5;
    if (is_in_utf8 && !covered[byte]) missing.push_back(static_cast<std::uint8_t>(byte));
  }
  return missing;
}

std::span<const TokenId> Vocabulary::end_of_generation() const noexcept { return data_->ends; }

bool Vocabulary::is_end_of_generation(TokenId id) const noexcept {
  return std::ranges::binary_search(data_->ends, id);
}

}  // namespace ingot

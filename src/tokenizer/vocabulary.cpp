// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <utility>

#include "tokenizer/vocabulary_data.hpp"

namespace ingot {
namespace {

constexpr std::string_view family_names[] = {"none", "SPM", "BPE", "WPM", "UGM", "RWKV", "PLaMo-2"};
constexpr std::string_view kind_names[] = {"undefined",    "normal", "unknown", "control",
                                           "user-defined", "unused", "byte"};
constexpr std::string_view special_names[] = {
#define INGOT_SPECIAL_TOKEN(enumerator, constant, key, older_key, description) #enumerator,
#include "ingot/special_tokens.def"
#undef INGOT_SPECIAL_TOKEN
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

TokenId Vocabulary::special(SpecialToken special) const noexcept {
  return static_cast<std::size_t>(special) < special_token_count ? data_->special(special)
                                                                 : no_token;
}

std::span<const TokenId> Vocabulary::end_of_generation() const noexcept { return data_->ends; }

bool Vocabulary::is_end_of_generation(TokenId id) const noexcept {
  return std::ranges::binary_search(data_->ends, id);
}

}  // namespace ingot

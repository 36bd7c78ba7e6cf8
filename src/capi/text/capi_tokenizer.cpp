// SPDX-License-Identifier: MIT
// Tokenizers for C.
#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "capi/text/text_boundary.hpp"

namespace {

using namespace ingot;
using capi::at_boundary;
using capi::copy_fitting;
using capi::require;
using capi::require_room;

#define INGOT_SPECIAL_TOKEN(enumerator, constant, key, older_key, description) \
  static_assert(INGOT_SPECIAL_##constant == static_cast<int>(SpecialToken::enumerator));
#include "ingot/special_tokens.def"
static_assert(INGOT_FAMILY_PLAMO2 == static_cast<int>(TokenizerFamily::plamo2));
static_assert(INGOT_TOKEN_KIND_BYTE == static_cast<int>(TokenKind::byte));
static_assert(INGOT_NO_TOKEN == no_token);

EncodeOptions token_options_of(std::uint32_t flags) noexcept {
  return {.add_special = (flags & INGOT_ADD_SPECIAL) != 0,
          .parse_special = (flags & INGOT_PARSE_SPECIAL) != 0};
}

Result<void> require_token(const ingot_tokenizer* tokenizer, ingot_token id) {
  INGOT_TRY_VOID(require(tokenizer != nullptr, "tokenizer"));
  // A negative id becomes one that is too large.
  return capi::require_below(static_cast<std::uint32_t>(id), tokenizer->tokenizer.size(), "token");
}

}  // namespace

ingot_code ingot_tokenizer_make(const ingot_model* model, const char* pre_tokenizer,
                                ingot_tokenizer** tokenizer, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(model != nullptr, "model"));
    INGOT_TRY_VOID(require(tokenizer != nullptr, "tokenizer"));
    TokenizerOptions options;
    if (pre_tokenizer != nullptr) options.pre_tokenizer = pre_tokenizer;
    INGOT_TRY(Tokenizer made, Tokenizer::make(model->model, options));
    *tokenizer = std::make_unique<ingot_tokenizer>(ingot_tokenizer{std::move(made)}).release();
    return {};
  });
}

void ingot_tokenizer_free(ingot_tokenizer* tokenizer) {
  const std::unique_ptr<ingot_tokenizer> ended(tokenizer);
}

int32_t ingot_tokenizer_family(const ingot_tokenizer* tokenizer) {
  return tokenizer == nullptr ? -1 : static_cast<std::int32_t>(tokenizer->tokenizer.family());
}

size_t ingot_token_count(const ingot_tokenizer* tokenizer) {
  return tokenizer == nullptr ? 0 : tokenizer->tokenizer.size();
}

ingot_code ingot_token_text(const ingot_tokenizer* tokenizer, ingot_token id, ingot_string* text,
                            ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require_token(tokenizer, id));
    INGOT_TRY_VOID(require(text != nullptr, "text"));
    *text = capi::to_c(tokenizer->tokenizer.text(id));
    return {};
  });
}

int32_t ingot_token_kind(const ingot_tokenizer* tokenizer, ingot_token id) {
  const bool is_there = tokenizer != nullptr && tokenizer->tokenizer.contains(id);
  return is_there ? static_cast<std::int32_t>(tokenizer->tokenizer.kind(id)) : -1;
}

float ingot_token_score(const ingot_tokenizer* tokenizer, ingot_token id) {
  return tokenizer == nullptr ? 0.0F : tokenizer->tokenizer.score(id);
}

ingot_token ingot_find_token(const ingot_tokenizer* tokenizer, ingot_string text) {
  return tokenizer == nullptr ? no_token : tokenizer->tokenizer.find(capi::to_view(text));
}

ingot_token ingot_special_token(const ingot_tokenizer* tokenizer, uint32_t special) {
  if (tokenizer == nullptr || special >= special_token_count) return no_token;
  return tokenizer->tokenizer.special(static_cast<SpecialToken>(special));
}

bool ingot_is_end_of_generation(const ingot_tokenizer* tokenizer, ingot_token id) {
  return tokenizer != nullptr && tokenizer->tokenizer.is_end_of_generation(id);
}

ingot_code ingot_encode(const ingot_tokenizer* tokenizer, ingot_string text, uint32_t flags,
                        ingot_token* ids, size_t capacity, size_t* count, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(tokenizer != nullptr, "tokenizer"));
    INGOT_TRY_VOID(require_room(ids, capacity, count, "ids"));
    INGOT_TRY(*count, tokenizer->tokenizer.encode(capi::to_view(text), std::span(ids, capacity),
                                                  token_options_of(flags)));
    return {};
  });
}

ingot_code ingot_encode_with_offsets(const ingot_tokenizer* tokenizer, ingot_string text,
                                     uint32_t flags, ingot_token* ids, ingot_byte_range* ranges,
                                     size_t capacity, size_t* count, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(tokenizer != nullptr, "tokenizer"));
    INGOT_TRY_VOID(require_room(ids, capacity, count, "ids"));
    INGOT_TRY_VOID(require_room(ranges, capacity, count, "ranges"));
    INGOT_TRY(const TokenizedText encoded, tokenizer->tokenizer.encode_with_offsets(
                                               capi::to_view(text), token_options_of(flags)));
    copy_fitting(encoded.ids, ids, capacity, count);
    const std::size_t written = std::min(capacity, encoded.ranges.size());
    for (std::size_t i = 0; i < written; ++i) {
      ranges[i] = {encoded.ranges[i].begin, encoded.ranges[i].end};
    }
    return {};
  });
}

ingot_code ingot_decode(const ingot_tokenizer* tokenizer, const ingot_token* ids, size_t count,
                        uint32_t flags, char* buffer, size_t buffer_bytes, size_t* text_bytes,
                        ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(tokenizer != nullptr, "tokenizer"));
    INGOT_TRY_VOID(require(ids != nullptr || count == 0, "ids"));
    INGOT_TRY_VOID(require_room(buffer, buffer_bytes, text_bytes, "buffer"));
    DecodeOptions options{.remove_special = (flags & INGOT_REMOVE_SPECIAL) != 0,
                          .show_special = (flags & INGOT_HIDE_SPECIAL) == 0};
    if ((flags & INGOT_KEEP_SPACES) != 0) options.clean_spaces = false;
    INGOT_TRY(const std::string text, tokenizer->tokenizer.decode(std::span(ids, count), options));
    copy_fitting(text, buffer, buffer_bytes, text_bytes);
    return {};
  });
}

ingot_code ingot_token_piece(const ingot_tokenizer* tokenizer, ingot_token id, uint32_t flags,
                             char* buffer, size_t buffer_bytes, size_t* piece_bytes,
                             ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require_token(tokenizer, id));
    INGOT_TRY_VOID(require_room(buffer, buffer_bytes, piece_bytes, "buffer"));
    const bool show_special = (flags & INGOT_HIDE_SPECIAL) == 0;
    copy_fitting(tokenizer->tokenizer.piece(id, show_special), buffer, buffer_bytes, piece_bytes);
    return {};
  });
}

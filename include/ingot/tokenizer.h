// SPDX-License-Identifier: MIT
// Tokenizers for C: text to token ids and back. Link ingot_text (`pkg-config ingot-text`).
//
// The rules of ingot.h on results, arguments, ownership, text and threads hold here. A tokenizer
// is independent of the model that it was made from. Memory for ids and text belongs to the caller:
// a function writes what fits and returns how much there is, so that a call with room for nothing
// measures. An id is the position of a token in the vocabulary; INGOT_NO_TOKEN stands for none.
//
//   ingot_tokenizer* tokenizer;
//   if (ingot_tokenizer_make(model, NULL, &tokenizer, &error) != INGOT_OK) return 1;
//   size_t count;
//   ingot_encode(tokenizer, text, INGOT_ADD_SPECIAL, ids, capacity, &count, &error);
//   ingot_tokenizer_free(tokenizer);
#ifndef INGOT_TOKENIZER_H
#define INGOT_TOKENIZER_H

// NOLINTBEGIN(modernize-deprecated-headers, modernize-use-using): this is C.

#include <stddef.h>
#include <stdint.h>

#include "ingot/export.h"
#include "ingot/ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The id of a token.
typedef int32_t ingot_token;

#define INGOT_NO_TOKEN (-1)

/// A tokenizer.
typedef struct ingot_tokenizer ingot_tokenizer;

/// Families: the values of `tokenizer.ggml.model`.
enum {
  INGOT_FAMILY_NONE = 0,
  INGOT_FAMILY_SPM = 1,
  INGOT_FAMILY_BPE = 2,
  INGOT_FAMILY_WPM = 3,
  INGOT_FAMILY_UGM = 4,
  INGOT_FAMILY_RWKV = 5,
  INGOT_FAMILY_PLAMO2 = 6
};

/// Kinds of tokens, by the numbers of `tokenizer.ggml.token_type`.
enum {
  INGOT_TOKEN_KIND_UNDEFINED = 0,
  INGOT_TOKEN_KIND_NORMAL = 1,
  INGOT_TOKEN_KIND_UNKNOWN = 2,
  INGOT_TOKEN_KIND_CONTROL = 3,
  INGOT_TOKEN_KIND_USER_DEFINED = 4,
  INGOT_TOKEN_KIND_UNUSED = 5,
  INGOT_TOKEN_KIND_BYTE = 6
};

/// Tokens that have a part of their own: INGOT_SPECIAL_BOS, INGOT_SPECIAL_FIM_PRE and so on;
/// special_tokens.def describes each.
enum {
#define INGOT_SPECIAL_TOKEN(enumerator, constant, key, older_key, description) \
  INGOT_SPECIAL_##constant,
#include "ingot/special_tokens.def"
  INGOT_SPECIAL_COUNT  ///< The number of special tokens in this version.
};

/// Flags for encoding and decoding, to be joined by `|`.
enum {
  INGOT_ADD_SPECIAL = 1,     ///< Encode: add bos, eos or sep where the file wants them.
  INGOT_PARSE_SPECIAL = 2,   ///< Encode: find control tokens in the text.
  INGOT_REMOVE_SPECIAL = 4,  ///< Decode: drop a bos and an eos that encoding has added.
  INGOT_HIDE_SPECIAL = 8,    ///< Decode: control tokens give nothing.
  INGOT_KEEP_SPACES = 16     ///< Decode: leave spaces before punctuation, whatever the file wants.
};

/// The bytes of a text that a token was made from.
typedef struct ingot_byte_range {
  size_t begin;
  size_t end;  ///< The index after the last.
} ingot_byte_range;

/// Makes the tokenizer of a model.
///
/// @param pre_tokenizer  a value of `tokenizer.ggml.pre` to use instead of the file's, or NULL.
/// @param tokenizer      receives it; end it with ingot_tokenizer_free.
/// @return  INGOT_ERROR_KEY_NOT_FOUND, INGOT_ERROR_TOKENIZER_UNKNOWN, INGOT_ERROR_TOKENIZER_INVALID
///          or INGOT_ERROR_PRE_TOKENIZER_UNKNOWN. Linear in the size of the vocabulary.
INGOT_EXPORT ingot_code ingot_tokenizer_make(const ingot_model* model, const char* pre_tokenizer,
                                             ingot_tokenizer** tokenizer, ingot_error* error);

/// Ends a tokenizer. NULL is fine.
INGOT_EXPORT void ingot_tokenizer_free(ingot_tokenizer* tokenizer);

/// Returns one of INGOT_FAMILY_...; -1 for NULL.
INGOT_EXPORT int32_t ingot_tokenizer_family(const ingot_tokenizer* tokenizer);

/// The number of tokens of the vocabulary; 0 for NULL.
INGOT_EXPORT size_t ingot_token_count(const ingot_tokenizer* tokenizer);

/// The token as the file spells it: a view into the tokenizer.
INGOT_EXPORT ingot_code ingot_token_text(const ingot_tokenizer* tokenizer, ingot_token id,
                                         ingot_string* text, ingot_error* error);

/// Returns one of INGOT_TOKEN_KIND_...; -1 for an id that is not in the vocabulary.
INGOT_EXPORT int32_t ingot_token_kind(const ingot_tokenizer* tokenizer, ingot_token id);

/// The score of a token; 0 if the file has none or the id is not in the vocabulary.
INGOT_EXPORT float ingot_token_score(const ingot_tokenizer* tokenizer, ingot_token id);

/// The first token with exactly this text; INGOT_NO_TOKEN if there is none.
INGOT_EXPORT ingot_token ingot_find_token(const ingot_tokenizer* tokenizer, ingot_string text);

/// The token of INGOT_SPECIAL_...; INGOT_NO_TOKEN if the vocabulary has none.
INGOT_EXPORT ingot_token ingot_special_token(const ingot_tokenizer* tokenizer, uint32_t special);

/// Whether a token ends a generation.
INGOT_EXPORT bool ingot_is_end_of_generation(const ingot_tokenizer* tokenizer, ingot_token id);

/// The ids of a text.
///
/// @param text      any bytes; at most 1 GiB, else INGOT_ERROR_LIMIT_EXCEEDED.
/// @param flags     INGOT_ADD_SPECIAL, INGOT_PARSE_SPECIAL.
/// @param ids       room for `capacity` ids; NULL only if that is 0.
/// @param count     receives how many ids the text has; the first `capacity` of them are written.
///
/// Linear in the text; allocates about as much.
INGOT_EXPORT ingot_code ingot_encode(const ingot_tokenizer* tokenizer, ingot_string text,
                                     uint32_t flags, ingot_token* ids, size_t capacity,
                                     size_t* count, ingot_error* error);

/// Encodes, and gives the bytes that each id was made from: `ranges` has room for `capacity`, too.
INGOT_EXPORT ingot_code ingot_encode_with_offsets(const ingot_tokenizer* tokenizer,
                                                  ingot_string text, uint32_t flags,
                                                  ingot_token* ids, ingot_byte_range* ranges,
                                                  size_t capacity, size_t* count,
                                                  ingot_error* error);

/// The text of ids.
///
/// @param flags       INGOT_REMOVE_SPECIAL, INGOT_HIDE_SPECIAL, INGOT_KEEP_SPACES.
/// @param buffer      room for `buffer_bytes` bytes; NULL only if that is 0. No NUL is added.
/// @param text_bytes  receives how long the text is; the first `buffer_bytes` of it are written.
/// @return            INGOT_ERROR_INDEX_OUT_OF_RANGE for an id that is not in the vocabulary.
INGOT_EXPORT ingot_code ingot_decode(const ingot_tokenizer* tokenizer, const ingot_token* ids,
                                     size_t count, uint32_t flags, char* buffer,
                                     size_t buffer_bytes, size_t* text_bytes, ingot_error* error);

/// The bytes of one token, which may be a part of a character; as for ingot_decode, without
/// clean-up. `flags`: INGOT_HIDE_SPECIAL.
INGOT_EXPORT ingot_code ingot_token_piece(const ingot_tokenizer* tokenizer, ingot_token id,
                                          uint32_t flags, char* buffer, size_t buffer_bytes,
                                          size_t* piece_bytes, ingot_error* error);

#ifdef __cplusplus
}  // extern "C"
#endif

// NOLINTEND(modernize-deprecated-headers, modernize-use-using)

#endif

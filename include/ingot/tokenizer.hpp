// SPDX-License-Identifier: MIT
// Text to token ids and back, with the vocabulary that a GGUF file carries.
//
//   const auto model = ingot::Model::open("model.gguf");
//   const auto tokenizer = ingot::Tokenizer::make(*model);
//   if (!tokenizer) return report(tokenizer.error().message());
//   const auto ids = tokenizer->encode("Hello world");       // with bos, if the model wants one
//   const auto text = tokenizer->decode(*ids, {.remove_special = true});  // "Hello world"
//   for (const ingot::TokenId id : *ids) std::cout << tokenizer->piece(id) << '|';
//   if (tokenizer->is_end_of_generation(ids->back())) stop();
//   ingot::StreamDecoder decoder(*tokenizer);                 // never tears a character
//   std::cout << *decoder.push(ids->front()) << decoder.finish();
//
// Ids and texts are those of llama.cpp, to the byte; docs/tokenizers.md names the few cases where
// they cannot be. Link ingot::text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"

namespace ingot {

namespace tokenizer {
struct VocabularyData;
class Encoder;
}  // namespace tokenizer

/// The position of a token in the vocabulary, from 0.
using TokenId = std::int32_t;
inline constexpr TokenId no_token = -1;

/// The family of a vocabulary: the value of `tokenizer.ggml.model`.
enum class TokenizerFamily : std::uint8_t {
  none,   ///< There are ids without texts; nothing can be encoded.
  spm,    ///< SentencePiece: pairs merge by the score of the result ("llama").
  bpe,    ///< Byte-pair encoding: pairs merge by rank ("gpt2", "gemma4", "hybriddna", ...).
  wpm,    ///< WordPiece: the longest token first ("bert").
  ugm,    ///< Unigram: the best sum of scores ("t5").
  rwkv,   ///< The longest token that begins here ("rwkv").
  plamo2  ///< The best sum of scores, from the end ("plamo2").
};

/// "SPM", "BPE", ...; static.
[[nodiscard]] INGOT_EXPORT std::string_view name_of(TokenizerFamily family) noexcept;

/// The family of a value of `tokenizer.ggml.model`; nothing for an unknown value.
[[nodiscard]] INGOT_EXPORT std::optional<TokenizerFamily> family_of(
    std::string_view model_name) noexcept;

/// The kind of a token, by the numbers of `tokenizer.ggml.token_type`.
enum class TokenKind : std::uint8_t {
  undefined = 0,
  normal = 1,
  unknown = 2,       ///< Stands for text that no token covers.
  control = 3,       ///< Found in a text only if that is asked for.
  user_defined = 4,  ///< Found in every text before anything else.
  unused = 5,
  byte = 6  ///< "<0x41>": one byte
};

/// "normal", "control", ...; static.
[[nodiscard]] INGOT_EXPORT std::string_view name_of(TokenKind kind) noexcept;

/// The tokens that have a part of their own; special_tokens.def lists them.
enum class SpecialToken : std::uint8_t {
#define INGOT_SPECIAL_TOKEN(enumerator, constant, key, older_key, description) enumerator,
#include "ingot/special_tokens.def"
};

inline constexpr std::size_t special_token_count = 0
#define INGOT_SPECIAL_TOKEN(enumerator, constant, key, older_key, description) +1
#include "ingot/special_tokens.def"
    ;

/// "bos", "fim_pre", ...; static.
[[nodiscard]] INGOT_EXPORT std::string_view name_of(SpecialToken special) noexcept;

/// The settings of a file for encoding and decoding, defaults included.
struct TokenizerFlags {
  bool adds_bos = false;              ///< `bos` goes before every text.
  bool adds_eos = false;              ///< `eos` goes after it.
  bool adds_sep = false;              ///< `sep` goes after it (WPM).
  bool has_space_prefix = false;      ///< A text begins as if a space stood before it.
  bool removes_extra_spaces = false;  ///< Runs of spaces become one (UGM).
  bool cleans_spaces = false;         ///< Decoding drops spaces before punctuation.
  bool escapes_spaces = false;        ///< Tokens hold U+2581 for a space.
};

struct DecodeOptions {
  bool remove_special = false;  ///< Drop a bos and an eos that encoding has added.
  bool show_special = true;     ///< Write the text of control tokens; else they give nothing.
  /// Drop spaces before punctuation; by default as the file wants it. It harms code.
  std::optional<bool> clean_spaces = std::nullopt;
};

/// The tokens of a model. Cheap to copy; independent of the model that it was made from; immutable
/// and thread-safe. Functions that take an id accept any number: one that is not in the vocabulary
/// is an empty text of the kind `undefined`, and an error where a Result is returned.
class INGOT_EXPORT Vocabulary {
 public:
  /// Reads and checks the keys of a tokenizer in a model.
  ///
  /// @return  Errc::key_not_found if the model has no tokenizer; Errc::tokenizer_unknown for a
  ///          family that is unknown; Errc::tokenizer_invalid for a breach of its family's rules.
  ///
  /// Linear in the bytes of the keys. A pre-tokenizer that is unknown is no error here.
  [[nodiscard]] static Result<Vocabulary> make(const Model& model);

  [[nodiscard]] TokenizerFamily family() const noexcept;
  /// The values of `tokenizer.ggml.model` and `tokenizer.ggml.pre`; empty if there is no such key.
  [[nodiscard]] std::string_view model_name() const noexcept;
  [[nodiscard]] std::string_view pre_tokenizer() const noexcept;
  [[nodiscard]] const TokenizerFlags& flags() const noexcept;

  /// The number of ids.
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] bool contains(TokenId id) const noexcept {
    return id >= 0 && static_cast<std::size_t>(id) < size();
  }

  /// The token as the file spells it: bytes, not always UTF-8. Valid as long as the vocabulary or a
  /// copy of it.
  [[nodiscard]] std::string_view text(TokenId id) const noexcept;
  /// 0 if the file has no scores.
  [[nodiscard]] float score(TokenId id) const noexcept;
  /// The kind of the token. A token whose text is a well-known one ("<|im_end|>") is `control` even
  /// if the file decides otherwise.
  [[nodiscard]] TokenKind kind(TokenId id) const noexcept;
  /// The family by the file's own key.
  [[nodiscard]] TokenKind kind_in_file(TokenId id) const noexcept;
  /// Whether white space before (after) the token is dropped where it is found in a text.
  [[nodiscard]] bool strips_left(TokenId id) const noexcept;
  [[nodiscard]] bool strips_right(TokenId id) const noexcept;

  /// The first token with exactly this text; no_token if there is none. O(1).
  [[nodiscard]] TokenId find(std::string_view text) const noexcept;
  /// Whether two tokens have the same text. O(1).
  [[nodiscard]] bool has_equal_texts() const noexcept;

  /// The token with a part of its own; no_token if the vocabulary has none.
  [[nodiscard]] TokenId special(SpecialToken special) const noexcept;

  /// The tokens that end a generation, ascending.
  [[nodiscard]] std::span<const TokenId> end_of_generation() const noexcept;
  [[nodiscard]] bool is_end_of_generation(TokenId id) const noexcept;

  /// The bytes that occur in UTF-8 and that no token stands for, ascending: text that holds them is
  /// lost or unknown. Empty for families that encode characters (WPM, UGM). Linear in the tokens of
  /// RWKV, else O(1).
  [[nodiscard]] std::vector<std::uint8_t> missing_bytes() const;

  /// The bytes that a token stands for; they may be a part of a character. Control tokens and
  /// unknown ones give nothing unless `show_special`.
  [[nodiscard]] std::string piece(TokenId id, bool show_special = true) const;

  /// The text of a sequence. Errc::index_out_of_range if an id is not in the vocabulary.
  [[nodiscard]] Result<std::string> decode(std::span<const TokenId> ids,
                                           const DecodeOptions& options = {}) const;

 protected:
  explicit Vocabulary(std::shared_ptr<const tokenizer::VocabularyData> data) noexcept;

  friend class Tokenizer;
  friend class StreamDecoder;
  std::shared_ptr<const tokenizer::VocabularyData> data_;
};

/// The bytes of a text that a token was made from: from `begin`, before `end`. Added tokens have an
/// empty range, and so have tokens whose bytes come from one that an earlier token has.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] bool operator==(const ByteRange&) const = default;
};

struct EncodeOptions {
  bool add_special = true;     ///< Add bos, eos or sep where the file wants them.
  bool parse_special = false;  ///< Find control tokens in the text, too; else they are plain text.
  /// Parts of the text in which control tokens are plain text all the same: no control token has a
  /// byte in one. Ascending, apart from one another; borrowed for the call.
  std::span<const ByteRange> plain_ranges = {};
  bool continues = false;     ///< The text follows a cut, so it begins in the middle.
  bool is_continued = false;  ///< A cut follows the text: it ends in the middle.
};

struct TokenizerOptions {
  /// A value of `tokenizer.ggml.pre` to use instead of the file's.
  std::string_view pre_tokenizer = {};
};

/// Ids, and where each comes from.
struct TokenizedText {
  std::vector<TokenId> ids;
  std::vector<ByteRange> ranges;  ///< One range for each id.
};

/// A vocabulary that can encode. Cheap to copy; immutable; any number of threads may use one at
/// once. Encoding takes time linear in the text (O(n log n) for unbroken runs of one kind).
class INGOT_EXPORT Tokenizer : public Vocabulary {
 public:
  /// Bytes of the longest text that one call encodes.
  static constexpr std::size_t max_text_bytes = 0x3FFF'FFFF;

  /// @return  what Vocabulary::make returns; Errc::tokenizer_unknown if the family has no texts;
  ///          Errc::pre_tokenizer_unknown, or Errc::tokenizer_invalid for merges, scores or a
  ///          normalizer that cannot be used.
  [[nodiscard]] static Result<Tokenizer> make(const Model& model,
                                              const TokenizerOptions& options = {});

  /// The ids of a text. Any bytes are a text; docs/tokenizers.md describes the treatment of those
  /// that are not UTF-8. Errc::limit_exceeded if it is longer than max_text_bytes.
  [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view text,
                                                    const EncodeOptions& options = {}) const;

  /// Encodes into the caller's memory: writes up to `buffer.size()` ids, and returns the number of
  /// ids of the whole text.
  [[nodiscard]] Result<std::size_t> encode(std::string_view text, std::span<TokenId> buffer,
                                           const EncodeOptions& options = {}) const;

  /// The number of ids of the text.
  [[nodiscard]] Result<std::size_t> count(std::string_view text,
                                          const EncodeOptions& options = {}) const;

  /// The ids of many texts, on many threads; those of each text are the result of `encode`.
  ///
  /// @param thread_count  0: as many as the machine has cores.
  [[nodiscard]] Result<std::vector<std::vector<TokenId>>> encode_batch(
      std::span<const std::string_view> texts, const EncodeOptions& options = {},
      unsigned thread_count = 0) const;

  /// The ids of a text and the bytes that each comes from. Slower than `encode`.
  [[nodiscard]] Result<TokenizedText> encode_with_offsets(std::string_view text,
                                                          const EncodeOptions& options = {}) const;

  /// The last place at which a text can be cut, whatever follows it: the ids of the whole are those
  /// of the part before, encoded with `is_continued`, and of what follows, with `continues`. 0 if
  /// there is none. `text` is the beginning of a text, or of what follows a cut. docs/tokenizers.md
  /// states the rules; token_stream.hpp encodes texts of any length by them.
  [[nodiscard]] std::size_t find_cut(std::string_view text, bool parse_special = false) const;

  /// Whether a merge of byte-pair encoding names or makes a text that is no token. O(1).
  [[nodiscard]] bool has_unknown_merges() const noexcept;

 private:
  Tokenizer(const Vocabulary& vocabulary, std::shared_ptr<const tokenizer::Encoder> encoder);
  std::shared_ptr<const tokenizer::Encoder> encoder_;
};

/// Decodes ids that come one by one. It always returns whole characters; bytes that cannot become
/// UTF-8 are U+FFFD. There is no clean-up of spaces.
class INGOT_EXPORT StreamDecoder {
 public:
  explicit StreamDecoder(const Vocabulary& vocabulary, bool show_special = true);

  /// The text that is complete after one more token; at most 3 bytes are held back.
  /// Errc::index_out_of_range if the id is not in the vocabulary.
  [[nodiscard]] Result<std::string> push(TokenId id);

  /// The remaining text at the end; the decoder is then as new.
  [[nodiscard]] std::string finish();

 private:
  Vocabulary vocabulary_;
  std::string held_back_;
  bool shows_special_;
  bool is_first_ = true;
};

/// The values of `tokenizer.ggml.pre` that are known, sorted; static.
[[nodiscard]] INGOT_EXPORT std::span<const std::string_view> known_pre_tokenizers() noexcept;

/// The definition of a pre-tokenizer, for programs that write it in another form.
struct PreTokenizerFacts {
  /// Applied one after the other, each to every piece that the one before has left; in the syntax
  /// of Perl, with characters beyond ASCII by their numbers.
  std::span<const std::string_view> expressions;
  bool ignores_merges = false;  ///< A piece that is a token is that token.
  bool has_plain_text = false;  ///< Tokens hold their text, not letters that stand for bytes.
  bool joins_newlines = false;  ///< A run of newlines that is a token is that token.
};

/// The facts of a value of `tokenizer.ggml.pre`; of "default" for the empty text; nothing for one
/// that is unknown.
[[nodiscard]] INGOT_EXPORT std::optional<PreTokenizerFacts> facts_of_pre_tokenizer(
    std::string_view name) noexcept;

/// An expression with the characters beyond ASCII that it names by number, `\x{4E00}`, as they are:
/// readers of tokenizer.json do not agree on how to name them. All else stays. Linear.
[[nodiscard]] INGOT_EXPORT std::string with_plain_characters(std::string_view expression);

}  // namespace ingot

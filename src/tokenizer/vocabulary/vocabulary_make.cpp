// SPDX-License-Identifier: MIT
// Makes a vocabulary from the keys of a model.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/ranges.hpp"
#include "tokenizer/vocabulary/text_walk.hpp"
#include "tokenizer/vocabulary/token_keys.hpp"
#include "tokenizer/vocabulary/vocabulary_data.hpp"

namespace ingot {
namespace tokenizer {
namespace {

/// A row of families.def.
struct Family {
  std::string_view name;
  TokenizerFamily family;
  TokenId bos, eos, unk, sep, pad, mask;
  bool adds_bos, adds_eos, has_space_prefix, cleans_spaces, escapes_spaces;
};
constexpr Family families[] = {
#define INGOT_FAMILY(name, family, ...) {name, TokenizerFamily::family, __VA_ARGS__},
#include "tokenizer/families/families.def"
#undef INGOT_FAMILY
};

const Family* find_family(std::string_view model_name) noexcept {
  return find_row(families, &Family::name, model_name);
}

/// The elements of a key that is an array; none if there is no such key.
Array array_of(const Model& model, std::string_view name) {
  const Value* value = model.find(token_key(name));
  return value == nullptr ? Array() : value->as_array();
}

/// The flag that a key sets.
void read_flag(const Model& model, std::string_view name, bool& flag) {
  flag = model.get_or<bool>(token_key(name), flag);
}

/// Puts texts into the list and into the table of ids. The slots of some are asked for together, so
/// that they wait for memory together.
class TextAdder {
 public:
  explicit TextAdder(VocabularyData& data) : data_(data) {}

  void add(const TextKey& key) {
    data_.texts.push_back(key);
    data_.ids.prefetch(key.hash);
    keys_[count_++] = key;
    if (count_ == keys_.size()) finish();
  }
  /// Finishes the list; call it after the last text.
  void finish() {
    auto number = static_cast<std::uint32_t>(data_.texts.size() - count_);
    for (const TextKey& key : std::span(keys_).first(count_)) {
      data_.ids.insert(data_.texts, number++, key);
    }
    count_ = 0;
  }

 private:
  VocabularyData& data_;
  std::array<TextKey, 16> keys_;
  std::size_t count_ = 0;
};

/// The bytes of the texts of an array, without their lengths (8 bytes each but in files of version
/// 1, where this is too few).
std::size_t text_bytes(const Array& texts) {
  const std::uint64_t lengths = texts.size() * 8;
  return static_cast<std::size_t>(std::max<std::uint64_t>(texts.bytes().size(), lengths) - lengths);
}

Result<void> read_texts(const Model& model, VocabularyData& data) {
  const std::string key = token_key("tokens");
  const Value* value = model.find(key);
  if (value == nullptr) return fail(Errc::key_not_found, key);
  const Array tokens = value->as_array();
  if (!value->is_array() || tokens.element_type() != ValueType::string) {
    return fail(Errc::wrong_type, value->file_offset(), key, "it must be an array of strings");
  }
  if (tokens.size() > static_cast<std::uint64_t>(std::numeric_limits<TokenId>::max())) {
    return fail(Errc::tokenizer_invalid, value->file_offset(), key, "there are too many tokens");
  }
  constexpr std::size_t name_room = 32;  // room for the name of an empty token
  const auto count = static_cast<std::size_t>(tokens.size());
  data.texts.reserve(count, text_bytes(tokens));
  data.ids = TextMap(count);
  TextAdder adder(data);
  const bool has_all = take_texts(tokens, [&](std::string_view text) {
    if (text.size() + name_room > TextList::max_bytes - data.texts.total_bytes()) return false;
    if (text.empty()) {
      const std::string name = "[EMPTY_" + std::to_string(data.texts.size()) + "]";
      adder.add(data.ids.key_of(name));
      adder.finish();  // must come before the name is destroyed
    } else {
      adder.add(data.ids.key_of(text, memory_end(tokens)));
    }
    return true;
  });
  if (!has_all) {
    const std::uint64_t offset = tokens[data.texts.size()].file_offset();
    return fail(Errc::tokenizer_invalid, offset, key, "tokens of more than 4 GiB");
  }
  adder.finish();
  return {};
}

TokenKind kind_of(std::int64_t number) noexcept {
  const bool is_known = number > 0 && number <= static_cast<std::int64_t>(TokenKind::byte);
  return is_known ? static_cast<TokenKind>(number) : TokenKind::undefined;
}

/// The elements of an array of numbers of one type, up to the number of tokens; others keep their
/// values. Arrays of other types are read one value at a time.
template <class Stored, class Take>
void read_numbers(const Model& model, std::string_view name, ValueType type, std::size_t count,
                  const Take& take) {
  const Array array = array_of(model, name);
  count = std::min<std::size_t>(count, static_cast<std::size_t>(array.size()));
  const bool is_plain = array.element_type() == type && !model.files().empty() &&
                        (model.files().front().byte_order == Endian::little) ==
                            (std::endian::native == std::endian::little);
  if (is_plain) {
    for (std::size_t i = 0; i < count; ++i) {
      Stored number;
      std::memcpy(&number, array.bytes().data() + i * sizeof number, sizeof number);
      take(i, number);
    }
    return;
  }
  std::size_t i = 0;
  for (const Value& value : array) {
    if (i == count) return;
    // An integer where a float should be, or the other way round, is no other number.
    const Result<std::int32_t> integer = value.get<std::int32_t>();
    take(i++, integer ? static_cast<Stored>(*integer) : value.get<Stored>().value_or(Stored{}));
  }
}

void read_kinds_and_scores(const Model& model, VocabularyData& data) {
  data.file_kinds.assign(data.size(), TokenKind::normal);
  read_numbers<std::int32_t>(
      model, "token_type", ValueType::int32, data.size(),
      [&](std::size_t id, std::int32_t kind) { data.file_kinds[id] = kind_of(kind); });
  data.kinds = data.file_kinds;
  data.scores.assign(data.size(), 0.0F);
  read_numbers<float>(
      model, "scores", ValueType::float32, data.size(), [&](std::size_t id, float score) {
        // A NaN must not reach an ordering.
        data.scores[id] = std::isnan(score) ? -std::numeric_limits<float>::infinity() : score;
      });
}

void read_special_ids(const Model& model, const Family& family, VocabularyData& data) {
  data.specials.fill(no_token);
  data.special(SpecialToken::bos) = family.bos;
  data.special(SpecialToken::eos) = family.eos;
  data.special(SpecialToken::unk) = family.unk;
  data.special(SpecialToken::sep) = family.sep;
  data.special(SpecialToken::pad) = family.pad;
  data.special(SpecialToken::mask) = family.mask;
  const bool has_no_bos =
      data.pre_tokenizer != nullptr && data.pre_tokenizer->has(PreTokenizer::no_bos);
  if (family.family == TokenizerFamily::bpe && has_no_bos) {
    data.special(SpecialToken::bos) = no_token;
  }
  const auto read = [&](SpecialToken token, std::string_view key) {
    if (key.empty()) return;
    const auto id = model.get_or<std::int64_t>(token_key(std::string(key) + "_token_id"), -1);
    if (id >= 0 && static_cast<std::uint64_t>(id) < data.size()) {
      data.special(token) = static_cast<TokenId>(id);
    }
  };
  for (TokenId& id : data.specials) {
    if (id >= 0 && static_cast<std::size_t>(id) >= data.size()) id = no_token;
  }
#define INGOT_SPECIAL_TOKEN(enumerator, constant, key, older_key, description) \
  read(SpecialToken::enumerator, key);                                         \
  read(SpecialToken::enumerator, older_key);
#include "ingot/metadata_keys.hpp"
#include "ingot/special_tokens.def"
}

void read_flags(const Model& model, const Family& family, VocabularyData& data) {
  TokenizerFlags& flags = data.flags;
  flags = {.adds_bos = family.adds_bos,
           .adds_eos = family.adds_eos,
           .has_space_prefix = family.has_space_prefix,
           .cleans_spaces = family.cleans_spaces,
           .escapes_spaces = family.escapes_spaces};
  const PreTokenizer* pre = family.family == TokenizerFamily::bpe ? data.pre_tokenizer : nullptr;
  if (pre != nullptr) {
    flags.adds_bos = pre->has(PreTokenizer::add_bos);
    flags.adds_sep = pre->has(PreTokenizer::add_sep);
    flags.cleans_spaces = !pre->has(PreTokenizer::keep_spaces);
    flags.escapes_spaces = pre->has(PreTokenizer::escape_spaces);
  }
  read_flag(model, "add_space_prefix", flags.has_space_prefix);
  read_flag(model, "remove_extra_whitespaces", flags.removes_extra_spaces);
  read_flag(model, "add_bos_token", flags.adds_bos);
  read_flag(model, "add_eos_token", flags.adds_eos);
  read_flag(model, "add_sep_token", flags.adds_sep);
  if (pre != nullptr && pre->has(PreTokenizer::gemma)) flags.adds_bos = true;
}

/// The value of tokenizer.ggml.pre, or the default of the family.
std::string_view pre_name_of(const Model& model, std::string_view model_name) {
  if (model_name == "gemma4") return model_name;
  const auto name = model.get_or<std::string_view>(token_key("pre"), "");
  return name.empty() && model_name == "whitespace" ? model_name : name;
}

/// The ids of a vocabulary without texts.
std::size_t nameless_count(const Model& model) {
  const auto architecture = model.get_or<std::string_view>(keys::general_architecture, "");
  const std::string key = std::string(architecture) + ".vocab_size";
  return static_cast<std::size_t>(std::max(0, model.get_or<TokenId>(key, 0)));
}

}  // namespace

Result<VocabularyData> read_vocabulary(const Model& model, std::string_view pre_name) {
  INGOT_TRY(const std::string_view model_name, model.get<std::string_view>(token_key("model")));
  const Family* family = find_family(model_name);
  if (family == nullptr) {
    return fail(Errc::tokenizer_unknown, token_key("model"),
                "found \"" + std::string(model_name) + "\"");
  }
  VocabularyData data;
  data.model_name = model_name;
  data.pre_name = pre_name.empty() ? pre_name_of(model, model_name) : pre_name;
  data.pre_tokenizer = find_pre_tokenizer(data.pre_name);
  data.family = family->family;
  if (data.family == TokenizerFamily::none) {
    data.nameless_count = nameless_count(model);
    data.specials.fill(no_token);
    return data;
  }
  INGOT_TRY_VOID(read_texts(model, data));
  read_kinds_and_scores(model, data);
  read_special_ids(model, *family, data);
  read_flags(model, *family, data);
  resolve_special_tokens(model, data);
  return data;
}

}  // namespace tokenizer

std::optional<TokenizerFamily> family_of(std::string_view model_name) noexcept {
  const tokenizer::Family* family = tokenizer::find_family(model_name);
  return family == nullptr ? std::nullopt : std::optional(family->family);
}

Result<Vocabulary> Vocabulary::make(const Model& model) {
  INGOT_TRY(tokenizer::VocabularyData data, tokenizer::read_vocabulary(model, {}));
  return Vocabulary(std::make_shared<const tokenizer::VocabularyData>(std::move(data)));
}

}  // namespace ingot

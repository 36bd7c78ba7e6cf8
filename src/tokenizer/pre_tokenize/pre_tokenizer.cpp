// SPDX-License-Identifier: MIT
#include "tokenizer/pre_tokenize/pre_tokenizer.hpp"

#include <algorithm>
#include <iterator>

#include "ingot/tokenizer.hpp"

namespace ingot {
namespace tokenizer {
namespace {

namespace splits {
#define INGOT_SPLIT(name, ...) constexpr std::string_view name[] = {__VA_ARGS__};
#define INGOT_SEARCH(name, expression)
#include "tokenizer/pre_tokenize/splits.def"
#undef INGOT_SPLIT
#undef INGOT_SEARCH
}  // namespace splits

/// Makes the names of the properties known to the rows.
struct Rows : PreTokenizer {
  static constexpr PreTokenizer all[] = {
#define INGOT_PRE_TOKENIZER(name, split, properties) {name, splits::split, properties},
#include "tokenizer/pre_tokenize/pre_tokenizers.def"
#undef INGOT_PRE_TOKENIZER
  };
};
static_assert(std::ranges::is_sorted(Rows::all, {}, &PreTokenizer::name));

constexpr std::string_view names[] = {
#define INGOT_PRE_TOKENIZER(name, split, properties) name,
#include "tokenizer/pre_tokenize/pre_tokenizers.def"
#undef INGOT_PRE_TOKENIZER
};

}  // namespace

const PreTokenizer* find_pre_tokenizer(std::string_view name) noexcept {
  if (name.empty()) name = "default";
  const auto* row = std::ranges::lower_bound(Rows::all, name, {}, &PreTokenizer::name);
  return row != std::end(Rows::all) && row->name == name ? row : nullptr;
}

}  // namespace tokenizer

std::span<const std::string_view> known_pre_tokenizers() noexcept { return tokenizer::names; }

std::optional<PreTokenizerFacts> facts_of_pre_tokenizer(std::string_view name) noexcept {
  using tokenizer::PreTokenizer;
  const PreTokenizer* row = tokenizer::find_pre_tokenizer(name);
  if (row == nullptr) return std::nullopt;
  return PreTokenizerFacts{row->expressions, row->has(PreTokenizer::ignore_merges),
                           row->has(PreTokenizer::raw_utf8), row->has(PreTokenizer::gemma)};
}

}  // namespace ingot

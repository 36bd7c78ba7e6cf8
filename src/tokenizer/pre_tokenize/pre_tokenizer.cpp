// SPDX-License-Identifier: MIT
#include "tokenizer/pre_tokenize/pre_tokenizer.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "ingot/tokenizer.hpp"
#include "tokenizer/unicode/lenient_utf8.hpp"

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

std::string with_plain_characters(std::string_view expression) {
  constexpr std::string_view begin = "\\x{";
  constexpr std::uint32_t first_code_point = 0x80;
  constexpr std::uint32_t last_code_point = 0x10FFFF;
  std::string result;
  while (true) {
    const std::size_t name = expression.find(begin);
    result += expression.substr(0, name);
    if (name == std::string_view::npos) return result;
    expression.remove_prefix(name + begin.size());
    const std::string_view digits = expression.substr(0, expression.find('}'));
    const char* const end = digits.data() + digits.size();
    std::uint32_t code_point = 0;
    const auto [stop, error] = std::from_chars(digits.data(), end, code_point, 16);
    const bool is_read = error == std::errc() && stop == end && digits.size() < expression.size();
    if (is_read && code_point >= first_code_point && code_point <= last_code_point) {
      tokenizer::append_utf8(result, code_point);
      expression.remove_prefix(digits.size() + 1);
    } else {
      result += begin;
    }
  }
}

}  // namespace ingot

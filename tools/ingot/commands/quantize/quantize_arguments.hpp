// SPDX-License-Identifier: MIT
// What the arguments of `ingot quantize` mean.
#pragma once

#include <ingot/error.hpp>
#include <ingot/model_writer.hpp>
#include <ingot/quantize_model.hpp>
#include <ingot/recipe.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// A value, or one line that says what is wrong and what would be right.
template <class T>
using Parsed = tl::expected<T, std::string>;

[[nodiscard]] Parsed<const Recipe*> parse_recipe(std::string_view word);

/// `; did you mean "Q4_K_M"?` for a word that is no TYPE, or nothing if none is near.
[[nodiscard]] std::string hint_recipe(std::string_view word);

/// A type that a model may be quantized to, in any case.
[[nodiscard]] Parsed<TensorType> parse_target_type(std::string_view word);

/// PATTERN=TYPE, where PATTERN is a glob, `re:` and an expression, or a part of names.
[[nodiscard]] Parsed<TypePattern> parse_type_pattern(std::string_view text);

/// A file of such, one a line or separated by blanks; # begins a comment line.
[[nodiscard]] Parsed<std::vector<TypePattern>> read_type_patterns(const std::string& path);

/// 4200M, 4.2G, 4GiB or bytes: K, M, G, T are powers of 1000, KiB ... of 1024.
[[nodiscard]] Parsed<std::uint64_t> parse_size(std::string_view option, std::string_view text);

/// A positive number of bits, such as 4.5.
[[nodiscard]] Parsed<double> parse_bits(std::string_view option, std::string_view text);

/// KEY=TYPE:VALUE
struct KeyOverride {
  std::string key;
  ValueType type = ValueType::string;
  std::string text;
};
/// TYPE is int, float, bool or str, or any value type of the format that holds one value. `int`
/// and `float` keep the type that the key has in `model`, if it is one of theirs.
[[nodiscard]] Parsed<KeyOverride> parse_override(std::string_view text, const Model& model);

/// Sets the key. Errc::value_out_of_range or invalid_argument if the text is no such value.
[[nodiscard]] Result<void> apply_override(ModelWriter& writer, const KeyOverride& change);

}  // namespace ingot::cli

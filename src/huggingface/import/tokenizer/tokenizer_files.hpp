// SPDX-License-Identifier: MIT
// The files of a model folder that describe its tokenizer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_tree.hpp"
#include "huggingface/folder/model_folder.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// The names of the files.
namespace file_names {
inline constexpr std::string_view tokenizer = "tokenizer.json";
inline constexpr std::string_view tokenizer_config = "tokenizer_config.json";
inline constexpr std::string_view model_config = "config.json";
inline constexpr std::string_view added_tokens = "added_tokens.json";
inline constexpr std::string_view special_tokens = "special_tokens_map.json";
inline constexpr std::string_view sentencepiece = "tokenizer.model";
inline constexpr std::string_view vocabulary = "vocab.json";
inline constexpr std::string_view vocabulary_lines = "vocab.txt";
inline constexpr std::string_view merges = "merges.txt";
inline constexpr std::string_view tekken = "tekken.json";
}  // namespace file_names

/// A token that was added to a trained vocabulary.
struct AddedToken {
  std::string_view text;
  std::int64_t id = 0;
  bool is_special = false;
};

/// The files, parsed. A file that is not there is a tree without a value. Keep it where it is: the
/// lists borrow from it.
struct TokenizerFiles {
  const ModelFolder* folder = nullptr;
  JsonTree tokenizer;         ///< tokenizer.json
  JsonTree tokenizer_config;  ///< tokenizer_config.json
  JsonTree model_config;      ///< config.json as it stands
  JsonTree added_tokens;      ///< added_tokens.json

  [[nodiscard]] static Result<TokenizerFiles> read(const ModelFolder& folder);

  /// `added_tokens` of tokenizer.json, in the order of the file.
  [[nodiscard]] Result<std::vector<AddedToken>> tokens_of_tokenizer() const;
  /// `added_tokens_decoder` of tokenizer_config.json, in the order of the file.
  [[nodiscard]] Result<std::vector<AddedToken>> tokens_of_config() const;
  /// added_tokens.json, in the order of the file.
  [[nodiscard]] Result<std::vector<AddedToken>> tokens_of_added_file() const;
  /// The added tokens of tokenizer.json by id; those of tokenizer_config.json replace them.
  [[nodiscard]] Result<std::map<std::int64_t, AddedToken>> added_by_id() const;
};

/// Reads a file of a folder as a tree; one without a value if there is no such file.
[[nodiscard]] Result<JsonTree> read_tree(const ModelFolder& folder, std::string_view file);

/// The text of a special token, which is a text or an object with `content`; empty if it is
/// neither.
[[nodiscard]] std::string_view content_of(JsonView token) noexcept;

/// Whether a token is for control by its text, whatever its file decides.
[[nodiscard]] bool looks_special(std::string_view text) noexcept;

/// The letter that begins a word in place of a space: U+2581.
inline constexpr std::string_view space_letter = "\xE2\x96\x81";

/// The text with spaces for each `space_letter`.
[[nodiscard]] std::string with_spaces(std::string_view text);

}  // namespace ingot::huggingface

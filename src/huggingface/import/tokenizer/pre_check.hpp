// SPDX-License-Identifier: MIT
// The value of `tokenizer.ggml.pre`, found as the reference converter finds it: by the ids of one
// text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "huggingface/folder/config.hpp"
#include "huggingface/import/keys/key_plan.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/import_options.hpp"
#include "ingot/tokenizer.hpp"

namespace ingot::huggingface {

/// The member of tokenizer_config.json by which a folder states the value itself: folders that are
/// written from a model have it where their tokenizer.json would not tell the value.
inline constexpr std::string_view stated_pre_member = "ggml_pre";

/// The text that the reference converter encodes, in UTF-8.
[[nodiscard]] INGOT_EXPORT std::string_view pre_check_text() noexcept;

/// The digest of the check text's ids with the special tokens that the post-processor of a
/// tokenizer.json puts around a text: lower-case SHA-256 of the list as Python prints it.
/// Nothing if the text cannot be encoded.
[[nodiscard]] INGOT_EXPORT std::optional<std::string> pre_check_digest(const Tokenizer& tokenizer,
                                                                       JsonView tokenizer_json);

/// The name of a digest; empty if it is unknown.
[[nodiscard]] INGOT_EXPORT std::string_view name_of_pre_digest(std::string_view digest) noexcept;

/// Decides on the value: the option, else `stated_pre_member`, else the digest of a published
/// tokenizer, else the structure.
///
/// @param keys     the keys of the tokenizer so far: model, tokens, their kinds.
/// @param remarks  gets remarks for the user.
/// @return         Errc::pre_tokenizer_unknown for a structure that is unknown.
[[nodiscard]] Result<std::string> choose_pre(const TokenizerFiles& files, const Config& config,
                                             const ImportOptions& options, const KeyPlan& keys,
                                             std::vector<Error>& remarks);

}  // namespace ingot::huggingface

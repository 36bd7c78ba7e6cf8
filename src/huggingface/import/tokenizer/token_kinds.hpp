// SPDX-License-Identifier: MIT
// The kinds of special tokens: their names in folders and in keys.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {

/// The kinds whose ids have a key, in the order in which the import looks for them, and the part of
/// the key that names them.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 8> token_id_names = {{
    {"bos", "bos"},
    {"eos", "eos"},
    {"unk", "unknown"},
    {"sep", "seperator"},  // the spelling of the format
    {"pad", "padding"},
    {"mask", "mask"},
    {"eot", "eot"},
    {"eom", "eom"},
}};

/// The kinds whose switch has a key.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 3> token_switch_keys = {{
    {"bos", keys::tokenizer_ggml_add_bos_token},
    {"eos", keys::tokenizer_ggml_add_eos_token},
    {"sep", keys::tokenizer_ggml_add_sep_token},
}};

}  // namespace ingot::huggingface

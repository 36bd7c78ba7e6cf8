// SPDX-License-Identifier: MIT
// The tensor whose halves are arranged in their own way.
#pragma once

#include <string_view>

namespace ingot {

/// Whether a tensor holds the embeddings of tokens. These are looked up by rows, so A holds a row
/// for each token.
[[nodiscard]] inline bool is_token_embedding(std::string_view name) noexcept {
  return name == "token_embd.weight";
}

}  // namespace ingot

// SPDX-License-Identifier: MIT
// Selects the keys about the model, which leaves out the padding of edits in a header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ingot/edit.hpp>
#include <ingot/model.hpp>
#include <string_view>

namespace ingot::cli {

/// The words of `--all` in every command that has it.
inline constexpr const char* all_keys_description =
    "Also the key ingot.padding, the room that an edit left in the header";

[[nodiscard]] inline bool is_shown_key(std::string_view key, bool shows_all) noexcept {
  return shows_all || key != padding_key;
}

[[nodiscard]] inline std::uint64_t shown_key_count(const Model& model, bool shows_all) {
  const auto& keys = model.metadata();
  return static_cast<std::uint64_t>(std::ranges::count_if(
      keys, [&](const KeyValue& pair) { return is_shown_key(pair.key, shows_all); }));
}

}  // namespace ingot::cli

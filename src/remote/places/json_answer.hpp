// SPDX-License-Identifier: MIT
// JSON from a server or a cache, with limits on size and depth.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ingot/error.hpp"
#include "ingot/remote_options.hpp"

namespace ingot::remote {

inline constexpr std::size_t max_json_depth = 16;
/// The bytes of one answer. What a document becomes in memory is at most some 30 times as long.
inline constexpr std::uint64_t max_json_bytes = std::uint64_t{2} << 20;

/// Errc::answer_invalid if it is no JSON, too long, or nested too deep. `subject` is what it came
/// from.
[[nodiscard]] Result<nlohmann::json> parse_json_answer(std::string_view text,
                                                       const std::string& subject);

/// The JSON in one line, for a file.
[[nodiscard]] std::string json_line(const nlohmann::json& value);

/// A file as a listing has it: its name, size and SHA-256 are members of an object, the digest only
/// if it is one.
[[nodiscard]] RemoteFile file_of(const nlohmann::json& entry, const char* name, const char* size,
                                 const char* sha256);

/// The member of an object that is a text; empty if there is none.
[[nodiscard]] std::string text_member(const nlohmann::json& object, const char* name);
/// The member of an object that is a whole number from 0 on; nothing if there is none.
[[nodiscard]] std::optional<std::uint64_t> number_member(const nlohmann::json& object,
                                                         const char* name);
/// Whether the member of an object is there and true.
[[nodiscard]] bool flag_member(const nlohmann::json& object, const char* name);
/// The member of an object that is a list; an empty list if there is none.
[[nodiscard]] const nlohmann::json& list_member(const nlohmann::json& object, const char* name);

}  // namespace ingot::remote

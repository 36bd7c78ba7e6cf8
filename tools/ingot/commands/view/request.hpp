// SPDX-License-Identifier: MIT
// Requests of a browser: read strictly, and refused unless they come from the page itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::cli {

/// The status of an answer without content.
struct Refusal {
  int status = 400;
  std::string_view reason = "Bad Request";
};

/// A range of bytes as a client asks for it.
struct ByteRange {
  std::optional<std::uint64_t> first;  ///< None: the last bytes, as many as `last`.
  std::optional<std::uint64_t> last;   ///< Included; none: up to the end.
};

struct Request {
  bool is_head = false;
  bool keeps_open = true;
  std::string_view target;
  std::optional<ByteRange> range;
};

/// Who may ask for what.
struct Gate {
  std::uint16_t port = 0;
  std::string token;  ///< The first part of every path.
};

/// Reads the head of a request, up to its empty line, and decides whether it may be answered. A
/// page of another site, or a name of another site that leads to this machine, is refused before
/// anything is looked up. The target is then without the token.
[[nodiscard]] std::optional<Refusal> read_request(std::string_view head, const Gate& gate,
                                                  Request& request);

}  // namespace ingot::cli

// SPDX-License-Identifier: MIT
// The header lines of an answer: text from a server, which may be anything.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remote/address/address.hpp"

namespace ingot::remote {

/// The lines of one answer, with limits on their number and length.
class AnswerHeaders {
 public:
  static constexpr std::size_t max_bytes = std::size_t{256} << 10;
  static constexpr std::size_t max_lines = 100;

  /// Adds "Name: value"; a line that is none is ignored. False if there are too many.
  [[nodiscard]] bool add(std::string_view line);
  void clear();

  /// The value of the first line of that name (in lower case), without blanks around it; nothing
  /// if there is none.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;

  /// What two lines say that may say only one thing, such as two sizes: which of them holds would
  /// be a guess. Empty if all agree.
  [[nodiscard]] std::string contradiction() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
  std::size_t size_bytes_ = 0;
  std::size_t line_count_ = 0;
};

/// A number of decimal digits that fits 63 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept;

struct Transfer;

/// The head of an answer, and the way to it.
struct Answer {
  int status = 0;
  AnswerHeaders headers;
  Address address;         ///< The address that gave the answer.
  std::string linked_tag;  ///< X-Linked-Etag of a redirect on the way; may be empty.
  std::optional<std::uint64_t> linked_bytes;  ///< X-Linked-Size, the same.
  std::shared_ptr<Transfer> paused;           ///< What goes on with it, if the receiver paused it.

  /// Content-Length; nothing if it is not there, or no number.
  [[nodiscard]] std::optional<std::uint64_t> content_bytes() const {
    return parse_decimal(headers.find("content-length").value_or(""));
  }
};

/// "bytes 0-99/1000", "bytes 0-99/*", "bytes */1000".
struct ContentRange {
  bool has_range = false;
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< Inclusive, at least `first`.
  std::optional<std::uint64_t> total_bytes;
};
[[nodiscard]] std::optional<ContentRange> parse_content_range(std::string_view text) noexcept;

/// The target of the link whose `rel` is "next": `<...>; rel="next"`.
[[nodiscard]] std::optional<std::string> parse_next_link(std::string_view text);

/// `Bearer realm="...",service="...",scope="..."`
struct BearerChallenge {
  std::string realm;
  std::string service;
  std::string scope;
};
[[nodiscard]] std::optional<BearerChallenge> parse_bearer_challenge(std::string_view text);

/// The text of `"..."`, or the whole text if it is in no quotes; without the W/ of a weak tag.
[[nodiscard]] std::string_view without_quotes(std::string_view text) noexcept;

/// Whether an ETag may be compared byte for byte: quoted, and not weak.
[[nodiscard]] bool is_strong_tag(std::string_view tag) noexcept;

}  // namespace ingot::remote

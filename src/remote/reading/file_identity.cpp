// SPDX-License-Identifier: MIT
#include "remote/reading/file_identity.hpp"

#include <algorithm>

#include "ingot/text.hpp"

namespace ingot::remote {

Result<void> FileIdentity::agree(const Answer& answer, std::optional<std::uint64_t> total_bytes) {
  const auto differs = [&](std::string detail) {
    return fail(Errc::remote_changed, answer.address.shown(), std::move(detail));
  };
  const std::string_view new_tag = answer.headers.find("etag").value_or("");
  const std::string_view new_modified = answer.headers.find("last-modified").value_or("");
  if (!size_bytes) size_bytes = total_bytes;
  if (total_bytes && *total_bytes != *size_bytes) {
    return differs("its size is " + std::to_string(*total_bytes) + " bytes, expected " +
                   std::to_string(*size_bytes));
  }
  if (tag.empty() && modified.empty()) {
    tag = new_tag;
    modified = new_modified;
    return {};
  }
  // Servers behind one address may differ in the date, but not where there is a tag.
  if (without_quotes(tag) != without_quotes(new_tag)) return differs("its ETag is another one");
  if (tag.empty() && modified != new_modified) return differs("its date is another one");
  return {};
}

Result<std::uint64_t> check_partial(const Answer& answer, std::uint64_t first,
                                    std::uint64_t wanted_bytes, FileIdentity& identity) {
  const auto refuse = [&](std::string detail) {
    return fail(Errc::answer_invalid, answer.address.shown(), std::move(detail));
  };
  const std::string_view type = answer.headers.find("content-type").value_or("");
  if (type.starts_with("multipart/"))
    return refuse("it sends several ranges where one was asked for");
  const std::string_view text = answer.headers.find("content-range").value_or("");
  const auto range = parse_content_range(text);
  if (!range || !range->has_range) {
    return refuse("status 206 with the Content-Range \"" + escape_shortened(text, 60) + "\"");
  }
  if (range->first != first) {
    return refuse("it sends bytes from " + std::to_string(range->first) + " on, asked for were " +
                  std::to_string(first) + " on");
  }
  INGOT_TRY_VOID(identity.agree(answer, range->total_bytes));
  if (!identity.size_bytes) return refuse("it does not tell the size of the file");
  const std::uint64_t size_bytes = range->last - range->first + 1;
  if (first >= *identity.size_bytes || size_bytes > *identity.size_bytes - first) {
    return refuse("it sends bytes behind the end of the file");
  }
  const std::uint64_t most_bytes = std::min(wanted_bytes, *identity.size_bytes - first);
  if (size_bytes > most_bytes) return refuse("it sends more bytes than were asked for");
  const auto length = answer.headers.find("content-length");
  if (length && parse_decimal(*length) != size_bytes) {
    return refuse("Content-Range and Content-Length contradict each other");
  }
  return size_bytes;
}

}  // namespace ingot::remote

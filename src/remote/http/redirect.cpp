// SPDX-License-Identifier: MIT
#include "remote/http/redirect.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "ingot/text.hpp"

namespace ingot::remote {

bool is_redirect(int status) noexcept {
  constexpr std::array statuses = {301, 302, 303, 307, 308};
  return std::ranges::find(statuses, status) != statuses.end();
}

Result<Address> resolve_location(const Address& base, std::string_view location) {
  const auto refuse = [&](std::string detail) {
    return fail(Errc::answer_invalid, base.shown(), std::move(detail));
  };
  std::optional<Address> target = resolve(base, location);
  const auto scheme = is_address_text(location) ? scheme_of(location) : std::nullopt;
  if (!target && scheme) {
    return refuse("it redirects to " + escape_shortened(*scheme, 20) +
                  ":..., and only http and https are followed");
  }
  if (!target) return refuse("it redirects to something that is no address");
  if (base.is_https && !target->is_https) return refuse("it redirects from https to http");
  return *std::move(target);
}

Result<Answer> follow_redirect(const Answer& answer, std::string_view location, int earlier,
                               const Address& first) {
  if (earlier == max_redirects) {
    return fail(Errc::answer_invalid, first.shown(),
                "it redirects more than " + std::to_string(max_redirects) + " times");
  }
  Answer next;
  next.linked_tag = answer.headers.find("x-linked-etag").value_or(answer.linked_tag);
  next.linked_bytes = answer.linked_bytes;
  if (const auto size = answer.headers.find("x-linked-size")) {
    next.linked_bytes = parse_decimal(*size);
  }
  INGOT_TRY(next.address, resolve_location(answer.address, location));
  return next;
}

}  // namespace ingot::remote

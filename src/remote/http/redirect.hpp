// SPDX-License-Identifier: MIT
// Where redirects may lead: to any site, but not from https to http. Secrets stay behind: user
// information is dropped, and a credential belongs to one site (credentials.hpp).
#pragma once

#include <string_view>

#include "ingot/error.hpp"
#include "remote/address/address.hpp"
#include "remote/http/answer_headers.hpp"

namespace ingot::remote {

inline constexpr int max_redirects = 5;

/// Whether an answer of this status leads elsewhere, if it says where.
[[nodiscard]] bool is_redirect(int status) noexcept;

/// The address that a redirect or a link leads to. Errc::answer_invalid if it is none, or leads
/// from https to http.
[[nodiscard]] Result<Address> resolve_location(const Address& base, std::string_view location);

/// The beginning of the answer that an answer redirects to: its address, and what hubs say of the
/// file on the way. `earlier` redirects have led here from `first`. Errc::answer_invalid.
[[nodiscard]] Result<Answer> follow_redirect(const Answer& answer, std::string_view location,
                                             int earlier, const Address& first);

}  // namespace ingot::remote

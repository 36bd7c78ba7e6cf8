// SPDX-License-Identifier: MIT
// Where a reference led to, kept for times without a server.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ingot/reference.hpp"
#include "ingot/remote_options.hpp"
#include "remote/places/place.hpp"

namespace ingot::remote {

/// What a place is remembered under: the reference, and the server that it is asked of.
[[nodiscard]] std::string place_name(const RemoteOptions& options, const Reference& reference);

/// The files of one model with their addresses, as JSON.
[[nodiscard]] std::string write_place(const Place& place, std::span<const RemoteFile> files);

/// The place of such a text; nothing if it is damaged: all names and addresses are checked as those
/// of a server are.
[[nodiscard]] std::optional<Place> read_place(std::string_view text);

}  // namespace ingot::remote

// SPDX-License-Identifier: MIT
// Models on servers for C.
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "capi/core/boundary.hpp"
#include "ingot/remote.h"
#include "ingot/remote.hpp"

namespace {

using namespace ingot;
using capi::at_boundary;
using capi::require;

// The size of the struct in its first version. It stays when the struct grows.
constexpr std::size_t first_options_size = offsetof(ingot_remote_options, user) + sizeof(void*);

Result<RemoteOptions> convert(const ingot_remote_options* options) {
  INGOT_TRY(const ingot_remote_options given, capi::known_options(options, first_options_size));
  RemoteOptions converted = remote_options();
  if (given.header_seconds != 0)
    converted.times.header = std::chrono::seconds(given.header_seconds);
  if (given.stall_seconds != 0) converted.times.stall = std::chrono::seconds(given.stall_seconds);
  converted.is_offline = given.is_offline != 0;
  converted.allows_private = given.allows_private != 0;
  capi::take_over(converted.max_fetch_bytes, given.max_fetch_bytes);
  if (given.token != nullptr) converted.hub_token = given.token;
  if (given.should_stop != nullptr) {
    converted.should_stop = [ask = given.should_stop, user = given.user] { return ask(user) != 0; };
  }
  return converted;
}

}  // namespace

ingot_code ingot_open_remote(const char* reference, const ingot_remote_options* remote_options,
                             const ingot_open_options* options, ingot_model** model,
                             ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(reference != nullptr, "reference"));
    INGOT_TRY_VOID(require(model != nullptr, "model"));
    INGOT_TRY(const RemoteOptions converted, convert(remote_options));
    INGOT_TRY(const OpenOptions open_options, capi::convert_open_options(options));
    INGOT_TRY(RemoteModel opened, open_remote(reference, converted, {open_options, {}}));
    *model = std::make_unique<ingot_model>(ingot_model{std::move(opened.opened.model)}).release();
    return {};
  });
}

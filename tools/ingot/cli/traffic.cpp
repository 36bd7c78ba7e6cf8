// SPDX-License-Identifier: MIT
// The fetched bytes, for reports.

#include <fmt/core.h>

#include <ingot/text.hpp>

#include "cli/json_stream.hpp"
#include "cli/remote_models.hpp"

namespace ingot::cli {

void write_traffic(JsonStream& json, const Traffic& traffic) {
  const auto object = json.object("remote", Layout::line);
  json.member("requests", traffic.requests);
  json.member("bytes", traffic.body_bytes);
  json.member("file_requests", traffic.file_requests);
  json.member("file_bytes", traffic.file_bytes);
  json.member("connections", traffic.connections);
  json.member("retries", traffic.retries);
  json.member("seconds", traffic.seconds);
}

std::string describe(const Traffic& traffic) {
  return fmt::format("{} requests, {}; of those {} ranges of files, {}; {} connections, {:.2f} s",
                     traffic.requests, format_bytes(traffic.body_bytes), traffic.file_requests,
                     format_bytes(traffic.file_bytes), traffic.connections, traffic.seconds);
}

}  // namespace ingot::cli

// SPDX-License-Identifier: MIT
#include "commands/fit/fit_json.hpp"

#include "commands/json_members.hpp"

namespace ingot::cli {

template <>
inline constexpr bool is_json_row<CacheUse> = true;

void write_fit_json(JsonStream& json, const FitResult& result) {
  const auto object = json.object();
  json.member("file", result.file);
  write_members<RunReport>(json, result);
  if (!result.model.is_verified()) json.member("verified", false);
}

}  // namespace ingot::cli

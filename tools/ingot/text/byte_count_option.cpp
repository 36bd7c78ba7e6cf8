// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <ingot/text.hpp>

#include "text/byte_count.hpp"

namespace ingot::cli {

CLI::Option* add_byte_count(CLI::App& app, const std::string& name, std::uint64_t& target,
                            const std::string& description) {
  const auto parse = [name, &target](const std::string& word) {
    const std::optional<std::uint64_t> bytes = parse_byte_count(word);
    if (!bytes) {
      throw CLI::ValidationError(fmt::format(
          "{} must be a size like 2G, 500M, 2GiB or 1000000, not \"{}\"", name, escape(word)));
    }
    // Nobody means so few bytes: the unit is missing.
    constexpr std::uint64_t least_bare = 4096;
    if (*bytes < least_bare && parse_number<std::uint64_t>(word)) {
      throw CLI::ValidationError(fmt::format("{}: {} is {}; did you mean {}G?", name, word,
                                             counted(*bytes, "byte"), word));
    }
    target = *bytes;
  };
  return app.add_option_function<std::string>(name, parse, description)
      ->type_name("SIZE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

}  // namespace ingot::cli

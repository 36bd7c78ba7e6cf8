// SPDX-License-Identifier: MIT
#include "cli/option_group.hpp"

#include <CLI/CLI.hpp>

namespace ingot::cli {

OptionGroup::OptionGroup(CLI::App& program, const char* heading)
    : program_(program), usual_(program.option_defaults()->get_group()) {
  program_.option_defaults()->group(heading);
}

OptionGroup::~OptionGroup() { program_.option_defaults()->group(usual_); }

}  // namespace ingot::cli

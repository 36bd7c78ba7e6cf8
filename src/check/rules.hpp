// SPDX-License-Identifier: MIT
// One function for each row of check_rules.def, called as the row is: it reports what it finds.
#pragma once

#include <string>
#include <string_view>

#include "check/inspection.hpp"
#include "ingot/text.hpp"

namespace ingot::check::rules {

/// A text of a file as messages show it.
inline std::string in_quotes(std::string_view text) {
  return "\"" + escape_shortened(text, 40) + "\"";
}

#define INGOT_CHECK_RULE(name, severity, source, category, title, remedy) \
  void name(Inspection& inspection);
#include "ingot/check_rules.def"

}  // namespace ingot::check::rules

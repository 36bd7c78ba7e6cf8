// SPDX-License-Identifier: MIT
// One function for each row of check_rules.def, called as the row is: it reports what it finds.
#pragma once

#include "check/inspection.hpp"

namespace ingot::check::rules {

#define INGOT_CHECK_RULE(name, severity, source, category, title, remedy) \
  void name(Inspection& inspection);
#include "ingot/check_rules.def"

}  // namespace ingot::check::rules

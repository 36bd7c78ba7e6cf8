// SPDX-License-Identifier: MIT
// One function for each folder rule of check_rules.def: it reports what it finds.
#pragma once

#include "huggingface/import/check/folder_inspection.hpp"

namespace ingot::huggingface::rules {

#define INGOT_CHECK_FOLDER_RULE(name, severity, category, title, remedy) \
  void name(FolderInspection& inspection);
#include "ingot/check_rules.def"

}  // namespace ingot::huggingface::rules

// SPDX-License-Identifier: MIT
// The findings of rules about chat templates.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "check/inspection.hpp"
#include "check/template_facts.hpp"
#include "ingot/text.hpp"

namespace ingot::check::rules {

inline void report_template(Inspection& inspection, const TemplateFacts& facts,
                            std::string message) {
  inspection.report_key(*facts.entry, std::move(message), facts.file);
}

inline std::string in_quotes(std::string_view text) {
  return "\"" + escape_shortened(text, 40) + "\"";
}

}  // namespace ingot::check::rules

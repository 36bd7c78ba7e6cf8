// SPDX-License-Identifier: MIT
// Models that break a rule, and what is found in them.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "ingot/check.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {

struct RuleCase {
  std::string rule;
  Bytes bytes;
};

inline std::ostream& operator<<(std::ostream& out, const RuleCase& each) {
  return out << each.rule;
}

/// Those of vocabulary_rules.cpp.
std::vector<RuleCase> vocabulary_cases();
/// Those of template_rules.cpp.
std::vector<RuleCase> template_cases();

inline std::vector<Finding> findings_of(const Bytes& bytes,
                                        CheckOptions options = {.with_data = true}) {
  std::vector<Finding> findings;
  const auto model = Model::open_memory(bytes, {.is_lenient = true});
  EXPECT_THAT(model, Succeeds());
  if (!model) return findings;
  const auto summary =
      check_model(*model, options, [&](const Finding& finding) { findings.push_back(finding); });
  EXPECT_THAT(summary, Succeeds());
  return findings;
}

/// The names of the rules that a model breaks, notes included.
inline std::set<std::string> broken_rules(const Bytes& bytes) {
  std::set<std::string> names;
  for (const Finding& finding : findings_of(bytes)) names.emplace(finding.rule->name);
  return names;
}

}  // namespace ingot::test

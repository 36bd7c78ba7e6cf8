// SPDX-License-Identifier: MIT
// Each file of the corpus has the outcome that it is listed under: opened by strict readers from
// memory, and with plain reads a piece at a time.

#include "corpus/outcomes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "ingot/check.hpp"
#include "support/expect_error.hpp"
#include "support/model_checks.hpp"

namespace ingot::test {
namespace {

const std::vector<OutcomeFile>& corpus() {
  static const OutcomeCorpus made = make_outcome_corpus();
  return made.files();
}

Outcome outcome_of(const Result<Model>& model, std::string& rules) {
  if (!model) {
    const ErrorCategory category = category_of(model.error().code);
    EXPECT_TRUE(category == ErrorCategory::input || category == ErrorCategory::lenient)
        << model.error().message();
    rules = name_of(model.error().code);
    return Outcome::refused;
  }
  EXPECT_EQ(find_inconsistency(*model), "");
  const auto summary =
      check_model(*model, {.with_data = true, .thread_count = 1},
                  [&](const Finding& finding) { rules += std::string(finding.rule->name) + " "; });
  EXPECT_THAT(summary, Succeeds());
  return summary->errors + summary->warnings == 0 ? Outcome::clean : Outcome::warned;
}

TEST(Outcomes, AreAtLeast250WithNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const OutcomeFile& file : corpus()) EXPECT_TRUE(names.insert(file.name).second) << file.name;
  EXPECT_GE(names.size(), 250u);
}

TEST(Outcomes, AreAsListed) {
  for (const OutcomeFile& file : corpus()) {
    std::string rules;
    EXPECT_EQ(outcome_of(Model::open_memory(file.bytes), rules), file.outcome)
        << file.name << ": " << rules;
  }
}

TEST(Outcomes, AreTheSameReadInPieces) {
  for (const OutcomeFile& file : corpus()) {
    std::string rules;
    const auto read = [&](std::uint64_t offset, std::span<std::byte> to) {
      if (offset > file.bytes.size() || to.size() > file.bytes.size() - offset) return false;
      std::memcpy(to.data(), file.bytes.data() + offset, to.size());
      return true;
    };
    EXPECT_EQ(outcome_of(Model::open_source(read_through(file.bytes.size(), read)), rules),
              file.outcome)
        << file.name << ": " << rules;
  }
}

}  // namespace
}  // namespace ingot::test

// SPDX-License-Identifier: MIT
#include "commands/check/check_baseline.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/output_file.hpp>
#include <ingot/text.hpp>
#include <span>
#include <sstream>
#include <string_view>

#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

constexpr std::string_view title = "# ingot check: known findings, version 1";
constexpr std::ptrdiff_t tab_count = 4;

std::string line_of(const std::string& file, const Finding& finding) {
  std::string subject = "-";
  if (!finding.tensor.empty()) subject = "tensor:" + escape(finding.tensor);
  if (!finding.key.empty()) subject = "key:" + escape(finding.key);
  return fmt::format("{}\t{}\t{}\t{}\t{}", finding.rule->name,
                     escape(finding.file.empty() ? file : finding.file), subject,
                     finding.value_digest.empty() ? "-" : finding.value_digest, finding.message);
}

Failure not_a_baseline(const std::string& path, std::size_t line_number, const char* problem) {
  return fail(Errc::invalid_argument, path,
              fmt::format("line {}: {}; `ingot check --write-baseline` makes such files",
                          line_number, problem));
}

}  // namespace

Result<CheckBaseline> CheckBaseline::read(const std::string& path) {
  INGOT_TRY(const std::string text, read_whole(path, max_list_bytes));
  std::istringstream lines(text);
  CheckBaseline baseline;
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (number == 1 && line != title) return not_a_baseline(path, 1, "it is no list of findings");
    if (line.empty() || line.starts_with('#')) continue;
    if (std::count(line.begin(), line.end(), '\t') != tab_count) {
      return not_a_baseline(path, number, "a finding has 5 fields between tabs");
    }
    baseline.lines_.emplace(std::move(line), false);
  }
  return baseline;
}

Result<void> CheckBaseline::write(const std::string& path, bool may_replace) const {
  std::string text = fmt::format("{}\n", title);
  for (const auto& [line, was_found] : lines_) text.append(line).append("\n");
  INGOT_TRY(OutputFile file, OutputFile::create(path, may_replace));
  INGOT_TRY_VOID(file.write(std::as_bytes(std::span(text))));
  return file.commit();
}

void CheckBaseline::add(const std::string& file, const Finding& finding) {
  lines_.emplace(line_of(file, finding), true);
}

bool CheckBaseline::knows(const std::string& file, const Finding& finding) {
  if (lines_.empty()) return false;
  const auto found = lines_.find(line_of(file, finding));
  if (found == lines_.end()) return false;
  found->second = true;
  return true;
}

std::size_t CheckBaseline::unmet_count() const {
  return static_cast<std::size_t>(
      std::count_if(lines_.begin(), lines_.end(), [](const auto& line) { return !line.second; }));
}

}  // namespace ingot::cli

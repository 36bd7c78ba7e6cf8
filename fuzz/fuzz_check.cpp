// SPDX-License-Identifier: MIT
// Property: whatever opens can be checked, weights and all: the counts are those of the findings,
// each finding has a rule, a text without control characters and a place inside the file; and what
// is found does not depend on the number of threads or on how the file is read. Any bytes can be
// identified.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ingot/check.hpp"
#include "ingot/text.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Checked {
  CheckSummary summary;
  std::string text;
};

void require_good(const Finding& finding, std::size_t size) {
  require(finding.rule != nullptr && find_check_rule(finding.rule->name) == finding.rule);
  require(finding.file_offset == Error::no_offset || finding.file_offset <= size);
  require(!finding.message.empty() && is_utf8(finding.message));
  for (const char c : finding.message) require(static_cast<unsigned char>(c) >= ' ' && c != 0x7F);
}

Checked check(const Model& model, std::size_t size, const CheckOptions& options) {
  Checked checked;
  CheckSummary counted;
  const Result<CheckSummary> summary = check_model(model, options, [&](const Finding& finding) {
    require_good(finding, size);
    counted.count(finding);
    checked.text += std::string(finding.rule->name) + " " + finding.message + "\n";
  });
  require(summary.has_value());
  checked.summary = *summary;
  require(summary->errors == counted.errors && summary->warnings == counted.warnings &&
          summary->notes == counted.notes && !summary->is_refused);
  return checked;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  const auto head = file.first(std::min<std::size_t>(size, 512));
  if (is_model_content(head, size) && identify_content(head, size).empty()) std::abort();
  const std::uint8_t choice = size == 0 ? 0 : data[size - 1];
  const OpenOptions open_options{.is_lenient = (choice & 1) != 0};
  const Result<Model> model = Model::open_memory(file, open_options);
  if (!model) {
    const Finding finding = explain_refusal({}, model.error());
    require(finding.rule->is_refusal && is_utf8(finding.message));
    return 0;
  }
  const CheckOptions options{
      .with_data = true, .thread_count = 1, .max_findings_per_rule = choice % 4u};
  const Checked checked = check(*model, size, options);
  if ((choice & 2) == 0) return 0;
  // Checks again from a source that is not in memory.
  const auto read = [&](std::uint64_t offset, std::span<std::byte> to) {
    require(offset <= size && to.size() <= size - offset);
    std::memcpy(to.data(), data + offset, to.size());
    return true;
  };
  const Result<Model> streamed = Model::open_source(read_through(size, read), open_options);
  require(streamed.has_value());
  require(check(*streamed, size, options).text == checked.text);
  return 0;
}

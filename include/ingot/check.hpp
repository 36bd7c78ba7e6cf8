// SPDX-License-Identifier: MIT
// Check models: rules of the format, conventions, limits of loaders, security, weights (target
// ingot::convert).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"

namespace ingot {

/// How bad a finding is; see check_rules.def.
enum class Severity : std::uint8_t { note, warning, error };

/// Whether a finding is about harm that a file can do; see check_rules.def.
enum class RuleCategory : std::uint8_t { conformance, security };

/// The origin of a rule; see check_rules.def.
enum class RuleSource : std::uint8_t { format, convention, loader, security, data, folder };

[[nodiscard]] INGOT_EXPORT std::string_view name_of(Severity severity) noexcept;
[[nodiscard]] INGOT_EXPORT std::string_view name_of(RuleSource source) noexcept;
[[nodiscard]] INGOT_EXPORT std::string_view name_of(RuleCategory category) noexcept;

/// One rule: a row of check_rules.def, or an error of errors.def for which files are refused.
struct CheckRule {
  std::string_view name;  ///< Stable, e.g. "key_syntax".
  Severity severity = Severity::error;
  RuleSource source = RuleSource::format;
  RuleCategory category = RuleCategory::conformance;
  bool is_refusal = false;  ///< A file that breaks it does not open.
  std::string_view title;   ///< The rule as a sentence; for refusals, the error.
  std::string_view remedy;  ///< The way to repair it; different for each rule.

  /// "refused", or the name of the severity.
  [[nodiscard]] std::string_view severity_name() const noexcept {
    return is_refusal ? std::string_view("refused") : name_of(severity);
  }
};

template <class Visitor>
void describe(Visitor& visit, const CheckRule& rule) {
  visit("rule", rule.name, "", "its name");
  visit("severity", rule.severity_name(), "",
        "`refused` if a file that breaks it does not open, else as of its findings");
  visit("source", rule.source, "",
        "`format`, `convention`, `loader`, `security`, `data` or `folder`");
  visit("category", rule.category, "", "`conformance` or `security`");
  visit("title", rule.title, "", "the rule as a sentence; for refusals, the error");
  visit("remedy", rule.remedy, "", "the way to repair it");
}

/// All rules: first those by which a file is refused, then the others. Static, thread-safe.
[[nodiscard]] INGOT_EXPORT std::span<const CheckRule> check_rules() noexcept;

/// The rule with that name; nullptr if there is none. O(rules).
[[nodiscard]] INGOT_EXPORT const CheckRule* find_check_rule(std::string_view name) noexcept;

/// One flaw or oddity, and its place. Strings are owned; `message` is safe to print, the
/// others are raw bytes.
struct Finding {
  const CheckRule* rule = nullptr;
  std::string message;
  std::uint64_t file_offset = Error::no_offset;
  std::string key;     ///< The key that it is about; may be empty.
  std::string tensor;  ///< The tensor that it is about; may be empty.
  std::string file;    ///< The shard that it is in; empty if the model is one file.
  /// SHA-256 of the value of `key`; empty without CheckOptions::with_value_digests.
  std::string value_digest;
};

template <class Visitor>
void describe(Visitor& visit, const Finding& finding) {
  const bool has_place = finding.file_offset != Error::no_offset;
  visit("rule", finding.rule->name, "", "a name of check-rules.md, or for a refusal of errors.md");
  visit("severity", finding.rule->severity, "",
        "note, warning or error; with `--strict` there are no notes");
  visit("category", finding.rule->category, "",
        "security if a file made on purpose could do harm so, else conformance");
  visit("message", finding.message, "", "for people");
  visit("offset", has_place ? std::optional(finding.file_offset) : std::nullopt, "bytes",
        "from the start of the file; null if it has no place");
  visit("key", text_if_any(finding.key), "", "the key that it is about, or null");
  visit("tensor", text_if_any(finding.tensor), "", "the tensor that it is about, or null");
  visit(
      "shard", text_if_any(finding.file), "",
      "the file of the set, or of the model folder, that it is in; null if the model is one file");
}

/// Receives findings as they are made, from the calling thread.
using FindingSink = std::function<void(const Finding&)>;

struct CheckOptions {
  bool with_data = false;  ///< Reads all weights, too.
  /// The model is of another format (open_any): of the rules, only those about data apply.
  bool is_foreign = false;
  /// The rules that run: those for which it returns true, all without it. A file that does not open
  /// is refused whatever it returns.
  std::function<bool(const CheckRule& rule)> is_wanted = {};
  /// Findings about a key carry a digest of its value, so that another value is another finding.
  bool with_value_digests = false;
  /// The source of the template that the default chat template should be, as its publisher has it:
  /// a template that differs is a finding.
  std::optional<std::string> chat_template = {};
  /// The projector that is to be loaded beside the model: one that does not fit is a finding.
  const Model* projector = nullptr;
  unsigned thread_count = 0;  ///< Threads that read weights; 0: as many as the machine has cores.
  /// Findings of one rule in one model; the rest is counted in one more finding. 0: no limit.
  std::uint64_t max_findings_per_rule = 20;
  /// Receives the bytes of weights read so far; false ends the work with Errc::interrupted.
  std::function<bool(std::uint64_t done_bytes)> progress = {};
};

/// The number of findings of each severity, and of the category security.
struct CheckSummary {
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;
  std::uint64_t notes = 0;
  std::uint64_t security = 0;
  bool is_refused = false;

  INGOT_EXPORT void count(const Finding& finding) noexcept;
};

/// Checks an open model. The order of the findings is that of the rules, and the same for any
/// number of threads.
///
/// Without data: linear in the header (n log n in tensors and keys), and reads at most 4 MiB of
/// padding. With data: reads every byte of the model once, with plain reads and some 100 KiB per
/// thread if the model was opened with FileAccess::read.
///
/// @return  Errc::interrupted, Errc::io_error and other errors of reading, after the findings that
///          need no weights.
[[nodiscard]] INGOT_EXPORT Result<CheckSummary> check_model(const Model& model,
                                                            const CheckOptions& options,
                                                            const FindingSink& sink);

/// Opens a file and checks it. One that is refused is a finding, with the most precise explanation
/// there is (see `explain_refusal`); one that only a strict reader refuses is checked all the same.
///
/// @return  an error only if the system failed.
[[nodiscard]] INGOT_EXPORT Result<CheckSummary> check_file(const std::string& path,
                                                           const OpenOptions& open_options,
                                                           const CheckOptions& options,
                                                           const FindingSink& sink);

/// The finding of a file that is refused with `error`, an error of the category input or lenient.
/// `path`, unless it is empty, is looked at again: at what it is if it is no GGUF file, and at how
/// much of it is missing if it ends too early.
[[nodiscard]] INGOT_EXPORT Finding explain_refusal(const std::string& path, const Error& error);

/// Whether `identify_content` names a model: a file of weights in any format, old ones too, or the
/// pointer to one.
[[nodiscard]] INGOT_EXPORT bool is_model_content(std::span<const std::byte> head,
                                                 std::uint64_t file_bytes) noexcept;

/// The kind of a file by its first bytes (some 100 are enough), for people: "an HTML page", "a
/// safetensors file". Empty if it is unknown. `file_bytes` is the size of the whole file.
[[nodiscard]] INGOT_EXPORT std::string_view identify_content(std::span<const std::byte> head,
                                                             std::uint64_t file_bytes) noexcept;

}  // namespace ingot

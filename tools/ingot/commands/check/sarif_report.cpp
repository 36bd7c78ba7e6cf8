// SPDX-License-Identifier: MIT
#include <ingot/version.h>

#include <array>
#include <ingot/digest.hpp>
#include <ingot/text.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "build_facts.hpp"
#include "cli/json_stream.hpp"
#include "commands/check/check_report.hpp"

namespace ingot::cli {
namespace {

/// `text` as the path of a URI: RFC 3986, section 2.3; slashes stay.
std::string uri_path(std::string_view text) {
  std::string uri;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

/// SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
class SarifReport final : public CheckReport {
 public:
  SarifReport(Console& console, bool is_strict)
      : console_(console), json_(console.out()), is_strict_(is_strict) {
    json_.begin_object();
    json_.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_.member("version", "2.1.0");
    json_.begin_array("runs");
    json_.begin_object();
    write_tool();
    json_.begin_object("automationDetails", Layout::line);
    json_.member("id", "ingot/check/");
    json_.end();
    json_.begin_array("results");
  }

  void begin_file(const std::string& file) override { file_ = file; }

  void add(const Finding& finding) override {
    const auto object = json_.object(Layout::line);
    json_.member("ruleId", finding.rule->name);
    json_.member("ruleIndex", static_cast<std::uint64_t>(finding.rule - check_rules().data()));
    json_.member("level", name_of(shown_severity(finding, is_strict_)));
    write_text("message", subject_of(finding) + finding.message);
    write_category(finding.rule->category);
    json_.begin_object("partialFingerprints", Layout::line);
    json_.member("ingotFinding/v1", fingerprint(finding));
    json_.end();
    const auto places = json_.array("locations", Layout::line);
    const auto place = json_.object(Layout::line);
    write_physical(finding);
    write_logical(finding);
  }

  void end_file(const CheckedFile& checked) override {
    if (checked.error) {
      has_failed_ = true;
      notifications_.push_back({"error", name_of(checked.error->code),
                                escape(checked.file) + " is not checked: " + checked.reason});
    }
    console_.out().flush();
  }

  void skip(const std::string& file, const std::string& reason) override {
    notifications_.push_back({"note", {}, escape(file) + " is skipped: " + reason});
  }

  void end() override {
    json_.end();
    json_.begin_array("invocations", Layout::line);
    json_.begin_object(Layout::line);
    json_.member("executionSuccessful", !has_failed_);
    if (!notifications_.empty()) write_notifications();
    json_.end();
    json_.end();
    json_.end();
    json_.end();
    json_.end();
  }

 private:
  /// A model that was not checked.
  struct Notification {
    std::string_view level;
    std::string_view code;  ///< The name of an error; may be empty.
    std::string text;
  };

  /// What stays the same where bytes move: platforms know a finding again by it.
  [[nodiscard]] std::string fingerprint(const Finding& finding) const {
    std::string text(finding.rule->name);
    for (const std::string_view part :
         {std::string_view(finding.file.empty() ? file_ : finding.file),
          std::string_view(finding.key), std::string_view(finding.tensor)}) {
      text.append(1, '\0').append(part);
    }
    return digest_of(DigestAlgorithm::sha256, std::as_bytes(std::span(text))).substr(0, 32);
  }

  void write_text(std::string_view name, std::string_view text) {
    const auto object = json_.object(name, Layout::line);
    json_.member("text", text);
  }

  void write_category(RuleCategory category) {
    const auto object = json_.object("properties", Layout::line);
    json_.member("category", name_of(category));
    json_.values("tags", std::array{name_of(category)}, Layout::line);
  }

  void write_notifications() {
    const auto array = json_.array("toolExecutionNotifications", Layout::line);
    for (const Notification& each : notifications_) {
      const auto object = json_.object(Layout::line);
      json_.member("level", each.level);
      if (!each.code.empty()) {
        const auto descriptor = json_.object("descriptor", Layout::line);
        json_.member("id", each.code);
      }
      write_text("message", each.text);
    }
  }

  void write_tool() {
    const auto tool = json_.object("tool");
    const auto driver = json_.object("driver");
    json_.member("name", "ingot");
    json_.member("version", INGOT_VERSION_STRING);
    if (!docs_url.empty()) json_.member("informationUri", docs_url);
    json_.objects("rules", check_rules(), [&](const CheckRule& rule) {
      json_.member("id", rule.name);
      write_text("shortDescription", rule.title);
      write_text("fullDescription", fmt::format("{} ({})", rule.title, name_of(rule.source)));
      json_.begin_object("help", Layout::line);
      json_.member("text", rule.remedy);
      json_.member("markdown", fmt::format("**{}**: {}", rule.title, rule.remedy));
      json_.end();
      if (!docs_url.empty()) json_.member("helpUri", fmt::format("{}/check-rules.md", docs_url));
      json_.begin_object("defaultConfiguration", Layout::line);
      json_.member("level", name_of(rule.severity));
      json_.end();
      write_category(rule.category);
    });
  }

  void write_physical(const Finding& finding) {
    const auto place = json_.object("physicalLocation", Layout::line);
    json_.begin_object("artifactLocation", Layout::line);
    json_.member("uri", uri_path(finding.file.empty() ? file_ : finding.file));
    json_.end();
    if (finding.file_offset != Error::no_offset) {
      const auto region = json_.object("region", Layout::line);
      json_.member("byteOffset", finding.file_offset);
    }
  }

  void write_logical(const Finding& finding) {
    if (finding.key.empty() && finding.tensor.empty()) return;
    const auto array = json_.array("logicalLocations", Layout::line);
    const auto object = json_.object(Layout::line);
    json_.member("name", finding.key.empty() ? finding.tensor : finding.key);
    json_.member("kind", finding.key.empty() ? "tensor" : "key");
  }

  Console& console_;
  JsonStream json_;
  bool is_strict_;
  bool has_failed_ = false;
  std::vector<Notification> notifications_;
  std::string file_;
};

}  // namespace

std::unique_ptr<CheckReport> make_sarif_report(Console& console, bool is_strict) {
  return std::make_unique<SarifReport>(console, is_strict);
}

}  // namespace ingot::cli

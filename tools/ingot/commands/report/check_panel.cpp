// SPDX-License-Identifier: MIT
#include "commands/report/check_panel.hpp"

namespace ingot::cli {

void write_findings(JsonStream& json, const Model& model,
                    const std::function<bool(const CheckRule&)>& is_wanted) {
  const auto array = json.array();
  CheckOptions options;
  options.is_wanted = is_wanted;
  // Without data the check reads only some padding; the page leaves out checks that cannot be read.
  (void)check_model(model, options, [&](const Finding& finding) {
    const auto object = json.object(Layout::line);
    json.member("rule", finding.rule->name);
    json.member("severity", name_of(finding.rule->severity));
    json.member("key", finding.key);
    json.member("tensor", finding.tensor);
    json.member("message", finding.message);
    json.member("remedy", finding.rule->remedy);
  });
}

void write_check_panel(JsonStream& json, const Model& model, bool is_foreign) {
  json.key("findings");
  if (is_foreign) return json.null();
  write_findings(json, model,
                 [](const CheckRule& rule) { return !rule.name.starts_with("template_"); });
}

}  // namespace ingot::cli

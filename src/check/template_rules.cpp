// SPDX-License-Identifier: MIT
// Rules about chat templates: what their text shows, and what rendering with them shows.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "check/rules.hpp"
#include "ingot/text.hpp"

namespace ingot::check::rules {
namespace {

constexpr std::size_t shown_template_columns = 200;

std::string place_text(std::uint32_t line, std::uint32_t column) {
  return line == 0 ? std::string()
                   : "line " + std::to_string(line) + ", column " + std::to_string(column) + ": ";
}

std::string error_text(const Error& error) {
  return place_text(error.line, error.column) +
         escape_shortened(error.detail, shown_template_columns);
}

/// The templates that can be read.
template <class Use>
void for_each_readable(Inspection& inspection, const Use& use) {
  for (const TemplateFacts& facts : inspection.templates()) {
    if (!facts.error) use(facts);
  }
}

/// Those of them that render conversations, all within the limits.
template <class Use>
void for_each_usable(Inspection& inspection, const Use& use) {
  for_each_readable(inspection, [&](const TemplateFacts& facts) {
    if (!facts.profile.failure && !facts.profile.reached_limit) use(facts);
  });
}

void report_remarks(Inspection& inspection, ChatRemark::Kind kind) {
  for_each_readable(inspection, [&](const TemplateFacts& facts) {
    for (const ChatRemark& remark : facts.remarks) {
      if (remark.kind != kind) continue;
      inspection.report_template(facts, place_text(remark.line, remark.column) + remark.text);
    }
  });
}

bool reads(const TemplateFacts& facts, std::string_view variable) {
  return std::ranges::find(facts.variables, variable) != facts.variables.end();
}

/// Whether Hugging Face's library and engines give a variable to every template.
bool is_usual_variable(std::string_view name) {
  constexpr std::array names = {
      std::string_view("messages"), std::string_view("tools"), std::string_view("documents"),
      std::string_view("add_generation_prompt"), std::string_view("enable_thinking")};
  return name.ends_with("_token") || std::ranges::find(names, name) != names.end();
}

/// Whether a text can be nothing but a control token; names in brackets may be plain words.
bool has_bars(std::string_view token) noexcept {
  return token.starts_with("<|") || token.starts_with("<\xEF\xBD\x9C");
}

/// The fault of a control token of a template; empty if there is none.
std::string_view problem_of(Inspection& inspection, std::string_view token) {
  const Vocabulary& vocabulary = *inspection.vocabulary();
  const TokenId id = vocabulary.find(token);
  if (id == no_token) return has_bars(token) ? "is not in the vocabulary" : "";
  const bool is_found = vocabulary.kind(id) == TokenKind::control ||
                        vocabulary.kind(id) == TokenKind::user_defined ||
                        vocabulary.kind(id) == TokenKind::unknown;
  if (is_found || inspection.tokenizer() == nullptr) return "";
  const auto ids = inspection.tokenizer()->encode(token, {.add_special = false});
  return ids && *ids == std::vector<TokenId>{id}
             ? ""
             : "is an ordinary token, which is not found in a text";
}

/// Whether nothing renders because the template calls a function that does not exist.
bool lacks_function(const TemplateFacts& facts) {
  const Error& failure = *facts.profile.failure;
  return std::ranges::any_of(facts.remarks, [&](const ChatRemark& remark) {
    return remark.kind == ChatRemark::Kind::unknown_name && remark.line == failure.line;
  });
}

/// Whether the template fails where it should not: on its own account, and not to refuse.
bool is_fault(const ChatRefusal& refusal) noexcept {
  return refusal.is_plain && refusal.code != Errc::chat_raised;
}

std::string refusal_text(const ChatRefusal& refusal) {
  return std::string(refusal.conversation) +
         " fails: " + escape_shortened(refusal.reason, shown_template_columns);
}

}  // namespace

void template_limit(Inspection& inspection) {
  for_each_readable(inspection, [&](const TemplateFacts& facts) {
    if (!facts.profile.reached_limit) return;
    inspection.report_template(
        facts,
        "a short conversation takes more than its share of steps, output or memory; what the "
        "template does with it is not known");
  });
}

void template_syntax(Inspection& inspection) {
  for (const TemplateFacts& facts : inspection.templates()) {
    if (facts.error) inspection.report_template(facts, error_text(*facts.error));
  }
}

void template_unknown_name(Inspection& inspection) {
  report_remarks(inspection, ChatRemark::Kind::unknown_name);
}

void template_forbidden(Inspection& inspection) {
  report_remarks(inspection, ChatRemark::Kind::forbidden);
}

void template_minja(Inspection& inspection) { report_remarks(inspection, ChatRemark::Kind::minja); }

void template_javascript(Inspection& inspection) {
  report_remarks(inspection, ChatRemark::Kind::javascript);
}

void template_undefined(Inspection& inspection) {
  for_each_readable(inspection, [&](const TemplateFacts& facts) {
    const auto& failure = facts.profile.failure;
    if (!failure || failure->code != Errc::chat_undefined || lacks_function(facts)) return;
    inspection.report_template(facts, "no conversation renders: " + error_text(*failure));
  });
}

void template_fails(Inspection& inspection) {
  for_each_readable(inspection, [&](const TemplateFacts& facts) {
    const auto& failure = facts.profile.failure;
    for (const ChatRefusal& refusal : facts.profile.refusals) {
      if (is_fault(refusal)) inspection.report_template(facts, refusal_text(refusal));
    }
    if (!failure || failure->code == Errc::limit_exceeded) return;
    if (failure->code == Errc::chat_undefined && !lacks_function(facts)) return;
    inspection.report_template(facts, "no plain conversation renders: " + error_text(*failure));
  });
}

void template_drops_text(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    if (facts.profile.needs_parts) return;
    if (!facts.profile.keeps_text) {
      inspection.report_template(facts, "the text of a message is not in the prompt");
    }
    if (facts.profile.drops_system) {
      inspection.report_template(facts, "the text of a system message is not in the prompt");
    }
  });
}

void template_no_generation_prompt(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    if (!facts.profile.lacks_generation_prompt) return;
    inspection.report_template(
        facts, "answers begin with " + in_quotes(facts.profile.answer_begin) +
                   ", and the prompt for one does not end so with add_generation_prompt");
  });
}

void template_doubled_bos(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr || !vocabulary->flags().adds_bos) return;
  const std::string_view bos = vocabulary->text(vocabulary->special(SpecialToken::bos));
  if (bos.empty()) return;
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    if (!facts.profile.prompt.starts_with(bos)) return;
    inspection.report_template(
        facts, "the prompt begins with " + in_quotes(bos) + ", and the tokenizer adds one");
  });
}

void template_token_missing(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr) return;
  for_each_readable(inspection, [&](const TemplateFacts& facts) {
    for (const std::string& token : facts.control_texts) {
      const std::string_view problem = problem_of(inspection, token);
      if (problem.empty()) continue;
      inspection.report_template(facts, in_quotes(token) + " " + std::string(problem));
    }
  });
}

void template_end(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr) return;
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    const std::string& end = facts.profile.answer_end;
    for (const TokenId id : vocabulary->end_of_generation()) {
      const std::string_view text = vocabulary->text(id);
      if (!text.empty() && end.find(text) != std::string::npos) return;
    }
    for (const std::string& token : facts.control_texts) {
      if (!end.starts_with(token)) continue;
      if (!has_bars(token) && vocabulary->find(token) == no_token) continue;
      inspection.report_template(
          facts, "an answer ends with " + in_quotes(token) + ", which ends no generation");
    }
  });
}

void template_refuses(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    for (const ChatRefusal& refusal : facts.profile.refusals) {
      if (!is_fault(refusal)) inspection.report_template(facts, refusal_text(refusal));
    }
  });
}

void template_tools(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    const ChatProfile& profile = facts.profile;
    if (!profile.supports(ChatFeature::tools)) {
      if (!reads(facts, "tools")) return;
      return inspection.report_template(
          facts, "it reads tools, and a tool that is given is not in the prompt");
    }
    if (!profile.supports(ChatFeature::tool_calls)) {
      inspection.report_template(facts, "calls of tools are not in the prompt");
    } else if (profile.arguments != ChatArguments::any) {
      const bool is_object = profile.arguments == ChatArguments::object;
      inspection.report_template(facts,
                                 std::string("arguments of calls have to be ") +
                                     (is_object ? "an object, not text" : "text, not an object"));
    }
    if (!profile.supports(ChatFeature::tool_results)) {
      inspection.report_template(facts, "results of tools are not in the prompt");
    }
  });
}

void template_parts(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    if (facts.profile.needs_parts) {
      inspection.report_template(facts, "a message that is no list of parts is not in the prompt");
    }
    const std::string& problem = facts.profile.parts_problem;
    if (problem.empty()) return;
    inspection.report_template(
        facts, "a message of parts: " + escape_shortened(problem, shown_template_columns));
  });
}

void template_prefix(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    // Without its beginning no answer can follow the prompt.
    if (facts.profile.keeps_beginning || facts.profile.lacks_generation_prompt) return;
    inspection.report_template(
        facts, "the next prompt does not begin with the conversation that it goes on with");
  });
}

void template_date(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    if (facts.profile.depends_on_date) inspection.report_template(facts, "it writes the date");
  });
}

void template_variables(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    std::string list;
    for (const std::string& name : facts.variables) {
      if (is_usual_variable(name)) continue;
      list.append(list.empty() ? "" : ", ").append(escape_shortened(name, 40));
    }
    if (!list.empty()) inspection.report_template(facts, "it reads " + list);
  });
}

}  // namespace ingot::check::rules

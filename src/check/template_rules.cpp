// SPDX-License-Identifier: MIT
// Rules about chat templates: what their text shows, and what rendering with them shows.
#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "check/rules.hpp"
#include "check/template_facts.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/text.hpp"

namespace ingot::check::rules {
namespace {

constexpr std::size_t shown_columns = 200;

std::string place_text(std::uint32_t line, std::uint32_t column) {
  return line == 0 ? std::string()
                   : "line " + std::to_string(line) + ", column " + std::to_string(column) + ": ";
}

std::string error_text(const ChatError& error) {
  return place_text(error.line, error.column) + escape_shortened(error.reason, shown_columns);
}

void report_template(Inspection& inspection, const TemplateFacts& facts, std::string message) {
  inspection.report_key(*facts.entry, std::move(message), facts.file);
}

/// The templates that can be read.
template <class Use>
void for_each_readable(Inspection& inspection, const Use& use) {
  for (const TemplateFacts& facts : inspection.templates()) {
    if (!facts.error) use(facts);
  }
}

/// Those of them that render conversations.
template <class Use>
void for_each_usable(Inspection& inspection, const Use& use) {
  for_each_readable(inspection, [&](const TemplateFacts& facts) {
    if (!facts.profile.failure) use(facts);
  });
}

void report_remarks(Inspection& inspection, ChatRemark::Kind kind) {
  for_each_readable(inspection, [&](const TemplateFacts& facts) {
    for (const ChatRemark& remark : facts.remarks) {
      if (remark.kind != kind) continue;
      report_template(inspection, facts, place_text(remark.line, remark.column) + remark.text);
    }
  });
}

bool reads(const TemplateFacts& facts, std::string_view variable) {
  return std::find(facts.variables.begin(), facts.variables.end(), variable) !=
         facts.variables.end();
}

/// Whether Hugging Face's library and engines give a variable to every template.
bool is_usual_variable(std::string_view name) {
  constexpr std::array names = {
      std::string_view("messages"), std::string_view("tools"), std::string_view("documents"),
      std::string_view("add_generation_prompt"), std::string_view("enable_thinking")};
  return name.ends_with("_token") || std::find(names.begin(), names.end(), name) != names.end();
}

std::string quoted(std::string_view text) { return "\"" + escape_shortened(text, 40) + "\""; }

/// The fault of a control token of a template; empty if there is none.
std::string_view problem_of(const Vocabulary& vocabulary, std::string_view token) {
  const TokenId id = vocabulary.find(token);
  if (id == no_token) return "is not in the vocabulary";
  const bool is_found = vocabulary.kind(id) == TokenKind::control ||
                        vocabulary.kind(id) == TokenKind::user_defined ||
                        vocabulary.kind(id) == TokenKind::unknown;
  return is_found ? "" : "is an ordinary token, which is not found in a text";
}

/// The texts of an array of strings.
std::set<std::string_view> texts_of(const Value& value) {
  std::set<std::string_view> texts;
  if (!value.is_array()) return texts;
  for (const Value& element : value.as_array()) {
    if (const auto text = element.get<std::string_view>()) texts.insert(*text);
  }
  return texts;
}

}  // namespace

void template_syntax(Inspection& inspection) {
  for (const TemplateFacts& facts : inspection.templates()) {
    if (facts.error) report_template(inspection, facts, error_text(*facts.error));
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
    if (!failure || failure->code != Errc::chat_undefined) return;
    report_template(inspection, facts, "no conversation renders: " + error_text(*failure));
  });
}

void template_fails(Inspection& inspection) {
  for_each_readable(inspection, [&](const TemplateFacts& facts) {
    const auto& failure = facts.profile.failure;
    if (!failure || failure->code == Errc::chat_undefined) return;
    report_template(inspection, facts, "no plain conversation renders: " + error_text(*failure));
  });
}

void template_drops_text(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    if (facts.profile.keeps_text) return;
    report_template(inspection, facts, "the text of a message is not in the prompt");
  });
}

void template_no_generation_prompt(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    if (!facts.profile.lacks_generation_prompt) return;
    report_template(inspection, facts,
                    "answers begin with " + quoted(facts.profile.answer_begin) +
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
    report_template(inspection, facts,
                    "the prompt begins with " + quoted(bos) + ", and the tokenizer adds one");
  });
}

void template_token_missing(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr) return;
  for_each_readable(inspection, [&](const TemplateFacts& facts) {
    for (const std::string& token : facts.control_texts) {
      const std::string_view problem = problem_of(*vocabulary, token);
      if (problem.empty()) continue;
      report_template(inspection, facts, quoted(token) + " " + std::string(problem));
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
      report_template(inspection, facts,
                      "an answer ends with " + quoted(token) + ", which ends no generation");
    }
  });
}

void template_refuses(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    for (const ChatRefusal& refusal : facts.profile.refusals) {
      report_template(inspection, facts,
                      std::string(refusal.conversation) +
                          " fails: " + escape_shortened(refusal.reason, shown_columns));
    }
  });
}

void template_tools(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    const ChatProfile& profile = facts.profile;
    if (!profile.supports(ChatFeature::tools)) {
      if (!reads(facts, "tools")) return;
      return report_template(inspection, facts,
                             "it reads tools, and a tool that is given is not in the prompt");
    }
    if (!profile.supports(ChatFeature::tool_calls)) {
      report_template(inspection, facts, "calls of tools are not in the prompt");
    } else if (profile.arguments != ChatArguments::any) {
      const bool is_object = profile.arguments == ChatArguments::object;
      report_template(inspection, facts,
                      std::string("arguments of calls have to be ") +
                          (is_object ? "an object, not text" : "text, not an object"));
    }
    if (!profile.supports(ChatFeature::tool_results)) {
      report_template(inspection, facts, "results of tools are not in the prompt");
    }
  });
}

void template_prefix(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    // Without its beginning no answer can follow the prompt.
    if (facts.profile.keeps_beginning || facts.profile.lacks_generation_prompt) return;
    report_template(inspection, facts,
                    "the next prompt does not begin with the conversation that it goes on with");
  });
}

void template_date(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    if (facts.profile.depends_on_date) report_template(inspection, facts, "it writes the date");
  });
}

void template_variables(Inspection& inspection) {
  for_each_usable(inspection, [&](const TemplateFacts& facts) {
    std::string list;
    for (const std::string& name : facts.variables) {
      if (is_usual_variable(name)) continue;
      list.append(list.empty() ? "" : ", ").append(escape_shortened(name, 40));
    }
    if (!list.empty()) report_template(inspection, facts, "it reads " + list);
  });
}

void template_escaped(Inspection& inspection) {
  constexpr std::array marks = {std::string_view("\\n{%"), std::string_view("\\n{{")};
  for (const TemplateFacts& facts : inspection.templates()) {
    const std::string_view text = facts.entry->value.get<std::string_view>().value_or("");
    const bool has_line_ends = text.find('\n') != std::string_view::npos;
    const bool has_marks = std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) {
      return text.find(mark) != std::string_view::npos;
    });
    const bool is_quoted = text.starts_with('"') && text.ends_with('"') && text.size() > 1;
    if (!is_quoted && (!has_marks || has_line_ends)) continue;
    report_template(inspection, facts,
                    is_quoted ? "the text stands in quotes, as in JSON"
                              : "line ends are written \\n, as in JSON");
  }
}

void template_names(Inspection& inspection) {
  const KeyValue* list = nullptr;
  std::size_t list_file = 0;
  std::set<std::string_view> names;
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    if (entry.key == keys::tokenizer_chat_templates) {
      list = &entry;
      list_file = file;
    } else if (entry.key.starts_with(keys::tokenizer_chat_template) &&
               entry.key != keys::tokenizer_chat_template &&
               entry.key[keys::tokenizer_chat_template.size()] == '.') {
      names.insert(entry.key.substr(keys::tokenizer_chat_template.size() + 1));
    }
  });
  if (list == nullptr) return;
  const std::set<std::string_view> listed = texts_of(list->value);
  for (const std::string_view name : listed) {
    if (names.contains(name) || name == "default") continue;
    inspection.report_key(*list, "there is no template " + quoted(name), list_file);
  }
  for (const std::string_view name : names) {
    if (listed.contains(name)) continue;
    inspection.report_key(*list, "it does not name the template " + quoted(name), list_file);
  }
}

}  // namespace ingot::check::rules

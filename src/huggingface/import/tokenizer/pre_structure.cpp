// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/pre_structure.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/strings.hpp"
#include "ingot/tokenizer.hpp"

namespace ingot::huggingface {
namespace {

constexpr unsigned none = 1;
constexpr unsigned nfc = 2;
constexpr unsigned bert = 4;
constexpr unsigned any = 8;

constexpr std::size_t max_steps = 8;

/// The authors of the expression mean one to three digits. In Hugging Face's library `+` repeats
/// the interval, so it matches any number of digits.
constexpr std::string_view repeated_interval = "{1,3}+|";

struct PreRow {
  std::string_view names;  // separated by spaces
  unsigned normalizers;
  std::array<std::string_view, max_steps> steps;
};

struct ClassRule {
  std::string_view row;
  std::string_view class_start;
  std::string_view name;
};

constexpr PreRow pre_rows[] = {
#define INGOT_PRE_ROW(names, normalizers, ...) PreRow{names, normalizers, {__VA_ARGS__}},
#define INGOT_PRE_CLASS(row, class_start, name)
#include "huggingface/import/tokenizer/pre_rows.def"
};

constexpr ClassRule class_rules[] = {
#define INGOT_PRE_ROW(names, normalizers, ...)
#define INGOT_PRE_CLASS(row, class_start, name) ClassRule{row, class_start, name},
#include "huggingface/import/tokenizer/pre_rows.def"
};

/// Spellings with equal meaning, and the one that the rows use. Of two with a common beginning the
/// longer one comes first. A possessive repetition includes the text after it, because only that
/// shows that it never has to give back a character.
constexpr std::pair<std::string_view, std::string_view> spellings[] = {
    {"(?i:'s|'t|'re|'ve|'m|'ll|'d)", "<C>"},
    {"'(?i:[sdmt]|ll|ve|re)", "<C>"},
    {"(?i:'(?:[sdmt]|ll|ve|re))", "<C>"},
    {"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])", "<C>"},
    {"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])", "<C>"},
    {"'(?:[sdmt]|ll|ve|re)|", "'s|'t|'re|'ve|'m|'ll|'d|"},
    {"\r", "\\r"},
    {"\n", "\\n"},
    {"{1}", ""},
    {"]?+\\p{L}", "]?\\p{L}"},
    {"]++[\\r\\n", "]+[\\r\\n"},
    {"\\s++$|", ""},
    {repeated_interval, "{1,3}|"},
    {"++|", "+|"},
    {"*+|", "*|"},
    {"\\s*[\\r\\n]|", "\\s*[\\r\\n]+|"},
    {"\\s+(?!\\S)|\\s|", "\\s+(?!\\S)|\\s+|"},
};

std::string one_spelling(std::string_view expression) {
  std::string text = with_plain_characters(expression) + "|";  // the last ends like the others
  for (const auto& [from, to] : spellings) replace_all(text, from, to);
  text.pop_back();
  return text;
}

/// Whether a Split keeps its matches and the texts between them as pieces. If it removes the texts
/// between, one alternative must match every character that the others leave.
bool keeps_all(std::string_view behavior, bool is_inverted, std::string_view expression) {
  if (behavior == "Isolated") return true;
  return behavior == "Removed" && is_inverted && expression.ends_with("|\\s+") &&
         (expression.find("[^\\s\\p{L}\\p{N}") != expression.npos ||
          expression.find("[^\\s\\p{L}\\p{M}\\p{N}") != expression.npos);
}

/// The name of a step in the rows. A step of an unknown kind keeps its type's name, which matches
/// none of them.
std::string name_of_step(JsonView step) {
  const std::string type(step["type"].text());
  if (type == "ByteLevel") {
    if (step["add_prefix_space"].boolean().value_or(false)) return "ByteLevel with a space";
    return step["use_regex"].boolean().value_or(true) ? "ByteLevel" : "Bytes";
  }
  if (type == "Digits") {
    return step["individual_digits"].boolean().value_or(false) ? "Digits" : "DigitRuns";
  }
  const std::string behavior(step["behavior"].text());
  if (type == "Punctuation") {
    return behavior == "Contiguous" ? type : type + " " + behavior;
  }
  if (type == "BertPreTokenizer") return "Bert";
  const JsonView expression = step["pattern"]["Regex"];
  if (type != "Split" || !expression.is_text()) return type;
  const std::string spelled = one_spelling(expression.text());
  const bool is_inverted = step["invert"].boolean().value_or(false);
  return keeps_all(behavior, is_inverted, spelled) ? spelled : "Split " + behavior;
}

/// Calls `use(step)` for a step, or for each member of a sequence of them.
template <class Use>
void each_step(JsonView step, const char* list, const Use& use) {
  if (step["type"].text() == "Sequence") {
    for (const JsonView member : step[list].elements()) each_step(member, list, use);
  } else if (step.is_object()) {
    use(step);
  }
}

std::string name_of_normalizer(JsonView normalizer) {
  std::string names;
  each_step(normalizer, "normalizers", [&](JsonView step) {
    const std::string_view type = step["type"].text();
    if (!names.empty()) names += ", ";
    names += type == "NFC" ? "nfc" : type == "BertNormalizer" ? "bert" : type;
  });
  return names.empty() ? "none" : names;
}

bool allows(const PreRow& row, std::string_view normalizer) {
  if (row.normalizers == any) return true;
  const unsigned bit = normalizer == "none"   ? none
                       : normalizer == "nfc"  ? nfc
                       : normalizer == "bert" ? bert
                                              : 0u;
  return (row.normalizers & bit) != 0;
}

bool matches(std::string_view pattern, std::string_view step) {
  constexpr std::string_view more = "...";
  if (!pattern.ends_with(more)) return pattern == step;
  return step.starts_with(pattern.substr(0, pattern.size() - more.size()));
}

bool matches(const PreRow& row, const PreStructure& structure) {
  const auto end = std::ranges::find(row.steps, std::string_view());
  return allows(row, structure.normalizer) &&
         std::equal(row.steps.begin(), end, structure.steps.begin(), structure.steps.end(),
                    [](std::string_view pattern, const std::string& step) {
                      return matches(pattern, step);
                    });
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> list;
  while (!text.empty()) list.push_back(take_part(text, ' '));
  return list;
}

bool is_in_rows(std::string_view name) {
  return std::ranges::any_of(pre_rows, [&](const PreRow& row) {
    const std::vector<std::string_view> names = words(row.names);
    return std::ranges::find(names, name) != names.end();
  });
}

/// Whether the steps are the expressions of the engine itself, as an exported tokenizer has them.
bool matches(const PreTokenizerFacts& facts, const PreStructure& structure) {
  const std::vector<std::string>& steps = structure.steps;
  return (structure.normalizer == "none" || structure.normalizer == "nfc") &&
         !facts.has_plain_text && steps.size() == facts.expressions.size() + 1 &&
         steps.back() == "Bytes" &&
         std::equal(facts.expressions.begin(), facts.expressions.end(), steps.begin(),
                    [](std::string_view expression, const std::string& step) {
                      return one_spelling(expression) == step;
                    });
}

/// The names of the structure's row. Without a row: those of a row whose names have the expressions
/// of the structure, else the first name that has them.
std::vector<std::string_view> candidates(const PreStructure& structure) {
  for (const PreRow& row : pre_rows) {
    if (matches(row, structure)) return words(row.names);
  }
  std::vector<std::string_view> first;
  for (const std::string_view name : known_pre_tokenizers()) {
    const auto facts = facts_of_pre_tokenizer(name);
    if (!facts || !matches(*facts, structure)) continue;
    if (first.empty()) first.push_back(name);
    for (const PreRow& row : pre_rows) {
      std::vector<std::string_view> names = words(row.names);
      if (std::ranges::find(names, name) != names.end()) return names;
    }
  }
  return first;
}

void move_to_front(std::vector<std::string_view>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) std::rotate(names.begin(), found, found + 1);
}

}  // namespace

PreStructure PreStructure::of(JsonView tokenizer) {
  PreStructure structure;
  structure.normalizer = name_of_normalizer(tokenizer["normalizer"]);
  each_step(tokenizer["pre_tokenizer"], "pretokenizers", [&](JsonView step) {
    structure.steps.push_back(name_of_step(step));
    const std::string_view expression = step["pattern"]["Regex"].text();
    if (expression.find(repeated_interval) != expression.npos) {
      structure.repeats_interval = true;
    }
  });
  each_step(tokenizer["post_processor"], "processors", [&](JsonView step) {
    if (step["type"].text() == "RobertaProcessing") structure.has_separator = true;
  });
  structure.ignores_merges = tokenizer["model"]["ignore_merges"].boolean().value_or(false);
  return structure;
}

bool cut_alike(std::string_view left, std::string_view right) {
  const auto left_facts = facts_of_pre_tokenizer(left);
  const auto right_facts = facts_of_pre_tokenizer(right);
  if (!left_facts || !right_facts) return !left_facts && !right_facts;
  return left_facts->has_plain_text == right_facts->has_plain_text &&
         std::ranges::equal(left_facts->expressions, right_facts->expressions, {}, one_spelling,
                            one_spelling);
}

std::vector<std::string_view> names_of_unknown_structure() {
  std::vector<std::string_view> names;
  std::ranges::remove_copy_if(known_pre_tokenizers(), std::back_inserter(names), is_in_rows);
  return names;
}

std::string PreStructure::text() const {
  std::string line = "normalizer " + normalizer + "; steps";
  for (const std::string& step : steps) line += " " + step;
  return steps.empty() ? line + " none" : line;
}

std::vector<std::string_view> names_of(const PreStructure& structure,
                                       std::string_view model_class) {
  std::vector<std::string_view> names = candidates(structure);
  if (names.empty()) return {};
  const std::string_view first = names.front();
  // These carry flags of the engine with them, beside the way to cut.
  if (structure.has_separator) {
    if (first != "gpt-2") return {};
    return {"roberta-bpe", "jina-v2-code"};
  }
  if (structure.ignores_merges) move_to_front(names, "llama-bpe");
  for (const ClassRule& rule : class_rules) {
    if (rule.row == first && model_class.starts_with(rule.class_start)) {
      move_to_front(names, rule.name);
      break;
    }
  }
  return names;
}

}  // namespace ingot::huggingface

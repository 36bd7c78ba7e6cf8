// SPDX-License-Identifier: MIT
// What the source of a template shows without running.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/ascii.hpp"
#include "chat/builtins/builtins.hpp"
#include "chat/compile/compiled_template.hpp"
#include "chat/compile/tree_walk.hpp"
#include "ingot/chat_profile.hpp"
#include "ingot/text.hpp"

namespace ingot {
namespace chat {
namespace {

using RemarkKind = ChatRemark::Kind;

/// Empty behind the last.
using Words = std::array<std::string_view, 40>;

struct Engine {
  RemarkKind kind;
  std::string_view name;
  Words filters;
  Words tests;
  Words methods;
  Words functions;
  Words missing_statements;
  Words missing_operators;
};

constexpr std::array engines = {
#define INGOT_CHAT_ENGINE(kind, name, ...) Engine{RemarkKind::kind, name, __VA_ARGS__},
#include "chat/inspect/engines.def"
#undef INGOT_CHAT_ENGINE
};

/// A statement or an operator that other engines may not have.
struct Construct {
  NodeKind node;
  std::string_view noun;
  std::string_view word;
  Words Engine::*missing;
};

constexpr Construct constructs[] = {
    {NodeKind::with, "the statement", "with", &Engine::missing_statements},
    {NodeKind::block, "the statement", "block", &Engine::missing_statements},
    {NodeKind::autoescape, "the statement", "autoescape", &Engine::missing_statements},
    {NodeKind::unavailable, "the statement", "extends", &Engine::missing_statements},
    {NodeKind::floor_divide, "the operator", "//", &Engine::missing_operators},
    {NodeKind::power, "the operator", "**", &Engine::missing_operators},
};

/// Whether lists or objects have a method that changes them.
bool writes(const Name& name) noexcept {
  return std::any_of(name.methods.begin(), name.methods.end(),
                     [](const Builtin* method) { return method != nullptr && method->is_writing; });
}

bool is_method(const Name& name) noexcept {
  constexpr std::array owners = {Owner::string, Owner::list, Owner::object};
  return std::any_of(owners.begin(), owners.end(), [&](Owner owner) {
    return name.methods[static_cast<std::size_t>(owner)] != nullptr;
  });
}

/// More are never read.
constexpr std::size_t max_remarks = 200;

class Linter {
 public:
  explicit Linter(const CompiledTemplate& compiled) : compiled_(compiled) {}

  std::vector<ChatRemark> run() {
    for (const Node* node : compiled_.program.body) find_guarded(*node);
    for (const Node* node : compiled_.program.body) visit(*node);
    std::ranges::stable_sort(facts_, {}, &Fact::offset);
    std::vector<std::uint32_t> offsets;
    for (const Fact& fact : facts_) offsets.push_back(fact.offset);
    const std::vector<SourcePlace> places = compiled_.source.places_of(offsets);
    std::vector<ChatRemark> remarks;
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      remarks.push_back(
          {facts_[i].kind, places[i].line, places[i].column, std::move(facts_[i].text)});
    }
    return remarks;
  }

 private:
  struct Fact {
    RemarkKind kind;
    std::uint32_t offset = 0;
    std::string text;
  };

  /// Names that the template asks after before it uses them.
  void find_guarded(const Node& node) {
    if (node.kind == NodeKind::test) {
      const auto& test = static_cast<const ApplyNode&>(node);
      const bool asks = test.name == "defined" || test.name == "undefined";
      if (asks && test.input != nullptr && test.input->kind == NodeKind::name) {
        guarded_.insert(static_cast<const NameNode&>(*test.input).name);
      }
    }
    for_each_child(node, [&](const Node& child) { find_guarded(child); });
  }

  void visit(const Node& node) {
    if (facts_.size() >= max_remarks) return;
    if (node.kind == NodeKind::filter || node.kind == NodeKind::test) {
      visit_apply(static_cast<const ApplyNode&>(node));
    } else if (node.kind == NodeKind::call) {
      visit_call(static_cast<const CallNode&>(node));
    }
    for (const Construct& construct : constructs) {
      if (construct.node != node.kind) continue;
      gaps(node, construct.noun, construct.word, construct.missing, true);
    }
    for_each_child(node, [&](const Node& child) { visit(child); });
  }

  void visit_apply(const ApplyNode& node) {
    const bool is_filter = node.kind == NodeKind::filter;
    const std::string_view noun = is_filter ? "the filter" : "the test";
    if (node.builtin == nullptr) {
      const auto table = is_filter ? filters() : tests();
      return add(RemarkKind::unknown_name, node, "there is no", noun.substr(4), node.name,
                 hint_nearest(node.name, table));
    }
    gaps(node, noun, node.name, is_filter ? &Engine::filters : &Engine::tests, false);
  }

  void visit_call(const CallNode& node) {
    if (node.callee->kind == NodeKind::name) {
      visit_function(node, *static_cast<const NameNode&>(*node.callee).name);
    } else if (node.callee->kind == NodeKind::attribute) {
      visit_method(node, *static_cast<const AttributeNode&>(*node.callee).name);
    }
  }

  void visit_function(const CallNode& node, const Name& name) {
    const auto& free_names = compiled_.program.free_names;
    const bool is_free = std::ranges::binary_search(free_names, name.id, {}, &Name::id);
    if (is_free && !guarded_.contains(&name)) {
      return add(RemarkKind::unknown_name, node, "there is no", "function", name.text,
                 hint_nearest(name.text, globals()));
    }
    if (name.global == nullptr || guarded_.contains(&name)) return;
    gaps(node, "the function", name.text, &Engine::functions, false);
  }

  void visit_method(const CallNode& node, const Name& name) {
    if (writes(name)) {
      return add(RemarkKind::forbidden, node, "the sandbox of Hugging Face forbids", "the method",
                 name.text, {});
    }
    if (!is_method(name)) return;
    gaps(node, "the method", name.text, &Engine::methods, false);
  }

  /// Notes the engines without a thing: those whose list has it, if it is a list of what is
  /// missing, else those whose list has it not.
  void gaps(const Node& node, std::string_view noun, std::string_view name, Words Engine::*list,
            bool is_of_missing) {
    for (const Engine& engine : engines) {
      if ((std::ranges::count(engine.*list, name) != 0) != is_of_missing) continue;
      add(engine.kind, node, std::string(engine.name) + " does not have", noun, name, {});
    }
  }

  /// Notes a fact, unless it is noted already.
  void add(RemarkKind kind, const Node& node, std::string_view begin, std::string_view noun,
           std::string_view name, const std::string& end) {
    std::string text(begin);
    text.append(" ").append(noun).append(" '").append(escape_shortened(name, 60)).append("'");
    text += end;
    if (!known_.emplace(kind, text).second) return;
    facts_.push_back({kind, node.place, std::move(text)});
  }

  const CompiledTemplate& compiled_;
  std::set<const Name*> guarded_;
  std::set<std::pair<RemarkKind, std::string>> known_;
  std::vector<Fact> facts_;
};

/// Longer ones are no tokens.
constexpr std::size_t max_token_bytes = 64;

/// More than any vocabulary has.
constexpr std::size_t max_control_texts = 10'000;

/// Whether something between plain brackets is a name, as in <end_of_turn> and [/INST].
bool is_name(std::string_view text) noexcept {
  if (text.starts_with('/')) text.remove_prefix(1);
  return !text.empty() && ingot::is_letter(text[0]) && std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-' || c == ':';
  });
}

/// Gathers what is written as control tokens are: <|...|>, with the bar of ASCII or a wide one, and
/// names in brackets.
class ControlTexts {
 public:
  void visit(const Node& node) {
    if (node.kind == NodeKind::text) {
      search(static_cast<const TextNode&>(node).text);
    } else if (node.kind == NodeKind::literal) {
      const Value& value = static_cast<const Literal&>(node).value;
      if (value.is_string()) search(value.text());
    }
    for_each_child(node, [&](const Node& child) { visit(child); });
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(found_); }

 private:
  void search(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> marks = {{
        {"<|", "|>"},
        {"<\xEF\xBD\x9C", "\xEF\xBD\x9C>"},
        {"<", ">"},
        {"[", "]"},
    }};
    for (const auto& [begin_mark, end_mark] : marks) {
      std::size_t end = 0;  // the next one: every end mark is looked for once
      for (std::size_t at = text.find(begin_mark); at != std::string_view::npos;
           at = text.find(begin_mark, at + 1)) {
        const std::size_t begin = at + begin_mark.size();
        if (end < begin) end = text.find(end_mark, begin);
        if (end == std::string_view::npos) break;
        const std::string_view token = text.substr(at, end + end_mark.size() - at);
        if (end == begin || token.size() > max_token_bytes) continue;
        const std::string_view name = text.substr(begin, end - begin);
        const bool is_token = begin_mark.size() == 1
                                  ? is_name(name)
                                  : name.find_first_of(" \t\r\n<") == std::string_view::npos;
        if (is_token) add(token);
      }
    }
  }

  void add(std::string_view token) {
    if (found_.size() == max_control_texts || !known_.emplace(token).second) return;
    found_.emplace_back(token);
  }

  std::vector<std::string> found_;
  std::set<std::string> known_;
};

}  // namespace
}  // namespace chat

std::vector<ChatRemark> lint_chat(const ChatTemplate& chat) {
  return chat::Linter(*chat.compiled_).run();
}

std::vector<std::string> control_texts(const ChatTemplate& chat) {
  chat::ControlTexts texts;
  for (const chat::Node* node : chat.compiled_->program.body) texts.visit(*node);
  return texts.take();
}

}  // namespace ingot

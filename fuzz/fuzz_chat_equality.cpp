// SPDX-License-Identifier: MIT
// Property: any template that the grammar makes can be read, and gives the text, the runs and the
// code of the same template in which every value takes a detour: through lists, objects, tuples,
// conditions, and every print through a block of its own. What is linted and profiled is no crash.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingot/chat.hpp"
#include "ingot/chat_profile.hpp"
#include "ingot/text.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Makes a template of decisions; twice alike but for the detours.
class Grammar {
 public:
  Grammar(const std::uint8_t* data, std::size_t size, bool is_slow)
      : data_(data), size_(size), is_slow_(is_slow) {}

  std::string body(unsigned depth) {
    std::string text;
    do {
      text += statement(depth);
    } while (size_ > 0 && below(4) != 0 && text.size() < max_bytes);
    return text;
  }

 private:
  static constexpr std::size_t max_bytes = 4096;

  unsigned below(unsigned count) {
    if (size_ == 0) return 0;
    --size_;
    return *data_++ % count;
  }

  template <std::size_t count>
  std::string pick(const std::array<std::string_view, count>& words) {
    return std::string(words[below(count)]);
  }

  std::string name() {
    return pick(std::array<std::string_view, 8>{"a", "b", "messages", "tools", "m", "text", "none",
                                                "missing"});
  }

  /// A value by a way around.
  std::string around(std::string value) {
    if (!is_slow_) return "(" + value + ")";
    constexpr std::array<std::array<std::string_view, 2>, 4> ways = {
        {{"[", "][0]"}, {"{'k': ", "}['k']"}, {"(", ", 0)[0]"}, {"((", ") if true else 0)"}}};
    const auto& way = ways[detour_++ % ways.size()];
    return std::string(way[0]) + value + std::string(way[1]);
  }

  std::string expression(unsigned depth) {
    if (depth == 0) return leaf();
    switch (below(9)) {
      case 0:
        return around(expression(depth - 1)) +
               pick(std::array<std::string_view, 10>{" + ", " ~ ", " * ", " - ", " // ", " % ",
                                                     " == ", " < ", " in ", " and "}) +
               around(expression(depth - 1));
      case 1:
        return around(expression(depth - 1)) +
               pick(std::array<std::string_view, 16>{
                   "|trim", "|upper", "|length", "|tojson", "|string", "|list", "|first", "|last",
                   "|join('-')", "|default('d')", "|items|list", "|reverse|list", "|sort",
                   "|replace('a', 'b')", "|int", "|title"});
      case 2:
        return around(around(expression(depth - 1)) +
                      pick(std::array<std::string_view, 7>{" is defined", " is string", " is none",
                                                           " is mapping", " is iterable",
                                                           " is number", " is not undefined"}));
      case 3:
        return around(expression(depth - 1)) +
               pick(std::array<std::string_view, 10>{".role", ".content", "[0]", "[-1]", "[1:]",
                                                     "[::-1]", ".strip()", ".split('a')",
                                                     ".startswith('<')", ".get('role')"});
      case 4:
        return "[" + expression(depth - 1) + ", " + expression(depth - 1) + "]";
      case 5:
        return "{'x': " + expression(depth - 1) + ", 'y': " + expression(depth - 1) + "}";
      case 6:
        return around(around(expression(depth - 1)) + " if " + around(expression(depth - 1)) +
                      " else " + around(expression(depth - 1)));
      case 7:
        return around("not " + around(expression(depth - 1)));
      default:
        return leaf();
    }
  }

  std::string leaf() {
    if (below(2) == 0) return name();
    return pick(std::array<std::string_view, 8>{"1", "-2", "0.5", "'a'", "'<|end|>'", "true",
                                                "[1, 2]", "' x\\n'"});
  }

  std::string print(const std::string& value) {
    if (!is_slow_) return "{{ " + value + " }}";
    return "{% set printed %}{{ " + value + " }}{% endset %}{{ printed }}";
  }

  std::string statement(unsigned depth) {
    switch (depth == 0 ? below(3) : below(8)) {
      case 0:
        return pick(std::array<std::string_view, 4>{"<|end|>", "text ", "x", "."});
      case 1:
        return print(expression(2));
      case 2:
        return "{% set " + pick(std::array<std::string_view, 2>{"a", "b"}) + " = " +
               around(expression(2)) + " %}";
      case 3:
        return "{% if " + around(expression(2)) + " %}" + body(depth - 1) + "{% else %}" +
               body(depth - 1) + "{% endif %}";
      case 4:
        return "{% for m in " + around(expression(1)) + " %}" + body(depth - 1) +
               print("loop.index") + "{% endfor %}";
      case 5:
        return "{% macro f(a) %}" + body(depth - 1) + "{% endmacro %}" +
               print("f(" + around(expression(1)) + ")");
      case 6:
        return "{% filter upper %}" + body(depth - 1) + "{% endfilter %}";
      default:
        return "{% generation %}" + body(depth - 1) + "{% endgeneration %}";
    }
  }

  const std::uint8_t* data_;
  std::size_t size_;
  bool is_slow_;
  unsigned detour_ = 0;
};

Result<ChatText> render(const std::string& source) {
  static const ChatValue messages =
      ChatValue::list({chat_message("system", "Be brief. <|end|>"), chat_message("user", "a b a")});
  const auto chat = ChatTemplate::make(source);
  if (!chat) {
    // The detours nest deeper, and too deep is the one thing that the grammar can get wrong.
    require(chat.error().detail.find("nested") != std::string::npos);
    return tl::make_unexpected(chat.error());
  }
  for (const ChatRemark& remark : lint_chat(*chat)) require(is_utf8(remark.text));
  require(control_texts(*chat).size() < source.size());
  ChatOptions options;
  options.limits.max_steps = 50'000;
  options.limits.max_output_bytes = 1u << 16;
  options.limits.max_memory_bytes = 1u << 22;
  options.variables = ChatValue::object({{"text", "input <|end|>"}});
  return chat->render(messages, ChatValue::list({"f"}), options);
}

bool is_same(const ChatText& a, const ChatText& b) {
  if (a.text != b.text || a.runs.size() != b.runs.size()) return false;
  for (std::size_t i = 0; i < a.runs.size(); ++i) {
    if (a.runs[i].size_bytes != b.runs[i].size_bytes || a.runs[i].is_input != b.runs[i].is_input ||
        a.runs[i].is_generated != b.runs[i].is_generated) {
      return false;
    }
  }
  return true;
}

bool is_limit(const Result<ChatText>& result) {
  return !result &&
         (result.error().code == Errc::limit_exceeded || result.error().code == Errc::chat_syntax);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string source = Grammar(data, size, false).body(3);
  const auto direct = render(source);
  const auto detour = render(Grammar(data, size, true).body(3));
  if (is_limit(direct) || is_limit(detour)) return 0;
  require(direct.has_value() == detour.has_value());
  if (direct) {
    require(is_same(*direct, *detour));
  } else {
    require(direct.error().code == detour.error().code);
  }
  if (size % 16 == 0) {
    const auto chat = ChatTemplate::make(source);
    if (chat) {
      const ChatProfile profile = profile_chat(*chat);
      require(!profile.failure || !name_of(ChatFeature::tools).empty());
    }
  }
  return 0;
}

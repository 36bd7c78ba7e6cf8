// SPDX-License-Identifier: MIT
#include "commands/chat_template/ollama_template.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/chat_profile.hpp>
#include <optional>
#include <utility>

#include "commands/chat_template/go_template.hpp"

namespace ingot::cli {
namespace {

using Messages = std::vector<GoMessage>;

// Texts that no template has.
constexpr const char* system_text = "zqSystemWord";
constexpr const char* question_1 = "zqFirstWord";
constexpr const char* answer = "zqAnswerWord";
constexpr const char* question_2 = "zqSecondWord";

/// The template of the model, as Ollama's engine uses prompts.
class Prompts {
 public:
  Prompts(const ChatTemplate& chat, std::string_view begin) : chat_(chat), begin_(begin) {}

  [[nodiscard]] std::optional<std::string> render(const Messages& messages,
                                                  bool wants_answer = true) const {
    ChatValue list = ChatValue::list();
    for (const GoMessage& message : messages) list.add(chat_message(message.role, message.content));
    ChatOptions options;
    options.add_generation_prompt = wants_answer;
    options.now = ChatTime{2025, 7, 4, 5, 6, 7};
    options.limits.max_steps = 200'000;  // fifty times what real templates take
    const Result<ChatText> text = chat_.render(list, {}, options);
    if (!text) return std::nullopt;
    return text->text.substr(text->text.starts_with(begin_) ? begin_.size() : 0);
  }

 private:
  const ChatTemplate& chat_;
  std::string_view begin_;
};

/// A part of a text that begins and ends with known words, or nothing.
std::optional<std::string> between(std::string_view text, std::string_view before,
                                   std::string_view after) {
  const std::size_t begin = before.empty() ? 0 : text.find(before);
  if (begin == text.npos) return std::nullopt;
  text.remove_prefix(begin + before.size());
  const std::size_t end = after.empty() ? text.size() : text.find(after);
  if (end == text.npos) return std::nullopt;
  return std::string(text.substr(0, end));
}

/// Where the text of the system is, or would be: before all messages, in the first question or the
/// last one.
enum class SystemPlace : std::uint8_t { head, first, last };

/// The words of a template around the messages.
struct Words {
  std::string head;  ///< Before the first question, if there is no text of the system.
  std::string system_before;
  std::string system_after;
  std::string question_before;  ///< Of every question but, it may be, the first.
  std::string question_after;
  std::string answer_before;
  std::string answer_after;
  std::string prompt;  ///< Behind the last question, for the answer.
  SystemPlace place = SystemPlace::head;
  bool has_system = false;
};

/// Cuts `end` off a text; false if it ends with something else.
bool cut_end(std::string& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.resize(text.size() - end.size());
  return true;
}

/// Finds the text of the system, and with it whether the words before all messages are apart.
bool find_system(const Prompts& prompts, Words& words) {
  const std::string first = words.head;  // all that stands before the first question
  const bool is_apart = cut_end(words.head, words.question_before);
  words.place = is_apart ? SystemPlace::head : SystemPlace::first;
  const auto guided = prompts.render(
      {{"system", system_text}, {"user", question_1}, {"assistant", answer}, {"user", question_2}});
  if (!guided || guided->find(system_text) == guided->npos) return true;
  words.has_system = true;
  if (guided->find(system_text) > guided->find(answer)) {
    const auto before = between(*guided, answer, system_text);
    const auto after = between(*guided, system_text, question_2);
    const std::string usual = words.answer_after + words.question_before;
    if (!is_apart || !after || !before->starts_with(usual)) return false;
    words.place = SystemPlace::last;
    words.system_before = before->substr(usual.size());
    words.system_after = *after;
    return true;
  }
  const auto before = between(*guided, {}, system_text);
  const auto after = between(*guided, system_text, question_1);
  if (!before || !after) return false;
  words.system_before = *before;
  words.system_after = *after;
  if (is_apart && cut_end(words.system_after, words.question_before)) return true;
  words.place = SystemPlace::first;
  words.head = first;
  return true;
}

std::optional<Words> find_words(const Prompts& prompts) {
  const Messages question = {{"user", question_1}};
  const Messages talk = {{"user", question_1}, {"assistant", answer}, {"user", question_2}};
  const auto text = prompts.render(talk);
  if (!text) return std::nullopt;
  const auto head = between(*text, {}, question_1);
  const auto to_answer = between(*text, question_1, answer);
  const auto to_question = between(*text, answer, question_2);
  const auto rest = between(*text, question_2, {});
  if (!head || !to_answer || !to_question || !rest) return std::nullopt;

  Words words;
  words.head = *head;
  // A prompt that asks for no answer ends with what belongs to its last message alone.
  const auto asked = prompts.render(question, false);
  const auto end = asked ? between(*asked, question_1, {}) : std::nullopt;
  if (end && to_answer->starts_with(*end) && rest->starts_with(*end)) {
    words.question_after = *end;
  } else {
    const auto same = std::ranges::mismatch(*to_answer, *rest).in1;
    words.question_after = std::string(to_answer->begin(), same);
  }
  words.answer_before = to_answer->substr(words.question_after.size());
  words.prompt = rest->substr(words.question_after.size());
  const auto answered = prompts.render({question[0], {"assistant", answer}}, false);
  const auto answer_end = answered ? between(*answered, answer, {}) : std::nullopt;
  if (answer_end && to_question->starts_with(*answer_end)) words.answer_after = *answer_end;
  words.question_before = to_question->substr(words.answer_after.size());
  if (!find_system(prompts, words)) return std::nullopt;
  return words;
}

std::string write(const Words& words) {
  const auto quoted = [](const std::string& text) { return quote_for_go(text); };
  std::string system;
  if (words.has_system) {
    system = fmt::format("{{{{ if $.System }}}}{}{{{{ $.System }}}}{}", quoted(words.system_before),
                         quoted(words.system_after));
    if (!words.head.empty()) system += "{{ else }}" + quoted(words.head);
    system += "{{ end }}";
  } else {
    system = quoted(words.head);
  }
  std::string before = quoted(words.question_before);
  if (words.place == SystemPlace::first) {
    before = "{{ if $first }}{{ $first = false }}" + system + "{{ else }}" + before + "{{ end }}";
    system = "{{ $first := true }}";
  } else if (words.place == SystemPlace::last) {
    before += "{{ if eq (len (slice $.Messages $i)) 1 }}" + system + "{{ end }}";
    system.clear();
  }
  return fmt::format(
      "{}{{{{ range $i, $_ := .Messages }}}}"
      "{{{{ if eq .Role \"user\" }}}}{}{{{{ .Content }}}}{}"
      "{{{{ else if eq .Role \"assistant\" }}}}{}{{{{ .Content }}}}{}{{{{ end }}}}{{{{ end }}}}{}",
      system, before, quoted(words.question_after), quoted(words.answer_before),
      quoted(words.answer_after), quoted(words.prompt));
}

/// Conversations of up to three questions, with a text of the system and without, in which every
/// message is another one of `texts`.
std::vector<Messages> conversations(std::span<const char* const> texts) {
  std::vector<Messages> all;
  for (const bool has_system : {false, true}) {
    for (std::size_t answers = 0; answers < 3; ++answers) {
      Messages messages;
      const auto add = [&](std::string_view role) {
        messages.push_back({role, texts[(messages.size() + answers) % texts.size()]});
      };
      if (has_system) add("system");
      for (std::size_t i = 0; i < answers; ++i) {
        add("user");
        add("assistant");
      }
      add("user");
      all.push_back(std::move(messages));
    }
  }
  return all;
}

/// What a conversation is, for messages.
std::string describe(const Messages& messages) {
  const bool has_system = messages[0].role == "system";
  const std::size_t questions = (messages.size() - (has_system ? 1 : 0) + 1) / 2;
  return fmt::format("{} question{} {} a system message", questions, questions == 1 ? "" : "s",
                     has_system ? "after" : "without");
}

}  // namespace

tl::expected<OllamaTemplate, std::string> write_ollama_template(const ChatTemplate& chat,
                                                                std::string_view begin) {
  const auto refuse = [](std::string why) { return tl::make_unexpected(std::move(why)); };
  const ChatProfile profile = profile_chat(chat);
  if (profile.failure) return refuse("the template renders no plain conversation");
  if (profile.depends_on_date) {
    return refuse("the template prints today's date, for which that language has no word");
  }
  const Prompts prompts(chat, begin);
  const std::optional<Words> words = find_words(prompts);
  if (!words) return refuse("the template changes the messages or their order");
  OllamaTemplate result;
  result.source = write(*words);
  if (result.source.find("\"\"\"") != result.source.npos) {
    return refuse("the template has three quotation marks in a row, which end a text there");
  }

  constexpr const char* plain[] = {"What is 2 + 2?",
                                   "Two lines\n\nand {{ .System }} \"quoted\" <b>",
                                   "\xC3\xA9t\xC3\xA9 \xE4\xB8\xAD", "4."};
  for (const Messages& messages : conversations(plain)) {
    const auto wanted = prompts.render(messages);
    if (!wanted && messages[0].role == "system") {
      if (result.left_out.empty()) result.left_out.emplace_back("the refusal of system messages");
      continue;
    }
    if (wanted != render_go(result.source, messages)) {
      return refuse("what it makes of " + describe(messages) +
                    " cannot be said in that language, or not by this program");
    }
  }
  constexpr const char* blanks[] = {" between blanks\n"};
  for (const Messages& messages : conversations(blanks)) {
    const auto wanted = prompts.render(messages);
    if (wanted && wanted != render_go(result.source, messages)) result.keeps_blanks = true;
  }
  for (const ChatFeature feature :
       {ChatFeature::tools, ChatFeature::thinking, ChatFeature::images, ChatFeature::documents}) {
    if (profile.supports(feature)) result.left_out.emplace_back(name_of(feature));
  }
  return result;
}

}  // namespace ingot::cli

// SPDX-License-Identifier: MIT
#include "ingot/chat_profile.hpp"

#include <algorithm>
#include <utility>

namespace ingot {
namespace {

constexpr std::array<std::string_view, chat_feature_count> feature_names = {
#define INGOT_CHAT_FEATURE(enumerator, name, description) name,
#include "ingot/chat_features.def"
};

struct PromptFormat {
  std::string_view name;
  std::string_view before;   ///< Ends the text before a question.
  std::string_view between;  ///< Begins the text between the question and the answer.
  std::string_view after;    ///< Begins the text after the answer.
  std::string_view mark;     ///< Is in the source.
};

constexpr PromptFormat prompt_formats[] = {
#define INGOT_PROMPT_FORMAT(name, before, between, after, mark) \
  {name, before, between, after, mark},
#include "ingot/prompt_formats.def"
};

// Texts that no template has.
constexpr std::string_view system_text = "zqSystemWord";
constexpr std::string_view question = "zqQuestionWord";
constexpr std::string_view second_question = "zqSecondWord";
constexpr std::string_view answer = "zqAnswerWord";
constexpr std::string_view thought = "zqThoughtWord";
constexpr std::string_view tool_name = "zq_tool_word";
constexpr std::string_view tool_answer = "zqToolAnswer";
constexpr std::string_view document_text = "zqDocumentWord";

ChatValue user(std::string_view text) { return chat_message("user", text); }
ChatValue assistant(std::string_view text) { return chat_message("assistant", text); }

ChatValue tools() {
  const ChatValue property = ChatValue::object({{"type", "string"}, {"description", "A place."}});
  const ChatValue parameters =
      ChatValue::object({{"type", "object"},
                         {"properties", ChatValue::object({{"place", property}})},
                         {"required", ChatValue::list({"place"})}});
  const ChatValue function = ChatValue::object(
      {{"name", tool_name}, {"description", "Looks it up."}, {"parameters", parameters}});
  return ChatValue::list({ChatValue::object({{"type", "function"}, {"function", function}})});
}

/// An assistant's message that calls the tool. Some templates want the arguments as an object, some
/// as text.
ChatValue call_message(bool has_text_arguments, ChatValue content) {
  const ChatValue arguments = has_text_arguments ? ChatValue("{\"place\": \"Oslo\"}")
                                                 : ChatValue::object({{"place", "Oslo"}});
  const ChatValue function = ChatValue::object({{"name", tool_name}, {"arguments", arguments}});
  // Nine characters: what the strictest of templates ask for.
  const ChatValue call =
      ChatValue::object({{"id", "call00001"}, {"type", "function"}, {"function", function}});
  ChatValue message = chat_message("assistant", std::move(content));
  message.add("tool_calls", ChatValue::list({call}));
  return message;
}

ChatValue tool_message() {
  ChatValue message = chat_message("tool", tool_answer);
  message.add("tool_call_id", "call00001").add("name", tool_name);
  return message;
}

/// A user's message of parts; `image` is none, or the part before the text.
ChatValue parts_message(ChatValue image) {
  ChatValue parts = ChatValue::list();
  if (image.kind() != ChatValue::Kind::none) parts.add(std::move(image));
  parts.add(ChatValue::object({{"type", "text"}, {"text", question}}));
  return chat_message("user", std::move(parts));
}

bool contains(const std::optional<std::string>& text, std::string_view part) {
  return text && text->find(part) != std::string::npos;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// The name of the format that a conversation of question, answer and question is in; or empty.
std::string_view find_format(std::string_view talk, std::string_view source) {
  const std::size_t question_at = talk.find(question);
  const std::size_t answer_at = talk.find(answer);
  if (question_at == talk.npos || answer_at == talk.npos || answer_at < question_at) return {};
  const std::string_view before = talk.substr(0, question_at);
  const std::size_t question_end = question_at + question.size();
  const std::string_view between = talk.substr(question_end, answer_at - question_end);
  const std::string_view after = talk.substr(answer_at + answer.size());
  const auto* format = std::ranges::find_if(prompt_formats, [&](const PromptFormat& row) {
    return before.ends_with(row.before) && between.starts_with(row.between) &&
           after.starts_with(row.after) && source.find(row.mark) != source.npos;
  });
  return format == std::end(prompt_formats) ? std::string_view() : format->name;
}

class Prober {
 public:
  explicit Prober(const ChatTemplate& chat) : chat_(chat) {
    options_.now = default_time;
    options_.limits = limits;
  }

  ChatProfile run() {
    find_text();
    // A template for tools need not render without them; the default one has to.
    if (profile_.failure && !chat_.name().empty()) {
      gives_tools_ = true;
      const bool reached_limit = profile_.reached_limit;
      profile_ = {};
      profile_.reached_limit = reached_limit;
      find_text();
    }
    if (profile_.failure) return std::move(profile_);
    find_refusals();
    find_answer();
    find_tools();
    find_parts();
    set(ChatFeature::thinking, has_thinking());
    set(ChatFeature::images, has_images());
    const ChatValue document =
        ChatValue::object({{"title", "zq"}, {"text", document_text}, {"content", document_text}});
    set(ChatFeature::documents,
        contains(render({user(question)},
                        ChatValue::object({{"documents", ChatValue::list({document})}})),
                 document_text));
    return std::move(profile_);
  }

 private:
  using Messages = std::initializer_list<ChatValue>;
  static constexpr ChatTime default_time{2025, 7, 4, 5, 6, 7};
  /// The limits of one conversation. Real templates take less than a quarter of each.
  static constexpr ChatLimits limits = {.max_steps = 20'000,
                                        .max_output_bytes = std::uint64_t{1} << 20,
                                        .max_memory_bytes = std::uint64_t{4} << 20};

  [[nodiscard]] static bool is_limit(const Error& error) {
    return error.code == Errc::limit_exceeded;
  }

  std::optional<std::string> render(Messages messages, ChatValue variables = {}) {
    if (gives_tools_ && variables.find("tools") == nullptr) variables.add("tools", tools());
    options_.variables = std::move(variables);
    Result<ChatText> result = chat_.render(ChatValue::list(messages), {}, options_);
    if (result) return std::move(result->text);
    error_ = std::move(result.error());
    profile_.reached_limit = profile_.reached_limit || is_limit(*error_);
    return std::nullopt;
  }

  std::optional<std::string> render_without_prompt(Messages messages) {
    return render(messages, ChatValue::object({{"add_generation_prompt", false}}));
  }

  void set(ChatFeature feature, bool is_supported) {
    profile_.features[static_cast<std::size_t>(feature)] = is_supported;
  }

  /// Whether plain conversations render, and with their texts.
  void find_text() {
    const auto alone = render({user(question)});
    const std::optional<Error> failure = error_;
    const auto talk = render({user(question), assistant(answer), user(second_question)});
    const auto guided = render({chat_message("system", system_text), user(question)});
    if (!alone && !talk && !guided) {
      profile_.failure = failure;
      return;
    }
    set(ChatFeature::system, contains(guided, system_text));
    profile_.prompt = alone ? *alone : talk ? *talk : *guided;
    if (alone && contains(talk, answer)) {
      const std::string_view next = *talk;
      const std::string_view begin = next.substr(0, next.find(answer));
      profile_.keeps_beginning = begin.starts_with(*alone) && is_blank(begin.substr(alone->size()));
    }
    if (talk) profile_.format = find_format(*talk, chat_.source());
    profile_.drops_system = guided && !contains(guided, system_text);
    profile_.keeps_text = contains(profile_.prompt, question) &&
                          (!talk || (contains(talk, answer) && contains(talk, second_question)));
  }

  /// Finds which plain conversations fail, and whether the day decides what is in a prompt.
  void find_refusals() {
    try_conversation("a single message of the user", true, {user(question)});
    try_conversation("a conversation of three messages", true,
                     {user(question), assistant(answer), user(second_question)});
    try_conversation("a system message", true,
                     {chat_message("system", system_text), user(question)});
    try_conversation("a second message of the user in a row", false,
                     {user(question), user(second_question)});
    try_conversation("a conversation that the assistant begins", false,
                     {assistant(answer), user(question)});
    const auto today = render({user(question)});
    options_.now = ChatTime{2031, 12, 24, 17, 8, 9};
    const auto later = render({user(question)});
    options_.now = default_time;
    profile_.depends_on_date = today && later && *today != *later;
  }

  void try_conversation(std::string_view conversation, bool is_plain, Messages messages) {
    if (render(messages) || is_limit(*error_)) return;
    profile_.refusals.push_back({conversation, error_->detail, error_->code, is_plain});
  }

  /// What stands before and after an answer.
  void find_answer() {
    const auto before = render_without_prompt({user(question)});
    const auto after = render_without_prompt({user(question), assistant(answer)});
    if (!before || !after) return;
    const std::size_t place = after->find(answer);
    if (place == std::string::npos) return;
    profile_.answer_end = after->substr(place + answer.size());
    if (!after->starts_with(*before) || place < before->size()) return;
    profile_.answer_begin = after->substr(before->size(), place - before->size());
    profile_.lacks_generation_prompt =
        profile_.prompt == *before && !is_blank(profile_.answer_begin);
  }

  void find_tools() {
    const ChatValue with_tools = ChatValue::object({{"tools", tools()}});
    set(ChatFeature::tools, contains(render({user(question)}, with_tools), tool_name));
    std::array<bool, 2> renders_calls = {};
    for (const bool has_text_arguments : {false, true}) {
      for (const ChatValue& content : {ChatValue(""), ChatValue()}) {
        const auto text =
            render({user(question), call_message(has_text_arguments, content), tool_message()},
                   with_tools);
        const auto plain =
            render({user(question), call_message(has_text_arguments, content), tool_message()});
        // The name of the tool is also where tools are listed.
        if (contains(plain, tool_name) || contains(text, "Oslo")) {
          set(ChatFeature::tool_calls, true);
        }
        // Text that is written as JSON once more, or an object as Python prints it, is no call.
        if (contains(text, "Oslo") && !contains(text, "\\\"Oslo") && !contains(text, "'Oslo'")) {
          renders_calls[has_text_arguments ? 1 : 0] = true;
        }
        if (contains(text, tool_answer) || contains(plain, tool_answer)) {
          set(ChatFeature::tool_results, true);
        }
      }
    }
    if (renders_calls[0] != renders_calls[1]) {
      profile_.arguments = renders_calls[0] ? ChatArguments::object : ChatArguments::text;
    }
  }

  [[nodiscard]] bool has_thinking() {
    ChatValue message = assistant(answer);
    message.add("reasoning_content", thought);
    if (contains(render_without_prompt({user(question), message}), thought)) return true;
    if (contains(profile_.prompt, "<think")) return true;
    for (const char* variable : {"enable_thinking", "thinking"}) {
      const auto on = render({user(question)}, ChatValue::object({{variable, true}}));
      const auto off = render({user(question)}, ChatValue::object({{variable, false}}));
      if (on && off && *on != *off) return true;
    }
    return false;
  }

  void find_parts() {
    const auto text = render({parts_message({})});
    if (!text && is_limit(*error_)) return;
    if (!text) {
      profile_.parts_problem = "it fails: " + error_->detail;
    } else if (!contains(text, question)) {
      profile_.parts_problem = "its text is not in the prompt";
    } else if (is_list(text)) {
      profile_.parts_problem = "it is printed as the list that it is";
    }
    set(ChatFeature::parts, profile_.parts_problem.empty());
    profile_.needs_parts = profile_.parts_problem.empty() && !profile_.keeps_text;
  }

  /// Whether a message of parts is printed as the list that it is.
  [[nodiscard]] static bool is_list(const std::optional<std::string>& text) {
    return contains(text, "'type'") || contains(text, "\"type\"");
  }

  [[nodiscard]] bool has_images() {
    const auto plain = render({parts_message({})});
    const ChatValue images[] = {
        ChatValue::object({{"type", "image"}, {"image", "zq"}}),
        ChatValue::object(
            {{"type", "image_url"}, {"image_url", ChatValue::object({{"url", "zq"}})}})};
    for (const ChatValue& image : images) {
      const auto text = render({parts_message(image)});
      if (contains(text, question) && !is_list(text) && text != plain) return true;
    }
    return false;
  }

  const ChatTemplate& chat_;
  ChatOptions options_;
  ChatProfile profile_;
  std::optional<Error> error_;
  bool gives_tools_ = false;  // in every conversation
};

}  // namespace

std::string_view name_of(ChatFeature feature) noexcept {
  return feature_names[static_cast<std::size_t>(feature)];
}

ChatProfile profile_chat(const ChatTemplate& chat) { return Prober(chat).run(); }

}  // namespace ingot

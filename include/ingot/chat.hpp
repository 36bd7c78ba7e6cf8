// SPDX-License-Identifier: MIT
// Turns the messages of a conversation into the prompt that a model was trained on.
//
//   const auto model = ingot::Model::open("model.gguf");
//   const auto chat = ingot::ChatTemplate::make(*model);
//   const auto messages = ingot::ChatValue::list({
//       ingot::chat_message("system", "Be brief."),
//       ingot::chat_message("user", "What is 2 + 2?"),
//   });
//   const auto prompt = chat->render(messages);
//   if (!prompt) return report(ingot::chat_error_text(prompt.error()));
//   tokenize(prompt->text);
//
// A model file holds its template as the source of a program in the language Jinja. Here it runs as
// in Hugging Face's `apply_chat_template`, to the byte, in a sandbox: it reaches no file, no
// network and no memory but its own, and stops at the limits that the caller sets.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot {

class ChatTemplate;
class Model;
struct ChatRemark;

[[nodiscard]] INGOT_EXPORT std::vector<ChatRemark> lint_chat(const ChatTemplate& chat);
[[nodiscard]] INGOT_EXPORT std::vector<std::string> control_texts(const ChatTemplate& chat);

/// A member of an object.
template <class Content>
struct ChatMember {
  std::string name;
  Content value;
};

/// A value that is handed to a template: any JSON value. Objects keep the order of their
/// members. A plain value type: copies are deep.
class INGOT_EXPORT ChatValue {
 public:
  enum class Kind : std::uint8_t { none, boolean, integer, digits, real, string, list, object };
  using Member = ChatMember<ChatValue>;
  using List = std::vector<ChatValue>;
  using Object = std::vector<Member>;
  /// An integer beyond 64 bits, as text. A template can print and compare it, and not calculate.
  struct Digits {
    std::string text;
  };

  ChatValue() = default;  ///< none
  ChatValue(std::nullptr_t) {}
  ChatValue(bool boolean) : content_(boolean) {}
  ChatValue(double real) : content_(real) {}
  ChatValue(std::string text) : content_(std::move(text)) {}
  ChatValue(std::string_view text) : content_(std::string(text)) {}
  ChatValue(const char* text) : content_(std::string(text)) {}
  ChatValue(Digits digits) : content_(std::move(digits)) {}
  /// Any integer type; above 2^63 - 1 it becomes digits.
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char>)
      ChatValue(Integer integer) {
    if (std::in_range<std::int64_t>(integer)) {
      content_ = static_cast<std::int64_t>(integer);
    } else {
      content_ = Digits{std::to_string(integer)};
    }
  }

  [[nodiscard]] static ChatValue list(std::initializer_list<ChatValue> elements = {});
  [[nodiscard]] static ChatValue object(std::initializer_list<Member> members = {});

  /// Appends to a list; an empty value (`none`) becomes a list first. No effect on other kinds.
  ChatValue& add(ChatValue element);
  /// Appends to an object; an empty value (`none`) becomes an object first. No effect on other
  /// kinds. If a name is added twice, the last value takes the first place.
  ChatValue& add(std::string name, ChatValue value);

  [[nodiscard]] Kind kind() const noexcept { return static_cast<Kind>(content_.index()); }
  [[nodiscard]] const bool* boolean() const noexcept { return std::get_if<bool>(&content_); }
  [[nodiscard]] const std::int64_t* integer() const noexcept {
    return std::get_if<std::int64_t>(&content_);
  }
  [[nodiscard]] const Digits* digits() const noexcept { return std::get_if<Digits>(&content_); }
  [[nodiscard]] const double* real() const noexcept { return std::get_if<double>(&content_); }
  [[nodiscard]] const std::string* string() const noexcept {
    return std::get_if<std::string>(&content_);
  }
  [[nodiscard]] const List* elements() const noexcept { return std::get_if<List>(&content_); }
  [[nodiscard]] const Object* members() const noexcept { return std::get_if<Object>(&content_); }

  /// The member of an object with a name (the last one); null if there is none. O(members).
  [[nodiscard]] const ChatValue* find(std::string_view name) const noexcept;

 private:
  std::variant<std::monostate, bool, std::int64_t, Digits, double, std::string, List, Object>
      content_;
};

/// `{"role": role, "content": content}`
[[nodiscard]] INGOT_EXPORT ChatValue chat_message(std::string_view role, ChatValue content);

/// What stands for an image, a sound or a video in a text (mtmd_default_marker of llama.cpp).
inline constexpr std::string_view media_marker = "<__media__>";

/// Whether the content of a message is a list of parts. `messages` is a list of messages, or an
/// object of variables with one.
[[nodiscard]] INGOT_EXPORT bool has_parts(const ChatValue& messages);

/// The messages with a text in the place of each list of parts, as llama.cpp makes it: texts on
/// lines of their own, and `media_marker` without a line break for each image, sound and video.
/// Parts of other kinds are left out.
[[nodiscard]] INGOT_EXPORT ChatValue join_parts(const ChatValue& messages);

/// The resources that a template may use. Beyond a limit rendering fails with Errc::limit_exceeded.
struct ChatLimits {
  std::uint64_t max_source_bytes = std::uint64_t{1} << 20;  ///< limit of `make`
  std::uint32_t max_nesting = 200;                          ///< nesting of statements and
                                                            ///< expressions
  std::uint64_t max_steps = 10'000'000;                     ///< about one per operation
  std::uint32_t max_depth = 200;                            ///< macros that call one another
  std::uint64_t max_output_bytes = std::uint64_t{64} << 20;
  std::uint64_t max_string_bytes = std::uint64_t{16} << 20;   ///< limit of one string value; at
                                                              ///< most 1 GiB
  std::uint64_t max_elements = 1'000'000;                     ///< limit of one list or object
  std::uint64_t max_range = 100'000;                          ///< limit of `range`
  std::uint64_t max_memory_bytes = std::uint64_t{256} << 20;  ///< limit of all values of one
                                                              ///< rendering
};

/// A local time, for templates that print the date.
struct ChatTime {
  int year = 1970;
  int month = 1;  ///< counted from 1
  int day = 1;    ///< counted from 1
  int hour = 0;
  int minute = 0;
  int second = 0;
};

/// "2025-07-04T05:06:07" or "2025-07-04". Errc::invalid_argument for other texts.
[[nodiscard]] INGOT_EXPORT Result<ChatTime> parse_chat_time(std::string_view text);

struct ChatOptions {
  bool add_generation_prompt = true;  ///< The prompt ends with the beginning of the assistant's
                                      ///< answer.
  /// An object of further variables: `documents`, `enable_thinking`, `date_string`, ... They go
  /// before all others of the same name.
  ChatValue variables = {};
  std::optional<ChatTime> now = {};  ///< The template's present time; default: the clock.
  ChatLimits limits = {};
  /// Allows `append` and `pop` on lists that the template made itself. Hugging Face refuses them.
  bool is_lenient = false;
};

/// A stretch of the text. Runs cover it without gaps, in order; neighbours differ.
struct ChatRun {
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
  /// It came from an input (a message, a tool) and not from the template: a `<|im_end|>` in it must
  /// not become a control token.
  bool is_input = false;
  bool is_generated = false;  ///< The run is inside of {% generation %}: the assistant wrote it.
};

struct ChatText {
  std::string text;  ///< UTF-8, if template and inputs are.
  std::vector<ChatRun> runs;
};

/// The error of a template for people: `error.message()` or, where the error has an excerpt, its
/// line with a mark below the place, and the macros that led there: several lines, the last without
/// a line end. Safe to print: control characters are escaped.
[[nodiscard]] INGOT_EXPORT std::string chat_error_text(const Error& error);

using ChatError [[deprecated("it is an Error")]] = Error;
template <class T>
using ChatResult [[deprecated("it is a Result")]] = Result<T>;

namespace chat {
struct CompiledTemplate;
class Render;
}  // namespace chat

/// A template that was read once and can be rendered any number of times, by many threads at once.
/// Copies share it.
///
/// An error has Errc::chat_syntax, chat_raised (the template refuses the conversation),
/// chat_undefined, chat_security, chat_failed or limit_exceeded, with the line, the column and an
/// excerpt; its detail is the reason, for chat_raised exactly the template's own words, its subject
/// the template's name.
class INGOT_EXPORT ChatTemplate {
 public:
  /// Reads the source of a template. O(size), a few microseconds per KiB.
  [[nodiscard]] static Result<ChatTemplate> make(std::string source, std::string name = {},
                                                 const ChatLimits& limits = {});

  /// The template of a model: the default one, or `tokenizer.chat_template.NAME`. The text of the
  /// model's special tokens becomes the variables `bos_token`, `eos_token` and so on.
  [[nodiscard]] static Result<ChatTemplate> make(const Model& model, std::string_view name = {},
                                                 const ChatLimits& limits = {});

  /// A template from elsewhere for a model, whose special tokens become variables.
  [[nodiscard]] static Result<ChatTemplate> make(const Model& model, std::string source,
                                                 std::string name, const ChatLimits& limits = {});

  /// Renders a conversation.
  ///
  /// @param messages  a list of objects with `role` and `content`.
  /// @param tools     a list of objects; none: no tools.
  ///
  /// Thread-safe. The stack of the calling thread needs 4 MiB for hostile templates; real ones take
  /// less than 64 KiB.
  [[nodiscard]] Result<ChatText> render(const ChatValue& messages, const ChatValue& tools = {},
                                        const ChatOptions& options = {}) const;

  /// Renders with exactly the variables of an object, those of `options`, and the model's special
  /// tokens: no other default of any kind, `messages` included.
  [[nodiscard]] Result<ChatText> render_variables(const ChatValue& variables,
                                                  const ChatOptions& options = {}) const;

  [[nodiscard]] std::string_view name() const noexcept;
  /// The text that `make` was given.
  [[nodiscard]] std::string_view source() const noexcept;
  /// Variables that the template reads and does not set itself, in order of appearance.
  [[nodiscard]] std::vector<std::string> variables() const;

 private:
  explicit ChatTemplate(std::shared_ptr<const chat::CompiledTemplate> compiled);
  static Result<ChatTemplate> make_from(const std::shared_ptr<chat::CompiledTemplate>& compiled,
                                        const ChatLimits& limits);
  friend std::vector<ChatRemark> lint_chat(const ChatTemplate& chat);
  friend std::vector<std::string> control_texts(const ChatTemplate& chat);
  [[nodiscard]] Result<ChatText> finish(chat::Render& render, const ChatOptions& options) const;

  std::shared_ptr<const chat::CompiledTemplate> compiled_;
};

/// The names of a model's templates, in the order of its keys; the default one is "".
[[nodiscard]] INGOT_EXPORT std::vector<std::string> chat_template_names(const Model& model);

/// The key of a template: `tokenizer.chat_template`, or `tokenizer.chat_template.NAME`.
[[nodiscard]] INGOT_EXPORT std::string chat_template_key(std::string_view name = {});

}  // namespace ingot

// SPDX-License-Identifier: MIT
#include "commands/chat_template/go_template.hpp"

namespace ingot::cli {
namespace {

/// Runs a template while it reads it. What does not count is read, too, without an effect.
class GoRenderer {
 public:
  GoRenderer(std::string_view source, std::span<const GoMessage> messages)
      : source_(source), messages_(messages) {
    if (!messages.empty() && messages[0].role == "system") system_ = messages[0].content;
  }

  std::optional<std::string> run() {
    const std::string_view ending = run_block(true);
    if (!ending.empty() || !is_known_) return std::nullopt;
    return std::move(text_);
  }

 private:
  /// Runs up to the action that ends a block, and returns that; at the end of the source, nothing.
  std::string_view run_block(bool counts) {
    while (is_known_) {
      const std::size_t open = source_.find("{{", at_);
      if (counts) text_ += source_.substr(at_, open - at_);
      if (open == source_.npos) break;
      const std::size_t close = source_.find("}}", open);
      if (close == source_.npos) return fail();
      at_ = close + 2;
      std::string_view action = source_.substr(open + 2, close - open - 2);
      if (!action.starts_with(' ') || !action.ends_with(' ')) return fail();
      action = action.substr(1, action.size() - 2);
      if (action == "end" || action.starts_with("else")) return action;
      if (action.starts_with("if ")) {
        run_choice(action.substr(3), counts);
      } else if (action == "range $i, $_ := .Messages") {
        run_messages(counts);
      } else if (counts) {
        run_action(action);
      }
    }
    at_ = source_.size();
    return {};
  }

  void run_choice(std::string_view condition, bool counts) {
    bool is_decided = false;
    while (is_known_) {
      const bool is_chosen = !is_decided && is_true(condition);
      const std::string_view ending = run_block(counts && is_chosen);
      is_decided = is_decided || is_chosen;
      if (ending == "end") return;
      if (ending == "else") {
        condition = "true";
      } else if (ending.starts_with("else if ")) {
        condition = ending.substr(8);
      } else {
        fail();
      }
    }
  }

  void run_messages(bool counts) {
    const std::size_t body = at_;
    for (place_ = 0; place_ < messages_.size() && is_known_; ++place_) {
      at_ = body;
      if (run_block(counts) != "end") fail();
    }
  }

  [[nodiscard]] bool is_true(std::string_view condition) {
    if (condition == "true") return true;
    if (condition == "$.System") return !system_.empty();
    if (condition == "$first") return is_first_;
    if (condition == "eq (len (slice $.Messages $i)) 1") return place_ + 1 == messages_.size();
    if (condition == "eq .Role \"user\"") return role() == "user";
    if (condition == "eq .Role \"assistant\"") return role() == "assistant";
    fail();
    return false;
  }

  void run_action(std::string_view action) {
    if (action == "$.System") {
      text_ += system_;
    } else if (action == ".Content" && place_ < messages_.size()) {
      text_ += messages_[place_].content;
    } else if (action == "\"{\"") {
      text_ += '{';
    } else if (action == "$first := true" || action == "$first = false") {
      is_first_ = action.ends_with("true");
    } else {
      fail();
    }
  }

  [[nodiscard]] std::string_view role() const {
    return place_ < messages_.size() ? messages_[place_].role : std::string_view();
  }

  std::string_view fail() {
    is_known_ = false;
    return {};
  }

  std::string_view source_;
  std::span<const GoMessage> messages_;
  std::string_view system_;
  std::string text_;
  std::size_t at_ = 0;     // in the source
  std::size_t place_ = 0;  // of the message
  bool is_first_ = false;
  bool is_known_ = true;
};

}  // namespace

std::optional<std::string> render_go(std::string_view source, std::span<const GoMessage> messages) {
  return GoRenderer(source, messages).run();
}

std::string quote_for_go(std::string_view text) {
  std::string quoted;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // Two of them begin an action, also where the second one is that of the action behind the text.
    const bool begins_action = text[i] == '{' && (i + 1 == text.size() || text[i + 1] == '{');
    quoted += begins_action ? std::string_view("{{ \"{\" }}") : text.substr(i, 1);
  }
  return quoted;
}

}  // namespace ingot::cli

// SPDX-License-Identifier: MIT
#include <yaml.h>

#include <optional>
#include <utility>

#include "huggingface/import/general/card_parser.hpp"

namespace ingot::huggingface {
namespace {

CardValue scalar(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
  CardValue value;
  const bool is_plain = scalar.style == YAML_PLAIN_SCALAR_STYLE && scalar.tag == nullptr;
  if (is_plain && is_null(text)) return value;
  value.kind = CardValue::Kind::text;
  value.text = text;
  return value;
}

/// An event of the parser, which owns memory.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event_); }

  [[nodiscard]] bool next(yaml_parser_t& parser) {
    yaml_event_delete(&event_);
    return yaml_parser_parse(&parser, &event_) != 0;
  }
  [[nodiscard]] const yaml_event_t& operator*() const { return event_; }
  [[nodiscard]] const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_ = {};
};

/// Builds the value of one document from the events of the parser.
class CardParser {
 public:
  CardParser(std::string_view matter, std::string file, std::size_t first_line)
      : file_(std::move(file)), first_line_(first_line) {
    if (yaml_parser_initialize(&parser_) == 0) return;
    is_ready_ = true;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(matter.data()),
                                 matter.size());
  }
  CardParser(const CardParser&) = delete;
  CardParser& operator=(const CardParser&) = delete;
  ~CardParser() {
    if (is_ready_) yaml_parser_delete(&parser_);
  }

  [[nodiscard]] Result<CardValue> parse() {
    if (!is_ready_) return fail(Errc::out_of_memory, file_);
    Event event;
    while (true) {
      if (!event.next(parser_)) {
        if (parser_.error == YAML_MEMORY_ERROR) return fail(Errc::out_of_memory, file_);
        const char* const problem = parser_.problem == nullptr ? "" : parser_.problem;
        return refuse(
            Errc::import_refused, parser_.problem_mark.line,
            std::string(first_line_ > 1 ? "the front matter is not YAML (" : "it is not YAML (") +
                problem + "); mend or remove it");
      }
      if (event->type == YAML_DOCUMENT_END_EVENT || event->type == YAML_STREAM_END_EVENT) break;
      INGOT_TRY_VOID(take(*event));
    }
    if (result_ && result_->kind == CardValue::Kind::object) return *std::move(result_);
    return CardValue{CardValue::Kind::object, {}, {}, {}};
  }

 private:
  /// A list or object that is open.
  struct Open {
    CardValue value;
    std::optional<std::string> name;  // name of the next member
  };

  [[nodiscard]] Failure refuse(Errc code, std::size_t line, std::string what) const {
    // The parser counts from 0.
    return fail({.code = code,
                 .subject = file_,
                 .detail = std::move(what),
                 .line = static_cast<std::uint32_t>(line + first_line_)});
  }

  Result<void> take(const yaml_event_t& event) {
    const std::size_t line = event.start_mark.line;
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        return add(scalar(event), line);
      case YAML_SEQUENCE_START_EVENT:
        return open(CardValue::Kind::list, line);
      case YAML_MAPPING_START_EVENT:
        return open(CardValue::Kind::object, line);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: {
        CardValue value = std::move(open_.back().value);
        open_.pop_back();
        return add(std::move(value), line);
      }
      case YAML_ALIAS_EVENT:
        return refuse(Errc::import_refused, line,
                      "aliases are not read; put quotes around a text that begins with *");
      default:
        return {};
    }
  }

  Result<void> open(CardValue::Kind kind, std::size_t line) {
    if (open_.size() == max_card_depth) {
      return refuse(Errc::limit_exceeded, line,
                    "values are nested deeper than " + std::to_string(max_card_depth));
    }
    open_.emplace_back().value.kind = kind;
    return {};
  }

  Result<void> add(CardValue value, std::size_t line) {
    if (open_.empty()) {
      result_ = std::move(value);
      return {};
    }
    Open& parent = open_.back();
    if (parent.value.kind == CardValue::Kind::list) {
      parent.value.items.push_back(std::move(value));
    } else if (parent.name) {
      parent.value.names.push_back(*std::exchange(parent.name, std::nullopt));
      parent.value.items.push_back(std::move(value));
    } else if (value.kind == CardValue::Kind::text || value.kind == CardValue::Kind::null) {
      parent.name = std::move(value.text);
    } else {
      return refuse(Errc::import_refused, line, "the name of a member must be a text");
    }
    return {};
  }

  std::string file_;
  std::size_t first_line_;  ///< Of the text in the file.
  yaml_parser_t parser_ = {};
  bool is_ready_ = false;
  std::vector<Open> open_;
  std::optional<CardValue> result_;
};

}  // namespace

Result<CardValue> parse_card(std::string_view text, const std::string& file,
                             std::size_t first_line) {
  return CardParser(text, file, first_line).parse();
}

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
#include "text/chat_json.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace ingot::cli {
namespace {

/// Deeper than any conversation; a template refuses the same.
constexpr std::size_t max_json_depth = 500;

/// Builds the value while nlohmann-json reads: its own numbers would lose digits.
class ChatJsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add(ChatValue()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& text) override {
    const bool is_integer = text.find_first_of(".eE") == std::string::npos;
    return is_integer ? add(ChatValue::Digits{text}) : add(value);
  }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool key(std::string& name) override {
    open_.back().key = std::move(name);
    return true;
  }
  bool start_object(std::size_t) override { return open(ChatValue::object()); }
  bool start_array(std::size_t) override { return open(ChatValue::list()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_ = "not valid JSON at byte " + std::to_string(position);
    return false;
  }

  [[nodiscard]] ChatValue take() { return std::move(result_); }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  struct Open {
    ChatValue value;
    std::string key;
  };

  bool open(ChatValue container) {
    if (open_.size() == max_json_depth) {
      error_ = "nested deeper than " + std::to_string(max_json_depth) + " levels";
      return false;
    }
    open_.push_back({std::move(container), {}});
    return true;
  }

  bool close() {
    ChatValue done = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(done));
  }

  bool add(ChatValue value) {
    if (open_.empty()) {
      result_ = std::move(value);
    } else if (open_.back().value.members() != nullptr) {
      open_.back().value.add(std::move(open_.back().key), std::move(value));
    } else {
      open_.back().value.add(std::move(value));
    }
    return true;
  }

  std::vector<Open> open_;
  ChatValue result_;
  std::string error_;
};

}  // namespace

tl::expected<ChatValue, std::string> parse_chat_json(std::string_view text) {
  ChatJsonReader reader;
  if (!nlohmann::json::sax_parse(text, &reader)) return tl::make_unexpected(reader.error());
  return reader.take();
}

std::optional<double> number_of(const ChatValue* value) {
  if (value == nullptr) return std::nullopt;
  if (const double* real = value->real()) return *real;
  if (const std::int64_t* integer = value->integer()) return static_cast<double>(*integer);
  return std::nullopt;
}

std::string text_of(const ChatValue* value) {
  const std::string* text = value == nullptr ? nullptr : value->string();
  return text == nullptr ? std::string() : *text;
}

std::uint64_t count_of(const ChatValue* value) {
  const std::int64_t* integer = value == nullptr ? nullptr : value->integer();
  return integer == nullptr || *integer < 0 ? 0 : static_cast<std::uint64_t>(*integer);
}

bool is_true(const ChatValue* value) {
  const bool* flag = value == nullptr ? nullptr : value->boolean();
  return flag != nullptr && *flag;
}

}  // namespace ingot::cli

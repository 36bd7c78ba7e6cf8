// SPDX-License-Identifier: MIT
#include "text/error_json.hpp"

#include <string_view>

#include "text/error_text.hpp"

namespace ingot::cli {

void write_error_json(JsonStream& json, const std::string& file, const Error& error) {
  json.begin_object();
  json.member("file", std::string_view(file));
  json.key("error");
  json.begin_object();
  json.member("rule", name_of(error.code));
  json.member("message", std::string_view(error_text(file, error)));
  json.key("offset");
  error.file_offset == Error::no_offset ? json.null() : json.value(error.file_offset);
  json.key("subject");
  error.subject.empty() ? json.null() : json.value(std::string_view(error.subject));
  json.end();
  json.end();
}

void write_messages_json(JsonStream& json, const char* name, std::span<const Error> errors) {
  json.key(name);
  json.begin_array();
  for (const Error& error : errors) {
    json.begin_object(Layout::line);
    json.member("code", name_of(error.code));
    const std::string message = error.message();
    json.member("message", std::string_view(message));
    json.end();
  }
  json.end();
}

}  // namespace ingot::cli

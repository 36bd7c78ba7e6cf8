// SPDX-License-Identifier: MIT
#include "text/error_json.hpp"

#include "text/error_text.hpp"

namespace ingot::cli {

void write_error_json(JsonStream& json, const std::string& file, const Error& error) {
  const auto object = json.object();
  json.member("file", file);
  const auto facts = json.object("error");
  json.member("rule", name_of(error.code));
  json.member("message", error_text(file, error));
  json.member_if(error.file_offset != Error::no_offset, "offset", error.file_offset);
  json.text_or_null("subject", error.subject);
  if (!error.context.empty()) json.values("context", error.context, Layout::line);
}

void write_messages_json(JsonStream& json, const char* name, std::span<const Error> errors) {
  json.objects(name, errors, [&](const Error& error) {
    json.member("code", name_of(error.code));
    const std::string message = error.message();
    json.member("message", message);
  });
}

}  // namespace ingot::cli

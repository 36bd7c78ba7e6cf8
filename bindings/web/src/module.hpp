// SPDX-License-Identifier: MIT
// What the functions of a module share: arguments in, one text out.
#pragma once

#include <ingot/error.hpp>
#include <ingot/model.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/json_stream.hpp"

/// A function that JavaScript calls under its name.
#define INGOT_WEB_EXPORT(name) extern "C" __attribute__((export_name(#name)))

namespace ingot::web {

/// The model that `open` opened.
[[nodiscard]] std::optional<Model>& opened();

/// Keeps the text that JavaScript reads next; returns 0, the number of a success.
int give(std::string text);

/// The same for an error; returns 1.
int refuse(const Error& error);

/// Gives what `write(json)` writes.
template <class Write>
int give_json(const Write& write) {
  std::string text;
  cli::Output out([&](std::string_view piece) {
    text.append(piece);
    return 0;
  });
  cli::JsonStream json(out);
  write(json);
  static_cast<void>(out.flush());
  return give(std::move(text));
}

}  // namespace ingot::web

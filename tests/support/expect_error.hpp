// SPDX-License-Identifier: MIT
// Expectations about errors: the code, the place in the file and the subject, exactly.
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <ostream>
#include <string>

#include "ingot/error.hpp"

namespace tl {

/// GoogleTest would print the bytes of the object.
template <class T>
void PrintTo(const expected<T, ingot::Error>& result, std::ostream* out) {
  *out << (result.has_value() ? "a value" : "an error");
}

}  // namespace tl

namespace ingot::test {

MATCHER_P3(FailsWith, code, file_offset, subject,
           std::string(name_of(code)) + " at byte " + std::to_string(file_offset) + " of \"" +
               subject + "\"") {
  if (arg.has_value()) {
    *result_listener << "which succeeded";
    return false;
  }
  const Error& error = arg.error();
  *result_listener << "which is " << name_of(error.code) << " at byte " << error.file_offset
                   << " of \"" << error.subject << "\" (" << error.detail << ")";
  return error.code == code && error.file_offset == static_cast<std::uint64_t>(file_offset) &&
         error.subject == subject;
}

MATCHER_P(FailsWith, code, std::string(name_of(code))) {
  if (arg.has_value()) {
    *result_listener << "which succeeded";
    return false;
  }
  *result_listener << "which is " << name_of(arg.error().code) << ": " << arg.error().message();
  return arg.error().code == code;
}

MATCHER(Succeeds, "succeeds") {
  if (!arg.has_value()) {
    *result_listener << "which is " << name_of(arg.error().code) << ": " << arg.error().message();
  }
  return arg.has_value();
}

}  // namespace ingot::test

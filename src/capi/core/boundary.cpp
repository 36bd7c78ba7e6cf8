// SPDX-License-Identifier: MIT
#include "capi/core/boundary.hpp"

#include <algorithm>
#include <string>

namespace ingot::capi {
namespace {

void fill(ingot_error& destination, Errc code, std::uint64_t file_offset,
          std::string_view message) noexcept {
  destination.code = static_cast<ingot_code>(code);
  destination.reserved = 0;
  destination.file_offset = file_offset;
  copy_text(message, destination.message, sizeof destination.message);
}

bool is_continuation(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

static_assert(Error::no_offset == INGOT_NO_OFFSET);

ingot_code report(const Error& error, ingot_error* destination) {
  if (destination != nullptr) fill(*destination, error.code, error.file_offset, error.message());
  return static_cast<ingot_code>(error.code);
}

ingot_code report(Errc code, ingot_error* destination) noexcept {
  if (destination != nullptr) fill(*destination, code, Error::no_offset, sentence_of(code));
  return static_cast<ingot_code>(code);
}

Result<void> require(bool is_there, std::string_view argument) {
  if (is_there) return {};
  return fail(Errc::invalid_argument, std::string(argument), "NULL");
}

Result<void> require_below(std::uint64_t index, std::uint64_t count, std::string_view what) {
  if (index < count) return {};
  return fail(Errc::index_out_of_range, std::string(what) + " " + std::to_string(index),
              "the count is " + std::to_string(count));
}

Result<void> require_size(std::size_t struct_size, std::size_t first_size) {
  if (struct_size >= first_size) return {};
  return fail(Errc::invalid_argument, "struct_size",
              std::to_string(struct_size) + ", the least is " + std::to_string(first_size));
}

void copy_text(std::string_view text, char* destination, std::size_t capacity) noexcept {
  constexpr std::string_view ellipsis = "...";
  const std::size_t room = capacity - 1;
  std::size_t kept = text.size();
  std::size_t dots = 0;
  if (kept > room) {
    dots = std::min(ellipsis.size(), room);
    kept = room - dots;
    while (kept != 0 && is_continuation(text[kept])) --kept;
  }
  char* end = std::copy_n(text.data(), kept, destination);
  end = std::copy_n(ellipsis.data(), dots, end);
  *end = '\0';
}

}  // namespace ingot::capi

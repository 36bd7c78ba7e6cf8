// SPDX-License-Identifier: MIT
// Property: whatever the tokenizer of a file is, each C function returns a code that is not
// INGOT_ERROR_INTERNAL, and writes no more than there is room for.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "ingot/tokenizer.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_ok(ingot_code code) {
  require(code != INGOT_ERROR_INTERNAL);
  return code == INGOT_OK;
}

void look_at_tokens(const ingot_tokenizer* tokenizer) {
  require(ingot_tokenizer_family(tokenizer) > INGOT_FAMILY_NONE);
  const std::size_t count = ingot_token_count(tokenizer);
  for (ingot_token id = -1; id < 40; ++id) {
    ingot_string text = {};
    const bool is_there = id >= 0 && static_cast<std::size_t>(id) < count;
    require(is_ok(ingot_token_text(tokenizer, id, &text, nullptr)) == is_there);
    require((ingot_token_kind(tokenizer, id) >= 0) == is_there);
    const float score = ingot_token_score(tokenizer, id);
    require(score == score);
    if (is_there) require(ingot_find_token(tokenizer, text) <= id);
    std::array<char, 8> piece = {};
    std::size_t size = 0;
    require(is_ok(ingot_token_piece(tokenizer, id, 0, piece.data(), piece.size(), &size,
                                    nullptr)) == is_there);
  }
  for (std::uint32_t special = 0; special <= INGOT_SPECIAL_COUNT; ++special) {
    const ingot_token id = ingot_special_token(tokenizer, special);
    require(id == INGOT_NO_TOKEN || static_cast<std::size_t>(id) < count);
    static_cast<void>(ingot_is_end_of_generation(tokenizer, id));
  }
}

void encode_and_decode(const ingot_tokenizer* tokenizer, ingot_string text, std::uint32_t flags) {
  std::array<ingot_token, 65> ids;
  std::array<ingot_byte_range, 65> ranges = {};
  ids.fill(-77);
  std::size_t count = 0;
  if (!is_ok(ingot_encode(tokenizer, text, flags, ids.data(), 64, &count, nullptr))) return;
  require(ids[64] == -77);
  std::size_t count_with_ranges = 0;
  require(is_ok(ingot_encode_with_offsets(tokenizer, text, flags, ids.data(), ranges.data(), 64,
                                          &count_with_ranges, nullptr)));
  require(count == count_with_ranges && ids[64] == -77);
  std::array<char, 33> buffer;
  buffer.fill('\x55');
  std::size_t size = 0;
  static_cast<void>(is_ok(ingot_decode(tokenizer, ids.data(), std::min<std::size_t>(count, 64),
                                       flags << 2, buffer.data(), 32, &size, nullptr)));
  require(buffer[32] == '\x55');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ingot_model* model = nullptr;
  if (!is_ok(ingot_open_memory(data, size, nullptr, &model, nullptr))) return 0;
  ingot_tokenizer* tokenizer = nullptr;
  ingot_error error = {};
  const char* pre_tokenizer = size % 3 == 0 ? "gpt-2" : nullptr;
  if (is_ok(ingot_tokenizer_make(model, pre_tokenizer, &tokenizer, &error))) {
    look_at_tokens(tokenizer);
    const auto* bytes = reinterpret_cast<const char*>(data);
    for (const std::uint32_t flags : {0U, 1U, 2U, 3U, 7U}) {
      encode_and_decode(tokenizer, {"Hello  world's 123\n", 19}, flags);
      encode_and_decode(tokenizer, {bytes, std::min<std::size_t>(size, 600)}, flags);
    }
  }
  ingot_tokenizer_free(tokenizer);
  ingot_close(model);
  return 0;
}

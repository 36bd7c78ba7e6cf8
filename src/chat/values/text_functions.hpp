// SPDX-License-Identifier: MIT
// What filters and methods do with texts. Every byte of a result keeps the origin of the byte it
// was made from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/values/characters.hpp"
#include "chat/values/operations.hpp"

namespace ingot::chat {

enum class Side : std::uint8_t { left = 1, right = 2, both = 3 };

/// Python's strip(); `characters` empty: white space.
Value strip(Heap& heap, const Value& text, Side side, const Value& characters);
Value change_case(Heap& heap, const Value& text, Case wanted);
/// At most `max_count` times; below 0: all.
Value replace(Heap& heap, const Value& text, const Value& old_text, const Value& new_text,
              std::int64_t max_count);
/// Fills a text up to a width in characters: spaces left, right, or half and half.
Value pad(Heap& heap, const Value& text, std::int64_t width, Side side, const Value& fill);
/// `separator` none: at runs of white space. `max_splits` below 0: no bound.
Value split(Heap& heap, const Value& text, const Value& separator, std::int64_t max_splits,
            bool from_right);
/// Nothing after a failure.
[[nodiscard]] std::optional<std::vector<Value>> split_lines(Heap& heap, const Value& text,
                                                            bool keeps_ends);
/// Elements as text, with `separator` between them.
Value join(Heap& heap, const Value& separator, const std::vector<Value>& items);

/// How Python's textwrap cuts lines.
struct WrapOptions {
  std::size_t width = 0;  ///< Characters, above 0.
  bool breaks_long_words = true;
  bool breaks_on_hyphens = true;
};

/// The lines that a line becomes: the first byte of each and the one behind it. Linear in the line.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> wrapped(std::string_view line,
                                                                       const WrapOptions& options);

/// Passes each character through `map(code point, std::string& result)`.
template <class Map>
Value map_characters(Heap& heap, const Value& text, Map&& map) {
  const std::uint64_t size = text.size;
  if (!heap.spend_on_characters(size * 2) || !heap.allow_bytes(size * 3)) return Failed();
  const auto mark = heap.output().begin();
  std::string result;
  for_each_run(text, 0, text.size, [&](std::string_view run, std::uint8_t origin) {
    result.clear();
    while (!run.empty()) {
      const Character character = first_character(run);
      if (character.is_valid) {
        map(character.code_point, result);
      } else {
        result += run[0];
      }
      run.remove_prefix(character.size_bytes);
    }
    heap.output().append(result, origin);
  });
  return heap.take_string(mark).with_markup(text.is_markup());
}

}  // namespace ingot::chat

// SPDX-License-Identifier: MIT
#include "chat/values/text_functions.hpp"

#include <algorithm>

#include "chat/values/text_search.hpp"

namespace ingot::chat {
namespace {

/// The characters that strip() removes: those of a text, or white space.
class CharacterSet {
 public:
  explicit CharacterSet(const Value& characters) : is_space_(!characters.is_string()) {
    std::string_view text = is_space_ ? std::string_view() : characters.text();
    for (; !text.empty(); text.remove_prefix(first_character(text).size_bytes)) {
      const Character character = first_character(text);
      if (character.is_valid) members_.push_back(character.code_point);
    }
    std::ranges::sort(members_);
    members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
  }

  [[nodiscard]] bool contains(const Character& character) const {
    if (!character.is_valid) return false;
    return is_space_ ? is_space(character.code_point)
                     : std::ranges::binary_search(members_, character.code_point);
  }

 private:
  bool is_space_;
  std::vector<char32_t> members_;
};

/// Line ends as Python's splitlines() has them; the size of the one at the start, or 0.
std::size_t line_end_size(std::string_view text) noexcept {
  const Character character = first_character(text);
  const char32_t c = character.code_point;
  if (c == '\r') return text.substr(1).starts_with('\n') ? 2 : 1;
  const bool ends_line =
      (c >= 10 && c <= 13) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
  return ends_line && character.is_valid ? character.size_bytes : 0;
}

/// The parts of a text that is split. Each counts a step.
class Parts {
 public:
  Parts(Heap& heap, const Value& text, std::vector<Value>& parts)
      : heap_(heap), text_(text), parts_(parts) {}

  /// False after a failure.
  [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
    if (!heap_.spend(1) || !heap_.fits_list(parts_.size() + 1)) return false;
    parts_.push_back(heap_.part_of(text_, begin, end));
    return true;
  }
  [[nodiscard]] bool has(std::int64_t count) const {
    return count >= 0 && static_cast<std::int64_t>(parts_.size()) == count;
  }

 private:
  Heap& heap_;
  const Value& text_;
  std::vector<Value>& parts_;
};

bool split_at_spaces(const Value& text, std::int64_t max_splits, Parts parts) {
  const std::string_view bytes = text.text();
  std::size_t at = 0;
  while (true) {
    at = bytes.size() - strip_left(bytes.substr(at)).size();
    if (at == bytes.size()) return true;
    if (parts.has(max_splits)) return parts.add(at, bytes.size());
    std::size_t end = at;
    while (end < bytes.size()) {
      const Character character = first_character(bytes.substr(end));
      if (character.is_valid && is_space(character.code_point)) break;
      end += character.size_bytes;
    }
    if (!parts.add(at, end)) return false;
    at = end;
  }
}

/// The same from the end; parts come out last first.
bool split_at_spaces_from_right(const Value& text, std::int64_t max_splits, Parts parts) {
  const std::string_view bytes = text.text();
  std::size_t end = bytes.size();
  while (true) {
    end = strip_right(bytes.substr(0, end)).size();
    if (end == 0) return true;
    if (parts.has(max_splits)) return parts.add(0, end);
    std::size_t begin = end;
    while (begin > 0) {
      const Character character = last_character(bytes.substr(0, begin));
      if (character.is_valid && is_space(character.code_point)) break;
      begin -= character.size_bytes;
    }
    if (!parts.add(begin, end)) return false;
    end = begin;
  }
}

bool split_at(const Value& text, std::string_view separator, std::int64_t max_splits, Parts parts) {
  const std::string_view bytes = text.text();
  std::size_t begin = 0;
  while (!parts.has(max_splits)) {
    const std::size_t end = find_text(bytes, separator, begin);
    if (end == std::string_view::npos) break;
    if (!parts.add(begin, end)) return false;
    begin = end + separator.size();
  }
  return parts.add(begin, bytes.size());
}

bool split_at_from_right(const Value& text, std::string_view separator, std::int64_t max_splits,
                         Parts parts) {
  const std::string_view bytes = text.text();
  std::size_t end = bytes.size();
  while (!parts.has(max_splits)) {
    const std::size_t begin = find_last_text(bytes.substr(0, end), separator);
    if (begin == std::string_view::npos) break;
    if (!parts.add(begin + separator.size(), end)) return false;
    end = begin;
  }
  return parts.add(0, end);
}

void append_times(TextOutput& output, const Value& text, std::int64_t times) {
  for (std::int64_t i = 0; i < times; ++i) output.append(text);
}

/// Puts `new_text` before each character and at the end: replace() of an empty text.
void insert_between(TextOutput& output, const Value& text, const Value& new_text,
                    std::int64_t max_count) {
  const std::string_view bytes = text.text();
  std::size_t at = 0;
  std::int64_t count = 0;
  while (at < bytes.size() && (max_count < 0 || count < max_count)) {
    output.append(new_text);
    const std::size_t end = at + first_character(bytes.substr(at)).size_bytes;
    output.append_part(text, at, end);
    at = end;
    ++count;
  }
  output.append_part(text, at, bytes.size());
  if (max_count < 0 || count < max_count) output.append(new_text);
}

}  // namespace

Value strip(Heap& heap, const Value& text, Side side, const Value& characters) {
  const bool has_set = characters.is_string();
  const bool is_paid = has_set
                           ? heap.spend_on_characters(std::uint64_t{text.size} + characters.size)
                           : heap.spend_on(text.size);
  if (!is_paid) return Failed();
  const CharacterSet set(characters);
  const std::string_view bytes = text.text();
  std::size_t begin = 0;
  std::size_t end = bytes.size();
  while ((static_cast<unsigned>(side) & 1u) != 0 && begin < end) {
    const Character character = first_character(bytes.substr(begin));
    if (!set.contains(character)) break;
    begin += character.size_bytes;
  }
  while ((static_cast<unsigned>(side) & 2u) != 0 && end > begin) {
    const Character character = last_character(bytes.substr(begin, end - begin));
    if (!set.contains(character)) break;
    end -= character.size_bytes;
  }
  return heap.part_of(text, begin, end);
}

Value change_case(Heap& heap, const Value& text, Case wanted) {
  const std::uint64_t size = text.size;
  if (!heap.spend_on_characters(size) || !heap.allow_bytes(size * 3)) return Failed();
  const auto mark = heap.output().begin();
  for_each_run(text, 0, text.size, [&](std::string_view run, std::uint8_t origin) {
    heap.output().append(in_case(run, wanted), origin);
  });
  return heap.take_string(mark).with_markup(text.is_markup());
}

Value replace(Heap& heap, const Value& text, const Value& old_text, const Value& new_text,
              std::int64_t max_count) {
  const std::string_view bytes = text.text();
  const std::string_view wanted = old_text.text();
  if (!heap.spend_on(2 * (bytes.size() + wanted.size()))) return Failed();
  // Counts first, so that a result that is too long is refused before it is made.
  std::uint64_t count = wanted.empty() ? bytes.size() + 1 : count_texts(bytes, wanted);
  if (max_count >= 0) count = std::min(count, static_cast<std::uint64_t>(max_count));
  if (count == 0) return text;
  if (!heap.spend(count) || !heap.allow_bytes(bytes.size() + count * new_text.size)) {
    return Failed();
  }
  const auto mark = heap.output().begin();
  TextOutput& output = heap.output();
  if (wanted.empty()) {
    insert_between(output, text, new_text, max_count);
  } else {
    std::size_t begin = 0;
    for (; count > 0; --count) {
      const std::size_t end = find_text(bytes, wanted, begin);
      output.append_part(text, begin, end);
      output.append(new_text);
      begin = end + wanted.size();
    }
    output.append_part(text, begin, bytes.size());
  }
  return heap.take_string(mark).with_markup(text.is_markup());
}

Value pad(Heap& heap, const Value& text, std::int64_t width, Side side, const Value& fill) {
  if (!heap.spend_on(text.size)) return Failed();
  const auto size = static_cast<std::int64_t>(count_characters(text.text()));
  if (fill.is_given() && !fill.is_string()) return heap.fail("the fill must be one character");
  const Value filler = fill.is_string() ? fill : Value::text_of(" ");
  if (filler.size == 0 || filler.size > first_character(filler.text()).size_bytes)
    return heap.fail("the fill must be one character");
  if (width <= size) return text;
  const std::int64_t missing = width - size;
  const auto copies = static_cast<std::uint64_t>(missing);
  if (!heap.fits_text(copies) || !heap.allow_bytes(text.size + copies * filler.size))
    return Failed();
  const std::int64_t left = side == Side::left    ? missing
                            : side == Side::right ? 0
                                                  : missing / 2 + (missing & width & 1);
  const auto mark = heap.output().begin();
  append_times(heap.output(), filler, left);
  heap.output().append(text);
  append_times(heap.output(), filler, missing - left);
  return heap.take_string(mark).with_markup(text.is_markup());
}

Value split(Heap& heap, const Value& text, const Value& separator, std::int64_t max_splits,
            bool from_right) {
  const bool at_spaces = !separator.is_given() || separator.is(Kind::none);
  if (!at_spaces && !separator.is_string()) return heap.fail("the separator must be a string");
  if (!at_spaces && separator.size == 0) return heap.fail("empty separator");
  const std::uint64_t separator_size = at_spaces ? 0 : separator.size;
  if (!heap.spend_on(text.size + separator_size)) return Failed();
  std::vector<Value> parts;
  const Parts add(heap, text, parts);
  const bool is_split =
      at_spaces
          ? (from_right ? split_at_spaces_from_right : split_at_spaces)(text, max_splits, add)
          : (from_right ? split_at_from_right : split_at)(text, separator.text(), max_splits, add);
  if (!is_split) return Failed();
  if (from_right) std::reverse(parts.begin(), parts.end());
  return heap.new_list(parts);
}

std::optional<std::vector<Value>> split_lines(Heap& heap, const Value& text, bool keeps_ends) {
  if (!heap.spend_on(text.size)) return std::nullopt;
  std::vector<Value> lines;
  const std::string_view bytes = text.text();
  Parts parts(heap, text, lines);
  std::size_t begin = 0;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t end_size = line_end_size(bytes.substr(at));
    if (end_size == 0) {
      at += first_character(bytes.substr(at)).size_bytes;
      continue;
    }
    if (!parts.add(begin, keeps_ends ? at + end_size : at)) return std::nullopt;
    at += end_size;
    begin = at;
  }
  const bool is_done = begin == bytes.size() || parts.add(begin, bytes.size());
  return is_done ? std::optional(std::move(lines)) : std::nullopt;
}

Value join(Heap& heap, const Value& separator, const std::vector<Value>& items) {
  if (!heap.allow_bytes(items.size() * std::uint64_t{separator.size})) return Failed();
  const auto mark = heap.output().begin();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) heap.output().append(separator);
    const bool is_small = heap.output().text_since(mark).size() <= heap.limits().max_string_bytes;
    if (!is_small || !print(heap, items[i])) {
      if (is_small) heap.output().end(mark);
      return is_small ? Value::failure() : heap.take_string(mark);
    }
  }
  return heap.take_string(mark);
}

}  // namespace ingot::chat

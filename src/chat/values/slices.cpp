// SPDX-License-Identifier: MIT
// `a[1]`, `a[1:2]`: parts of strings and sequences.
#include <algorithm>

#include "chat/values/characters.hpp"
#include "chat/values/numbers.hpp"
#include "chat/values/operations.hpp"

namespace ingot::chat {
namespace {

/// The elements from `start` to `stop`, as Python's slice.indices() counts them.
Range slice_range(const Value (&bounds)[3], std::int64_t size, std::int64_t step) {
  const auto clamped = [&](const Value& value, std::int64_t fallback) {
    if (!value.is_set()) return fallback;
    std::int64_t index = value.as_integer();
    if (index < 0) index = index < -size ? -1 : index + size;
    const std::int64_t lowest = step > 0 ? 0 : -1;
    const std::int64_t highest = step > 0 ? size : size - 1;
    return std::clamp(index, lowest, highest);
  };
  const std::int64_t start = clamped(bounds[0], step > 0 ? 0 : size - 1);
  const std::int64_t stop = clamped(bounds[1], step > 0 ? size : -1);
  return {start, step, static_cast<std::int64_t>(step_count(start, stop, step)), stop};
}

/// Where each character of a text begins, and where the last one ends.
std::vector<std::uint32_t> character_places(std::string_view text) {
  std::vector<std::uint32_t> places;
  places.reserve(text.size() + 1);
  std::size_t at = 0;
  while (at < text.size()) {
    places.push_back(static_cast<std::uint32_t>(at));
    at += first_character(text.substr(at)).size_bytes;
  }
  places.push_back(static_cast<std::uint32_t>(at));
  return places;
}

Value slice_string(Heap& heap, const Value& text, const Value (&bounds)[3], std::int64_t step) {
  if (!heap.allow_bytes(text.size)) return Failed();
  const bool is_plain = is_ascii(text.text());
  const std::vector<std::uint32_t> places =
      is_plain ? std::vector<std::uint32_t>() : character_places(text.text());
  const auto size = is_plain ? static_cast<std::int64_t>(text.size)
                             : static_cast<std::int64_t>(places.size()) - 1;
  const auto place = [&](std::int64_t index) {
    return is_plain ? static_cast<std::size_t>(index) : places[static_cast<std::size_t>(index)];
  };
  const Range range = slice_range(bounds, size, step);
  if (step == 1) return heap.part_of(text, place(range.start), place(range.start + range.count));
  if (!heap.spend_on_characters(text.size)) return Failed();
  const auto mark = heap.output().begin();
  for (std::int64_t i = 0; i < range.count; ++i) {
    const std::int64_t index = range.at(i);
    heap.output().append_part(text, place(index), place(index + 1));
  }
  return heap.take_string(mark).with_markup(text.is_markup());
}

/// The character of a text with an index; missing beyond its ends.
Value character_at(Heap& heap, const Value& text, std::int64_t index) {
  const std::string_view bytes = text.text();
  if (is_ascii(bytes)) {
    const std::int64_t place = index < 0 ? index + text.size : index;
    if (place < 0 || place >= text.size) return {};
    const auto begin = static_cast<std::size_t>(place);
    return heap.part_of(text, begin, begin + 1);
  }
  const auto count = static_cast<std::int64_t>(count_characters(bytes));
  const std::int64_t place = index < 0 ? index + count : index;
  if (place < 0 || place >= count) return {};
  const std::size_t begin = byte_of_character(bytes, static_cast<std::size_t>(place));
  return heap.part_of(text, begin, begin + first_character(bytes.substr(begin)).size_bytes);
}

}  // namespace

Value element_at(Heap& heap, const Value& object, std::int64_t index) {
  switch (object.kind) {
    case Kind::list:
    case Kind::tuple:
      if (index < 0) index += object.list->count;
      return index >= 0 && index < object.list->count ? object.list->items[index] : Value();
    case Kind::range:
      if (index < 0) index += object.range->count;
      return index >= 0 && index < object.range->count ? Value::of(object.range->at(index))
                                                       : Value();
    case Kind::string:
      if (!heap.spend_on(object.size)) return Failed();
      return character_at(heap, object, index);
    default:
      return {};
  }
}

Value slice(Heap& heap, const Value& object, const Value (&bounds)[3]) {
  if (object.is_undefined()) return heap.fail_undefined(object);
  if (!is_sliceable(object)) {
    return heap.fail("'" + std::string(type_name(object.kind)) + "' object cannot be sliced");
  }
  for (const Value& bound : bounds) {
    const bool fits = !bound.is_set() || bound.is_integral();
    if (!fits) return heap.fail("slice indices must be integers or none");
  }
  const std::int64_t step = bounds[2].is_set() ? bounds[2].as_integer() : 1;
  if (step == 0) return heap.fail("slice step cannot be zero");
  if (object.is_string()) return slice_string(heap, object, bounds, step);
  if (object.is(Kind::range)) {
    const Range part = slice_range(bounds, object.range->count, step);
    std::int64_t stride = 0;
    std::int64_t length = 0;
    if (__builtin_mul_overflow(object.range->step, part.step, &stride) ||
        __builtin_mul_overflow(stride, part.count, &length)) {
      return heap.fail("a range beyond 64 bits");
    }
    const std::int64_t start = object.range->at(part.start);
    return Value::of(heap.arena().make<Range>(start, stride, part.count, start + length));
  }
  const Range range = slice_range(bounds, object.list->count, step);
  if (!heap.spend_on(static_cast<std::uint64_t>(range.count))) return Failed();
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(range.count));
  for (std::int64_t i = 0; i < range.count; ++i) {
    items.push_back(object.list->items[range.at(i)]);
  }
  return heap.new_list(items, object.kind).with_origin(object.origin());
}

}  // namespace ingot::chat

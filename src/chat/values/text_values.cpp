// SPDX-License-Identifier: MIT
// Strings: joined and printed.
#include <algorithm>
#include <cstring>

#include "chat/values/characters.hpp"
#include "chat/values/numbers.hpp"
#include "chat/values/operations.hpp"

namespace ingot::chat {
namespace {

/// Short texts are not expected to grow.
constexpr std::uint32_t min_growing_bytes = 64;

TextStorage* storage_of(const Value& text) noexcept {
  if ((text.flags & Value::is_grown_flag) == 0) return nullptr;
  return reinterpret_cast<TextStorage*>(const_cast<char*>(text.text().data())) - 1;
}

struct HtmlEscape {
  char character;
  std::string_view text;
};

constexpr HtmlEscape html_escapes[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&#34;"}, {'\'', "&#39;"}};

/// The bytes of the template or an input that a value is printed with, and for a real what the
/// search for its shortest text takes.
std::uint64_t size_of_scalar(const Value& value) noexcept {
  return value.is(Kind::digits)  ? value.size
         : value.is(Kind::macro) ? value.closure->macro->name.size()
         : value.is(Kind::real)  ? 64
                                 : 0;
}

/// The bytes of both, in place if `left` was joined before and nothing was joined to it since; null
/// after a failure.
const char* join_bytes(Heap& heap, const Value& left, const Value& right) {
  TextStorage* storage = storage_of(left);
  const bool fits = storage != nullptr && storage->used == left.size &&
                    storage->capacity - storage->used >= right.size;
  if (!fits) {
    if (!heap.spend_on(left.size)) return nullptr;
    const std::uint32_t size = left.size + right.size;
    const std::uint32_t capacity = size < min_growing_bytes ? size : size * 2;
    storage = static_cast<TextStorage*>(heap.arena().allocate(sizeof(TextStorage) + capacity));
    *storage = {left.size, capacity};
    std::memcpy(storage + 1, left.text().data(), left.size);
  }
  char* bytes = reinterpret_cast<char*>(storage + 1);
  std::memcpy(bytes + storage->used, right.text().data(), right.size);
  storage->used += right.size;
  return bytes;
}

/// Gives `joined` the runs of both parts.
Value join_runs(Heap& heap, Value joined, const Value& left, const Value& right) {
  const char* bytes = joined.data;
  Growing<TextRun>* storage = left.is_mixed() ? left.mixed->storage : nullptr;
  std::uint32_t count = left.is_mixed() ? left.mixed->run_count : 0;
  std::vector<TextRun> added;
  if (!left.is_mixed()) added.push_back({left.size, left.origin()});
  std::uint32_t end = left.size;
  for_each_run(right, 0, right.size, [&](std::string_view run, std::uint8_t origin) {
    end += static_cast<std::uint32_t>(run.size());
    added.push_back({end, origin});
  });
  const auto added_count = static_cast<std::uint32_t>(added.size());
  if (storage == nullptr || storage->count != count || storage->capacity - count < added_count) {
    const std::uint32_t capacity = (count + added_count) * 2;
    auto* items = heap.arena().make_array<TextRun>(capacity);
    if (count > 0) std::copy_n(left.mixed->runs, count, items);
    storage = heap.arena().make<Growing<TextRun>>(items, count, capacity);
  }
  std::copy(added.begin(), added.end(), storage->items + count);
  count += added_count;
  storage->count = count;
  joined.mixed = heap.arena().make<MixedText>(bytes, storage->items, count, storage);
  joined.flags =
      static_cast<std::uint8_t>((joined.flags & ~Value::origin_mask) | Value::is_mixed_flag);
  return joined;
}

/// A string as Python's repr() writes it.
bool print_repr_string(Heap& heap, const Value& value) {
  TextOutput& output = heap.output();
  if (!heap.allow_bytes(value.size) || !heap.spend_on_characters(value.size)) return false;
  if (value.is_markup()) output.append("Markup(", value.origin());
  const std::string_view text = value.text();
  const bool prefers_double =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = prefers_double ? '"' : '\'';
  const std::uint8_t edge = value.is_mixed() ? std::uint8_t{from_template} : value.origin();
  output.append(quote, edge);
  for_each_run(value, 0, value.size, [&](std::string_view run, std::uint8_t origin) {
    while (!run.empty()) {
      const Character character = first_character(run);
      const std::string_view bytes = run.substr(0, character.size_bytes);
      const char32_t c = character.code_point;
      run.remove_prefix(character.size_bytes);
      const char short_escape = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : '\0';
      if (c == '\\' || c == static_cast<char32_t>(quote)) {
        output.append('\\', origin);
        output.append(bytes, origin);
      } else if (short_escape != '\0') {
        output.append('\\', origin);
        output.append(short_escape, origin);
      } else if (character.is_valid && class_of(c) != CharacterClass::hidden) {
        output.append(bytes, origin);
      } else {
        output.append(character_escape(c), origin);
      }
    }
  });
  output.append(quote, edge);
  if (value.is_markup()) output.append(')', value.origin());
  return true;
}

void append_scalar(Heap& heap, const Value& value) {
  TextOutput& output = heap.output();
  const std::uint8_t origin = value.origin();
  switch (value.kind) {
    case Kind::none:
      return output.append("None", origin);
    case Kind::boolean:
      return output.append(value.boolean ? "True" : "False", origin);
    case Kind::integer:
      return output.append(std::to_string(value.integer), origin);
    case Kind::real:
      return output.append(real_text(value.real), origin);
    case Kind::digits:
      return output.append(value.text(), origin);
    case Kind::undefined:
      return output.append("Undefined", origin);
    case Kind::range: {
      const Range& range = *value.range;
      output.append("range(" + std::to_string(range.start) + ", " + std::to_string(range.stop),
                    origin);
      if (range.step != 1) output.append(", " + std::to_string(range.step), origin);
      return output.append(')', origin);
    }
    case Kind::macro:
      return output.append("<Macro '" + std::string(value.closure->macro->name) + "'>", origin);
    case Kind::function:
      return output.append("<function " + std::string(value.bound->builtin->name) + ">", origin);
    case Kind::loop:
      return output.append("<LoopContext " + std::to_string(value.loop->index0 + 1) + "/" +
                               std::to_string(length_of(heap, *value.loop)) + ">",
                           origin);
    default:
      return output.append("<" + std::string(type_name(value.kind)) + " object>", origin);
  }
}

bool print_scalar(Heap& heap, const Value& value) {
  if (!heap.spend(size_of_scalar(value) >> 4)) return false;
  append_scalar(heap, value);
  return true;
}

bool print_elements(Heap& heap, std::span<const Value> items, std::uint8_t origin) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) heap.output().append(", ", origin);
    if (!print_repr(heap, items[i])) return false;
  }
  return true;
}

bool print_pairs(Heap& heap, const Object& object, std::uint8_t origin) {
  for (std::size_t i = 0; i < object.count; ++i) {
    if (i > 0) heap.output().append(", ", origin);
    if (!print_repr(heap, object.pairs[i].key)) return false;
    heap.output().append(": ", origin);
    if (!print_repr(heap, object.pairs[i].value)) return false;
  }
  return true;
}

bool print_view(Heap& heap, const View& view, std::uint8_t origin) {
  TextOutput& output = heap.output();
  constexpr std::string_view heads[] = {"dict_keys([", "dict_values([", "dict_items(["};
  output.append(heads[static_cast<std::size_t>(view.part)], origin);
  for (std::size_t i = 0; i < view.object->count; ++i) {
    const Pair& pair = view.object->pairs[i];
    if (i > 0) output.append(", ", origin);
    if (view.part == View::Part::items) output.append('(', origin);
    if (view.part != View::Part::values && !print_repr(heap, pair.key)) return false;
    if (view.part == View::Part::items) output.append(", ", origin);
    if (view.part != View::Part::keys && !print_repr(heap, pair.value)) return false;
    if (view.part == View::Part::items) output.append(')', origin);
  }
  output.append("])", origin);
  return true;
}

bool print_container(Heap& heap, const Value& value) {
  TextOutput& output = heap.output();
  const std::uint8_t origin = value.origin();
  const auto closed = [&](bool is_done, std::string_view close) {
    if (is_done) output.append(close, origin);
    return is_done;
  };
  switch (value.kind) {
    case Kind::list:
      output.append('[', origin);
      return closed(print_elements(heap, value.list->span(), origin), "]");
    case Kind::tuple:
      output.append('(', origin);
      return closed(print_elements(heap, value.list->span(), origin),
                    value.list->count == 1 ? ",)" : ")");
    case Kind::object:
      output.append('{', origin);
      return closed(print_pairs(heap, *value.object, origin), "}");
    case Kind::name_space:
      output.append("<Namespace {", origin);
      return closed(print_pairs(heap, *value.object, origin), "}>");
    default:
      return print_view(heap, *value.view, origin);
  }
}

}  // namespace

Value concatenate(Heap& heap, const Value& left, const Value& right) {
  if (right.size == 0 && left.is_string()) return left;
  if (left.size == 0 && right.is_string()) return right;
  const std::uint64_t size = std::uint64_t{left.size} + right.size;
  if (!heap.fits_text(size) || !heap.allow_bytes(right.size)) return Failed();
  const char* bytes = join_bytes(heap, left, right);
  if (bytes == nullptr) return Failed();
  Value joined = Value::text_of({bytes, static_cast<std::size_t>(size)});
  joined.flags = Value::is_grown_flag;
  if (!left.is_mixed() && !right.is_mixed() && left.origin() == right.origin()) {
    return joined.with_origin(left.origin());
  }
  return join_runs(heap, joined, left, right);
}

bool print(Heap& heap, const Value& value) {
  if (value.is_string()) {
    if (!heap.spend_on(value.size)) return false;
    heap.output().append(value);
    return heap.allow_output();
  }
  if (value.is_undefined()) return true;
  return print_repr(heap, value);
}

Value string_of(Heap& heap, const Value& value) {
  if (value.is_string()) return value;
  return heap.text_from([&] { return print(heap, value); });
}

Value repr_of(Heap& heap, const Value& value) {
  return heap.text_from([&] { return print_repr(heap, value); });
}

Value escaped(Heap& heap, const Value& value) {
  if (value.is_markup()) return value;
  INGOT_TRY(const Value text, string_of(heap, value));
  if (!heap.allow_bytes(std::uint64_t{text.size} * 5)) return Failed();
  const auto mark = heap.output().begin();
  for_each_run(text, 0, text.size, [&](std::string_view run, std::uint8_t origin) {
    for (const char c : run) {
      const auto* row = std::ranges::find(html_escapes, c, &HtmlEscape::character);
      if (row == std::end(html_escapes)) {
        heap.output().append(c, origin);
      } else {
        heap.output().append(row->text, origin);
      }
    }
  });
  return heap.take_string(mark).with_markup(true);
}

bool print_repr(Heap& heap, const Value& value) {
  if (!heap.spend(1) || !heap.allow_output()) return false;
  switch (value.kind) {
    case Kind::string:
      return print_repr_string(heap, value);
    case Kind::list:
    case Kind::tuple:
    case Kind::object:
    case Kind::name_space:
    case Kind::view:
      break;
    default:
      return print_scalar(heap, value);
  }
  if (!heap.begin_container()) return false;
  const bool is_done = print_container(heap, value);
  heap.end_container();
  return is_done;
}

}  // namespace ingot::chat

// SPDX-License-Identifier: MIT
// Strings: made, cut, joined, printed.
#include <algorithm>
#include <cstring>

#include "chat/render/render.hpp"
#include "chat/values/characters.hpp"
#include "chat/values/numbers.hpp"

namespace ingot::chat {
namespace {

/// Containers within containers that are printed; Python's own limit is near.
constexpr std::uint32_t max_repr_depth = 400;

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
         : value.is(Kind::macro) ? value.closure->node->name.size()
         : value.is(Kind::real)  ? 64
                                 : 0;
}

}  // namespace

Value Render::new_string(std::string_view text, std::uint8_t origin) {
  if (!allow_bytes(text.size())) return Value::failure();
  return Value::text_of(arena_.copy(text), origin);
}

Value Render::take_string(const TextOutput::Mark& mark) {
  const std::string_view text = output_.text_since(mark);
  const std::size_t run_count = output_.run_count_since(mark);
  const TextRun* runs = output_.runs_since(mark);
  Value result = Value::failure();
  if (!allow_bytes(text.size())) {
    // the failure is noted
  } else if (run_count <= 1) {
    result = Value::text_of(arena_.copy(text), run_count == 0 ? std::uint8_t{0} : runs->origin);
  } else {
    auto* copies = arena_.make_array<TextRun>(run_count);
    for (std::size_t i = 0; i < run_count; ++i) {
      copies[i] = {runs[i].end - static_cast<std::uint32_t>(mark.size_bytes), runs[i].origin};
    }
    result = Value::text_of(text);
    result.mixed = arena_.make<MixedText>(arena_.copy(text).data(), copies,
                                          static_cast<std::uint32_t>(run_count));
    result.flags = Value::is_mixed_flag;
  }
  output_.end(mark);
  return result;
}

Value Render::part_of(const Value& text, std::size_t begin, std::size_t end) {
  if (begin == 0 && end == text.size) return text;
  const std::string_view part = text.text().substr(begin, end - begin);
  const auto markup = static_cast<std::uint8_t>(text.flags & Value::is_markup_flag);
  if (!text.is_mixed()) {
    return Value::text_of(part, static_cast<std::uint8_t>(text.origin() | markup));
  }
  std::vector<TextRun> runs;
  std::uint32_t size = 0;
  for_each_run(text, begin, end, [&](std::string_view run, std::uint8_t origin) {
    size += static_cast<std::uint32_t>(run.size());
    runs.push_back({size, origin});
  });
  if (runs.size() <= 1) {
    const std::uint8_t origin = runs.empty() ? std::uint8_t{0} : runs[0].origin;
    return Value::text_of(part, static_cast<std::uint8_t>(origin | markup));
  }
  Value result = Value::text_of(part);
  result.mixed = arena_.make<MixedText>(part.data(), arena_.copy(runs).data(),
                                        static_cast<std::uint32_t>(runs.size()));
  result.flags = static_cast<std::uint8_t>(Value::is_mixed_flag | markup);
  return result;
}

/// The bytes of both, in place if `left` was joined before and nothing was joined to it since; null
/// after a failure.
const char* Render::join_bytes(const Value& left, const Value& right) {
  TextStorage* storage = storage_of(left);
  const bool fits = storage != nullptr && storage->used == left.size &&
                    storage->capacity - storage->used >= right.size;
  if (!fits) {
    if (!spend_on(left.size)) return nullptr;
    const std::uint32_t size = left.size + right.size;
    const std::uint32_t capacity = size < min_growing_bytes ? size : size * 2;
    storage = static_cast<TextStorage*>(arena_.allocate(sizeof(TextStorage) + capacity));
    *storage = {left.size, capacity};
    std::memcpy(storage + 1, left.text().data(), left.size);
  }
  char* bytes = reinterpret_cast<char*>(storage + 1);
  std::memcpy(bytes + storage->used, right.text().data(), right.size);
  storage->used += right.size;
  return bytes;
}

/// Gives `joined` the runs of both parts.
Value Render::join_runs(Value joined, const Value& left, const Value& right) {
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
    auto* items = arena_.make_array<TextRun>(capacity);
    if (count > 0) std::copy_n(left.mixed->runs, count, items);
    storage = arena_.make<Growing<TextRun>>(items, count, capacity);
  }
  std::copy(added.begin(), added.end(), storage->items + count);
  count += added_count;
  storage->count = count;
  joined.mixed = arena_.make<MixedText>(bytes, storage->items, count, storage);
  joined.flags =
      static_cast<std::uint8_t>((joined.flags & ~Value::origin_mask) | Value::is_mixed_flag);
  return joined;
}

Value Render::concatenate(const Value& left, const Value& right) {
  if (right.size == 0 && left.is_string()) return left;
  if (left.size == 0 && right.is_string()) return right;
  const std::uint64_t size = std::uint64_t{left.size} + right.size;
  if (size > limits().max_string_bytes) {
    return fail_limit("max_string_bytes", limits().max_string_bytes);
  }
  if (!allow_bytes(right.size)) return Value::failure();
  const char* bytes = join_bytes(left, right);
  if (bytes == nullptr) return Value::failure();
  Value joined = Value::text_of({bytes, static_cast<std::size_t>(size)});
  joined.flags = Value::is_grown_flag;
  if (!left.is_mixed() && !right.is_mixed() && left.origin() == right.origin()) {
    return joined.with_origin(left.origin());
  }
  return join_runs(joined, left, right);
}

bool Render::print(const Value& value) {
  if (value.is_string()) {
    if (!spend_on(value.size)) return false;
    output_.append(value);
    return allow_output();
  }
  if (value.is_undefined()) return true;
  return print_repr(value);
}

Value Render::string_of(const Value& value) {
  if (value.is_string()) return value;
  return text_from([&] { return print(value); });
}

Value Render::repr_of(const Value& value) {
  return text_from([&] { return print_repr(value); });
}

/// HTML's escapes, for a value that is not escaped yet.
Value Render::escaped(const Value& value) {
  if (value.is_markup()) return value;
  INGOT_VALUE(const Value text, string_of(value));
  if (!allow_bytes(std::uint64_t{text.size} * 5)) return Value::failure();
  const auto mark = output_.begin();
  for_each_run(text, 0, text.size, [&](std::string_view run, std::uint8_t origin) {
    for (const char c : run) {
      const auto* row = std::ranges::find(html_escapes, c, &HtmlEscape::character);
      if (row == std::end(html_escapes)) {
        output_.append(c, origin);
      } else {
        output_.append(row->text, origin);
      }
    }
  });
  return take_string(mark).with_markup(true);
}

/// A string as Python's repr() writes it.
bool Render::print_repr_string(const Value& value) {
  if (!allow_bytes(value.size) || !spend_on_characters(value.size)) return false;
  if (value.is_markup()) output_.append("Markup(", value.origin());
  const std::string_view text = value.text();
  const bool prefers_double =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = prefers_double ? '"' : '\'';
  const std::uint8_t edge = value.is_mixed() ? std::uint8_t{from_template} : value.origin();
  output_.append(quote, edge);
  for_each_run(value, 0, value.size, [&](std::string_view run, std::uint8_t origin) {
    while (!run.empty()) {
      const Character character = first_character(run);
      const std::string_view bytes = run.substr(0, character.size_bytes);
      const char32_t c = character.code_point;
      run.remove_prefix(character.size_bytes);
      const char short_escape = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : '\0';
      if (c == '\\' || c == static_cast<char32_t>(quote)) {
        output_.append('\\', origin);
        output_.append(bytes, origin);
      } else if (short_escape != '\0') {
        output_.append('\\', origin);
        output_.append(short_escape, origin);
      } else if (character.is_valid && class_of(c) != CharacterClass::hidden) {
        output_.append(bytes, origin);
      } else {
        output_.append(character_escape(c), origin);
      }
    }
  });
  output_.append(quote, edge);
  if (value.is_markup()) output_.append(')', value.origin());
  return true;
}

bool Render::print_scalar(const Value& value) {
  if (!spend(size_of_scalar(value) >> 4)) return false;
  append_scalar(value);
  return true;
}

void Render::append_scalar(const Value& value) {
  const std::uint8_t origin = value.origin();
  switch (value.kind) {
    case Kind::none:
      return output_.append("None", origin);
    case Kind::boolean:
      return output_.append(value.boolean ? "True" : "False", origin);
    case Kind::integer:
      return output_.append(std::to_string(value.integer), origin);
    case Kind::real:
      return output_.append(real_text(value.real), origin);
    case Kind::digits:
      return output_.append(value.text(), origin);
    case Kind::undefined:
      return output_.append("Undefined", origin);
    case Kind::range: {
      const Range& range = *value.range;
      output_.append("range(" + std::to_string(range.start) + ", " + std::to_string(range.stop),
                     origin);
      if (range.step != 1) output_.append(", " + std::to_string(range.step), origin);
      return output_.append(')', origin);
    }
    case Kind::macro:
      return output_.append("<Macro '" + std::string(value.closure->node->name) + "'>", origin);
    case Kind::function:
      return output_.append("<function " + std::string(value.bound->builtin->name) + ">", origin);
    case Kind::loop:
      return output_.append("<LoopContext " + std::to_string(value.loop->index0 + 1) + "/" +
                                std::to_string(length_of(*value.loop)) + ">",
                            origin);
    default:
      return output_.append("<" + std::string(type_name(value.kind)) + " object>", origin);
  }
}

bool Render::print_repr(const Value& value) {
  if (!spend(1) || !allow_output()) return false;
  switch (value.kind) {
    case Kind::string:
      return print_repr_string(value);
    case Kind::list:
    case Kind::tuple:
    case Kind::object:
    case Kind::name_space:
    case Kind::view:
      break;
    default:
      return print_scalar(value);
  }
  if (!is_within("the depth of a value that is printed", max_repr_depth, repr_depth_ + 1)) {
    return false;
  }
  ++repr_depth_;
  const bool is_done = print_container(value);
  --repr_depth_;
  return is_done;
}

bool Render::print_container(const Value& value) {
  const std::uint8_t origin = value.origin();
  const auto closed = [&](bool is_done, std::string_view close) {
    if (is_done) output_.append(close, origin);
    return is_done;
  };
  switch (value.kind) {
    case Kind::list:
      output_.append('[', origin);
      return closed(print_elements(value.list->span(), origin), "]");
    case Kind::tuple:
      output_.append('(', origin);
      return closed(print_elements(value.list->span(), origin),
                    value.list->count == 1 ? ",)" : ")");
    case Kind::object:
      output_.append('{', origin);
      return closed(print_pairs(*value.object, origin), "}");
    case Kind::name_space:
      output_.append("<Namespace {", origin);
      return closed(print_pairs(*value.object, origin), "}>");
    default:
      return print_view(*value.view, origin);
  }
}

bool Render::print_elements(std::span<const Value> items, std::uint8_t origin) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) output_.append(", ", origin);
    if (!print_repr(items[i])) return false;
  }
  return true;
}

bool Render::print_pairs(const Object& object, std::uint8_t origin) {
  for (std::size_t i = 0; i < object.count; ++i) {
    if (i > 0) output_.append(", ", origin);
    if (!print_repr(object.pairs[i].key)) return false;
    output_.append(": ", origin);
    if (!print_repr(object.pairs[i].value)) return false;
  }
  return true;
}

bool Render::print_view(const View& view, std::uint8_t origin) {
  constexpr std::string_view heads[] = {"dict_keys([", "dict_values([", "dict_items(["};
  output_.append(heads[static_cast<std::size_t>(view.part)], origin);
  for (std::size_t i = 0; i < view.object->count; ++i) {
    const Pair& pair = view.object->pairs[i];
    if (i > 0) output_.append(", ", origin);
    if (view.part == View::Part::items) output_.append('(', origin);
    if (view.part != View::Part::values && !print_repr(pair.key)) return false;
    if (view.part == View::Part::items) output_.append(", ", origin);
    if (view.part != View::Part::keys && !print_repr(pair.value)) return false;
    if (view.part == View::Part::items) output_.append(')', origin);
  }
  output_.append("])", origin);
  return true;
}

}  // namespace ingot::chat

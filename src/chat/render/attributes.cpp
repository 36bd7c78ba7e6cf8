// SPDX-License-Identifier: MIT
// `a.b`, `a["b"]`, `a[1:2]`: what is in a value, and what the sandbox keeps from a template.
#include <algorithm>
#include <charconv>

#include "chat/render/render.hpp"
#include "chat/values/characters.hpp"
#include "chat/values/numbers.hpp"

namespace ingot::chat {
namespace {

/// Attributes that every object has in Python. Ingot's have none, but their use is to be called
/// unsafe and not unknown.
constexpr std::string_view private_names[] = {
    "__class__",  "__delattr__",   "__dir__",          "__doc__",
    "__eq__",     "__format__",    "__ge__",           "__getattribute__",
    "__gt__",     "__hash__",      "__init__",         "__init_subclass__",
    "__le__",     "__lt__",        "__ne__",           "__new__",
    "__reduce__", "__reduce_ex__", "__repr__",         "__setattr__",
    "__sizeof__", "__str__",       "__subclasshook__", "__getstate__"};

constexpr std::string_view container_names[] = {"__len__",      "__getitem__",      "__iter__",
                                                "__contains__", "__add__",          "__mul__",
                                                "__rmul__",     "__class_getitem__"};

constexpr std::string_view function_names[] = {
    "__globals__", "__code__",     "__closure__", "__defaults__",   "__kwdefaults__", "__dict__",
    "__call__",    "__name__",     "__module__",  "__qualname__",   "__get__",        "__self__",
    "__func__",    "__builtins__", "__wrapped__", "__annotations__"};

template <std::size_t count>
bool contains_name(const std::string_view (&names)[count], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool has_private(Kind kind, std::string_view name) {
  if (contains_name(private_names, name)) return true;
  const bool is_container = kind == Kind::string || kind == Kind::list || kind == Kind::tuple ||
                            kind == Kind::object || kind == Kind::range || kind == Kind::view;
  if (is_container) return contains_name(container_names, name);
  const bool is_function = kind == Kind::function || kind == Kind::macro;
  return is_function && contains_name(function_names, name);
}

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

Value slice_string(Render& render, const Value& text, const Value (&bounds)[3], std::int64_t step) {
  if (!render.allow_bytes(text.size)) return Value::failure();
  const bool is_plain = is_ascii(text.text());
  const std::vector<std::uint32_t> places =
      is_plain ? std::vector<std::uint32_t>() : character_places(text.text());
  const auto size = is_plain ? static_cast<std::int64_t>(text.size)
                             : static_cast<std::int64_t>(places.size()) - 1;
  const auto place = [&](std::int64_t index) {
    return is_plain ? static_cast<std::size_t>(index) : places[static_cast<std::size_t>(index)];
  };
  const Range range = slice_range(bounds, size, step);
  if (step == 1) {
    return render.part_of(text, place(range.start), place(range.start + range.count));
  }
  if (!render.spend_on_characters(text.size)) return Failed();
  const auto mark = render.output().begin();
  for (std::int64_t i = 0; i < range.count; ++i) {
    const std::int64_t index = range.at(i);
    render.output().append_part(text, place(index), place(index + 1));
  }
  return render.take_string(mark);
}

/// The character of a text with an index; missing beyond its ends.
Value character_at(Render& render, const Value& text, std::int64_t index) {
  const std::string_view bytes = text.text();
  if (is_ascii(bytes)) {
    const std::int64_t place = index < 0 ? index + text.size : index;
    if (place < 0 || place >= text.size) return {};
    const auto begin = static_cast<std::size_t>(place);
    return render.part_of(text, begin, begin + 1);
  }
  const auto count = static_cast<std::int64_t>(count_characters(bytes));
  const std::int64_t place = index < 0 ? index + count : index;
  if (place < 0 || place >= count) return {};
  const std::size_t begin = byte_of_character(bytes, static_cast<std::size_t>(place));
  return render.part_of(text, begin, begin + first_character(bytes.substr(begin)).size_bytes);
}

/// The element of a sequence with an index; missing if there is none.
Value element_at(Render& render, const Value& object, std::int64_t index) {
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
      if (!render.spend_on(object.size)) return Value::failure();
      return character_at(render, object, index);
    default:
      return {};
  }
}

}  // namespace

std::optional<Owner> owner_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::string:
      return Owner::string;
    case Kind::list:
      return Owner::list;
    case Kind::tuple:
      return Owner::tuple;
    case Kind::object:
      return Owner::object;
    case Kind::boolean:
    case Kind::integer:
      return Owner::integer;
    case Kind::real:
      return Owner::real;
    case Kind::cycler:
      return Owner::cycler;
    case Kind::loop:
      return Owner::loop;
    default:
      return std::nullopt;
  }
}

Value Render::forbidden(const Value& object, std::string_view name) {
  return new_undefined(Undefined::Reason::unsafe, name, object.kind);
}

Value Render::macro_attribute(const Closure& closure, std::string_view name) {
  const MacroNode& node = *closure.node;
  if (name == "name") return Value::text_of(node.name);
  if (name == "arguments") {
    if (!spend_on(node.parameters.size())) return Failed();
    std::vector<Value> names;
    for (const NameNode* parameter : node.parameters) {
      names.push_back(Value::text_of(parameter->name->text));
    }
    return new_list(names, Kind::tuple);
  }
  if (name == "catch_kwargs") return Value::of(node.kwargs_slot != no_slot);
  if (name == "catch_varargs") return Value::of(node.varargs_slot != no_slot);
  if (name == "caller") return Value::of(node.caller_slot != no_slot || node.has_caller_parameter);
  return {};
}

/// What Python's getattr() gives; missing if there is no such attribute.
Value Render::method_or_missing(const Value& object, std::string_view name, const Name* known) {
  if (name.starts_with('_')) {
    const bool is_own =
        object.is(Kind::name_space) && find(*object.object, Value::text_of(name)) != nullptr;
    return is_own || has_private(object.kind, name) ? forbidden(object, name) : Value();
  }
  if (const std::optional<Owner> owner = owner_of(object.kind)) {
    const Builtin* method = known != nullptr ? known->methods[static_cast<std::size_t>(*owner)]
                                             : find_builtin(methods_of(*owner), name);
    if (method != nullptr) {
      const bool may_write =
          options_.is_lenient && object.origin() == from_template && method->function != nullptr;
      if (method->is_writing && !may_write) return forbidden(object, name);
      return Value::of(Kind::function, &Value::bound, arena_.make<Bound>(method, object));
    }
  }
  switch (object.kind) {
    case Kind::name_space: {
      const Value* value = find(*object.object, Value::text_of(name));
      return value == nullptr ? Value() : *value;
    }
    case Kind::boolean:
    case Kind::integer:
      if (name == "real" || name == "numerator") return Value::of(object.as_integer());
      return name == "imag"          ? Value::of(std::int64_t{0})
             : name == "denominator" ? Value::of(std::int64_t{1})
                                     : Value();
    case Kind::real:
      return name == "real" ? object : name == "imag" ? Value::of(0.0) : Value();
    case Kind::loop:
      return loop_attribute(*object.loop, name);
    case Kind::macro:
      return macro_attribute(*object.closure, name);
    case Kind::cycler:
      return name == "current" ? object.cycler->items->items[object.cycler->position] : Value();
    case Kind::tuple:
      if ((object.flags & Value::is_group_flag) == 0) return {};
      return name == "grouper" ? object.list->items[0]
             : name == "list"  ? object.list->items[1]
                               : Value();
    default:
      return {};
  }
}

Value Render::attribute(const Value& object, std::string_view name, const Name* known) {
  if (object.is_undefined()) return fail_undefined(object);
  const Value own = method_or_missing(object, name, known);
  if (own.is_given()) return own;
  if (object.is(Kind::object)) {
    if (const Value* value = find(*object.object, Value::text_of(name))) return *value;
  }
  return new_undefined(Undefined::Reason::attribute, name, object.kind);
}

Value Render::attribute_only(const Value& object, std::string_view name) {
  const Value own = method_or_missing(object, name, nullptr);
  return own.is_given() ? own : new_undefined(Undefined::Reason::attribute, name, object.kind);
}

Value Render::item(const Value& object, const Value& index) {
  if (object.is_undefined()) return fail_undefined(object);
  if (object.is(Kind::object)) {
    if (has_hash(index)) {
      if (const Value* value = find(*object.object, index)) return *value;
    }
  } else if (index.is_integral()) {
    const Value element = element_at(*this, object, index.as_integer());
    if (element.is_given()) return element;
  }
  if (index.is_string()) {
    const Value own = method_or_missing(object, index.text(), nullptr);
    if (own.is_given()) return own;
    return new_undefined(Undefined::Reason::attribute, index.text(), object.kind);
  }
  INGOT_VALUE(const Value shown, repr_of(index));
  return new_undefined(Undefined::Reason::element, shown.text(), object.kind);
}

Value Render::slice(const Value& object, const Value (&bounds)[3]) {
  if (object.is_undefined()) return fail_undefined(object);
  if (!is_sliceable(object)) {
    return fail("'" + std::string(type_name(object.kind)) + "' object cannot be sliced");
  }
  for (const Value& bound : bounds) {
    const bool fits = !bound.is_set() || bound.is_integral();
    if (!fits) return fail("slice indices must be integers or none");
  }
  const std::int64_t step = bounds[2].is_set() ? bounds[2].as_integer() : 1;
  if (step == 0) return fail("slice step cannot be zero");
  if (object.is_string()) return slice_string(*this, object, bounds, step);
  if (object.is(Kind::range)) {
    const Range part = slice_range(bounds, object.range->count, step);
    std::int64_t stride = 0;
    std::int64_t length = 0;
    if (__builtin_mul_overflow(object.range->step, part.step, &stride) ||
        __builtin_mul_overflow(stride, part.count, &length)) {
      return fail("a range beyond 64 bits");
    }
    const std::int64_t start = object.range->at(part.start);
    return Value::of(Kind::range, &Value::range,
                     arena_.make<Range>(start, stride, part.count, start + length));
  }
  const Range range = slice_range(bounds, object.list->count, step);
  if (!spend_on(static_cast<std::uint64_t>(range.count))) return Failed();
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(range.count));
  for (std::int64_t i = 0; i < range.count; ++i) {
    items.push_back(object.list->items[range.at(i)]);
  }
  return new_list(items, object.kind).with_origin(object.origin());
}

/// "a.b.0" as the steps of a path.
bool Render::split_path(const Value& path, std::span<const Value>& result) {
  std::vector<Value> steps;
  if (!path.is_string()) {
    if (!path.is(Kind::none)) steps.push_back(path);
    result = arena_.copy(steps);
    return true;
  }
  std::string_view rest = path.text();
  if (!spend(1 + rest.size())) return false;
  while (true) {
    const std::size_t end = std::min(rest.find('.'), rest.size());
    const std::string_view step = rest.substr(0, end);
    std::int64_t index = 0;
    const bool is_index = !step.empty() && step.size() < 18 &&
                          std::ranges::all_of(step, [](char c) { return c >= '0' && c <= '9'; });
    if (is_index) std::from_chars(step.data(), step.data() + step.size(), index);
    steps.push_back(is_index ? Value::of(index) : Value::text_of(step));
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  result = arena_.copy(steps);
  return allow_elements(result.size());
}

Value Render::attribute_path(const Value& object, std::span<const Value> path,
                             const Value& fallback) {
  Value value = object;
  for (const Value& step : path) {
    if (!spend(1)) return Value::failure();
    INGOT_VALUE(value, item(value, step));
    if (value.is_undefined() && fallback.is_set()) value = fallback;
  }
  return value;
}

}  // namespace ingot::chat

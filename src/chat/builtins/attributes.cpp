// SPDX-License-Identifier: MIT
// `a.b`, `a["b"]`: what is in a value, and what the sandbox keeps from a template.
#include <algorithm>
#include <charconv>

#include "chat/builtins/builtins.hpp"

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

/// The element after the current one; missing at the end.
Value peek(Heap& heap, Loop& loop) {
  if (!loop.after.is_given() && !loop.is_at_end) {
    loop.after = next(heap, loop.iteration);
    loop.is_at_end = !loop.after.is_given();
  }
  return loop.after;
}

Value loop_attribute(Heap& heap, Loop& loop, std::string_view name) {
  if (name == "index") return Value::of(loop.index0 + 1);
  if (name == "index0") return Value::of(loop.index0);
  if (name == "first") return Value::of(loop.index0 == 0);
  if (name == "last") {
    INGOT_TRY(const Value after, peek(heap, loop));
    return Value::of(!after.is_given());
  }
  if (name == "length") return Value::of(length_of(heap, loop));
  if (name == "revindex") return Value::of(length_of(heap, loop) - loop.index0);
  if (name == "revindex0") return Value::of(length_of(heap, loop) - loop.index0 - 1);
  if (name == "depth") return Value::of(loop.depth0 + 1);
  if (name == "depth0") return Value::of(loop.depth0);
  if (name == "previtem") {
    return loop.index0 > 0
               ? loop.before
               : heap.new_undefined(Undefined::Reason::hint, "there is no previous item");
  }
  if (name == "nextitem") {
    INGOT_TRY(const Value after, peek(heap, loop));
    return after.is_given() ? after
                            : heap.new_undefined(Undefined::Reason::hint, "there is no next item");
  }
  return {};
}

Value forbidden(Heap& heap, const Value& object, std::string_view name) {
  return heap.new_undefined(Undefined::Reason::unsafe, name, object.kind);
}

Value macro_attribute(Heap& heap, const Closure& closure, std::string_view name) {
  const Signature& macro = *closure.macro;
  if (name == "name") return Value::text_of(macro.name);
  if (name == "arguments") {
    if (!heap.spend_on(macro.parameter_names.size())) return Failed();
    return heap.new_list(macro.parameter_names, Kind::tuple);
  }
  if (name == "catch_kwargs") return Value::of(macro.has_kwargs);
  if (name == "catch_varargs") return Value::of(macro.has_varargs);
  if (name == "caller") return Value::of(macro.has_caller);
  return {};
}

/// What Python's getattr() gives; missing if there is no such attribute.
Value method_or_missing(Heap& heap, const Value& object, std::string_view name,
                        const Name* known = nullptr) {
  if (name.starts_with('_')) {
    const bool is_own =
        object.is(Kind::name_space) && find(heap, *object.object, Value::text_of(name)) != nullptr;
    return is_own || has_private(object.kind, name) ? forbidden(heap, object, name) : Value();
  }
  if (const std::optional<Owner> owner = owner_of(object.kind)) {
    const Builtin* method = known != nullptr ? known->methods[static_cast<std::size_t>(*owner)]
                                             : find_builtin(methods_of(*owner), name);
    if (method != nullptr) {
      const bool may_write = heap.options().is_lenient && object.origin() == from_template &&
                             method->function != nullptr;
      if (method->is_writing && !may_write) return forbidden(heap, object, name);
      return Value::of(heap.arena().make<Bound>(method, object));
    }
  }
  switch (object.kind) {
    case Kind::name_space: {
      const Value* value = find(heap, *object.object, Value::text_of(name));
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
      return loop_attribute(heap, *object.loop, name);
    case Kind::macro:
      return macro_attribute(heap, *object.closure, name);
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

}  // namespace

Value attribute(Heap& heap, const Value& object, std::string_view name, const Name* known) {
  if (object.is_undefined()) return heap.fail_undefined(object);
  const Value own = method_or_missing(heap, object, name, known);
  if (own.is_given()) return own;
  if (object.is(Kind::object)) {
    if (const Value* value = find(heap, *object.object, Value::text_of(name))) return *value;
  }
  return heap.new_undefined(Undefined::Reason::attribute, name, object.kind);
}

Value attribute_only(Heap& heap, const Value& object, std::string_view name) {
  const Value own = method_or_missing(heap, object, name);
  return own.is_given() ? own : heap.new_undefined(Undefined::Reason::attribute, name, object.kind);
}

Value item(Heap& heap, const Value& object, const Value& index) {
  if (object.is_undefined()) return heap.fail_undefined(object);
  if (object.is(Kind::object)) {
    if (has_hash(heap, index)) {
      if (const Value* value = find(heap, *object.object, index)) return *value;
    }
  } else if (index.is_integral()) {
    const Value element = element_at(heap, object, index.as_integer());
    if (element.is_given()) return element;
  }
  if (index.is_string()) {
    const Value own = method_or_missing(heap, object, index.text());
    if (own.is_given()) return own;
    return heap.new_undefined(Undefined::Reason::attribute, index.text(), object.kind);
  }
  INGOT_TRY(const Value shown, repr_of(heap, index));
  return heap.new_undefined(Undefined::Reason::element, shown.text(), object.kind);
}

std::optional<std::span<const Value>> split_path(Heap& heap, const Value& path) {
  std::vector<Value> steps;
  if (!path.is_string()) {
    if (!path.is(Kind::none)) steps.push_back(path);
    return heap.arena().copy(steps);
  }
  std::string_view rest = path.text();
  if (!heap.spend(1 + rest.size())) return std::nullopt;
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
  const std::span<const Value> result = heap.arena().copy(steps);
  return heap.allow_elements(result.size()) ? std::optional(result) : std::nullopt;
}

Value attribute_path(Heap& heap, const Value& object, std::span<const Value> path,
                     const Value& fallback) {
  Value value = object;
  for (const Value& step : path) {
    if (!heap.spend(1)) return Failed();
    INGOT_TRY(value, item(heap, value, step));
    if (value.is_undefined() && fallback.is_set()) value = fallback;
  }
  return value;
}

}  // namespace ingot::chat

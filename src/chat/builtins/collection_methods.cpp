// SPDX-License-Identifier: MIT
// The methods of lists, tuples, objects, numbers, cyclers and `loop`.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "chat/builtins/builtins.hpp"
#include "chat/values/numbers.hpp"

namespace ingot::chat {
namespace {

Value count_equal(Call& call) {
  const auto items = call.self.list->span();
  if (!call.heap.spend(items.size())) return Failed();
  const auto count = std::ranges::count_if(
      items, [&](const Value& item) { return equal(call.heap, item, call[0]); });
  return Value::of(static_cast<std::int64_t>(count));
}

Value index_of(Call& call) {
  const auto items = call.self.list->span();
  if (!call.heap.spend(items.size())) return Failed();
  const auto found = std::ranges::find_if(
      items, [&](const Value& item) { return equal(call.heap, item, call[0]); });
  if (found == items.end()) return call.heap.fail("the value is not in the list");
  return Value::of(static_cast<std::int64_t>(found - items.begin()));
}

Value copy_list(Call& call) { return call.heap.new_list(call.self.list->span()); }

/// Only where the caller allows it: see ChatOptions::is_lenient.
Value append(Call& call) {
  List& list = *call.self.list;
  if (!call.heap.spend_on(list.count)) return Failed();
  std::vector<Value> items(list.items, list.items + list.count);
  items.push_back(call[0]);
  INGOT_TRY(const Value grown, call.heap.new_list(items));
  list = *grown.list;
  return Value::none();
}

Value pop(Call& call) {
  List& list = *call.self.list;
  if (!call.heap.spend_on(list.count)) return Failed();
  INGOT_TRY(std::int64_t index, call.integer(0, -1));
  if (index < 0) index += list.count;
  if (index < 0 || index >= list.count) return call.heap.fail("pop index out of range");
  std::vector<Value> items(list.items, list.items + list.count);
  const Value popped = items[static_cast<std::size_t>(index)];
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(index));
  INGOT_TRY(const Value rest, call.heap.new_list(items));
  list = *rest.list;
  return popped;
}

template <View::Part part>
Value view_of(Call& call) {
  auto* view = call.heap.arena().make<View>(call.self.object, part);
  return Value::of(view).with_origin(call.self.origin());
}

Value get(Call& call) {
  if (!allow_key(call.heap, call[0])) return Failed();
  const Value* value = find(call.heap, *call.self.object, call[0]);
  return value != nullptr ? *value : call.has(1) ? call[1] : Value::none();
}

Value copy_object(Call& call) {
  const Object& object = *call.self.object;
  if (!call.heap.allow_elements(object.count)) return Failed();
  Object* copy = call.heap.new_object(object.count);
  for (const Pair& pair : object.span()) {
    if (!insert(call.heap, *copy, pair.key, pair.value)) return Failed();
  }
  return Value::of(copy).with_origin(call.self.origin());
}

Value from_keys(Call& call) {
  INGOT_TRY(const std::vector<Value> keys, collect(call.heap, call[0]));
  Object* object = call.heap.new_object(keys.size());
  for (const Value& key : keys) {
    if (!insert(call.heap, *object, key, call.has(1) ? call[1] : Value::none())) return Failed();
  }
  return Value::of(object);
}

Value cycler_next(Call& call) {
  Cycler& cycler = *call.self.cycler;
  const Value current = cycler.items->items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items->count;
  return current;
}

Value cycler_reset(Call& call) {
  call.self.cycler->position = 0;
  return Value::none();
}

Value loop_cycle(Call& call) {
  if (call.more.empty()) return call.heap.fail("no items for cycling given");
  return call.more[static_cast<std::size_t>(call.self.loop->index0) % call.more.size()];
}

Value loop_changed(Call& call) {
  INGOT_TRY(const Value values, call.heap.new_list(call.more, Kind::tuple));
  Value& last = call.self.loop->last_changed;
  const bool is_same = last.is_given() && equal(call.heap, last, values);
  last = values;
  return Value::of(!is_same);
}

constexpr Builtin writing(std::string_view name, Value (*function)(Call&) = nullptr,
                          const Parameters& parameters = {}, std::uint8_t required = 0) {
  return {name, function, parameters, required, Builtin::Extra::refused, true};
}

constexpr Builtin list_methods[] = {
    writing("append", append, {"object"}, 1),
    writing("clear"),
    {"copy", copy_list},
    {"count", count_equal, {"value"}, 1},
    writing("extend"),
    {"index", index_of, {"value"}, 1},
    writing("insert"),
    writing("pop", pop, {"index"}),
    writing("remove"),
    writing("reverse"),
    writing("sort"),
};

constexpr Builtin tuple_methods[] = {
    {"count", count_equal, {"value"}, 1},
    {"index", index_of, {"value"}, 1},
};

constexpr Builtin object_methods[] = {
    writing("clear"),
    {"copy", copy_object},
    {"fromkeys", from_keys, {"iterable", "value"}, 1},
    {"get", get, {"key", "default"}, 1},
    {"items", view_of<View::Part::items>},
    {"keys", view_of<View::Part::keys>},
    writing("pop"),
    writing("popitem"),
    writing("setdefault"),
    writing("update"),
    {"values", view_of<View::Part::values>},
};

Value conjugate(Call& call) {
  return call.self.is(Kind::real) ? call.self : Value::of(call.self.as_integer());
}

Value bit_length(Call& call) {
  const auto bits = std::bit_width(magnitude_of(call.self.as_integer()));
  return Value::of_count(static_cast<std::size_t>(bits));
}

Value bit_count(Call& call) {
  return Value::of(std::int64_t{std::popcount(magnitude_of(call.self.as_integer()))});
}

Value is_whole(Call& call) {
  return Value::of(std::isfinite(call.self.real) && std::floor(call.self.real) == call.self.real);
}

constexpr Builtin integer_methods[] = {
    {"bit_count", bit_count},
    {"bit_length", bit_length},
    {"conjugate", conjugate},
};

constexpr Builtin real_methods[] = {
    {"conjugate", conjugate},
    {"is_integer", is_whole},
};

constexpr Builtin cycler_methods[] = {
    {"next", cycler_next},
    {"reset", cycler_reset},
};

constexpr Builtin loop_methods[] = {
    {"changed", loop_changed, {}, 0, Builtin::Extra::positional},
    {"cycle", loop_cycle, {}, 0, Builtin::Extra::positional},
};

}  // namespace

std::span<const Builtin> methods_of(Owner owner) noexcept {
  // In the order of the owners.
  const std::array<std::span<const Builtin>, owner_count> tables = {
      string_methods(), list_methods, tuple_methods,  object_methods,
      integer_methods,  real_methods, cycler_methods, loop_methods};
  return tables[static_cast<std::size_t>(owner)];
}

}  // namespace ingot::chat

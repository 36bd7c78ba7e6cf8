// SPDX-License-Identifier: MIT
// Lists and objects, and walks over all that is iterable.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/siphash.hpp"
#include "chat/values/characters.hpp"
#include "chat/values/operations.hpp"

namespace ingot::chat {
namespace {

/// Deeper input than this is no conversation.
constexpr std::uint32_t max_value_depth = 500;

/// Objects up to this size are searched from end to end.
constexpr std::uint32_t max_linear_count = 8;

std::uint64_t mix(std::uint64_t number) noexcept {
  number *= 0x9E37'79B9'7F4A'7C15;
  return number ^ (number >> 32);
}

bool is_same_text(const Value& left, const Value& right) noexcept {
  return left.size == right.size && left.text() == right.text();
}

Value import_object(Heap& heap, const ChatValue::Object& members, std::uint32_t depth) {
  if (!heap.allow_elements(members.size())) return Failed();
  Object* object = heap.new_object(members.size());
  for (const ChatValue::Member& member : members) {
    if (!heap.allow_bytes(member.name.size())) return Failed();
    INGOT_TRY(const Value value, import_value(heap, member.value, depth + 1));
    if (!insert(heap, *object, Value::text_of(member.name, from_input), value)) return Failed();
  }
  return Value::of(object);
}

/// Equal for values that are equal; 0 after a failure. has_hash() has bounded the depth.
std::uint64_t hash(Heap& heap, const Value& value) {
  switch (value.kind) {
    case Kind::string:
    case Kind::digits:
      return heap.spend(value.size >> 4) ? siphash_1_3(SipKey{}, value.text()) : 0;
    case Kind::boolean:
    case Kind::integer:
      return mix(static_cast<std::uint64_t>(value.as_integer()));
    case Kind::real: {
      const bool is_integral =
          std::floor(value.real) == value.real && std::fabs(value.real) < 0x1p63;
      return is_integral ? mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(value.real)))
                         : mix(std::bit_cast<std::uint64_t>(value.real));
    }
    case Kind::tuple: {
      std::uint64_t all = value.list->count;
      if (!heap.spend(all)) return 0;
      for (const Value& item : value.list->span()) all = mix(all ^ hash(heap, item));
      return all;
    }
    case Kind::none:
    case Kind::undefined:
      return static_cast<std::uint64_t>(value.kind);
    default:
      return mix(reinterpret_cast<std::uintptr_t>(value.data));
  }
}

/// The place of a key in the hash table, or the free one where it would be. The hash has no secret:
/// keys that are chosen to collide use up the steps of the rendering, and no more. After a failure
/// any place.
std::uint32_t* index_place(Heap& heap, const Object& object, const Value& key) {
  std::uint64_t at = hash(heap, key);
  while (true) {
    std::uint32_t* place = &object.index[at & (object.index_size - 1)];
    if (*place == 0 || equal(heap, object.pairs[*place - 1].key, key)) return place;
    ++at;
  }
}

void build_index(Heap& heap, Object& object) {
  object.index_size = std::bit_ceil(object.capacity * 2);
  object.index = heap.arena().make_array<std::uint32_t>(object.index_size);
  std::fill_n(object.index, object.index_size, 0u);
  for (std::uint32_t i = 0; i < object.count; ++i)
    *index_place(heap, object, object.pairs[i].key) = i + 1;
}

}  // namespace

Value import_value(Heap& heap, const ChatValue& value, std::uint32_t depth) {
  if (depth > max_value_depth)
    return heap.fail_limit("the depth of an input value", max_value_depth);
  Value result = Value::none();
  if (const auto* text = value.string()) {
    if (!heap.allow_bytes(text->size())) return Failed();
    result = Value::text_of(*text);
  } else if (const auto* digits = value.digits()) {
    if (!heap.allow_bytes(digits->text.size())) return Failed();
    result = Value::text_of(digits->text, from_template, Kind::digits);
  } else if (const auto* boolean = value.boolean()) {
    result = Value::of(*boolean);
  } else if (const auto* integer = value.integer()) {
    result = Value::of(*integer);
  } else if (const auto* real = value.real()) {
    result = Value::of(*real);
  } else if (const auto* members = value.members()) {
    result = import_object(heap, *members, depth);
  } else if (const auto* elements = value.elements()) {
    if (!heap.allow_elements(elements->size())) return Failed();
    auto* items = heap.arena().make_array<Value>(elements->size());
    for (std::size_t i = 0; i < elements->size(); ++i) {
      INGOT_TRY(items[i], import_value(heap, (*elements)[i], depth + 1));
    }
    result =
        Value::of(heap.arena().make<List>(items, static_cast<std::uint32_t>(elements->size())));
  }
  return result.with_origin(from_input);
}

const Value* find(Heap& heap, const Object& object, const Value& key) {
  if (object.index != nullptr) {
    const std::uint32_t position = *index_place(heap, object, key);
    return position == 0 ? nullptr : &object.pairs[position - 1].value;
  }
  // Up to 32 bytes of each key count as nothing: most lookups are of short names.
  if (key.is_string() && !heap.spend(std::uint64_t{key.size >> 5} * object.count)) return nullptr;
  for (std::uint32_t i = 0; i < object.count; ++i) {
    const Value& other = object.pairs[i].key;
    const bool is_found =
        other.is_string() && key.is_string() ? is_same_text(other, key) : equal(heap, other, key);
    if (is_found) return &object.pairs[i].value;
  }
  return nullptr;
}

bool allow_key(Heap& heap, const Value& key) {
  return has_hash(heap, key) ||
         heap.fail("unhashable type: '" + std::string(type_name(key.kind)) + "'");
}

bool insert(Heap& heap, Object& object, const Value& key, const Value& value) {
  if (!heap.spend(1) || !allow_key(heap, key)) return false;
  if (const Value* known = find(heap, object, key)) {
    *const_cast<Value*>(known) = value;
    return true;
  }
  if (object.count == object.capacity) {
    if (!heap.allow_elements(object.count + 1)) return false;
    const std::uint32_t capacity = std::max(4u, object.capacity * 2);
    auto* pairs = heap.arena().make_array<Pair>(capacity);
    std::copy_n(object.pairs, object.count, pairs);
    object.pairs = pairs;
    object.capacity = capacity;
    if (object.index != nullptr) build_index(heap, object);
  }
  object.pairs[object.count++] = {key, value};
  if (object.index != nullptr) {
    *index_place(heap, object, key) = object.count;
  } else if (object.count > max_linear_count) {
    build_index(heap, object);
  }
  return true;
}

bool insert_all(Heap& heap, Object& object, std::span<const Keyword> keywords) {
  return std::all_of(keywords.begin(), keywords.end(), [&](const Keyword& keyword) {
    return insert(heap, object, Value::text_of(keyword.name), keyword.value);
  });
}

std::optional<Iteration> iterate(Heap& heap, const Value& value) {
  switch (value.kind) {
    case Kind::list:
    case Kind::tuple:
    case Kind::object:
    case Kind::view:
    case Kind::range:
    case Kind::string:
    case Kind::generator:
    case Kind::undefined:
      return Iteration{value, 0};
    default:
      return heap.fail("'" + std::string(type_name(value.kind)) + "' object is not iterable");
  }
}

std::int64_t count_of(const Value& value) {
  switch (value.kind) {
    case Kind::list:
    case Kind::tuple:
      return value.list->count;
    case Kind::object:
      return value.object->count;
    case Kind::view:
      return value.view->object->count;
    case Kind::range:
      return value.range->count;
    case Kind::string:
      return static_cast<std::int64_t>(count_characters(value.text()));
    case Kind::undefined:
      return 0;
    default:
      return -1;
  }
}

Value next(Heap& heap, Iteration& iteration) {
  const Value& source = iteration.source;
  const std::int64_t position = iteration.position;
  switch (source.kind) {
    case Kind::list:
    case Kind::tuple:
      if (position >= source.list->count) return {};
      return source.list->items[iteration.position++];
    case Kind::object:
      if (position >= source.object->count) return {};
      return source.object->pairs[iteration.position++].key;
    case Kind::view: {
      if (position >= source.view->object->count) return {};
      const Pair& pair = source.view->object->pairs[iteration.position++];
      if (source.view->part == View::Part::keys) return pair.key;
      if (source.view->part == View::Part::values) return pair.value;
      const Value both[] = {pair.key, pair.value};
      return heap.new_list(both, Kind::tuple).with_origin(source.origin());
    }
    case Kind::range:
      if (position >= source.range->count) return {};
      return Value::of(source.range->at(iteration.position++));
    case Kind::string: {
      if (position >= source.size) return {};
      const auto begin = static_cast<std::size_t>(position);
      const std::size_t end = begin + first_character(source.text().substr(begin)).size_bytes;
      iteration.position = static_cast<std::int64_t>(end);
      return heap.part_of(source, begin, end).with_markup(false);  // as Python's iterators do
    }
    case Kind::generator: {
      Generator& generator = *source.generator;
      if (generator.is_done) return {};
      const Value value = generator.step(heap, generator);
      if (!value.is_given() || value.failed()) generator.is_done = true;
      return value;
    }
    default:
      return {};
  }
}

std::optional<std::vector<Value>> collect(Heap& heap, const Value& value,
                                          std::vector<Value> items) {
  INGOT_TRY(Iteration iteration, iterate(heap, value));
  if (value.is_string() && !heap.spend_on(value.size)) return std::nullopt;
  if (const std::int64_t count = count_of(value); count > 0) {
    if (!heap.allow_elements(static_cast<std::uint64_t>(count))) return std::nullopt;
    items.reserve(items.size() + static_cast<std::size_t>(count));
  }
  while (true) {
    INGOT_TRY(const Value element, next(heap, iteration));
    if (!element.is_given()) return items;
    if (!heap.spend(1) || !heap.fits_list(items.size() + 1)) return std::nullopt;
    items.push_back(element);
  }
}

std::int64_t length_of(Heap& heap, Loop& loop) {
  if (loop.length >= 0) return loop.length;
  loop.length = count_of(loop.iteration.source);
  if (loop.length >= 0) return loop.length;
  std::vector<Value> rest;
  while (true) {
    const Value element = next(heap, loop.iteration);
    if (!element.is_given() || element.failed()) break;
    rest.push_back(element);
    if (!heap.spend(1)) break;
  }
  const auto rest_count = static_cast<std::int64_t>(rest.size());
  loop.length = rest_count + loop.index0 + 1 + (loop.after.is_given() ? 1 : 0);
  const Value list = heap.new_list(rest);
  if (!list.failed()) loop.iteration = {list, 0};
  return loop.length;
}

}  // namespace ingot::chat

// SPDX-License-Identifier: MIT
// Lists and objects, and walks over all that is iterable.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/siphash.hpp"
#include "chat/render/render.hpp"
#include "chat/values/characters.hpp"

namespace ingot::chat {
namespace {

/// Objects up to this size are searched from end to end.
constexpr std::uint32_t max_linear_count = 8;

std::uint64_t mix(std::uint64_t number) noexcept {
  number *= 0x9E37'79B9'7F4A'7C15;
  return number ^ (number >> 32);
}

bool is_same_text(const Value& left, const Value& right) noexcept {
  return left.size == right.size && left.text() == right.text();
}

}  // namespace

Value Render::new_list(std::span<const Value> items, Kind kind) {
  if (!allow_elements(items.size())) return Value::failure();
  auto* copies = arena_.make_array<Value>(items.size());
  std::copy(items.begin(), items.end(), copies);
  return Value::of(arena_.make<List>(copies, static_cast<std::uint32_t>(items.size())), kind);
}

Value Render::new_undefined(Undefined::Reason reason, std::string_view text, Kind owner) {
  return Value::of(Kind::undefined, &Value::undefined, arena_.make<Undefined>(reason, owner, text));
}

Object* Render::new_object(std::size_t capacity) {
  auto* pairs = arena_.make_array<Pair>(capacity);
  return arena_.make<Object>(pairs, 0u, static_cast<std::uint32_t>(capacity));
}

bool Render::has_hash(const Value& value, std::uint32_t depth) {
  switch (value.kind) {
    case Kind::list:
    case Kind::object:
    case Kind::view:
      return false;
    case Kind::tuple:
      return allow_comparison(depth) && spend(value.list->count) &&
             std::all_of(value.list->items, value.list->items + value.list->count,
                         [&](const Value& item) { return has_hash(item, depth + 1); });
    default:
      return true;
  }
}

/// Equal for values that are equal; 0 after a failure. has_hash() has bounded the depth.
std::uint64_t Render::hash(const Value& value) {
  switch (value.kind) {
    case Kind::string:
    case Kind::digits:
      return spend(value.size >> 4) ? siphash_1_3(SipKey{}, value.text()) : 0;
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
      if (!spend(all)) return 0;
      for (const Value& item : value.list->span()) all = mix(all ^ hash(item));
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
std::uint32_t* Render::index_place(const Object& object, const Value& key) {
  std::uint64_t at = hash(key);
  while (true) {
    std::uint32_t* place = &object.index[at & (object.index_size - 1)];
    if (*place == 0 || equal(object.pairs[*place - 1].key, key)) return place;
    ++at;
  }
}

void Render::build_index(Object& object) {
  object.index_size = std::bit_ceil(object.capacity * 2);
  object.index = arena_.make_array<std::uint32_t>(object.index_size);
  std::fill_n(object.index, object.index_size, 0u);
  for (std::uint32_t i = 0; i < object.count; ++i)
    *index_place(object, object.pairs[i].key) = i + 1;
}

const Value* Render::find(const Object& object, const Value& key) {
  if (object.index != nullptr) {
    const std::uint32_t position = *index_place(object, key);
    return position == 0 ? nullptr : &object.pairs[position - 1].value;
  }
  // Up to 32 bytes of each key count as nothing: most lookups are of short names.
  if (key.is_string() && !spend((key.size >> 5) * object.count)) return nullptr;
  for (std::uint32_t i = 0; i < object.count; ++i) {
    const Value& other = object.pairs[i].key;
    const bool is_found =
        other.is_string() && key.is_string() ? is_same_text(other, key) : equal(other, key);
    if (is_found) return &object.pairs[i].value;
  }
  return nullptr;
}

bool Render::allow_key(const Value& key) {
  return has_hash(key) || fail("unhashable type: '" + std::string(type_name(key.kind)) + "'");
}

bool Render::insert(Object& object, const Value& key, const Value& value) {
  if (!spend(1) || !allow_key(key)) return false;
  if (const Value* known = find(object, key)) {
    *const_cast<Value*>(known) = value;
    return true;
  }
  if (object.count == object.capacity) {
    if (!allow_elements(object.count + 1)) return false;
    const std::uint32_t capacity = std::max(4u, object.capacity * 2);
    auto* pairs = arena_.make_array<Pair>(capacity);
    std::copy_n(object.pairs, object.count, pairs);
    object.pairs = pairs;
    object.capacity = capacity;
    if (object.index != nullptr) build_index(object);
  }
  object.pairs[object.count++] = {key, value};
  if (object.index != nullptr) {
    *index_place(object, key) = object.count;
  } else if (object.count > max_linear_count) {
    build_index(object);
  }
  return true;
}

bool Render::insert_all(Object& object, std::span<const Keyword> keywords) {
  return std::all_of(keywords.begin(), keywords.end(), [&](const Keyword& keyword) {
    return insert(object, Value::text_of(keyword.name), keyword.value);
  });
}

bool Render::iterate(const Value& value, Iteration& iteration) {
  switch (value.kind) {
    case Kind::list:
    case Kind::tuple:
    case Kind::object:
    case Kind::view:
    case Kind::range:
    case Kind::string:
    case Kind::generator:
    case Kind::undefined:
      iteration.source = value;
      iteration.position = 0;
      return true;
    default:
      return fail("'" + std::string(type_name(value.kind)) + "' object is not iterable");
  }
}

std::int64_t Render::count_of(const Value& value) const {
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

Value Render::next(Iteration& iteration) {
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
      return new_list(both, Kind::tuple).with_origin(source.origin());
    }
    case Kind::range:
      if (position >= source.range->count) return {};
      return Value::of(source.range->at(iteration.position++));
    case Kind::string: {
      if (position >= source.size) return {};
      const auto begin = static_cast<std::size_t>(position);
      const std::size_t end = begin + first_character(source.text().substr(begin)).size_bytes;
      iteration.position = static_cast<std::int64_t>(end);
      return part_of(source, begin, end);
    }
    case Kind::generator: {
      Generator& generator = *source.generator;
      if (generator.is_done) return {};
      const Value value = generator.step(*this, generator);
      if (!value.is_given() || value.failed()) generator.is_done = true;
      return value;
    }
    default:
      return {};
  }
}

bool Render::collect(const Value& value, std::vector<Value>& items) {
  Iteration iteration;
  if (!iterate(value, iteration)) return false;
  if (value.is_string() && !spend_on(value.size)) return false;
  if (const std::int64_t count = count_of(value); count > 0) {
    if (!allow_elements(static_cast<std::uint64_t>(count))) return false;
    items.reserve(items.size() + static_cast<std::size_t>(count));
  }
  while (true) {
    INGOT_VALUE(const Value element, next(iteration));
    if (!element.is_given()) return true;
    const std::uint64_t most = limits().max_elements;
    if (!spend(1) || !is_within("max_elements", most, items.size() + 1)) return false;
    items.push_back(element);
  }
}

}  // namespace ingot::chat

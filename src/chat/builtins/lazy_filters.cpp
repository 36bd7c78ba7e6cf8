// SPDX-License-Identifier: MIT
// Filters that give their elements one by one, when they are asked for: what fails in an element
// that nobody asks for does not fail, and every element comes once.
#include <algorithm>

#include "base/ranges.hpp"
#include "chat/builtins/builtins.hpp"
#include "chat/values/characters.hpp"
#include "chat/values/text_functions.hpp"

namespace ingot::chat {
namespace {

/// A walk that begins when the first element is asked for: only then does it fail for what is not
/// iterable.
Value next_of_source(Heap& heap, Generator& generator) {
  if (generator.position == 0) {
    INGOT_TRY(generator.source, iterate(heap, generator.source.source));
  }
  ++generator.position;
  if (!heap.spend(1)) return Failed();
  return next(heap, generator.source);
}

Value apply(Heap& heap, const Generator& generator, const Value& item) {
  return call_builtin(heap, *generator.builtin, item,
                      {generator.arguments, generator.keyword_arguments});
}

Generator new_generator(const Call& call, Generator::Step step) {
  Generator generator;
  generator.source.source = call.self;
  generator.step = step;
  return generator;
}

Value lazy(Call& call, const Generator& generator) {
  return Value::of(call.heap.arena().make<Generator>(generator));
}

/// What `map` and the like find wrong with their arguments fails with the first element.
Value failing_generator(Call& call, std::string_view reason) {
  Generator generator = new_generator(call, [](Heap& heap, Generator& state) -> Value {
    return heap.fail(std::string(state.fallback.text()));
  });
  generator.fallback = Value::text_of(call.heap.arena().copy(reason));
  return lazy(call, generator);
}

/// A generator without elements.
Value empty_generator(Call& call) {
  return lazy(call, new_generator(call, [](Heap&, Generator&) { return Value(); }));
}

Value map_attribute_step(Heap& heap, Generator& generator) {
  INGOT_TRY(const Value item, next_of_source(heap, generator));
  if (!item.is_given()) return item;
  return attribute_path(heap, item, generator.attribute, generator.fallback);
}

Value map_filter_step(Heap& heap, Generator& generator) {
  INGOT_TRY(const Value item, next_of_source(heap, generator));
  return item.is_given() ? apply(heap, generator, item) : item;
}

/// A generator that applies the row of a table whose name comes first among `arguments`.
Value applying(Call& call, Generator generator, std::span<const Builtin> table,
               std::string_view noun, std::span<const Value> arguments) {
  const std::string_view name = arguments[0].is_string() ? arguments[0].text() : std::string_view();
  generator.builtin = find_builtin(table, name);
  if (generator.builtin == nullptr) {
    if (!call.heap.spend_on(name.size())) return Failed();
    return failing_generator(call,
                             "No " + std::string(noun) + " named '" + std::string(name) + "'");
  }
  generator.arguments = arguments.subspan(1);
  generator.keyword_arguments = call.more_keywords;
  return lazy(call, generator);
}

Value select_step(Heap& heap, Generator& generator) {
  while (true) {
    INGOT_TRY(const Value item, next_of_source(heap, generator));
    if (!item.is_given()) return item;
    INGOT_TRY(Value tested, attribute_path(heap, item, generator.attribute));
    if (generator.builtin != nullptr) tested = apply(heap, generator, tested);
    if (tested.failed()) return tested;
    if (is_true(tested) != generator.is_negated) return item;
  }
}

Value select_or_reject(Call& call, bool by_attribute, bool is_negated) {
  if (!is_true(call.self)) return empty_generator(call);
  std::span<const Value> rest = call.more;
  Generator generator = new_generator(call, select_step);
  generator.is_negated = is_negated;
  if (by_attribute) {
    if (rest.empty()) return failing_generator(call, "Missing parameter for attribute name");
    INGOT_TRY(generator.attribute, split_path(call.heap, rest[0]));
    rest = rest.subspan(1);
  }
  return rest.empty() ? lazy(call, generator) : applying(call, generator, tests(), "test", rest);
}

Value unique_step(Heap& heap, Generator& generator) {
  while (true) {
    INGOT_TRY(const Value item, next_of_source(heap, generator));
    if (!item.is_given()) return item;
    INGOT_TRY(Value key, attribute_path(heap, item, generator.attribute));
    if (generator.is_negated && key.is_string()) key = change_case(heap, key, Case::lower);
    if (key.failed()) return key;
    const std::uint32_t count = generator.seen->count;
    if (!insert(heap, *generator.seen, key, Value::none())) return Failed();
    if (generator.seen->count > count) return item;
  }
}

Value batch_step(Heap& heap, Generator& generator) {
  const std::int64_t size = generator.size;
  std::vector<Value> batch;
  while (static_cast<std::int64_t>(batch.size()) < size || size <= 0) {
    INGOT_TRY(const Value item, next_of_source(heap, generator));
    if (!item.is_given()) break;
    if (!heap.fits_list(batch.size() + 1)) return Failed();
    batch.push_back(item);
  }
  if (batch.empty()) return {};
  if (generator.fallback.is_set() && static_cast<std::int64_t>(batch.size()) < size) {
    if (!heap.allow_elements(static_cast<std::uint64_t>(size))) return Failed();
    batch.resize(static_cast<std::size_t>(size), generator.fallback);
  }
  return heap.new_list(batch);
}

Value slice_step(Heap& heap, Generator& generator) {
  if (generator.position == 0 && generator.source.position == 0) {
    INGOT_TRY(const std::vector<Value> items, collect(heap, generator.source.source));
    INGOT_TRY(const Value list, heap.new_list(items));
    generator.source = {list, 1};
  }
  const std::int64_t slices = generator.size;
  if (slices == 0) return heap.fail("division by zero");
  const std::int64_t number = generator.position++;
  if (number >= slices) return {};
  const std::int64_t length = generator.source.source.list->count;
  const std::int64_t size = length / slices;
  const std::int64_t larger = length % slices;
  const std::int64_t begin = number * size + std::min(number, larger);
  const std::int64_t end = begin + size + (number < larger ? 1 : 0);
  const Value* items = generator.source.source.list->items;
  if (!heap.allow_elements(static_cast<std::uint64_t>(end - begin) + 1)) return Failed();
  std::vector<Value> part(items + begin, items + end);
  if (generator.fallback.is_set() && number >= larger) part.push_back(generator.fallback);
  return heap.new_list(part);
}

Value items_step(Heap& heap, Generator& generator) {
  if (generator.source.source.is_undefined()) return {};
  if (generator.position == 0 && !generator.source.source.is(Kind::view)) {
    if (!generator.source.source.is(Kind::object)) {
      return heap.fail("Can only get item pairs from a mapping.");
    }
    auto* view = heap.arena().make<View>(generator.source.source.object, View::Part::items);
    generator.source.source = Value::of(view).with_origin(generator.source.source.origin());
  }
  return next_of_source(heap, generator);
}

/// Elements in lists: of a size, or so many lists.
Value in_lists(Call& call, Generator::Step step) {
  Generator generator = new_generator(call, step);
  // Batches of a size that is no number are never full.
  const bool is_full_never = step == batch_step && !call[0].is_number() && !call.has_value(1);
  generator.size = -1;
  if (!is_full_never) {
    INGOT_TRY(generator.size, call.integer(0));
  }
  generator.fallback = call[1];
  return lazy(call, generator);
}

}  // namespace

Value filter_map(Call& call) {
  if (!is_true(call.self)) return empty_generator(call);
  const auto keyword = [&](std::string_view name) {
    const Keyword* const found = find_row(call.more_keywords, &Keyword::name, name);
    return found == nullptr ? Value() : found->value;
  };
  const Value attribute = keyword("attribute");
  if (!call.more.empty()) {
    return applying(call, new_generator(call, map_filter_step), filters(), "filter", call.more);
  }
  if (!attribute.is_given()) return failing_generator(call, "map requires a filter argument");
  const std::size_t known = keyword("default").is_given() ? 2 : 1;
  if (call.more_keywords.size() > known) {
    return failing_generator(call, "Unexpected keyword argument");
  }
  Generator generator = new_generator(call, map_attribute_step);
  INGOT_TRY(generator.attribute, split_path(call.heap, attribute));
  generator.fallback = keyword("default");
  return lazy(call, generator);
}

Value filter_select(Call& call) { return select_or_reject(call, false, false); }
Value filter_reject(Call& call) { return select_or_reject(call, false, true); }
Value filter_selectattr(Call& call) { return select_or_reject(call, true, false); }
Value filter_rejectattr(Call& call) { return select_or_reject(call, true, true); }

Value filter_unique(Call& call) {
  Generator generator = new_generator(call, unique_step);
  generator.is_negated = !call.flag(0);
  generator.seen = call.heap.new_object(0);
  INGOT_TRY(generator.attribute,
            split_path(call.heap, call.has_value(1) ? call[1] : Value::none()));
  return lazy(call, generator);
}

Value filter_batch(Call& call) { return in_lists(call, batch_step); }
Value filter_slice(Call& call) { return in_lists(call, slice_step); }
Value filter_items(Call& call) { return lazy(call, new_generator(call, items_step)); }

}  // namespace ingot::chat

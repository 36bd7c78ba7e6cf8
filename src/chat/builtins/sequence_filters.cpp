// SPDX-License-Identifier: MIT
// Filters on lists and objects that give a value.
#include <algorithm>

#include "chat/builtins/builtins.hpp"
#include "chat/values/characters.hpp"
#include "chat/values/text_functions.hpp"

namespace ingot::chat {
namespace {

Failed no_length(Call& call) {
  return call.heap.fail("object of type '" + std::string(type_name(call.self.kind)) +
                        "' has no len()");
}

/// A text in lower case for comparisons without regard to case; other values as they are.
Value without_case(Heap& heap, const Value& value) {
  return value.is_string() ? change_case(heap, value, Case::lower) : value;
}

/// What elements are compared by.
struct SortKey {
  Value key;
  std::size_t position = 0;
};

/// Keys of elements: of the attribute, or several separated by commas, or themselves.
std::optional<std::vector<SortKey>> sort_keys(Call& call, const std::vector<Value>& items,
                                              const Value& attribute, bool is_case_sensitive,
                                              bool allows_several) {
  std::vector<Value> names;
  if (attribute.is_given()) names.push_back(attribute);
  if (allows_several && attribute.is_string()) {
    INGOT_TRY(const Value parts, split(call.heap, attribute, Value::text_of(","), -1, false));
    names.assign(parts.list->span().begin(), parts.list->span().end());
  }
  std::vector<std::span<const Value>> paths(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    INGOT_TRY(paths[i], split_path(call.heap, names[i]));
  }
  std::vector<SortKey> keys;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::vector<Value> parts;
    for (const auto& path : paths) parts.push_back(attribute_path(call.heap, items[i], path));
    if (paths.empty()) parts.push_back(items[i]);
    for (Value& part : parts) {
      if (!part.failed() && !is_case_sensitive) part = without_case(call.heap, part);
      if (part.failed()) return std::nullopt;
    }
    INGOT_TRY(const Value key,
              parts.size() == 1 ? parts[0] : call.heap.new_list(parts, Kind::tuple));
    keys.push_back({key, i});
  }
  return keys;
}

/// Sorts like Python: stable, and only by "less than". `are_lists`: keys are those of lists of one
/// element, two of which may lack it. False after a failure.
bool sort_by_key(Heap& heap, std::vector<SortKey>& keys, bool is_reversed, bool are_lists = false) {
  bool has_failed = false;
  // Values that have no order leave the order as it is, which every algorithm can live with.
  const auto is_less = [&](const SortKey& left, const SortKey& right) {
    if (has_failed) return false;
    if (are_lists && left.key.is_undefined() && right.key.is_undefined()) return false;
    const auto result =
        is_reversed ? order(heap, right.key, left.key, "<") : order(heap, left.key, right.key, "<");
    has_failed = !result.has_value();
    return result == -1;
  };
  // std::stable_sort may read outside of its range if the order is none (NaN); merging by hand does
  // not.
  std::vector<SortKey> merged(keys.size());
  for (std::size_t width = 1; width < keys.size() && !has_failed; width *= 2) {
    for (std::size_t begin = 0; begin < keys.size(); begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, keys.size());
      const std::size_t end = std::min(begin + 2 * width, keys.size());
      std::size_t left = begin;
      std::size_t right = middle;
      for (std::size_t to = begin; to < end; ++to) {
        const bool takes_right =
            right < end && (left == middle || is_less(keys[right], keys[left]));
        merged[to] = takes_right ? keys[right++] : keys[left++];
      }
    }
    keys.swap(merged);
  }
  return !has_failed;
}

/// The elements of `source` in the order of their keys.
Value sorted_by(Call& call, const Value& source, const Value& attribute, bool is_case_sensitive,
                bool allows_several, bool is_reversed) {
  INGOT_TRY(const std::vector<Value> items, collect(call.heap, source));
  INGOT_TRY(std::vector<SortKey> keys,
            sort_keys(call, items, attribute, is_case_sensitive, allows_several));
  if (!sort_by_key(call.heap, keys, is_reversed, allows_several)) return Failed();
  std::vector<Value> sorted;
  for (const SortKey& key : keys) sorted.push_back(items[key.position]);
  return call.heap.new_list(sorted);
}

Value extreme(Call& call, bool is_maximum) {
  INGOT_TRY(const std::vector<Value> items, collect(call.heap, call.self));
  if (items.empty()) {
    return call.heap.new_undefined(Undefined::Reason::hint,
                                   "No aggregated item, sequence was empty.");
  }
  const Value attribute = call.has_value(1) ? call[1] : Value();
  INGOT_TRY(const std::vector<SortKey> keys,
            sort_keys(call, items, attribute, call.flag(0), false));
  std::size_t best = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    INGOT_TRY(const int order,
              order(call.heap, keys[i].key, keys[best].key, is_maximum ? ">" : "<"));
    if (order == (is_maximum ? 1 : -1)) best = i;
  }
  return items[best];
}

}  // namespace

Value filter_length(Call& call) {
  if (call.self.is(Kind::loop)) return attribute(call.heap, call.self, "length", nullptr);
  if (call.self.is_string() && !call.heap.spend_on(call.self.size)) return Failed();
  const std::int64_t count = count_of(call.self);
  return count < 0 ? no_length(call) : Value::of(count);
}

Value filter_default(Call& call) {
  const bool is_absent = call.self.is_undefined() || (call.flag(1) && !is_true(call.self));
  if (!is_absent) return call.self;
  return call.has(0) ? call[0] : Value::text_of("");
}

Value filter_first(Call& call) {
  INGOT_TRY(Iteration iteration, iterate(call.heap, call.self));
  const Value first = next(call.heap, iteration);
  if (first.is_given()) return first;
  return call.heap.new_undefined(Undefined::Reason::hint, "No first item, sequence was empty.");
}

Value filter_last(Call& call) {
  if (call.self.is(Kind::generator)) return call.heap.fail("'generator' object is not reversible");
  INGOT_TRY(const std::vector<Value> items, collect(call.heap, call.self));
  if (!items.empty()) return items.back();
  return call.heap.new_undefined(Undefined::Reason::hint, "No last item, sequence was empty.");
}

Value filter_list(Call& call) {
  INGOT_TRY(const std::vector<Value> items, collect(call.heap, call.self));
  return call.heap.new_list(items);
}

Value filter_random(Call& call) {
  // A prompt must not depend on chance; the first element is as random as any.
  const bool has_length = call.self.is_string() || count_of(call.self) >= 0;
  return has_length ? filter_first(call) : no_length(call);
}

Value filter_reverse(Call& call) {
  if (call.self.is_string()) {
    const Value bounds[3] = {{}, {}, Value::of(std::int64_t{-1})};
    return slice(call.heap, call.self, bounds);
  }
  INGOT_TRY(std::vector<Value> items, collect(call.heap, call.self));
  std::reverse(items.begin(), items.end());
  const Value list = call.heap.new_list(items);
  if (list.failed() || call.self.is(Kind::generator)) return list;
  auto* generator = call.heap.arena().make<Generator>();
  generator->source = {list, 0};
  generator->step = [](Heap& heap, Generator& state) { return next(heap, state.source); };
  return Value::of(generator);
}

Value filter_sum(Call& call) {
  INGOT_TRY(const std::vector<Value> items, collect(call.heap, call.self));
  Value sum = call.has(1) ? call[1] : Value::of(std::int64_t{0});
  if (sum.is_string()) return call.heap.fail("sum() can't sum strings [use ''.join(seq) instead]");
  INGOT_TRY(const auto path, split_path(call.heap, call.has_value(0) ? call[0] : Value::none()));
  for (const Value& item : items) {
    INGOT_TRY(const Value part, attribute_path(call.heap, item, path));
    INGOT_TRY(sum, arithmetic(call.heap, Operator::add, sum, part));
  }
  return sum;
}

Value filter_min(Call& call) { return extreme(call, false); }
Value filter_max(Call& call) { return extreme(call, true); }

Value filter_sort(Call& call) {
  const Value attribute = call.has_value(2) ? call[2] : Value();
  return sorted_by(call, call.self, attribute, call.flag(1), true, call.flag(0));
}

Value filter_dictsort(Call& call) {
  const std::string_view by = call[1].is_string() ? call[1].text() : call.has(1) ? "" : "key";
  if (by != "key" && by != "value") {
    return call.heap.fail("You can only sort by either \"key\" or \"value\"");
  }
  if (!call.self.is(Kind::object)) return call.heap.fail("dictsort needs a mapping");
  View view = {call.self.object, View::Part::items};
  const Value pairs = Value::of(&view).with_origin(call.self.origin());
  const Value position = Value::of(std::int64_t{by == "key" ? 0 : 1});
  return sorted_by(call, pairs, position, call.flag(0), false, call.flag(2));
}

Value filter_groupby(Call& call) {
  INGOT_TRY(const std::vector<Value> items, collect(call.heap, call.self));
  INGOT_TRY(const std::span<const Value> path, split_path(call.heap, call[0]));
  std::vector<SortKey> keys;
  for (std::size_t i = 0; i < items.size(); ++i) {
    INGOT_TRY(Value key, attribute_path(call.heap, items[i], path, call[1]));
    if (!call.flag(2)) key = without_case(call.heap, key);
    if (key.failed()) return key;
    keys.push_back({key, i});
  }
  if (!sort_by_key(call.heap, keys, false)) return Failed();
  std::vector<Value> groups;
  for (std::size_t begin = 0; begin < keys.size();) {
    std::vector<Value> members;
    std::size_t end = begin;
    for (; end < keys.size() && equal(call.heap, keys[begin].key, keys[end].key); ++end) {
      members.push_back(items[keys[end].position]);
    }
    if (end == begin) members.push_back(items[keys[end++].position]);  // NaN equals nothing
    INGOT_TRY(const Value shown, attribute_path(call.heap, members[0], path, call[1]));
    INGOT_TRY(const Value list, call.heap.new_list(members));
    const Value pair[] = {call.flag(2) ? keys[begin].key : shown, list};
    INGOT_TRY(Value group, call.heap.new_list(pair, Kind::tuple));
    group.flags |= Value::is_group_flag;
    groups.push_back(group);
    begin = end;
  }
  return call.heap.new_list(groups);
}

Value filter_attr(Call& call) {
  if (!call[0].is_string()) return call.heap.fail("attribute name must be a string");
  if (call.self.is_undefined()) return call.heap.fail_undefined(call.self);
  return attribute_only(call.heap, call.self, call[0].text());
}

}  // namespace ingot::chat

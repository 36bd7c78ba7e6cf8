// SPDX-License-Identifier: MIT
// Filters on lists and objects that give a value.
#include <algorithm>

#include "chat/builtins/filter_functions.hpp"
#include "chat/values/characters.hpp"
#include "chat/values/text_functions.hpp"

namespace ingot::chat {
namespace {

Failed no_length(Call& call) {
  return call.render.fail("object of type '" + std::string(type_name(call.self.kind)) +
                          "' has no len()");
}

/// A text in lower case for comparisons without regard to case; other values as they are.
Value without_case(Render& render, const Value& value) {
  return value.is_string() ? change_case(render, value, Case::lower) : value;
}

/// What elements are compared by.
struct SortKey {
  Value key;
  std::size_t position = 0;
};

/// Keys of elements: of the attribute, or several separated by commas, or themselves.
bool sort_keys(Call& call, const std::vector<Value>& items, const Value& attribute,
               bool is_case_sensitive, bool allows_several, std::vector<SortKey>& keys) {
  std::vector<Value> names;
  if (attribute.is_given()) names.push_back(attribute);
  if (allows_several && attribute.is_string()) {
    INGOT_VALUE(const Value parts, split(call.render, attribute, Value::text_of(","), -1, false));
    names.assign(parts.list->span().begin(), parts.list->span().end());
  }
  std::vector<std::span<const Value>> paths(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!call.render.split_path(names[i], paths[i])) return false;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::vector<Value> parts;
    for (const auto& path : paths) parts.push_back(call.render.attribute_path(items[i], path));
    if (paths.empty()) parts.push_back(items[i]);
    for (Value& part : parts) {
      if (!part.failed() && !is_case_sensitive) part = without_case(call.render, part);
      if (part.failed()) return false;
    }
    INGOT_VALUE(const Value key,
                parts.size() == 1 ? parts[0] : call.render.new_list(parts, Kind::tuple));
    keys.push_back({key, i});
  }
  return true;
}

/// Sorts like Python: stable, and only by "less than". `are_lists`: keys are those of lists of one
/// element, two of which may lack it. False after a failure.
bool sort_by_key(Render& render, std::vector<SortKey>& keys, bool is_reversed,
                 bool are_lists = false) {
  bool has_failed = false;
  // Values that have no order leave the order as it is, which every algorithm can live with.
  const auto is_less = [&](const SortKey& left, const SortKey& right) {
    if (has_failed) return false;
    if (are_lists && left.key.is_undefined() && right.key.is_undefined()) return false;
    const auto order = is_reversed ? render.order(right.key, left.key, "<")
                                   : render.order(left.key, right.key, "<");
    has_failed = !order.has_value();
    return order == -1;
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
  std::vector<Value> items;
  std::vector<SortKey> keys;
  const bool is_sorted =
      call.render.collect(source, items) &&
      sort_keys(call, items, attribute, is_case_sensitive, allows_several, keys) &&
      sort_by_key(call.render, keys, is_reversed, allows_several);
  if (!is_sorted) return Failed();
  std::vector<Value> sorted;
  for (const SortKey& key : keys) sorted.push_back(items[key.position]);
  return call.render.new_list(sorted);
}

Value extreme(Call& call, bool is_maximum) {
  std::vector<Value> items;
  if (!call.render.collect(call.self, items)) return Value::failure();
  if (items.empty()) {
    return call.render.new_undefined(Undefined::Reason::hint,
                                     "No aggregated item, sequence was empty.");
  }
  const Value attribute = call.has_value(1) ? call[1] : Value();
  std::vector<SortKey> keys;
  if (!sort_keys(call, items, attribute, call.flag(0), false, keys)) return Value::failure();
  std::size_t best = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    INGOT_OPTIONAL(const int order,
                   call.render.order(keys[i].key, keys[best].key, is_maximum ? ">" : "<"));
    if (order == (is_maximum ? 1 : -1)) best = i;
  }
  return items[best];
}

}  // namespace

Value filter_length(Call& call) {
  if (call.self.is(Kind::loop)) {
    return call.render.attribute(call.self, "length", nullptr);
  }
  if (call.self.is_string() && !call.render.spend_on(call.self.size)) return Value::failure();
  const std::int64_t count = call.render.count_of(call.self);
  return count < 0 ? no_length(call) : Value::of(count);
}

Value filter_default(Call& call) {
  const bool is_absent =
      call.self.is_undefined() || (call.flag(1) && !call.render.is_true(call.self));
  if (!is_absent) return call.self;
  return call.has(0) ? call[0] : Value::text_of("");
}

Value filter_first(Call& call) {
  Iteration iteration;
  if (!call.render.iterate(call.self, iteration)) return Value::failure();
  const Value first = call.render.next(iteration);
  if (first.is_given()) return first;
  return call.render.new_undefined(Undefined::Reason::hint, "No first item, sequence was empty.");
}

Value filter_last(Call& call) {
  if (call.self.is(Kind::generator))
    return call.render.fail("'generator' object is not reversible");
  std::vector<Value> items;
  if (!call.render.collect(call.self, items)) return Value::failure();
  if (!items.empty()) return items.back();
  return call.render.new_undefined(Undefined::Reason::hint, "No last item, sequence was empty.");
}

Value filter_list(Call& call) {
  std::vector<Value> items;
  if (!call.render.collect(call.self, items)) return Value::failure();
  return call.render.new_list(items);
}

Value filter_random(Call& call) {
  // A prompt must not depend on chance; the first element is as random as any.
  const bool has_length = call.self.is_string() || call.render.count_of(call.self) >= 0;
  return has_length ? filter_first(call) : no_length(call);
}

Value filter_reverse(Call& call) {
  if (call.self.is_string()) {
    const Value bounds[3] = {{}, {}, Value::of(std::int64_t{-1})};
    return call.render.slice(call.self, bounds);
  }
  std::vector<Value> items;
  if (!call.render.collect(call.self, items)) return Value::failure();
  std::reverse(items.begin(), items.end());
  const Value list = call.render.new_list(items);
  if (list.failed() || call.self.is(Kind::generator)) return list;
  auto* generator = call.render.arena().make<Generator>();
  generator->source = {list, 0};
  generator->step = [](Render& render, Generator& state) { return render.next(state.source); };
  return Value::of(Kind::generator, &Value::generator, generator);
}

Value filter_sum(Call& call) {
  std::vector<Value> items;
  if (!call.render.collect(call.self, items)) return Value::failure();
  Value sum = call.has(1) ? call[1] : Value::of(std::int64_t{0});
  if (sum.is_string())
    return call.render.fail("sum() can't sum strings [use ''.join(seq) instead]");
  std::span<const Value> path;
  if (call.has_value(0) && !call.render.split_path(call[0], path)) return Failed();
  for (const Value& item : items) {
    INGOT_VALUE(const Value part, call.render.attribute_path(item, path));
    INGOT_VALUE(sum, call.render.arithmetic(NodeKind::add, sum, part));
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
    return call.render.fail("You can only sort by either \"key\" or \"value\"");
  }
  if (!call.self.is(Kind::object)) return call.render.fail("dictsort needs a mapping");
  View view = {call.self.object, View::Part::items};
  const Value pairs = Value::of(Kind::view, &Value::view, &view).with_origin(call.self.origin());
  const Value position = Value::of(std::int64_t{by == "key" ? 0 : 1});
  return sorted_by(call, pairs, position, call.flag(0), false, call.flag(2));
}

Value filter_groupby(Call& call) {
  std::vector<Value> items;
  if (!call.render.collect(call.self, items)) return Value::failure();
  std::span<const Value> path;
  if (!call.render.split_path(call[0], path)) return Failed();
  std::vector<SortKey> keys;
  for (std::size_t i = 0; i < items.size(); ++i) {
    INGOT_VALUE(Value key, call.render.attribute_path(items[i], path, call[1]));
    if (!call.flag(2)) key = without_case(call.render, key);
    if (key.failed()) return key;
    keys.push_back({key, i});
  }
  if (!sort_by_key(call.render, keys, false)) return Value::failure();
  std::vector<Value> groups;
  for (std::size_t begin = 0; begin < keys.size();) {
    std::vector<Value> members;
    std::size_t end = begin;
    for (; end < keys.size() && call.render.equal(keys[begin].key, keys[end].key); ++end) {
      members.push_back(items[keys[end].position]);
    }
    if (end == begin) members.push_back(items[keys[end++].position]);  // NaN equals nothing
    INGOT_VALUE(const Value shown, call.render.attribute_path(members[0], path, call[1]));
    INGOT_VALUE(const Value list, call.render.new_list(members));
    const Value pair[] = {call.flag(2) ? keys[begin].key : shown, list};
    INGOT_VALUE(Value group, call.render.new_list(pair, Kind::tuple));
    group.flags |= Value::is_group_flag;
    groups.push_back(group);
    begin = end;
  }
  return call.render.new_list(groups);
}

Value filter_attr(Call& call) {
  if (!call[0].is_string()) return call.render.fail("attribute name must be a string");
  if (call.self.is_undefined()) return call.render.fail_undefined(call.self);
  return call.render.attribute_only(call.self, call[0].text());
}

}  // namespace ingot::chat

// SPDX-License-Identifier: MIT
// What the language does with values. A failure is noted in the heap, too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "chat/values/heap.hpp"

namespace ingot::chat {

/// A value of the caller, whose texts are borrowed.
Value import_value(Heap& heap, const ChatValue& value, std::uint32_t depth = 0);

// --- text -------------------------------------------------------------------------------------
Value concatenate(Heap& heap, const Value& left, const Value& right);
/// Appends what `str()` gives to the output.
[[nodiscard]] bool print(Heap& heap, const Value& value);
/// Appends what `repr()` gives.
[[nodiscard]] bool print_repr(Heap& heap, const Value& value);
/// `str()` and `repr()` as values.
Value string_of(Heap& heap, const Value& value);
Value repr_of(Heap& heap, const Value& value);
/// HTML's escapes, for a value that is not escaped yet.
Value escaped(Heap& heap, const Value& value);

// --- lists and objects --------------------------------------------------------------------------
/// Null if there is no such key, and after a failure. `key` must have a hash.
[[nodiscard]] const Value* find(Heap& heap, const Object& object, const Value& key);
/// False after a failure: the key has no hash, or the object is full.
[[nodiscard]] bool insert(Heap& heap, Object& object, const Value& key, const Value& value);
[[nodiscard]] bool insert_all(Heap& heap, Object& object, std::span<const Keyword> keywords);
/// False after a failure, too.
[[nodiscard]] bool has_hash(Heap& heap, const Value& value, std::uint32_t depth = 0);
/// False, after a failure, if a key has no hash.
[[nodiscard]] bool allow_key(Heap& heap, const Value& key);
/// The element of a sequence with an index; missing if there is none.
Value element_at(Heap& heap, const Value& object, std::int64_t index);
/// `object[start:stop:step]`; a bound that is missing or none is left out.
Value slice(Heap& heap, const Value& object, const Value (&bounds)[3]);

// --- walks ------------------------------------------------------------------------------------
/// Begins a walk; nothing, after a failure, for what is not iterable.
[[nodiscard]] std::optional<Iteration> iterate(Heap& heap, const Value& value);
/// The next element; missing at the end.
Value next(Heap& heap, Iteration& iteration);
/// How many elements a walk has, if that is known without walking; else -1.
[[nodiscard]] std::int64_t count_of(const Value& value);
/// All elements, behind `items`; nothing after a failure.
[[nodiscard]] std::optional<std::vector<Value>> collect(Heap& heap, const Value& value,
                                                        std::vector<Value> items = {});
/// How many elements a loop walks over. A walk whose length is unknown is made a list first.
[[nodiscard]] std::int64_t length_of(Heap& heap, Loop& loop);

// --- comparisons ------------------------------------------------------------------------------
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge, in, not_in };

[[nodiscard]] bool is_true(const Value& value);
/// False after a failure, too.
[[nodiscard]] bool equal(Heap& heap, const Value& left, const Value& right,
                         std::uint32_t depth = 0);
/// -1, 0 or 1, or 2 if one is NaN; nothing, after a failure, for values without an order.
[[nodiscard]] std::optional<int> order(Heap& heap, const Value& left, const Value& right,
                                       std::string_view sign, std::uint32_t depth = 0);
Value compare(Heap& heap, Comparison comparison, const Value& left, const Value& right);
Value contains(Heap& heap, const Value& container, const Value& item);

// --- arithmetic -------------------------------------------------------------------------------
enum class Operator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
};

Value arithmetic(Heap& heap, Operator sign, const Value& left, const Value& right);
/// `"%s is %d" % (name, count)`: arguments are a tuple, an object for `%(name)s`, or one value.
Value percent_format(Heap& heap, const Value& format, const Value& arguments);
Value negate(Heap& heap, const Value& value);

}  // namespace ingot::chat

// SPDX-License-Identifier: MIT
// Functions that every template knows.
#include "chat/builtins/builtins.hpp"
#include "chat/values/clock.hpp"
#include "chat/values/numbers.hpp"

namespace ingot::chat {
namespace {

Value raise_exception(Call& call) {
  INGOT_TRY(const Value words, string_of(call.heap, call[0]));
  return call.heap.fail(Errc::chat_raised, std::string(words.text()));
}

Value strftime_now(Call& call) {
  if (!call[0].is_string()) return call.heap.fail("strftime_now() needs a string");
  const ChatTime now = call.heap.options().now.value_or(local_time());
  if (!call.heap.allow_bytes(std::uint64_t{call[0].size} * max_directive_bytes)) return Failed();
  return call.heap.new_string(format_time(call[0].text(), now));
}

Value range(Call& call) {
  std::int64_t numbers[3] = {0, 0, 1};
  std::size_t count = 0;
  for (; count < 3 && call.has(count); ++count) {
    INGOT_TRY(numbers[count], call.integer(count));
  }
  if (count == 0) return call.heap.fail("range expected at least 1 argument, got 0");
  if (count == 1) std::swap(numbers[0], numbers[1]);
  const auto [start, stop, step] = numbers;
  if (step == 0) return call.heap.fail("range() arg 3 must not be zero");
  const std::uint64_t length = step_count(start, stop, step);
  if (!call.heap.is_within("max_range", call.heap.limits().max_range, length)) return Failed();
  const auto count_of_steps = static_cast<std::int64_t>(length);
  return Value::of(call.heap.arena().make<Range>(start, step, count_of_steps, stop));
}

/// Fills an object from another one or from pairs, and from keywords: Python's dict().
bool fill_object(Call& call, Object& object) {
  if (call.more.size() > 1) {
    return call.heap.fail(std::string(call.builtin.name) + " expected at most 1 argument");
  }
  if (!call.more.empty() && call.more[0].is(Kind::object)) {
    for (const Pair& pair : call.more[0].object->span()) {
      if (!insert(call.heap, object, pair.key, pair.value)) return false;
    }
  } else if (!call.more.empty()) {
    INGOT_TRY(const std::vector<Value> pairs, collect(call.heap, call.more[0]));
    for (const Value& pair : pairs) {
      INGOT_TRY(const std::vector<Value> both, collect(call.heap, pair));
      if (both.size() != 2) {
        return call.heap.fail("dictionary update sequence element has length " +
                              std::to_string(both.size()) + "; 2 is required");
      }
      if (!insert(call.heap, object, both[0], both[1])) return false;
    }
  }
  return insert_all(call.heap, object, call.more_keywords);
}

template <Kind kind>
Value make_object(Call& call) {
  Object* object = call.heap.new_object(0);
  return fill_object(call, *object) ? Value::of(object, kind) : Value::failure();
}

Value cycler(Call& call) {
  if (call.more.empty()) return call.heap.fail("at least one item has to be provided");
  INGOT_TRY(const Value items, call.heap.new_list(call.more));
  return Value::of(call.heap.arena().make<Cycler>(items.list, 0u));
}

Value joiner(Call& call) {
  const Value separator = call.has(0) ? call[0] : Value::text_of(", ");
  return Value::of(call.heap.arena().make<Joiner>(separator, false));
}

/// Random text has no place in a prompt; this is always the same sentence.
Value lipsum(Call& call) {
  return call.heap.new_string("Lorem ipsum dolor sit amet, consectetur adipiscing elit.");
}

/// The blocks of a template. They print themselves where they stand; by name nothing is there.
Value self(Call& call) { return call.heap.fail("'self' is not callable"); }

constexpr auto takes_keywords = Builtin::Extra::accepted;

constexpr Builtin function_rows[] = {
    {"cycler", cycler, {}, 0, Builtin::Extra::positional},
    {"dict", make_object<Kind::object>, {}, 0, takes_keywords},
    {"joiner", joiner, {"sep"}},
    {"lipsum", lipsum, {"n", "html", "min", "max"}},
    {"namespace", make_object<Kind::name_space>, {}, 0, takes_keywords},
    {"raise_exception", raise_exception, {"message"}, 1},
    {"range", range, {"start", "stop", "step"}},
    {"self", self, {}, 0, takes_keywords},
    {"strftime_now", strftime_now, {"format"}, 1},
};

}  // namespace

std::span<const Builtin> globals() noexcept { return function_rows; }

}  // namespace ingot::chat

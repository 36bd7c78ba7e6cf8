// SPDX-License-Identifier: MIT
// Property: no operation of the language takes more CPU time than it counts steps for. Operations
// come from the tables of the language, so that a new one is tested without being listed here;
// values have the sizes and shapes that hurt.

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include "chat/builtins/builtins.hpp"

namespace ingot::chat {
namespace {

/// Enough for one look at the longest text, and little enough for all calls to take seconds.
constexpr std::uint64_t max_steps = 6'000;

/// A call of any operation may take the time of so many steps, whatever it counts.
constexpr std::uint64_t free_steps = 50;

double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The time of a step of the plainest loop in this build, on this machine.
double seconds_per_step() {
  const auto chat =
      ChatTemplate::make("{% for i in range(99999) %}{% set x = i + 1 %}{% endfor %}");
  ChatOptions options;
  options.limits.max_steps = 100'000;
  double least = 1;
  for (int i = 0; i < 5; ++i) {
    const double begin = cpu_seconds();
    EXPECT_FALSE(chat->render_variables({}, options).has_value());
    least = std::min(least, cpu_seconds() - begin);
  }
  return least / static_cast<double>(options.limits.max_steps);
}

std::string repeated(std::string_view part, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

/// The values that operations are applied to, and that they get as arguments.
class ChatCost : public testing::Test {
 protected:
  ChatCost() {
    constexpr std::size_t large = 64 << 10;
    constexpr std::size_t small = 8 << 10;
    for (const std::string& text :
         {repeated("a", large), repeated("a", large / 2) + "b", "b" + repeated("a", large / 2)}) {
      add_text(text);
    }
    for (const std::string_view part :
         {"<!--", " ", "a,", "\xC3\x9F", "\x01\xFF", "7", "{0}", "%s", "a.", "\xC7\x85-", "&<"}) {
      add_text(repeated(part, small));
    }
    add_text("aaaaaaaaaaaaaaab");
    std::vector<Value> numbers;
    std::vector<Value> reals;
    std::vector<Value> texts;
    Object* object = made_.new_object(0);
    for (std::int64_t i = 0; i < 2000; ++i) {
      numbers.push_back(Value::of(i));
      reals.push_back(Value::of(1e300 / static_cast<double>(i + 1)));
      texts.push_back(values_[static_cast<std::size_t>(i) % 3]);
      EXPECT_TRUE(insert(made_, *object, Value::of(i), values_.back()));
    }
    for (const auto* items : {&numbers, &reals, &texts}) values_.push_back(made_.new_list(*items));
    values_.push_back(Value::of(object));
    for (const Kind kind : {Kind::list, Kind::tuple, Kind::object}) {
      add_shared(kind);  // two of each, which are equal
      add_shared(kind);
    }
    values_.push_back(Value::of(std::int64_t{3}));
    values_.push_back(Value::of(1e-300 / 3));
    values_.push_back(Value::none());
    values_.push_back(made_.new_undefined(Undefined::Reason::name, "x"));
  }

  /// Calls an operation of its own rendering, and fails if it takes longer than its steps allow.
  template <class Use>
  void test(std::string_view name, Use&& use) {
    if (++call_count_ % calls_per_test_ != 0) return;
    double excess = 0;
    std::uint64_t steps = 0;
    // Other programs disturb the clock for as long as a few calls; what is slow is slow every time.
    for (int trial = 0; trial < 20; ++trial) {
      Heap heap(options_);
      const double begin = cpu_seconds();
      Value result = use(heap);
      if (result.is(Kind::generator)) static_cast<void>(collect(heap, result));
      const double taken = cpu_seconds() - begin;
      steps = heap.steps_used() + 1;
      excess = taken - static_cast<double>(free_steps + steps) * limit_;
      if (excess <= 0) return;
    }
    ADD_FAILURE() << name << " takes " << excess << " s more than its " << steps << " steps allow";
  }

  void test_table(std::span<const Builtin> table, bool (*takes)(const Value&)) {
    for (const Builtin& row : table) {
      if (row.function == nullptr || row.is_writing) continue;
      const std::size_t count = row.parameter_count();
      const bool has_more = count > 1 || row.extra != Builtin::Extra::refused;
      for (const Value& self : values_) {
        if (!takes(self)) continue;
        call(row, self, {});
        if (count == 0 && row.extra == Builtin::Extra::refused) continue;
        for (const Value& argument : values_) {
          call(row, self, {argument});
          if (has_more) call(row, self, {argument, values_[1]});
        }
      }
    }
  }

  void call(const Builtin& row, const Value& self, const std::vector<Value>& arguments) {
    test(row.name, [&](Heap& heap) { return call_builtin(heap, row, self, {arguments, {}}); });
  }

  const std::vector<Value>& values() const { return values_; }

 private:
  void add_text(std::string_view text) { values_.push_back(made_.new_string(text)); }

  /// 2^60 leaves in 60 values.
  void add_shared(Kind kind) {
    Value shared = Value::of(std::int64_t{1});
    for (int i = 0; i < 60; ++i) {
      if (kind == Kind::object) {
        Object* object = made_.new_object(2);
        EXPECT_TRUE(insert(made_, *object, Value::text_of("a"), shared));
        EXPECT_TRUE(insert(made_, *object, Value::text_of("b"), shared));
        shared = Value::of(object);
      } else {
        const Value both[] = {shared, shared};
        shared = made_.new_list(both, kind);
      }
    }
    values_.push_back(shared);
  }

  const ChatOptions made_options_;
  ChatOptions options_ = [] {
    ChatOptions options;
    options.now = ChatTime{2025, 7, 4, 5, 6, 7};
    options.limits.max_steps = max_steps;
    return options;
  }();
  Heap made_{made_options_};
  std::vector<Value> values_;
  std::size_t call_count_ = 0;
  const double step_seconds_ = seconds_per_step();
  /// A step may take fifty times what one of a plain loop takes: about a microsecond.
  const double limit_ = 50 * step_seconds_;
  /// Builds with assertions or sanitizers are slow, and the same calls are tested without.
  const std::size_t calls_per_test_ = step_seconds_ > 50e-9 ? 61 : 5;
};

bool is_any(const Value&) { return true; }

TEST_F(ChatCost, OfFiltersTestsAndFunctionsIsCounted) {
  test_table(filters(), is_any);
  test_table(tests(), is_any);
  test_table(globals(), [](const Value& value) { return value.is(Kind::none); });
}

template <std::size_t owner>
bool has_owner(const Value& value) {
  return owner_of(value.kind) == static_cast<Owner>(owner);
}

template <std::size_t... owners>
void for_each_owner(std::index_sequence<owners...>, const auto& use) {
  (use(static_cast<Owner>(owners), has_owner<owners>), ...);
}

TEST_F(ChatCost, OfMethodsIsCounted) {
  for_each_owner(
      std::make_index_sequence<owner_count>(),
      [&](Owner owner, bool (*takes)(const Value&)) { test_table(methods_of(owner), takes); });
}

TEST_F(ChatCost, OfOperatorsIsCounted) {
  for (const Value& left : values()) {
    test("repr", [&](Heap& heap) { return repr_of(heap, left); });
    test("escape", [&](Heap& heap) { return escaped(heap, left); });
    test("key", [&](Heap& heap) {
      Object* object = heap.new_object(0);
      return Value::of(insert(heap, *object, left, left));
    });
    for (const Value& right : values()) {
      for (auto sign = Comparison::eq; sign <= Comparison::not_in;
           sign = static_cast<Comparison>(static_cast<int>(sign) + 1)) {
        test("comparison", [&](Heap& heap) { return compare(heap, sign, left, right); });
      }
      for (auto sign = Operator::add; sign <= Operator::power;
           sign = static_cast<Operator>(static_cast<int>(sign) + 1)) {
        test("operator", [&](Heap& heap) { return arithmetic(heap, sign, left, right); });
      }
      test("item", [&](Heap& heap) { return item(heap, left, right); });
      const Value bounds[3] = {right, {}, Value::of(std::int64_t{-1})};
      test("slice", [&](Heap& heap) { return slice(heap, left, bounds); });
    }
  }
}

}  // namespace
}  // namespace ingot::chat

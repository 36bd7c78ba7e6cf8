// SPDX-License-Identifier: MIT
// The values of a template while it runs: 16 bytes each, everything larger lies in the arena.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ingot::chat {

class Heap;
struct Value;

enum class Kind : std::uint8_t {
#define INGOT_KIND(kind, type) kind,
#include "chat/values/kinds.def"
#undef INGOT_KIND
};

/// Where text came from, as bits that are kept for every byte.
enum Origin : std::uint8_t {
  from_template = 0,
  from_input = 1,      ///< an input value, not the template's own text
  from_generation = 2  ///< inside of {% generation %}
};

/// A stretch of text of one origin; it begins where the one before ends.
struct TextRun {
  std::uint32_t end = 0;
  std::uint8_t origin = from_template;
};

/// An array that grows at its end. Whoever holds its last element may append in place: shorter
/// arrays over the same elements do not see what follows them.
template <class T>
struct Growing {
  T* items = nullptr;
  std::uint32_t count = 0;
  std::uint32_t capacity = 0;
};

/// Text of several origins.
struct MixedText {
  const char* data = nullptr;
  const TextRun* runs = nullptr;
  std::uint32_t run_count = 0;
  Growing<TextRun>* storage = nullptr;  ///< what `runs` lies in, if that can grow
};

/// Lies before the bytes of a text that was joined from others, so that joining piece by piece
/// takes linear time.
struct TextStorage {
  std::uint32_t used = 0;
  std::uint32_t capacity = 0;
};

struct List;
struct Object;
struct View;
struct Range;
struct Generator;
struct Undefined;
struct Closure;
struct Bound;
struct Loop;
struct Cycler;
struct Joiner;

/// A failure is one of the kinds, so no result may be dropped.
struct [[nodiscard]] Value {
  enum Flag : std::uint8_t {
    origin_mask = from_input | from_generation,
    is_markup_flag = 4,  ///< HTML that is escaped already
    is_mixed_flag = 8,   ///< text of several origins
    is_grown_flag = 16,  ///< text that lies in a TextStorage
    is_group_flag = 32,  ///< a tuple that `groupby` made
  };

  Kind kind = Kind::missing;
  std::uint8_t flags = 0;
  std::uint32_t size = 0;  ///< bytes of text
  union {
    std::int64_t integer = 0;
    bool boolean;
    double real;
    const char* data;
    const MixedText* mixed;
    List* list;
    Object* object;
    View* view;
    const Range* range;
    Generator* generator;
    const Undefined* undefined;  ///< null: undefined without a name
    Closure* closure;
    const Bound* bound;
    Loop* loop;
    Cycler* cycler;
    Joiner* joiner;
  };

  static Value none() noexcept { return of(Kind::none); }
  static Value failure() noexcept { return of(Kind::failure); }
  static Value of(Kind kind) noexcept {
    Value value;
    value.kind = kind;
    return value;
  }
  template <std::same_as<bool> Bool>  // no pointer becomes one
  static Value of(Bool boolean) noexcept {
    Value value = of(Kind::boolean);
    value.integer = 0;
    value.boolean = boolean;
    return value;
  }
  static Value of(std::int64_t integer) noexcept {
    Value value = of(Kind::integer);
    value.integer = integer;
    return value;
  }
  static Value of_count(std::size_t count) noexcept { return of(static_cast<std::int64_t>(count)); }
  static Value of(double real) noexcept {
    Value value = of(Kind::real);
    value.real = real;
    return value;
  }
  /// Borrows the text.
  static Value text_of(std::string_view text, std::uint8_t origin = 0,
                       Kind kind = Kind::string) noexcept {
    Value value = of(kind);
    value.flags = origin;
    value.size = static_cast<std::uint32_t>(text.size());
    value.data = text.data();
    return value;
  }
  static Value of(List* list, Kind kind = Kind::list) noexcept {
    return of(kind, &Value::list, list);
  }
  static Value of(Object* object, Kind kind = Kind::object) noexcept {
    return of(kind, &Value::object, object);
  }
  static Value of(View* p) noexcept { return of(Kind::view, &Value::view, p); }
  static Value of(const Range* p) noexcept { return of(Kind::range, &Value::range, p); }
  static Value of(Generator* p) noexcept { return of(Kind::generator, &Value::generator, p); }
  static Value of(const Undefined* p) noexcept { return of(Kind::undefined, &Value::undefined, p); }
  static Value of(Closure* p) noexcept { return of(Kind::macro, &Value::closure, p); }
  static Value of(const Bound* p) noexcept { return of(Kind::function, &Value::bound, p); }
  static Value of(Loop* p) noexcept { return of(Kind::loop, &Value::loop, p); }
  static Value of(Cycler* p) noexcept { return of(Kind::cycler, &Value::cycler, p); }
  static Value of(Joiner* p) noexcept { return of(Kind::joiner, &Value::joiner, p); }

  [[nodiscard]] bool is(Kind other) const noexcept { return kind == other; }
  [[nodiscard]] bool failed() const noexcept { return kind == Kind::failure; }
  /// For INGOT_TRY, as a Result has them.
  [[nodiscard]] bool has_value() const noexcept { return !failed(); }
  [[nodiscard]] const Value& operator*() const noexcept { return *this; }
  [[nodiscard]] bool is_given() const noexcept { return kind != Kind::missing; }
  /// Given, and not none.
  [[nodiscard]] bool is_set() const noexcept { return is_given() && kind != Kind::none; }
  [[nodiscard]] bool is_string() const noexcept { return kind == Kind::string; }
  [[nodiscard]] bool is_undefined() const noexcept { return kind == Kind::undefined; }
  /// A list or a tuple.
  [[nodiscard]] bool is_sequence() const noexcept {
    return kind == Kind::list || kind == Kind::tuple;
  }
  /// A number that arithmetic accepts; bool is one, as in Python.
  [[nodiscard]] bool is_number() const noexcept {
    return kind == Kind::boolean || kind == Kind::integer || kind == Kind::real;
  }
  [[nodiscard]] bool is_integral() const noexcept {
    return kind == Kind::boolean || kind == Kind::integer;
  }
  [[nodiscard]] bool is_markup() const noexcept {
    return kind == Kind::string && (flags & is_markup_flag) != 0;
  }
  [[nodiscard]] bool is_mixed() const noexcept { return (flags & is_mixed_flag) != 0; }
  [[nodiscard]] std::uint8_t origin() const noexcept { return flags & origin_mask; }

  /// The integer of a boolean or an integer.
  [[nodiscard]] std::int64_t as_integer() const noexcept {
    return kind == Kind::boolean ? (boolean ? 1 : 0) : integer;
  }
  /// The number of a boolean, an integer or a real.
  [[nodiscard]] double as_real() const noexcept {
    return kind == Kind::real ? real : static_cast<double>(as_integer());
  }
  /// The text of a string or of digits.
  [[nodiscard]] std::string_view text() const noexcept {
    return {is_mixed() ? mixed->data : data, size};
  }
  /// A failure stays one.
  Value with_origin(std::uint8_t origin) const noexcept {
    Value copy = *this;
    copy.flags = static_cast<std::uint8_t>((flags & ~origin_mask) | origin);
    return copy;
  }
  /// A failure stays one.
  Value with_markup(bool is_markup) const noexcept {
    Value copy = *this;
    copy.flags =
        static_cast<std::uint8_t>(is_markup ? flags | is_markup_flag : flags & ~is_markup_flag);
    return copy;
  }

 private:
  template <class T>
  static Value of(Kind kind, T* Value::*member, T* pointer) noexcept {
    Value value = of(kind);
    value.*member = pointer;
    return value;
  }
};
static_assert(sizeof(Value) == 16);

struct List {
  Value* items = nullptr;
  std::uint32_t count = 0;
  Growing<Value>* storage = nullptr;  ///< what `items` lies in, if that can grow

  [[nodiscard]] std::span<Value> span() const noexcept { return {items, count}; }
};

struct Pair {
  Value key;
  Value value;
};

/// Pairs in the order in which their keys came.
struct Object {
  Pair* pairs = nullptr;
  std::uint32_t count = 0;
  std::uint32_t capacity = 0;
  std::uint32_t* index = nullptr;  ///< hash table of positions + 1, for objects that are large
  std::uint32_t index_size = 0;    ///< a power of two

  [[nodiscard]] std::span<Pair> span() const noexcept { return {pairs, count}; }
};

struct View {
  enum class Part : std::uint8_t { keys, values, items };
  const Object* object = nullptr;
  Part part = Part::keys;
};

struct Range {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
  std::int64_t stop = 0;  ///< as it was given

  [[nodiscard]] std::int64_t at(std::int64_t index) const noexcept { return start + index * step; }
};

/// Why a value is undefined; its use fails with this.
struct Undefined {
  enum class Reason : std::uint8_t { name, attribute, element, unsafe, hint };
  Reason reason = Reason::name;
  Kind owner = Kind::missing;  ///< whose attribute it would be
  std::string_view text;       ///< the name, or the whole hint
};

struct Call;

inline constexpr std::size_t max_parameters = 6;
using Parameters = std::array<std::string_view, max_parameters>;  ///< names; empty behind the last

/// A filter, a test, a method or a function: one row of its table.
struct Builtin {
  enum class Extra : std::uint8_t { refused, positional, accepted };

  std::string_view name;
  Value (*function)(Call&) = nullptr;
  Parameters parameters = {};
  std::uint8_t required = 0;     ///< how many of them have no default
  Extra extra = Extra::refused;  ///< arguments beyond the parameters
  /// Changes its object, which the sandbox refuses; without a function, also when it is lenient.
  bool is_writing = false;

  [[nodiscard]] std::size_t parameter_count() const noexcept {
    return static_cast<std::size_t>(std::ranges::find(parameters, std::string_view()) -
                                    parameters.begin());
  }
};

/// An argument with a name.
struct Keyword {
  std::string_view name;
  Value value;
};

/// A function or method of the language, and what it belongs to.
struct Bound {
  const Builtin* builtin = nullptr;
  Value self;
};

struct Cycler {
  List* items = nullptr;
  std::uint32_t position = 0;
};

struct Joiner {
  Value separator;
  bool is_used = false;
};

/// Walks over what a `for` accepts.
struct Iteration {
  Value source;
  std::int64_t position = 0;  ///< bytes in a string, else elements
};

/// What `map`, `select` and others give: elements are made when they are asked for, once.
struct Generator {
  /// Gives the next element; missing at the end.
  using Step = Value (*)(Heap&, Generator&);
  Step step = nullptr;
  Iteration source;
  std::span<const Value> arguments;
  std::span<const Keyword> keyword_arguments;
  const Builtin* builtin = nullptr;  ///< filter or test that is applied
  std::span<const Value> attribute;  ///< path of an attribute
  Value fallback;                    ///< missing: none
  std::int64_t size = 0;             ///< of `batch`, or how many lists `slice` makes
  bool is_negated = false;
  bool is_done = false;
  Object* seen = nullptr;
  std::int64_t position = 0;
};

struct Activation;
struct ForNode;

/// What a template can ask a macro.
struct Signature {
  std::string_view name;
  std::span<const Value> parameter_names;
  bool has_caller = false;
  bool has_kwargs = false;
  bool has_varargs = false;
};

/// A macro, or the body of a call block, and the variables it sees.
struct Closure {
  const Signature* macro = nullptr;
  Activation* outer = nullptr;
};

/// What `loop` is.
struct Loop {
  const ForNode* node = nullptr;
  Activation* outer = nullptr;  ///< of the template around a recursive loop
  Iteration iteration;
  Value before;
  Value current;
  Value after;             ///< looked ahead; missing if not
  bool is_at_end = false;  ///< looked ahead, and nothing is there
  Value last_changed;
  std::int64_t index0 = -1;
  std::int64_t depth0 = 0;
  std::int64_t length = -1;  ///< -1: not counted yet
};

/// A failure, in the type of each function that can fail.
struct Failed {
  operator Value() const noexcept { return Value::failure(); }
  template <class T>
  operator std::optional<T>() const noexcept {
    return std::nullopt;
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  operator Enum() const noexcept { return Enum::failed; }
  template <std::same_as<bool> Bool>
  operator Bool() const noexcept {
    return false;
  }
};

/// What INGOT_TRY returns; the heap knows why.
inline Failed failure_of(const Value&) noexcept { return {}; }
template <class T>
Failed failure_of(const std::optional<T>&) noexcept {
  return {};
}

[[nodiscard]] inline bool is_sliceable(const Value& value) noexcept {
  return value.is_string() || value.is_sequence() || value.is(Kind::range);
}

/// Python's name of a type, for messages.
[[nodiscard]] std::string_view type_name(Kind kind) noexcept;

}  // namespace ingot::chat

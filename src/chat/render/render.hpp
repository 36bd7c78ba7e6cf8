// SPDX-License-Identifier: MIT
// One rendering: the state of a template that runs, and what the language does with values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/builtins/builtins.hpp"
#include "chat/compile/compiled_template.hpp"
#include "chat/values/arena.hpp"
#include "chat/values/runtime_value.hpp"
#include "chat/values/template_error.hpp"
#include "chat/values/text_output.hpp"
#include "ingot/chat.hpp"

namespace ingot::chat {

/// The slots of a template, a macro or a recursive loop that runs.
struct Activation {
  Activation* outer = nullptr;  ///< the one around it in the source
  Value* slots = nullptr;
};

/// A macro, or the body of a call block, and the variables it sees.
struct Closure {
  const MacroNode* node = nullptr;
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

class Render {
 public:
  Render(const CompiledTemplate& compiled, const ChatOptions& options);
  Render(const Render&) = delete;
  Render& operator=(const Render&) = delete;

  /// Makes a value of the caller known as a variable, if the template reads it. Borrowed.
  void set_variable(std::string_view name, const ChatValue& value, std::uint8_t origin);
  [[nodiscard]] bool run();

  [[nodiscard]] ChatText take_text();
  [[nodiscard]] TemplateError& error() noexcept { return error_; }

  // --- for built-ins: failures, limits, memory ------------------------------------------------
  Failed fail(Errc code, std::string reason);
  Failed fail(std::string reason) { return fail(Errc::chat_failed, std::move(reason)); }
  Failed fail_limit(std::string_view limit, std::uint64_t value);
  /// Fails as the use of an undefined value does.
  Failed fail_undefined(const Value& value);
  /// Counts work; false if there is no more to spend.
  [[nodiscard]] bool spend(std::uint64_t steps) {
    if (steps >= steps_left_) return out_of_steps();
    steps_left_ -= steps;
    return true;
  }
  /// Counts the work of copying or comparing so many bytes or elements.
  [[nodiscard]] bool spend_on(std::uint64_t count) { return spend(1 + (count >> 4)); }
  /// Counts the work of looking up every character of so many bytes in a table.
  [[nodiscard]] bool spend_on_characters(std::uint64_t bytes) { return spend(1 + (bytes >> 2)); }
  [[nodiscard]] std::uint64_t steps_used() const noexcept {
    return limits_.max_steps - steps_left_;
  }
  [[nodiscard]] const ChatLimits& limits() const noexcept { return limits_; }
  [[nodiscard]] const ChatOptions& options() const noexcept { return options_; }
  [[nodiscard]] Arena& arena() noexcept { return arena_; }

  // --- text -----------------------------------------------------------------------------------
  [[nodiscard]] TextOutput& output() noexcept { return output_; }
  /// What `append` adds to the output, as a string; a failure if it gives false.
  template <class Append>
  [[nodiscard]] Value text_from(Append&& append) {
    const auto mark = output_.begin();
    if (append()) return take_string(mark);
    output_.end(mark);
    return Value::failure();
  }
  /// The text since a mark as a string; ends the mark.
  [[nodiscard]] Value take_string(const TextOutput::Mark& mark);
  /// Copies.
  [[nodiscard]] Value new_string(std::string_view text, std::uint8_t origin = from_template);
  /// A part of a string, by bytes, without copying.
  [[nodiscard]] Value part_of(const Value& text, std::size_t begin, std::size_t end);
  [[nodiscard]] Value concatenate(const Value& left, const Value& right);
  /// False, after a failure, if a count is above the limit of a name.
  [[nodiscard]] bool is_within(std::string_view limit, std::uint64_t most, std::uint64_t count) {
    return count <= most || fail_limit(limit, most);
  }
  /// False, after a failure, if a text of so many bytes may not be made.
  [[nodiscard]] bool allow_bytes(std::uint64_t bytes) {
    return allow("max_string_bytes", limits().max_string_bytes, bytes);
  }
  /// The same for several copies of a text.
  [[nodiscard]] bool allow_copies(std::uint64_t count, std::uint64_t bytes) {
    return is_within("max_string_bytes", limits().max_string_bytes, count) &&
           allow_bytes(count * bytes);
  }
  [[nodiscard]] bool allow_elements(std::uint64_t count) {
    return allow("max_elements", limits().max_elements, count);
  }
  /// False, after a failure, if the output is too long.
  [[nodiscard]] bool allow_output() {
    return is_within("max_output_bytes", limits().max_output_bytes, output_.size_bytes());
  }
  /// Appends what `str()` gives.
  [[nodiscard]] bool print(const Value& value);
  /// Appends what `repr()` gives.
  [[nodiscard]] bool print_repr(const Value& value);
  /// `str()` and `repr()` as values.
  [[nodiscard]] Value string_of(const Value& value);
  [[nodiscard]] Value repr_of(const Value& value);
  [[nodiscard]] Value escaped(const Value& value);

  // --- lists and objects ------------------------------------------------------------------------
  [[nodiscard]] Value new_list(std::span<const Value> items, Kind kind = Kind::list);
  [[nodiscard]] Value new_undefined(Undefined::Reason reason, std::string_view text,
                                    Kind owner = Kind::missing);
  [[nodiscard]] Object* new_object(std::size_t capacity);
  /// Null if there is no such key, and after a failure. `key` must have a hash.
  [[nodiscard]] const Value* find(const Object& object, const Value& key);
  /// False after a failure: the key has no hash, or the object is full.
  [[nodiscard]] bool insert(Object& object, const Value& key, const Value& value);
  [[nodiscard]] bool insert_all(Object& object, std::span<const Keyword> keywords);
  /// Also false after a failure.
  [[nodiscard]] bool has_hash(const Value& value, std::uint32_t depth = 0);
  /// False, after a failure, if a key has no hash.
  [[nodiscard]] bool allow_key(const Value& key);

  // --- the language -----------------------------------------------------------------------------
  [[nodiscard]] bool is_true(const Value& value) const;
  /// Also false after a failure.
  [[nodiscard]] bool equal(const Value& left, const Value& right, std::uint32_t depth = 0);
  /// -1, 0 or 1; nothing, after a failure, for values without an order.
  [[nodiscard]] std::optional<int> order(const Value& left, const Value& right,
                                         std::string_view sign, std::uint32_t depth = 0);
  [[nodiscard]] Value compare(Comparison comparison, const Value& left, const Value& right);
  [[nodiscard]] Value contains(const Value& container, const Value& item);
  [[nodiscard]] Value arithmetic(NodeKind operation, const Value& left, const Value& right);
  [[nodiscard]] Value negate(const Value& value);
  [[nodiscard]] Value attribute(const Value& object, std::string_view name, const Name* known);
  /// Python's getattr(): no keys of objects.
  [[nodiscard]] Value attribute_only(const Value& object, std::string_view name);
  [[nodiscard]] Value item(const Value& object, const Value& index);
  [[nodiscard]] Value slice(const Value& object, const Value (&bounds)[3]);
  /// The attribute at a path, as `map(attribute="a.b.0")` has it.
  [[nodiscard]] Value attribute_path(const Value& object, std::span<const Value> path,
                                     const Value& fallback = {});
  [[nodiscard]] bool split_path(const Value& path, std::span<const Value>& result);
  [[nodiscard]] Value call(const Value& callee, const Arguments& arguments);
  [[nodiscard]] Value call_builtin(const Builtin& builtin, const Value& self,
                                   const Arguments& arguments);

  /// Begins a walk; fails for what is not iterable.
  [[nodiscard]] bool iterate(const Value& value, Iteration& iteration);
  /// The next element; missing at the end.
  [[nodiscard]] Value next(Iteration& iteration);
  /// How many elements a walk has, if that is known without walking; else -1.
  [[nodiscard]] std::int64_t count_of(const Value& value) const;
  /// All elements.
  [[nodiscard]] bool collect(const Value& value, std::vector<Value>& items);

 private:
  class Depth;
  struct ArgumentBuffer;

  // values of the caller
  [[nodiscard]] Value import(const ChatValue& value, std::uint32_t depth);
  [[nodiscard]] Value import_object(const ChatValue::Object& members, std::uint32_t depth);

  // statements
  Flow execute(const Node& node);
  Flow execute_all(Body body);
  Flow execute_print(const Node& operand);
  Flow execute_if(const IfNode& node);
  Flow execute_for(const ForNode& node);
  Flow run_loop(const ForNode& node, Value iterable, std::int64_t depth0, Activation* outer);
  Flow run_iterations(Loop& loop, bool& has_run);
  [[nodiscard]] Value filter_loop(const ForNode& node, const Value& iterable);
  Flow execute_set(const SetNode& node);
  Flow execute_set_block(const BlockNode& node);
  Flow execute_filter_block(const BlockNode& node);
  /// Executes a body and takes the text that it prints.
  Flow capture(Body body, Value& text);
  /// The text after the filters of its block.
  Value filter_text(const Node& filters, const Value& text);
  Flow execute_generation(const BlockNode& node);
  Flow execute_autoescape(const BlockNode& node);
  Flow execute_in_scope(const Scope& scope, Body body);
  Flow execute_with(const WithNode& node);
  Flow execute_macro(const MacroNode& node);
  Flow execute_call_block(const MacroNode& node);
  [[nodiscard]] bool assign(const Node& target, const Value& value);
  [[nodiscard]] bool assign_tuple(const SequenceNode& target, const Value& value);
  [[nodiscard]] bool assign_attribute(const NamespaceTarget& target, const Value& value);
  /// Gives the slots of a scope their first values. A failure shows in the next step.
  void enter(const Scope& scope);
  void leave(const Scope& scope);
  [[nodiscard]] Activation* new_activation(Activation* outer, std::uint16_t slot_count);
  [[nodiscard]] Value& slot(std::uint16_t hops, std::uint16_t index);
  [[nodiscard]] Value variable(const Name* name) const;

  // expressions
  [[nodiscard]] Value evaluate(const Node& node);
  [[nodiscard]] Value evaluate_name(const NameNode& node);
  [[nodiscard]] Value evaluate_sequence(const SequenceNode& node);
  [[nodiscard]] Value evaluate_object(const ObjectNode& node);
  [[nodiscard]] Value evaluate_conditional(const Conditional& node);
  [[nodiscard]] Value evaluate_logical(const Binary& node);
  [[nodiscard]] Value evaluate_compare(const CompareNode& node);
  [[nodiscard]] Value evaluate_concat(const SequenceNode& node);
  [[nodiscard]] Value evaluate_binary(const Binary& node);
  [[nodiscard]] Value evaluate_sign(const Unary& node);
  [[nodiscard]] Value evaluate_item(const Binary& node);
  [[nodiscard]] Value evaluate_slice(const SliceNode& node);
  [[nodiscard]] Value evaluate_call(const CallNode& node, const Value* caller = nullptr);
  [[nodiscard]] Value evaluate_apply(const ApplyNode& node);
  [[nodiscard]] bool evaluate_arguments(const ArgumentNodes& nodes, const Value* caller,
                                        Arguments& arguments);
  [[nodiscard]] bool append_spread(const ArgumentNodes& nodes, std::vector<Value>& positional,
                                   std::vector<Keyword>& keywords);

  // calls
  [[nodiscard]] Value call_macro(Closure& closure, const Arguments& arguments);
  [[nodiscard]] Value call_loop(Loop& loop, const Arguments& arguments);
  [[nodiscard]] bool bind_parameters(const MacroNode& node, const Arguments& arguments,
                                     Activation& activation);
  [[nodiscard]] bool set_defaults(const MacroNode& node);

  // attributes
  [[nodiscard]] Value method_or_missing(const Value& object, std::string_view name,
                                        const Name* known);
  [[nodiscard]] Value loop_attribute(Loop& loop, std::string_view name);
  [[nodiscard]] Value peek(Loop& loop);
  [[nodiscard]] std::int64_t length_of(Loop& loop);
  [[nodiscard]] Value macro_attribute(const Closure& closure, std::string_view name);
  [[nodiscard]] Value forbidden(const Value& object, std::string_view name);

  [[nodiscard]] bool allow(std::string_view limit, std::uint64_t most, std::uint64_t count);
  [[nodiscard]] bool print_repr_string(const Value& text);
  [[nodiscard]] bool print_scalar(const Value& value);
  void append_scalar(const Value& value);
  [[nodiscard]] bool print_container(const Value& value);
  [[nodiscard]] bool print_elements(std::span<const Value> items, std::uint8_t origin);
  [[nodiscard]] bool print_pairs(const Object& object, std::uint8_t origin);
  [[nodiscard]] bool print_view(const View& view, std::uint8_t origin);
  [[nodiscard]] Value join_runs(Value joined, const Value& left, const Value& right);
  [[nodiscard]] const char* join_bytes(const Value& left, const Value& right);
  /// False, after a failure, if values are too deep to be compared, or there are no steps left.
  [[nodiscard]] bool allow_comparison(std::uint32_t depth);
  void build_index(Object& object);
  [[nodiscard]] std::uint32_t* index_place(const Object& object, const Value& key);
  [[nodiscard]] std::uint64_t hash(const Value& value);
  bool out_of_steps();

  const CompiledTemplate& compiled_;
  const ChatOptions& options_;
  const ChatLimits limits_;
  Arena arena_;
  TextOutput output_;
  TemplateError error_;
  std::vector<Value> variables_;  ///< by name id; missing if the caller gave none
  Activation* activation_ = nullptr;
  std::uint64_t steps_left_ = 0;
  std::uint32_t place_ = 0;  ///< of the operation that runs
  std::uint32_t depth_ = 0;  ///< nodes that are being evaluated, one within the other
  std::uint32_t calls_ = 0;  ///< macros and recursive loops that are running
  std::uint32_t repr_depth_ = 0;
  Value block_input_;            ///< text of the block whose filters run
  bool escapes_output_ = false;  ///< {% autoescape true %}
};

}  // namespace ingot::chat

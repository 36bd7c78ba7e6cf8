// SPDX-License-Identifier: MIT
// One rendering: the state of a template that runs.
#pragma once

#include <cstdint>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "chat/compile/compiled_template.hpp"
#include "chat/values/operations.hpp"

namespace ingot::chat {

/// The slots of a template, a macro or a recursive loop that runs.
struct Activation {
  Activation* outer = nullptr;  ///< the one around it in the source
  Value* slots = nullptr;
};

/// How a statement ends.
enum class Flow : std::uint8_t { next, break_loop, continue_loop, failed };

class Render {
 public:
  Render(const CompiledTemplate& compiled, const ChatOptions& options);
  Render(const Render&) = delete;
  Render& operator=(const Render&) = delete;

  /// Makes a value of the caller known as a variable, if the template reads it. Borrowed.
  void set_variable(std::string_view name, const ChatValue& value, std::uint8_t origin);
  [[nodiscard]] tl::expected<ChatText, TemplateError> run();

 private:
  class Depth;

  [[nodiscard]] ChatText take_text();

  // statements
  Flow execute(const Node& node);
  Flow execute_all(Body body);
  Flow execute_print(const Node& operand);
  Flow execute_if(const IfNode& node);
  Flow execute_for(const ForNode& node);
  Flow run_loop(const ForNode& node, Value iterable, std::int64_t depth0, Activation* outer);
  Flow run_iterations(Loop& loop, bool& has_run);
  Value filter_loop(const ForNode& node, const Value& iterable);
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
  Value variable(const Name* name) const;

  // expressions
  Value evaluate(const Node& node);
  Value evaluate_name(const NameNode& node);
  Value evaluate_sequence(const SequenceNode& node);
  Value evaluate_object(const ObjectNode& node);
  Value evaluate_conditional(const Conditional& node);
  Value evaluate_logical(const Binary& node);
  Value evaluate_compare(const CompareNode& node);
  Value evaluate_concat(const SequenceNode& node);
  Value evaluate_binary(const Binary& node);
  Value evaluate_sign(const Unary& node);
  Value evaluate_item(const Binary& node);
  Value evaluate_slice(const SliceNode& node);
  Value evaluate_call(const CallNode& node, const Value* caller = nullptr);
  Value evaluate_apply(const ApplyNode& node);
  [[nodiscard]] std::optional<Arguments> evaluate_arguments(const ArgumentNodes& nodes,
                                                            const Value* caller = nullptr);
  [[nodiscard]] bool append_spread(const ArgumentNodes& nodes, std::vector<Value>& positional,
                                   std::vector<Keyword>& keywords);

  // calls
  Value call(const Value& callee, const Arguments& arguments);
  Value call_macro(Closure& closure, const Arguments& arguments);
  Value call_loop(Loop& loop, const Arguments& arguments);
  [[nodiscard]] bool bind_parameters(const MacroNode& node, const Arguments& arguments,
                                     Activation& activation);
  [[nodiscard]] bool set_defaults(const MacroNode& node);

  Heap heap_;  ///< first, so that its address is at hand
  const CompiledTemplate& compiled_;
  std::vector<Value> variables_;  ///< by name id; missing if the caller gave none
  Activation* activation_ = nullptr;
  std::uint32_t depth_ = 0;      ///< nodes that are being evaluated, one within the other
  std::uint32_t calls_ = 0;      ///< macros and recursive loops that are running
  Value block_input_;            ///< text of the block whose filters run
  bool escapes_output_ = false;  ///< {% autoescape true %}
};

}  // namespace ingot::chat

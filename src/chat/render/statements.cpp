// SPDX-License-Identifier: MIT
// Statements while they run.
#include <utility>

#include "chat/render/render.hpp"

namespace ingot::chat {
namespace {

Flow flow_of(bool is_done) noexcept { return is_done ? Flow::next : Flow::failed; }

}  // namespace

Activation* Render::new_activation(Activation* outer, std::uint16_t slot_count) {
  auto* slots = heap_.arena().make_array<Value>(slot_count);
  std::uninitialized_fill_n(slots, slot_count, Value());
  return heap_.arena().make<Activation>(outer, slots);
}

Value& Render::slot(std::uint16_t hops, std::uint16_t index) {
  Activation* activation = activation_;
  for (; hops > 0; --hops) activation = activation->outer;
  return activation->slots[index];
}

void Render::enter(const Scope& scope) {
  if (!heap_.spend((scope.starts.size() + scope.slots.size()) >> 4)) return;
  for (const SlotStart& start : scope.starts) {
    Value& target = activation_->slots[start.slot];
    switch (start.action) {
      case SlotStart::Action::clear:
        target = {};
        break;
      case SlotStart::Action::variable:
        target = variable(start.name);
        break;
      case SlotStart::Action::outer:
        target = slot(start.hops, start.outer_slot);
        break;
    }
  }
}

void Render::leave(const Scope& scope) {
  for (const std::uint16_t index : scope.slots) activation_->slots[index] = {};
}

Flow Render::execute_all(Body body) {
  for (const Node* node : body) {
    if (const Flow flow = execute(*node); flow != Flow::next) return flow;
  }
  return Flow::next;
}

Flow Render::execute(const Node& node) {
  heap_.set_place(node.place);
  if (!heap_.spend(1)) return Flow::failed;
  switch (node.kind) {
    case NodeKind::text: {
      const std::string_view text = static_cast<const TextNode&>(node).text;
      if (!heap_.spend(text.size() >> 4)) return Flow::failed;
      heap_.output().append(text, from_template);
      return flow_of(heap_.allow_output());
    }
    case NodeKind::print:
      return execute_print(*static_cast<const Unary&>(node).operand);
    case NodeKind::if_:
      return execute_if(static_cast<const IfNode&>(node));
    case NodeKind::for_:
      return execute_for(static_cast<const ForNode&>(node));
    case NodeKind::set:
      return execute_set(static_cast<const SetNode&>(node));
    case NodeKind::set_block:
      return execute_set_block(static_cast<const BlockNode&>(node));
    case NodeKind::filter_block:
      return execute_filter_block(static_cast<const BlockNode&>(node));
    case NodeKind::generation:
      return execute_generation(static_cast<const BlockNode&>(node));
    case NodeKind::autoescape:
      return execute_autoescape(static_cast<const BlockNode&>(node));
    case NodeKind::block:
      return execute_in_scope(static_cast<const BlockNode&>(node).scope,
                              static_cast<const BlockNode&>(node).body);
    case NodeKind::with:
      return execute_with(static_cast<const WithNode&>(node));
    case NodeKind::macro:
      return execute_macro(static_cast<const MacroNode&>(node));
    case NodeKind::call_block:
      return execute_call_block(static_cast<const MacroNode&>(node));
    case NodeKind::break_:
      return Flow::break_loop;
    case NodeKind::continue_:
      return Flow::continue_loop;
    default:
      return heap_.fail("there are no other templates to include, import or extend");
  }
}

Flow Render::execute_print(const Node& operand) {
  INGOT_TRY(Value value, evaluate(operand));
  if (escapes_output_) value = escaped(heap_, value);
  return flow_of(!value.failed() && print(heap_, value) && heap_.allow_output());
}

Flow Render::execute_if(const IfNode& node) {
  for (const Branch& branch : node.branches) {
    INGOT_TRY(const Value test, evaluate(*branch.test));
    if (is_true(test)) return execute_all(branch.body);
  }
  return execute_all(node.otherwise);
}

bool Render::assign(const Node& target, const Value& value) {
  switch (target.kind) {
    case NodeKind::tuple:
      return assign_tuple(static_cast<const SequenceNode&>(target), value);
    case NodeKind::namespace_target:
      return assign_attribute(static_cast<const NamespaceTarget&>(target), value);
    default: {
      const auto& name = static_cast<const NameNode&>(target);
      slot(name.hops, name.slot) = value;
      return true;
    }
  }
}

bool Render::assign_tuple(const SequenceNode& target, const Value& value) {
  heap_.set_place(target.place);
  INGOT_TRY(Iteration iteration, iterate(heap_, value));  // nothing undefined has elements
  std::size_t count = 0;
  for (; count < target.items.size(); ++count) {
    INGOT_TRY(const Value element, next(heap_, iteration));
    if (!element.is_given()) {
      return heap_.fail("not enough values to unpack (expected " +
                        std::to_string(target.items.size()) + ", got " + std::to_string(count) +
                        ")");
    }
    if (!assign(*target.items[count], element)) return false;
  }
  INGOT_TRY(const Value rest, next(heap_, iteration));
  if (!rest.is_given()) return true;
  return heap_.fail("too many values to unpack (expected " + std::to_string(target.items.size()) +
                    ")");
}

bool Render::assign_attribute(const NamespaceTarget& target, const Value& value) {
  heap_.set_place(target.place);
  const Value& space = slot(target.hops, target.slot);
  if (!space.is(Kind::name_space))
    return heap_.fail("cannot assign attribute on non-namespace object");
  return insert(heap_, *space.object, Value::text_of(target.attribute->text), value);
}

Flow Render::execute_set(const SetNode& node) {
  const Value value = evaluate(*node.value);
  return flow_of(!value.failed() && assign(*node.target, value));
}

Flow Render::capture(Body body, Value& text) {
  const auto mark = heap_.output().begin();
  const Flow flow = execute_all(body);
  if (flow == Flow::next) {
    text = heap_.take_string(mark);
  } else {
    heap_.output().end(mark);
  }
  return flow;
}

Value Render::filter_text(const Node& filters, const Value& text) {
  const Value outer_input = std::exchange(block_input_, text);
  const Value filtered = evaluate(filters);
  block_input_ = outer_input;
  return filtered;
}

Flow Render::execute_set_block(const BlockNode& node) {
  enter(node.scope);
  Value text;
  const Flow flow = capture(node.body, text);
  if (flow == Flow::next && escapes_output_) text = text.with_markup(true);
  if (flow == Flow::next && node.operand != nullptr && !text.failed()) {
    text = filter_text(*node.operand, text);
  }
  leave(node.scope);
  return flow != Flow::next ? flow : flow_of(!text.failed() && assign(*node.target, text));
}

Flow Render::execute_filter_block(const BlockNode& node) {
  enter(node.scope);
  Value text;
  const Flow flow = capture(node.body, text);
  if (flow == Flow::next && !text.failed()) text = filter_text(*node.operand, text);
  leave(node.scope);
  if (flow != Flow::next || text.failed()) return flow == Flow::next ? Flow::failed : flow;
  if (!text.is_string()) {
    return heap_.fail("the filters of a block give text, not " + std::string(type_name(text.kind)));
  }
  return flow_of(print(heap_, text));
}

Flow Render::execute_generation(const BlockNode& node) {
  const std::uint8_t outer = heap_.output().set_extra_origin(from_generation);
  const Flow flow = execute_in_scope(node.scope, node.body);
  heap_.output().set_extra_origin(outer);
  return flow;
}

Flow Render::execute_autoescape(const BlockNode& node) {
  enter(node.scope);
  INGOT_TRY(const Value on, evaluate(*node.operand));
  const bool outer = std::exchange(escapes_output_, is_true(on));
  const Flow flow = execute_all(node.body);
  escapes_output_ = outer;
  leave(node.scope);
  return flow;
}

Flow Render::execute_in_scope(const Scope& scope, Body body) {
  enter(scope);
  const Flow flow = execute_all(body);
  leave(scope);
  return flow;
}

Flow Render::execute_with(const WithNode& node) {
  std::vector<Value> values;
  values.reserve(node.assignments.size());
  for (const SetNode* assignment : node.assignments) {
    INGOT_TRY(values.emplace_back(), evaluate(*assignment->value));
  }
  enter(node.scope);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!assign(*node.assignments[i]->target, values[i])) return Flow::failed;
  }
  const Flow flow = execute_all(node.body);
  leave(node.scope);
  return flow;
}

Flow Render::execute_macro(const MacroNode& node) {
  Closure* closure = heap_.arena().make<Closure>(&node, activation_);
  return flow_of(assign(*node.target, Value::of(closure)));
}

Flow Render::execute_call_block(const MacroNode& node) {
  Closure* closure = heap_.arena().make<Closure>(&node, activation_);
  const Value caller = Value::of(closure);
  const Value result = evaluate_call(*node.call, &caller);
  return flow_of(!result.failed() && print(heap_, result));
}

}  // namespace ingot::chat

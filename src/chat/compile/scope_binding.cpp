// SPDX-License-Identifier: MIT
// The second half of finding slots: every name that is read or set gets the slot that was declared
// for it.
#include <algorithm>
#include <utility>

#include "chat/builtins/builtins.hpp"
#include "chat/compile/scopes.hpp"
#include "chat/compile/tree_walk.hpp"

namespace ingot::chat {

void ScopeResolver::bind_all(Body body) {
  for (Node* node : body) bind(*node);
}

void ScopeResolver::bind(Node& node) {
  switch (node.kind) {
    case NodeKind::name:
      return bind_name(static_cast<NameNode&>(node));
    case NodeKind::filter:
    case NodeKind::test:
      return bind_apply(static_cast<ApplyNode&>(node));
    case NodeKind::conditional:
      return bind_soft(node);
    case NodeKind::if_:
      return bind_if(static_cast<IfNode&>(node));
    case NodeKind::for_:
      return bind_for(static_cast<ForNode&>(node));
    case NodeKind::set:
      bind_target(*static_cast<SetNode&>(node).target);
      return bind(*static_cast<SetNode&>(node).value);
    case NodeKind::set_block:
    case NodeKind::filter_block:
    case NodeKind::block:
    case NodeKind::autoescape:
    case NodeKind::generation:
      return bind_block(static_cast<BlockNode&>(node));
    case NodeKind::with:
      return bind_with(static_cast<WithNode&>(node));
    case NodeKind::macro:
    case NodeKind::call_block:
      return bind_macro(static_cast<MacroNode&>(node));
    case NodeKind::break_:
    case NodeKind::continue_:
      return bind_jump(node);
    default:
      for_each_operand(node, [&](Node& child) { bind(child); });
  }
}

/// Operands in a branch: what is unknown there fails only where it is reached.
void ScopeResolver::bind_soft(Node& node) {
  const bool was_soft = std::exchange(scopes_.back().is_soft, true);
  for_each_operand(node, [&](Node& child) { bind(child); });
  scopes_.back().is_soft = was_soft;
}

void ScopeResolver::bind_name(NameNode& node) {
  const Entry* entry = find(node.name);
  if (entry == nullptr) return fail(node.place, "this name has no scope");
  node.hops = static_cast<std::uint16_t>(activations_.size() - 1 - entry->activation);
  node.slot = entry->slot;
}

void ScopeResolver::bind_target(Node& target) {
  if (target.kind == NodeKind::tuple) {
    for (Node* item : static_cast<SequenceNode&>(target).items) bind_target(*item);
    return;
  }
  auto& name = static_cast<NameNode&>(target);
  if (enclosing_loops_ > 0 && target.kind == NodeKind::name && name.name->text == "loop") {
    fail(target.place, "Can't assign to special loop variable in for-loop");
  }
  bind_name(name);
}

void ScopeResolver::bind_apply(ApplyNode& node) {
  for_each_operand(node, [&](Node& child) { bind(child); });
  if (node.builtin != nullptr || scopes_.back().is_soft || error_) return;
  const std::string_view noun = node.kind == NodeKind::filter ? "filter" : "test";
  const auto table = node.kind == NodeKind::filter ? filters() : tests();
  fail(node.place, "No " + std::string(noun) + " named '" + std::string(node.name) + "'" +
                       hint_nearest(node.name, table));
}

void ScopeResolver::bind_if(IfNode& node) {
  const bool was_soft = std::exchange(scopes_.back().is_soft, true);
  for (const Branch& branch : node.branches) {
    bind(*branch.test);
    bind_all(branch.body);
  }
  bind_all(node.otherwise);
  scopes_.back().is_soft = was_soft;
}

void ScopeResolver::bind_for(ForNode& node) {
  bind(*node.iterable);
  ++enclosing_loops_;
  if (node.is_recursive) open_activation();
  ++activations_.back().loop_depth;
  open_scope();
  if (node.is_recursive || reads(node.body, "loop")) node.loop_slot = declare_special("loop");
  declare_target(*node.target, true);
  declare_all(node.body);
  bind_target(*node.target);
  bind_all(node.body);
  node.body_scope = close_scope();
  --activations_.back().loop_depth;
  bind_loop_test(node);
  open_scope();
  declare_all(node.otherwise);
  bind_all(node.otherwise);
  node.else_scope = close_scope();
  if (node.is_recursive) node.slot_count = close_activation();
  --enclosing_loops_;
}

/// The test has a scope of its own, which holds a copy of the target.
void ScopeResolver::bind_loop_test(ForNode& node) {
  if (node.test == nullptr) return;
  node.test_target = copy_target(*node.target);
  open_scope();
  declare_target(*node.test_target, true);
  declare(*node.test);
  bind_target(*node.test_target);
  bind(*node.test);
  node.test_scope = close_scope();
}

Node* ScopeResolver::copy_target(const Node& target) {
  if (target.kind != NodeKind::tuple) {
    return arena_.make<NameNode>(static_cast<const NameNode&>(target));
  }
  const auto& tuple = static_cast<const SequenceNode&>(target);
  std::vector<Node*> items;
  items.reserve(tuple.items.size());
  for (const Node* item : tuple.items) items.push_back(copy_target(*item));
  auto* copy = arena_.make<SequenceNode>(tuple);
  copy->items = arena_.copy(items);
  return copy;
}

void ScopeResolver::bind_block(BlockNode& node) {
  if (node.target != nullptr) bind_target(*node.target);
  const bool is_function = node.kind == NodeKind::generation;
  const std::uint32_t loop_depth = activations_.back().loop_depth;
  if (is_function) activations_.back().loop_depth = 0;
  open_scope();
  if (node.operand != nullptr) declare(*node.operand);
  declare_all(node.body);
  bind_all(node.body);
  if (node.operand != nullptr) bind(*node.operand);
  node.scope = close_scope();
  activations_.back().loop_depth = loop_depth;
}

void ScopeResolver::bind_with(WithNode& node) {
  for (const SetNode* assignment : node.assignments) bind(*assignment->value);
  open_scope();
  for (const SetNode* assignment : node.assignments) declare_target(*assignment->target, true);
  declare_all(node.body);
  for (const SetNode* assignment : node.assignments) bind_target(*assignment->target);
  bind_all(node.body);
  node.scope = close_scope();
}

/// `caller`, `varargs` and `kwargs` exist in a macro that reads them.
void ScopeResolver::declare_macro_specials(MacroNode& node) {
  for (std::size_t i = 0; i < node.parameters.size(); ++i) {
    if (node.parameters[i]->name->text != "caller") continue;
    node.has_caller = true;
    const bool has_default = i + node.defaults.size() >= node.parameters.size();
    if (has_default || !reads(node.body, "caller")) continue;
    fail(node.place, "the parameter \"caller\" of a macro or call block needs a default");
  }
  const auto is_parameter = [&](std::string_view name) {
    return std::any_of(node.parameters.begin(), node.parameters.end(),
                       [&](const NameNode* parameter) { return parameter->name->text == name; });
  };
  const auto slot_of = [&](std::string_view name) {
    return is_parameter(name) || !reads(node.body, name) ? no_slot : declare_special(name);
  };
  node.caller_slot = slot_of("caller");
  node.kwargs_slot = slot_of("kwargs");
  node.varargs_slot = slot_of("varargs");
  node.has_caller = node.has_caller || node.caller_slot != no_slot;
  node.has_kwargs = node.kwargs_slot != no_slot;
  node.has_varargs = node.varargs_slot != no_slot;
}

void ScopeResolver::bind_macro(MacroNode& node) {
  if (node.target != nullptr) bind_name(*node.target);
  if (node.call != nullptr) bind(*node.call);
  open_activation();
  open_scope();
  for (const NameNode* parameter : node.parameters) {
    if (is_in_scope(parameter->name)) fail(parameter->place, "two parameters have the same name");
    declare_parameter(parameter->name);
  }
  declare_macro_specials(node);
  declare_all(node.defaults);
  declare_all(node.body);
  for (NameNode* parameter : node.parameters) bind_name(*parameter);
  bind_all(node.defaults);
  bind_all(node.body);
  node.scope = close_scope();
  node.slot_count = close_activation();
}

void ScopeResolver::bind_jump(const Node& node) {
  if (activations_.back().loop_depth > 0 || jump_error_) return;
  const std::string_view word = node.kind == NodeKind::break_ ? "break" : "continue";
  jump_error_ =
      TemplateError{Errc::chat_syntax, node.place, "'" + std::string(word) + "' outside loop", {}};
}

}  // namespace ingot::chat

// SPDX-License-Identifier: MIT
// One walk over the tree for all that look at it: scopes, lint.
#pragma once

#include "chat/compile/syntax_tree.hpp"

namespace ingot::chat {

template <class Visit>
void for_each_argument(const ArgumentNodes& arguments, Visit&& visit) {
  for (Node* node : arguments.positional) visit(*node);
  for (const KeywordNode& keyword : arguments.keywords) visit(*keyword.value);
  if (arguments.more_positional != nullptr) visit(*arguments.more_positional);
  if (arguments.more_keywords != nullptr) visit(*arguments.more_keywords);
}

/// Calls `visit(Node&)` for the operands of an expression, in the order of the source.
template <class Visit>
void for_each_operand(const Node& node, Visit&& visit) {
  const auto visit_if = [&](Node* child) {
    if (child != nullptr) visit(*child);
  };
  switch (node.kind) {
    case NodeKind::tuple:
    case NodeKind::list:
    case NodeKind::concat:
      for (Node* item : static_cast<const SequenceNode&>(node).items) visit(*item);
      break;
    case NodeKind::object:
      for (const PairNode& pair : static_cast<const ObjectNode&>(node).pairs) {
        visit(*pair.key);
        visit(*pair.value);
      }
      break;
    case NodeKind::conditional: {
      const auto& conditional = static_cast<const Conditional&>(node);
      visit(*conditional.test);
      visit(*conditional.then);
      visit_if(conditional.otherwise);
      break;
    }
    case NodeKind::logical_or:
    case NodeKind::logical_and:
    case NodeKind::add:
    case NodeKind::subtract:
    case NodeKind::multiply:
    case NodeKind::divide:
    case NodeKind::floor_divide:
    case NodeKind::modulo:
    case NodeKind::power:
    case NodeKind::item:
      visit(*static_cast<const Binary&>(node).left);
      visit(*static_cast<const Binary&>(node).right);
      break;
    case NodeKind::logical_not:
    case NodeKind::negate:
    case NodeKind::plus:
    case NodeKind::print:
      visit(*static_cast<const Unary&>(node).operand);
      break;
    case NodeKind::compare: {
      const auto& compare = static_cast<const CompareNode&>(node);
      visit(*compare.first);
      for (const Comparand& operand : compare.rest) visit(*operand.value);
      break;
    }
    case NodeKind::attribute:
      visit(*static_cast<const AttributeNode&>(node).object);
      break;
    case NodeKind::slice: {
      const auto& slice = static_cast<const SliceNode&>(node);
      visit(*slice.object);
      for (Node* bound : slice.bounds) visit_if(bound);
      break;
    }
    case NodeKind::call: {
      const auto& call = static_cast<const CallNode&>(node);
      visit(*call.callee);
      for_each_argument(call.arguments, visit);
      break;
    }
    case NodeKind::filter:
    case NodeKind::test: {
      const auto& apply = static_cast<const ApplyNode&>(node);
      visit_if(apply.input);
      for_each_argument(apply.arguments, visit);
      break;
    }
    default:
      break;
  }
}

/// The same for everything: statements within statements, targets, parameters too.
template <class Visit>
void for_each_child(const Node& node, Visit&& visit) {
  const auto visit_if = [&](Node* child) {
    if (child != nullptr) visit(*child);
  };
  const auto visit_all = [&](Body body) {
    for (Node* child : body) visit(*child);
  };
  switch (node.kind) {
    case NodeKind::if_: {
      const auto& statement = static_cast<const IfNode&>(node);
      for (const Branch& branch : statement.branches) {
        visit(*branch.test);
        visit_all(branch.body);
      }
      visit_all(statement.otherwise);
      break;
    }
    case NodeKind::for_: {
      const auto& statement = static_cast<const ForNode&>(node);
      visit(*statement.target);
      visit(*statement.iterable);
      visit_all(statement.body);
      visit_all(statement.otherwise);
      visit_if(statement.test);
      break;
    }
    case NodeKind::set:
      visit(*static_cast<const SetNode&>(node).target);
      visit(*static_cast<const SetNode&>(node).value);
      break;
    case NodeKind::set_block:
    case NodeKind::filter_block:
    case NodeKind::block:
    case NodeKind::autoescape:
    case NodeKind::generation:
      visit_if(static_cast<const BlockNode&>(node).target);
      visit_if(static_cast<const BlockNode&>(node).operand);
      visit_all(static_cast<const BlockNode&>(node).body);
      break;
    case NodeKind::with:
      for (const SetNode* assignment : static_cast<const WithNode&>(node).assignments) {
        visit(*assignment->target);
        visit(*assignment->value);
      }
      visit_all(static_cast<const WithNode&>(node).body);
      break;
    case NodeKind::macro:
    case NodeKind::call_block: {
      const auto& macro = static_cast<const MacroNode&>(node);
      visit_if(macro.target);
      visit_if(macro.call);
      for (NameNode* parameter : macro.parameters) visit(*parameter);
      visit_all(macro.defaults);
      visit_all(macro.body);
      break;
    }
    default:
      for_each_operand(node, visit);
      break;
  }
}

}  // namespace ingot::chat

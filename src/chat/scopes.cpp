// SPDX-License-Identifier: MIT
#include "chat/scopes.hpp"

#include <algorithm>

#include "chat/tree_walk.hpp"

namespace ingot::chat {
namespace {

/// Whether a walk through `node` meets a read of `name` before anything is assigned to it.
/// Decided: nothing left to look at.
enum class Search : std::uint8_t { open, read, assigned };

void search_name(const Node& node, const Name* name, bool is_target, Search& search) {
  if (search != Search::open) return;
  if (node.kind == NodeKind::name && static_cast<const NameNode&>(node).name == name) {
    search = is_target ? Search::assigned : Search::read;
    return;
  }
  const auto target_of = [&]() -> const Node* {
    switch (node.kind) {
      case NodeKind::for_:
        return static_cast<const ForNode&>(node).target;
      case NodeKind::set:
        return static_cast<const SetNode&>(node).target;
      case NodeKind::set_block:
        return static_cast<const BlockNode&>(node).target;
      default:
        return nullptr;
    }
  };
  const Node* target = target_of();
  const bool is_macro = node.kind == NodeKind::macro || node.kind == NodeKind::call_block;
  if (node.kind == NodeKind::block) return;
  for_each_child(node, [&](const Node& child) {
    const auto* macro = is_macro ? static_cast<const MacroNode*>(&node) : nullptr;
    if (macro != nullptr && &child == macro->target) return;  // a name, not a variable
    const bool is_parameter =
        macro != nullptr && std::find(macro->parameters.begin(), macro->parameters.end(), &child) !=
                                macro->parameters.end();
    const bool is_part = is_target && node.kind == NodeKind::tuple;
    search_name(child, name, &child == target || is_parameter || is_part, search);
  });
}

}  // namespace

ScopeResolver::ScopeResolver(Arena& arena, const NameTable& names)
    : arena_(arena),
      names_(names),
      entries_(names.names().size()),
      is_free_(names.names().size()) {}

void ScopeResolver::fail(std::uint32_t place, std::string reason) {
  if (!error_) error_ = TemplateError{Errc::chat_syntax, place, std::move(reason), {}};
}

Program ScopeResolver::resolve(Body body) {
  open_activation();
  open_scope();
  declare_all(body);
  bind_all(body);
  Program program;
  program.body = body;
  program.scope = close_scope();
  program.slot_count = close_activation();
  for (const Name* name : names_.names()) {
    if (is_free_[name->id]) program.free_names.push_back(name);
  }
  if (!error_) error_ = jump_error_;
  return program;
}

void ScopeResolver::open_scope() {
  scopes_.emplace_back();
  scopes_.back().number = ++scope_count_;
}

Scope ScopeResolver::close_scope() {
  const OpenScope& scope = scopes_.back();
  const Scope result = {arena_.copy(scope.starts), arena_.copy(scope.slots)};
  for (const Name* name : scope.names) entries_[name->id].pop_back();
  scopes_.pop_back();
  return result;
}

std::uint16_t ScopeResolver::close_activation() {
  const std::uint32_t count = activations_.back().slot_count;
  activations_.pop_back();
  if (count >= no_slot) fail(0, "more variables than " + std::to_string(no_slot - 1));
  return static_cast<std::uint16_t>(count);
}

const ScopeResolver::Entry* ScopeResolver::find(const Name* name) const {
  const auto& entries = entries_[name->id];
  return entries.empty() ? nullptr : &entries.back();
}

bool ScopeResolver::is_in_scope(const Name* name) const {
  const Entry* entry = find(name);
  return entry != nullptr && entry->scope == scopes_.back().number;
}

std::uint16_t ScopeResolver::add_slot(const Name* name) {
  OpenScope& scope = scopes_.back();
  const auto slot = static_cast<std::uint16_t>(activations_.back().slot_count++);
  entries_[name->id].push_back(
      {scope.number, static_cast<std::uint16_t>(activations_.size() - 1), slot});
  scope.names.push_back(name);
  scope.slots.push_back(slot);
  return slot;
}

std::uint16_t ScopeResolver::declare_parameter(const Name* name) {
  return is_in_scope(name) ? find(name)->slot : add_slot(name);
}

/// A name that the engine sets; no slot if the template never mentions it.
std::uint16_t ScopeResolver::declare_special(std::string_view name) {
  const Name* known = names_.find(name);
  return known == nullptr ? no_slot : declare_parameter(known);
}

void ScopeResolver::declare_load(const Name* name) {
  if (find(name) != nullptr) return;
  SlotStart start;
  start.action = SlotStart::Action::variable;
  start.name = name;
  start.slot = add_slot(name);
  scopes_.back().starts.push_back(start);
  is_free_[name->id] = name->global == nullptr;
}

/// What is assigned to begins as the outer variable of its name, or without a value. One that only
/// a branch assigns to begins as the caller's variable.
void ScopeResolver::declare_store(const Name* name) {
  if (is_in_scope(name)) return;
  SlotStart start;
  if (const Entry* outer = find(name)) {
    start.action = SlotStart::Action::outer;
    start.hops = static_cast<std::uint16_t>(activations_.size() - 1 - outer->activation);
    start.outer_slot = outer->slot;
  } else if (scopes_.back().branch_depth > 0) {
    start.action = SlotStart::Action::variable;
    start.name = name;
  }
  start.slot = add_slot(name);
  scopes_.back().starts.push_back(start);
}

void ScopeResolver::declare_target(const Node& target, bool is_parameter) {
  if (target.kind == NodeKind::tuple) {
    for (const Node* item : static_cast<const SequenceNode&>(target).items) {
      declare_target(*item, is_parameter);
    }
    return;
  }
  const Name* name = static_cast<const NameNode&>(target).name;
  if (target.kind == NodeKind::namespace_target) {
    declare_load(name);
  } else if (is_parameter) {
    declare_parameter(name);
  } else {
    declare_store(name);
  }
}

void ScopeResolver::declare_all(Body body) {
  for (const Node* node : body) declare(*node);
}

/// Notes the names that a statement or expression reads and sets in the scope around it, and not
/// those of scopes within.
void ScopeResolver::declare(const Node& node) {
  switch (node.kind) {
    case NodeKind::name:
      declare_load(static_cast<const NameNode&>(node).name);
      break;
    case NodeKind::if_: {
      const auto& statement = static_cast<const IfNode&>(node);
      declare(*statement.branches[0].test);
      ++scopes_.back().branch_depth;
      declare_all(statement.branches[0].body);
      for (const Branch& branch : statement.branches.subspan(1)) {
        declare(*branch.test);
        declare_all(branch.body);
      }
      declare_all(statement.otherwise);
      --scopes_.back().branch_depth;
      break;
    }
    case NodeKind::for_:
      declare(*static_cast<const ForNode&>(node).iterable);
      break;
    case NodeKind::set:
      declare(*static_cast<const SetNode&>(node).value);
      declare_target(*static_cast<const SetNode&>(node).target, false);
      break;
    case NodeKind::set_block:
      declare_target(*static_cast<const BlockNode&>(node).target, false);
      break;
    case NodeKind::filter_block:
      declare(*static_cast<const BlockNode&>(node).operand);
      break;
    case NodeKind::with:
      for (const SetNode* assignment : static_cast<const WithNode&>(node).assignments) {
        declare(*assignment->value);
      }
      break;
    case NodeKind::macro:
      declare_store(static_cast<const MacroNode&>(node).target->name);
      break;
    case NodeKind::call_block:
      declare(*static_cast<const MacroNode&>(node).call);
      break;
    case NodeKind::block:
    case NodeKind::autoescape:
    case NodeKind::generation:
      break;
    default:
      for_each_operand(node, [&](const Node& child) { declare(child); });
      break;
  }
}

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
  if (node.builtin != nullptr || scopes_.back().is_soft) return;
  const std::string_view noun = node.kind == NodeKind::filter ? "filter" : "test";
  fail(node.place, "No " + std::string(noun) + " named '" + std::string(node.name) + "'");
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
    node.has_caller_parameter = true;
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

bool ScopeResolver::reads(Body body, std::string_view name) const {
  const Name* known = names_.find(name);
  if (known == nullptr) return false;
  Search search = Search::open;
  for (const Node* node : body) search_name(*node, known, false, search);
  return search == Search::read;
}

}  // namespace ingot::chat

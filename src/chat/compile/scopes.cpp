// SPDX-License-Identifier: MIT
#include "chat/compile/scopes.hpp"

#include <algorithm>

#include "chat/compile/tree_walk.hpp"

namespace ingot::chat {
namespace {

/// Whether a statement asks what the statements within it read.
bool asks_for_reads(const Node& node) noexcept {
  return node.kind == NodeKind::for_ || node.kind == NodeKind::macro ||
         node.kind == NodeKind::call_block;
}

}  // namespace

/// Statements that ask for reads are searched once, however deep they are nested.
ScopeResolver::Search ScopeResolver::search(const Node& node, const Name* name, bool is_target) {
  if (!asks_for_reads(node)) return search_parts(node, name, is_target);
  const std::pair key(&node, name);
  const auto known = searched_.find(key);
  if (known != searched_.end()) return known->second;
  return searched_[key] = search_parts(node, name, is_target);
}

ScopeResolver::Search ScopeResolver::search_parts(const Node& node, const Name* name,
                                                  bool is_target) {
  if (node.kind == NodeKind::name && static_cast<const NameNode&>(node).name == name) {
    return is_target ? Search::assigned : Search::read;
  }
  const Node* target = node.kind == NodeKind::for_  ? static_cast<const ForNode&>(node).target
                       : node.kind == NodeKind::set ? static_cast<const SetNode&>(node).target
                       : node.kind == NodeKind::set_block
                           ? static_cast<const BlockNode&>(node).target
                           : nullptr;
  const bool is_macro = node.kind == NodeKind::macro || node.kind == NodeKind::call_block;
  Search found = Search::open;
  if (node.kind == NodeKind::block) return found;
  std::size_t parameter = 0;  // the next one of a macro, in the order of the walk
  for_each_child(node, [&](const Node& child) {
    if (found != Search::open) return;
    const auto* macro = is_macro ? static_cast<const MacroNode*>(&node) : nullptr;
    if (macro != nullptr && &child == macro->target) return;  // a name, not a variable
    const bool is_parameter = macro != nullptr && parameter < macro->parameters.size() &&
                              macro->parameters[parameter] == &child;
    if (is_parameter) ++parameter;
    const bool is_part = is_target && node.kind == NodeKind::tuple;
    found = search(child, name, &child == target || is_parameter || is_part);
  });
  return found;
}

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

bool ScopeResolver::reads(Body body, std::string_view name) {
  const Name* known = names_.find(name);
  if (known == nullptr) return false;
  Search found = Search::open;
  for (auto node = body.begin(); node != body.end() && found == Search::open; ++node) {
    found = search(**node, known, false);
  }
  return found == Search::read;
}

}  // namespace ingot::chat

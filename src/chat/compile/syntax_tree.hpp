// SPDX-License-Identifier: MIT
// A parsed template. Nodes lie in an arena and refer to names, slots and built-ins directly, so
// that nothing is looked up by text while a template runs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "chat/builtins/builtins.hpp"

namespace ingot::chat {

enum class NodeKind : std::uint8_t {
  // expressions
  literal,
  name,
  tuple,
  list,
  object,
  conditional,
  logical_or,
  logical_and,
  logical_not,
  compare,
  concat,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  negate,
  plus,
  attribute,
  item,
  slice,
  call,
  filter,
  test,
  // statements
  text,
  print,
  if_,
  for_,
  set,
  set_block,
  macro,
  call_block,
  filter_block,
  with,
  block,
  autoescape,
  generation,
  break_,
  continue_,
  unavailable,  ///< include, import and extends: there is no other template
  namespace_target,
};

struct Node {
  NodeKind kind;
  std::uint16_t height = 0;  ///< nodes below one another; bounds the recursion of every walk
  std::uint32_t place = 0;   ///< byte of the source
};

using Body = std::span<Node* const>;

struct Literal : Node {
  Value value;
};

/// A variable that is read, or the target of an assignment.
struct NameNode : Node {
  const Name* name = nullptr;
  std::uint16_t hops = 0;  ///< activations to go outward
  std::uint16_t slot = 0;
};

/// `ns.attribute` as the target of an assignment.
struct NamespaceTarget : NameNode {
  const Name* attribute = nullptr;
};

struct SequenceNode : Node {  // tuple, list, concat
  Body items;
};

struct PairNode {
  Node* key = nullptr;
  Node* value = nullptr;
};

struct ObjectNode : Node {
  std::span<const PairNode> pairs;
};

struct Unary : Node {
  Node* operand = nullptr;
};

struct Binary : Node {
  Node* left = nullptr;
  Node* right = nullptr;
};

struct Conditional : Node {
  Node* test = nullptr;
  Node* then = nullptr;
  Node* otherwise = nullptr;  ///< null: undefined
};

struct Comparand {
  Comparison comparison = Comparison::eq;
  Node* value = nullptr;
};

struct CompareNode : Node {
  Node* first = nullptr;
  std::span<const Comparand> rest;
};

struct AttributeNode : Node {
  Node* object = nullptr;
  const Name* name = nullptr;
};

struct SliceNode : Node {
  Node* object = nullptr;
  std::array<Node*, 3> bounds = {};  ///< start, stop, step; null: left out
};

struct KeywordNode {
  std::string_view name;
  Node* value = nullptr;
};

struct ArgumentNodes {
  Body positional;
  std::span<const KeywordNode> keywords;
  Node* more_positional = nullptr;  ///< *list
  Node* more_keywords = nullptr;    ///< **object
};

struct CallNode : Node {
  Node* callee = nullptr;
  ArgumentNodes arguments;
};

/// A filter or a test.
struct ApplyNode : Node {
  Node* input = nullptr;  ///< null: the text of the block around it
  std::string_view name;
  const Builtin* builtin = nullptr;  ///< null: unknown, which is an error where it is reached
  ArgumentNodes arguments;
};

struct TextNode : Node {
  std::string_view text;
};

/// What happens to a slot when its scope is entered.
struct SlotStart {
  enum class Action : std::uint8_t { clear, variable, outer };
  Action action = Action::clear;
  std::uint16_t slot = 0;
  std::uint16_t hops = 0;  ///< outer: where the value comes from
  std::uint16_t outer_slot = 0;
  const Name* name = nullptr;  ///< variable: of the caller, or a global
};

/// A scope within one activation.
struct Scope {
  std::span<const SlotStart> starts;
  std::span<const std::uint16_t> slots;  ///< all that belong to the scope; cleared when it ends
};

inline constexpr std::uint16_t no_slot = 0xFFFF;

struct Branch {
  Node* test = nullptr;
  Body body;
};

struct IfNode : Node {
  std::span<const Branch> branches;
  Body otherwise;
};

struct ForNode : Node {
  Node* target = nullptr;
  Node* iterable = nullptr;
  Node* test = nullptr;
  Node* test_target = nullptr;  ///< the target in the scope of the test
  Body body;
  Body otherwise;
  bool is_recursive = false;
  std::uint16_t loop_slot = no_slot;  ///< of `loop`, if the body reads it
  std::uint16_t slot_count = 0;       ///< of the activation, if recursive
  Scope body_scope;
  Scope test_scope;
  Scope else_scope;
};

struct SetNode : Node {
  Node* target = nullptr;
  Node* value = nullptr;
};

/// Statements with a scope of their own: block set, filter, generation, block, autoescape.
struct BlockNode : Node {
  Node* target = nullptr;   ///< of a block set
  Node* operand = nullptr;  ///< filters to apply, or whether autoescape is on
  Body body;
  Scope scope;
};

struct WithNode : Node {
  std::span<const SetNode* const> assignments;
  Body body;
  Scope scope;
};

/// A macro, or the body of a call block.
struct MacroNode : Node, Signature {
  NameNode* target = nullptr;  ///< the macro's name; null for a call block
  std::span<NameNode* const> parameters;
  Body defaults;  ///< of the last parameters
  Body body;
  CallNode* call = nullptr;  ///< of a call block
  Scope scope;
  std::uint16_t slot_count = 0;
  std::uint16_t caller_slot = no_slot;
  std::uint16_t kwargs_slot = no_slot;
  std::uint16_t varargs_slot = no_slot;
};

}  // namespace ingot::chat

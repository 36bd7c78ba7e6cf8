// SPDX-License-Identifier: MIT
// Expressions while they run.
#include <algorithm>

#include "chat/compile/tree_walk.hpp"
#include "chat/render/render.hpp"

namespace ingot::chat {
namespace {

/// Nodes within nodes, through all macros that are running. A level takes less than 400 bytes of
/// stack, with sanitizers less than 1 KiB.
constexpr std::uint32_t max_evaluation_depth = 4000;

/// Whether the reference engine computes an expression when it reads the template.
bool is_constant(const Node& node) {
  bool is_fixed = node.kind != NodeKind::name && node.kind != NodeKind::call;
  if (node.kind == NodeKind::filter) {
    constexpr std::string_view of_context[] = {"map", "reject", "rejectattr", "select",
                                               "selectattr"};
    const auto& filter = static_cast<const ApplyNode&>(node);
    is_fixed = filter.input != nullptr && std::ranges::count(of_context, filter.name) == 0;
  }
  for_each_operand(node, [&](const Node& operand) { is_fixed = is_fixed && is_constant(operand); });
  return is_fixed;
}

/// The kinds of operators stand in the order of the operators.
static_assert(static_cast<int>(NodeKind::power) - static_cast<int>(NodeKind::add) ==
              static_cast<int>(Operator::power));
Operator operator_of(NodeKind kind) {
  return static_cast<Operator>(static_cast<int>(kind) - static_cast<int>(NodeKind::add));
}

}  // namespace

/// Counts a level of evaluation.
class Render::Depth {
 public:
  explicit Depth(Render& render)
      : render_(render), is_allowed_(++render.depth_ <= max_evaluation_depth) {
    if (!is_allowed_)
      render.heap_.fail_limit("the depth of what is evaluated", max_evaluation_depth);
  }
  ~Depth() { --render_.depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  [[nodiscard]] bool is_allowed() const { return is_allowed_; }

 private:
  Render& render_;
  bool is_allowed_;
};

Value Render::evaluate(const Node& node) {
  if (node.kind == NodeKind::literal) return static_cast<const Literal&>(node).value;
  if (node.kind == NodeKind::name) return evaluate_name(static_cast<const NameNode&>(node));
  const Depth depth(*this);
  if (!depth.is_allowed() || !heap_.spend(1)) return Failed();
  switch (node.kind) {
    case NodeKind::tuple:
    case NodeKind::list:
      return evaluate_sequence(static_cast<const SequenceNode&>(node));
    case NodeKind::object:
      return evaluate_object(static_cast<const ObjectNode&>(node));
    case NodeKind::conditional:
      return evaluate_conditional(static_cast<const Conditional&>(node));
    case NodeKind::logical_or:
    case NodeKind::logical_and:
      return evaluate_logical(static_cast<const Binary&>(node));
    case NodeKind::logical_not: {
      INGOT_TRY(const Value operand, evaluate(*static_cast<const Unary&>(node).operand));
      return Value::of(!is_true(operand));
    }
    case NodeKind::compare:
      return evaluate_compare(static_cast<const CompareNode&>(node));
    case NodeKind::concat:
      return evaluate_concat(static_cast<const SequenceNode&>(node));
    case NodeKind::negate:
    case NodeKind::plus:
      return evaluate_sign(static_cast<const Unary&>(node));
    case NodeKind::attribute: {
      const auto& attribute_node = static_cast<const AttributeNode&>(node);
      INGOT_TRY(const Value object, evaluate(*attribute_node.object));
      heap_.set_place(node.place);
      return attribute(heap_, object, attribute_node.name->text, attribute_node.name);
    }
    case NodeKind::item:
      return evaluate_item(static_cast<const Binary&>(node));
    case NodeKind::slice:
      return evaluate_slice(static_cast<const SliceNode&>(node));
    case NodeKind::call:
      return evaluate_call(static_cast<const CallNode&>(node));
    case NodeKind::filter:
    case NodeKind::test:
      return evaluate_apply(static_cast<const ApplyNode&>(node));
    default:
      return evaluate_binary(static_cast<const Binary&>(node));
  }
}

Value Render::evaluate_name(const NameNode& node) {
  if (!heap_.spend(node.hops >> 4)) return Failed();
  const Value value = slot(node.hops, node.slot);
  if (value.is_given()) return value;
  return heap_.new_undefined(Undefined::Reason::name, node.name->text);
}

Value Render::evaluate_sequence(const SequenceNode& node) {
  const std::size_t count = node.items.size();
  if (!heap_.allow_elements(count)) return Failed();
  auto* items = heap_.arena().make_array<Value>(count);
  for (std::size_t i = 0; i < count; ++i) {
    INGOT_TRY(items[i], evaluate(*node.items[i]));
  }
  const Kind kind = node.kind == NodeKind::tuple ? Kind::tuple : Kind::list;
  return Value::of(heap_.arena().make<List>(items, static_cast<std::uint32_t>(count)), kind);
}

Value Render::evaluate_object(const ObjectNode& node) {
  Object* object = heap_.new_object(node.pairs.size());
  for (const PairNode& pair : node.pairs) {
    INGOT_TRY(const Value key, evaluate(*pair.key));
    INGOT_TRY(const Value value, evaluate(*pair.value));
    heap_.set_place(pair.key->place);
    if (!insert(heap_, *object, key, value)) return Failed();
  }
  return Value::of(object);
}

Value Render::evaluate_conditional(const Conditional& node) {
  INGOT_TRY(const Value test, evaluate(*node.test));
  if (is_true(test)) return evaluate(*node.then);
  if (node.otherwise != nullptr) return evaluate(*node.otherwise);
  return heap_.new_undefined(Undefined::Reason::hint,
                             "the inline if-expression was false and has no else");
}

Value Render::evaluate_logical(const Binary& node) {
  INGOT_TRY(const Value left, evaluate(*node.left));
  if (is_true(left) == (node.kind == NodeKind::logical_or)) return left;
  return evaluate(*node.right);
}

Value Render::evaluate_compare(const CompareNode& node) {
  INGOT_TRY(Value left, evaluate(*node.first));
  Value result = Value::of(true);
  for (const Comparand& operand : node.rest) {
    INGOT_TRY(const Value right, evaluate(*operand.value));
    heap_.set_place(node.place);
    result = compare(heap_, operand.comparison, left, right);
    if (result.failed() || !is_true(result)) return result;
    left = right;
  }
  return result;
}

Value Render::evaluate_concat(const SequenceNode& node) {
  // Operands may print, too, so all are evaluated before the first is appended.
  if (!heap_.spend(node.items.size() >> 4)) return Failed();
  auto* parts = heap_.arena().make_array<Value>(node.items.size());
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    INGOT_TRY(parts[i], evaluate(*node.items[i]));
    size += parts[i].is_string() ? parts[i].size : 0;
  }
  heap_.set_place(node.place);
  if (!heap_.allow_bytes(size)) return Failed();
  if (node.items.size() == 2 && parts[0].is_string() && parts[1].is_string()) {
    return concatenate(heap_, parts[0].with_markup(false), parts[1].with_markup(false));
  }
  return heap_.text_from([&] {
    return std::all_of(parts, parts + node.items.size(),
                       [&](const Value& part) { return print(heap_, part); });
  });
}

Value Render::evaluate_binary(const Binary& node) {
  INGOT_TRY(const Value left, evaluate(*node.left));
  INGOT_TRY(const Value right, evaluate(*node.right));
  heap_.set_place(node.place);
  return arithmetic(heap_, operator_of(node.kind), left, right);
}

Value Render::evaluate_sign(const Unary& node) {
  INGOT_TRY(const Value operand, evaluate(*node.operand));
  heap_.set_place(node.place);
  if (node.kind == NodeKind::negate) return negate(heap_, operand);
  if (operand.is_undefined()) return heap_.fail_undefined(operand);
  if (operand.is(Kind::real) || operand.is(Kind::digits)) return operand;
  if (operand.is_integral()) return Value::of(operand.as_integer());
  return heap_.fail("bad operand type for unary +: '" + std::string(type_name(operand.kind)) + "'");
}

Value Render::evaluate_item(const Binary& node) {
  INGOT_TRY(const Value object, evaluate(*node.left));
  INGOT_TRY(const Value index, evaluate(*node.right));
  heap_.set_place(node.place);
  return item(heap_, object, index);
}

Value Render::evaluate_slice(const SliceNode& node) {
  INGOT_TRY(const Value object, evaluate(*node.object));
  Value bounds[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (node.bounds[i] == nullptr) continue;
    INGOT_TRY(bounds[i], evaluate(*node.bounds[i]));
  }
  heap_.set_place(node.place);
  // The reference engine takes a slice of a constant, which it computes beforehand, for an item.
  if (!is_sliceable(object) && !object.is_undefined() && is_constant(node)) {
    return heap_.new_undefined(Undefined::Reason::element, "slice", object.kind);
  }
  return slice(heap_, object, bounds);
}

Value Render::evaluate_apply(const ApplyNode& node) {
  Value input = block_input_;
  if (node.input != nullptr) {
    INGOT_TRY(input, evaluate(*node.input));
  }
  if (node.builtin == nullptr) {
    heap_.set_place(node.place);
    const std::string noun = node.kind == NodeKind::filter ? "filter" : "test";
    return heap_.fail("No " + noun + " named '" + std::string(node.name) + "' found");
  }
  INGOT_TRY(const Arguments arguments, evaluate_arguments(node.arguments));
  heap_.set_place(node.place);
  return call_builtin(heap_, *node.builtin, input, arguments);
}

std::optional<Arguments> Render::evaluate_arguments(const ArgumentNodes& nodes,
                                                    const Value* caller) {
  const std::size_t positional_count = nodes.positional.size();
  const std::size_t keyword_count = nodes.keywords.size() + (caller == nullptr ? 0 : 1);
  if (!heap_.spend((positional_count + keyword_count) >> 4)) return std::nullopt;
  auto* positional = heap_.arena().make_array<Value>(positional_count);
  for (std::size_t i = 0; i < positional_count; ++i) {
    INGOT_TRY(positional[i], evaluate(*nodes.positional[i]));
  }
  auto* keywords = heap_.arena().make_array<Keyword>(keyword_count);
  for (std::size_t i = 0; i < nodes.keywords.size(); ++i) {
    keywords[i] = {nodes.keywords[i].name, evaluate(*nodes.keywords[i].value)};
    if (keywords[i].value.failed()) return std::nullopt;
  }
  if (caller != nullptr) keywords[keyword_count - 1] = {"caller", *caller};
  if (nodes.more_positional == nullptr && nodes.more_keywords == nullptr) {
    return Arguments{{positional, positional_count}, {keywords, keyword_count}};
  }
  std::vector<Value> all(positional, positional + positional_count);
  std::vector<Keyword> all_keywords(keywords, keywords + keyword_count);
  if (!append_spread(nodes, all, all_keywords)) return std::nullopt;
  return Arguments{heap_.arena().copy(all), heap_.arena().copy(all_keywords)};
}

/// `*list` and `**object`.
bool Render::append_spread(const ArgumentNodes& nodes, std::vector<Value>& positional,
                           std::vector<Keyword>& keywords) {
  if (nodes.more_positional != nullptr) {
    INGOT_TRY(const Value list, evaluate(*nodes.more_positional));
    INGOT_TRY(positional, collect(heap_, list, std::move(positional)));
  }
  if (nodes.more_keywords == nullptr) return true;
  INGOT_TRY(const Value object, evaluate(*nodes.more_keywords));
  if (!object.is(Kind::object)) {
    return heap_.fail("argument after ** must be a mapping, not " +
                      std::string(type_name(object.kind)));
  }
  if (!heap_.spend_on(object.object->count)) return false;
  for (const Pair& pair : object.object->span()) {
    if (!pair.key.is_string()) return heap_.fail("keywords must be strings");
    keywords.push_back({pair.key.text(), pair.value});
  }
  return true;
}

}  // namespace ingot::chat

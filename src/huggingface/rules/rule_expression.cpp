// SPDX-License-Identifier: MIT
// Evaluates the expressions of the rules.
#include "huggingface/rules/rule_expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/rules/name_pattern.hpp"
#include "huggingface/rules/rule_expression_node.hpp"
#include "huggingface/rules/rule_operators.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::json;
using Node = ExpressionNode;

/// The name that an expression begins with, for messages.
std::string first_name(const Node& node) {
  const Node* first = &node;
  while (!first->operands.empty()) first = &first->operands.front();
  return joined(first->names, " or ");
}

class Evaluator {
 public:
  explicit Evaluator(const RuleContext& context) : context_(context) {}

  Result<json> value(const Node& node) const {
    switch (node.kind) {
      case Node::Kind::literal:
        return node.literal;
      case Node::Kind::name:
        return name(node);
      case Node::Kind::operation:
        return operation(node);
      case Node::Kind::conditional: {
        INGOT_TRY(const json condition, value(node.operands[1]));
        return value(node.operands[is_truthy(condition) ? 0 : 2]);
      }
      case Node::Kind::call:
        return call(node);
    }
    return json();
  }

 private:
  using Function = Result<json> (Evaluator::*)(const Node& node) const;

  [[nodiscard]] const json* scope_of(NameScope scope) const {
    if (scope == NameScope::generation) return context_.generation;
    if (scope == NameScope::rope) return &context_.config.rope();
    if (scope == NameScope::rope_root) return &context_.config.rope_root();
    const auto sliding = context_.config.rope_root().find("sliding_attention");
    const bool is_there = sliding != context_.config.rope_root().end() && sliding->is_object();
    return is_there ? &*sliding : nullptr;
  }

  /// The first of the names that is a member, even if it is null.
  [[nodiscard]] const json* member(const Node& node) const {
    if (node.scope == NameScope::config) return context_.config.find_member(node.names);
    if (node.scope == NameScope::target) {
      return context_.target == nullptr ? nullptr : context_.target->find_member(node.names);
    }
    const json* const scope = scope_of(node.scope);
    if (scope == nullptr) return nullptr;
    for (const std::string& name : node.names) {
      if (const auto found = scope->find(name); found != scope->end()) return &*found;
    }
    return nullptr;
  }

  Result<json> name(const Node& node) const {
    const json* const found = member(node);
    if (found != nullptr && !found->is_null()) return *found;
    if (node.is_optional) return json();
    return refuse("config.json", joined(node.names, " or ") +
                                     (found == nullptr ? " is missing" : " must not be null"));
  }

  Result<json> operation(const Node& node) const {
    INGOT_TRY(json left, value(node.operands[0]));
    if (node.text == "??" && !left.is_null()) return left;
    if (node.text == (is_truthy(left) ? "or" : "and")) return left;
    INGOT_TRY(json right, value(node.operands[1]));
    if (node.text == "??" || node.text == "or" || node.text == "and") return right;
    if (node.text == "==") return json(left == right);
    if (node.text == "!=") return json(left != right);
    if (node.text == "in") return json(std::ranges::find(right, left) != right.end());
    if (node.text == "<") return json(left.is_number() && right.is_number() && left < right);
    return compute(node.text, left, right);
  }

  Result<json> call(const Node& node) const {
    struct Row {
      std::string_view name;
      std::size_t arguments;
      Function function;
    };
    static constexpr std::array<Row, 19> functions = {{
        {"block_count", 0, &Evaluator::block_count},
        {"extra_layers", 0, &Evaluator::extra_layers},
        {"layer", 0, &Evaluator::layer},
        {"file_type", 0, &Evaluator::file_type},
        {"as_reference", 0, &Evaluator::as_reference},
        {"each", 1, &Evaluator::each},
        {"count_numbered", 1, &Evaluator::count_numbered},
        {"rows", 1, &Evaluator::rows},
        {"columns", 1, &Evaluator::columns},
        {"rows_of_all", 1, &Evaluator::rows_of_all},
        {"number_in", 1, &Evaluator::number_in},
        {"zero_rows", 2, &Evaluator::zero_rows},
        {"listed_tokens", 0, &Evaluator::listed_tokens},
        {"has", 1, &Evaluator::has},
        {"choose", 2, &Evaluator::choose},
        {"padded", 2, &Evaluator::padded},
        {"flags", 2, &Evaluator::flags},
        {"flags", 3, &Evaluator::flags},
        {"alternating_layers", 2, &Evaluator::alternating_layers},
    }};
    if (node.text == "list") return list(node);
    for (const Row& row : functions) {
      if (row.name != node.text) continue;
      if (node.operands.size() == row.arguments) return (this->*row.function)(node);
    }
    std::vector<json> arguments;
    for (const Node& operand : node.operands) {
      INGOT_TRY(arguments.emplace_back(), value(operand));
    }
    return call_function(node.text, arguments);
  }

  Result<json> block_count(const Node&) const {
    INGOT_TRY(const std::uint64_t layers, context_.config.layer_count());
    return json(layers);
  }

  Result<json> extra_layers(const Node&) const { return json(context_.config.extra_layers()); }

  Result<json> layer(const Node&) const {
    if (!context_.layer) return refuse("rule", "layer() is used where no layer is meant");
    return json(*context_.layer);
  }

  Result<json> list(const Node& node) const {
    json list = json::array();
    for (const Node& element : node.operands) {
      INGOT_TRY(list.emplace_back(), value(element));
    }
    return list;
  }

  /// The values for all layers; absent if one is.
  Result<json> each(const Node& node) const {
    INGOT_TRY(const std::uint64_t layers, context_.config.layer_count());
    json list = json::array();
    RuleContext context = context_;
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
      context.layer = layer;
      INGOT_TRY(json element, Evaluator(context).value(node.operands[0]));
      if (element.is_null()) return json();
      list.push_back(std::move(element));
    }
    return list;
  }

  /// 1 + the highest number that follows a text in the names of the folder's tensors, or 0.
  Result<json> count_numbered(const Node& node) const {
    INGOT_TRY(const json text, value(node.operands[0]));
    if (!text.is_string()) return refuse("rule", "count_numbered() takes a text");
    const auto& before = text.get_ref<const std::string&>();
    std::uint64_t count = 0;
    for (const NamedShape& tensor : context_.tensors) {
      const std::size_t begin = tensor.name.find(before);
      if (begin == tensor.name.npos) continue;
      const std::string_view rest = std::string_view(tensor.name).substr(begin + before.size());
      if (const auto number = number_of(rest.substr(0, rest.find('.')))) {
        count = std::max(count, *number + 1);
      }
    }
    return json(count);
  }

  /// The rows and the columns of a tensor of the folder, absent without it.
  Result<json> rows(const Node& node) const {
    INGOT_TRY(const NamedShape* const tensor, find_tensor(node));
    return tensor == nullptr ? json() : json(tensor->shape.front());
  }
  Result<json> columns(const Node& node) const {
    INGOT_TRY(const NamedShape* const tensor, find_tensor(node));
    return tensor == nullptr ? json() : json(tensor->shape.back());
  }
  Result<const NamedShape*> find_tensor(const Node& node) const {
    INGOT_TRY(const json name, value(node.operands[0]));
    return find_tensor_named(name);
  }
  const NamedShape* find_tensor_named(const json& name) const {
    const auto found = std::ranges::find_if(context_.tensors, [&](const NamedShape& tensor) {
      return name == tensor.name && !tensor.shape.empty();
    });
    return found == context_.tensors.end() ? nullptr : &*found;
  }

  /// The rows of the tensors whose name has 0, 1, 2.. in the place of `{number}`.
  Result<json> rows_of_all(const Node& node) const {
    INGOT_TRY(const json text, value(node.operands[0]));
    if (!text.is_string()) return refuse("rule", "rows_of_all() takes a text");
    json rows = json::array();
    for (;;) {
      auto name = text.get<std::string>();
      replace_all(name, "{number}", std::to_string(rows.size()));
      const NamedShape* const tensor = find_tensor_named(name);
      if (tensor == nullptr || rows.size() == context_.tensors.size()) return rows;
      rows.push_back(tensor->shape.front());
    }
  }

  /// The first number of a tensor of one axis.
  Result<json> number_in(const Node& node) const {
    INGOT_TRY(const json text, value(node.operands[0]));
    if (!text.is_string() || context_.lookup == nullptr) {
      return refuse("rule", "number_in() takes the name of a tensor of the folder");
    }
    auto name = text.get<std::string>();
    if (context_.layer) replace_all(name, "{layer}", std::to_string(*context_.layer));
    INGOT_TRY(const auto number, context_.lookup->first_number(name));
    if (!number) return refuse(name, "the folder has no such tensor of one axis");
    return json(*number);
  }

  /// The rows of a matrix from one on that hold zeros alone, absent if there are none.
  Result<json> zero_rows(const Node& node) const {
    INGOT_TRY(const json name, value(node.operands[0]));
    INGOT_TRY(const json first, value(node.operands[1]));
    if (first.is_null()) return json();
    INGOT_TRY(const std::uint64_t begin, count_of(first, "the first row"));
    if (!name.is_string() || context_.lookup == nullptr) {
      return refuse("rule", "zero_rows() takes the name of a matrix of the folder");
    }
    INGOT_TRY(const auto rows, context_.lookup->zero_rows(name.get<std::string>(), begin));
    return rows.empty() ? json() : json(rows);
  }
  Result<json> listed_tokens(const Node&) const {
    if (context_.lookup == nullptr) return json();
    INGOT_TRY(const auto count, context_.lookup->listed_tokens());
    return count ? json(*count) : json();
  }

  Result<json> file_type(const Node&) const { return json(context_.file_type); }
  Result<json> as_reference(const Node&) const { return json(context_.as_reference); }

  /// Whether a name is a member, null included.
  Result<json> has(const Node& node) const {
    if (node.operands[0].kind != Node::Kind::name) return refuse("rule", "has() takes a name");
    return json(member(node.operands[0]) != nullptr);
  }

  Result<json> choose(const Node& node) const {
    INGOT_TRY(const json key, value(node.operands[0]));
    if (key.is_null()) return json();
    const std::string name = key.is_string() ? key.get<std::string>() : key.dump();
    const json& choices = node.operands[1].literal;
    const auto found = choices.is_object() ? choices.find(name) : choices.end();
    if (found != choices.end()) return *found;
    std::string known;
    for (const auto& choice : choices.items()) known += (known.empty() ? "" : ", ") + choice.key();
    return refuse("config.json", first_name(node.operands[0]) + " is `" + name +
                                     "`, which is not supported; known are " + known);
  }

  /// A list, filled up with zeros or cut to a length.
  Result<json> padded(const Node& node) const {
    INGOT_TRY(json list, value(node.operands[0]));
    INGOT_TRY(const json length, value(node.operands[1]));
    const auto size = whole_number(length);
    if (!list.is_array() || !size || *size < 0 || *size > 64) return not_computable("padded()");
    json result = json::array();
    for (std::size_t i = 0; i < static_cast<std::size_t>(*size); ++i) {
      result.push_back(i < list.size() ? list[i] : json(0));
    }
    return result;
  }

  /// A list with one flag per layer; `is_set` decides by the number of the layer.
  template <class IsSet>
  Result<json> flag_each_layer(const IsSet& is_set) const {
    INGOT_TRY(const std::uint64_t layers, context_.config.layer_count());
    json result = json::array();
    for (std::uint64_t layer = 0; layer < layers; ++layer) result.push_back(is_set(layer));
    return result;
  }

  /// A list of flags that tell which elements of `list` equal a text.
  static json equal_each(const json& list, const json& text) {
    json result = json::array();
    for (const json& element : list) result.push_back(element == text);
    return result;
  }

  /// flags(LIST, TEXT, N): which elements equal TEXT; without a list, with N, all layers but every
  /// Nth.
  Result<json> flags(const Node& node) const {
    INGOT_TRY(const json list, value(node.operands[0]));
    INGOT_TRY(const json text, value(node.operands[1]));
    if (list.is_array()) return equal_each(list, text);
    if (node.operands.size() == 2) return not_computable("flags()");
    INGOT_TRY(const json period, value(node.operands[2]));
    return periodic(period);
  }

  Result<json> periodic(const json& period) const {
    const auto every = whole_number(period);
    if (!every || *every <= 0) return not_computable("every Nth layer");
    return flag_each_layer([n = static_cast<std::uint64_t>(*every)](std::uint64_t layer) {
      return (layer + 1) % n != 0;
    });
  }

  /// alternating_layers(TYPES, PATTERN): the layers with sliding attention, by a list of types, a
  /// text of L (sliding) and G that repeats, or a period.
  Result<json> alternating_layers(const Node& node) const {
    INGOT_TRY(const json types, value(node.operands[0]));
    if (types.is_array()) return equal_each(types, "sliding_attention");
    INGOT_TRY(const json pattern, value(node.operands[1]));
    if (pattern.is_null()) return json();
    if (!pattern.is_string()) return periodic(pattern);
    const auto& letters = pattern.get_ref<const std::string&>();
    if (letters.empty()) return not_computable("sliding_window_pattern");
    return flag_each_layer(
        [&](std::uint64_t layer) { return letters[layer % letters.size()] == 'L'; });
  }

  const RuleContext& context_;
};

}  // namespace

bool is_truthy(const json& value) {
  if (value.is_null()) return false;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !value.empty();
}

Result<json> Expression::evaluate(const RuleContext& context) const {
  if (root_ == nullptr) return json();
  return Evaluator(context).value(*root_);
}

Result<std::uint64_t> Expression::evaluate_count(const RuleContext& context,
                                                 std::string_view what) const {
  INGOT_TRY(const json value, evaluate(context));
  INGOT_TRY(const std::uint64_t count, count_of(value, what));
  if (count == 0) return refuse("config.json", std::string(what) + " must be above 0");
  return count;
}

}  // namespace ingot::huggingface

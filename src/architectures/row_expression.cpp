// SPDX-License-Identifier: MIT
#include "architectures/row_expression.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ingot::architectures {
namespace {

using Op = Expression::Op;
using Number = std::optional<std::int64_t>;

Number compute(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Op::equal:
      return a == b;
    case Op::unequal:
      return a != b;
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::greater:
      return a > b;
    case Op::greater_equal:
      return a >= b;
    case Op::add:
      return __builtin_add_overflow(a, b, &result) ? Number() : result;
    case Op::subtract:
      return __builtin_sub_overflow(a, b, &result) ? Number() : result;
    case Op::multiply:
      return __builtin_mul_overflow(a, b, &result) ? Number() : result;
    case Op::least:
      return std::min(a, b);
    case Op::greatest:
      return std::max(a, b);
    default:
      break;
  }
  // The one quotient that is too large is that of the lowest number.
  if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return {};
  return op == Op::divide ? a / b : a % b;
}

struct Evaluation {
  const Scope& scope;
  const ArchitectureHeader& header;
  std::optional<std::uint64_t> layer;
  int depth = 0;

  Number of_key(const std::string& key, std::optional<std::uint64_t> element) const {
    return header.number(scope.key_name(key), element);
  }

  Number of(const Expression& expression) {
    if (depth >= most_depth) return {};  // lets that name one another
    ++depth;
    const Number result = of_op(expression);
    --depth;
    return result;
  }

  Number of_op(const Expression& e) {
    switch (e.op) {
      case Op::number:
        return e.number;
      case Op::name: {
        const Expression* meaning = scope.meaning_of(e.text);
        return meaning != nullptr ? of(*meaning) : of_key(e.text, layer);
      }
      case Op::layer:
        return layer ? Number(static_cast<std::int64_t>(*layer)) : Number();
      case Op::vocabulary:
        return header.vocabulary();
      case Op::element: {
        const Number index = of(e.parts[0]);
        if (!index || *index < 0) return {};
        return of_key(e.text, static_cast<std::uint64_t>(*index));
      }
      case Op::is_text: {
        const auto text = text_of(e.text, scope, header);
        return text ? Number(*text == e.literal) : Number();
      }
      case Op::is_variant: {
        const auto text = text_of(e.text, scope, header);
        return text ? Number(scope.is_variant(e.text, *text)) : Number();
      }
      case Op::has_tensor:
      case Op::size: {
        if (!e.is_of_model && !layer) return {};
        const std::string name = tensor_name(e.text, !e.is_of_model, layer);
        if (e.op == Op::has_tensor) return header.has_tensor(name);
        return header.tensor_size(name, static_cast<std::size_t>(e.number));
      }
      case Op::given:
        return header.has_key(scope.key_name(e.text));
      case Op::is_array:
        return header.array_size(scope.key_name(e.text)).has_value();
      case Op::array_size: {
        const auto size = header.array_size(scope.key_name(e.text));
        if (!size || *size > std::uint64_t{1} << 40) return {};
        return static_cast<std::int64_t>(*size);
      }
      case Op::logical_or:
      case Op::logical_and: {
        const bool deciding = e.op == Op::logical_or;
        bool are_known = true;
        for (const Expression& each : e.parts) {
          const Number part = of(each);
          if (part && (*part != 0) == deciding) return deciding;
          are_known = are_known && part.has_value();
        }
        return are_known ? Number(!deciding) : Number();
      }
      case Op::logical_not: {
        const Number part = of(e.parts[0]);
        return part ? Number(*part == 0) : Number();
      }
      case Op::otherwise: {
        const Number first = of(e.parts[0]);
        return first ? first : of(e.parts[1]);
      }
      default:
        break;
    }
    const Number a = of(e.parts[0]);
    if (!a) return {};
    const Number b = of(e.parts[1]);
    return b ? compute(e.op, *a, *b) : Number();
  }
};

}  // namespace

void for_each_name(const Expression& expression,
                   const std::function<void(const Expression&)>& use) {
  if (!expression.text.empty()) use(expression);
  for (const Expression& part : expression.parts) for_each_name(part, use);
}

Number evaluate(const Expression& expression, const Scope& scope, const ArchitectureHeader& header,
                std::optional<std::uint64_t> layer) {
  return Evaluation{scope, header, layer}.of(expression);
}

std::optional<std::string_view> text_of(std::string_view name, const Scope& scope,
                                        const ArchitectureHeader& header) {
  // The depth of `??` is that of the parser; lets of texts do not name other lets.
  const std::function<std::optional<std::string_view>(const Expression&)> of_keys =
      [&](const Expression& e) -> std::optional<std::string_view> {
    if (e.op == Op::name) return header.text(scope.key_name(e.text));
    if (e.op != Op::otherwise) return {};
    const auto first = of_keys(e.parts[0]);
    return first ? first : of_keys(e.parts[1]);
  };
  const Expression* meaning = scope.meaning_of(name);
  return meaning == nullptr ? header.text(scope.key_name(name)) : of_keys(*meaning);
}

std::string tensor_name(std::string_view name, bool is_of_layer,
                        std::optional<std::uint64_t> layer) {
  std::string result(name);
  constexpr std::string_view index = "{i}";
  if (is_of_layer && name.find(index) == name.npos) result = "blk.{i}." + result;
  const std::size_t inner =
      name.find(index) == name.npos ? 0 : name.rfind(index) + index.size() + 1;
  if (name.ends_with('.'))
    result.pop_back();
  else if (name.find('.', inner) == name.npos)
    result += ".weight";
  if (layer) {
    for (std::size_t at = result.find(index); at != result.npos; at = result.find(index)) {
      result.replace(at, index.size(), std::to_string(*layer));
    }
  }
  return result;
}

}  // namespace ingot::architectures

// SPDX-License-Identifier: MIT
#include "architectures/row_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ranges.hpp"
#include "base/real_number.hpp"

namespace ingot::architectures {
namespace {

constexpr Words<ValueType, 6> types = {{{"u32", ValueType::uint32},
                                        {"u64", ValueType::uint64},
                                        {"i32", ValueType::int32},
                                        {"f32", ValueType::float32},
                                        {"bool", ValueType::boolean},
                                        {"str", ValueType::string}}};
bool take_keyword(std::string_view& text, std::string_view word) {
  std::string_view rest = text;
  if (take_word(rest) != word) return false;
  text = rest;
  return true;
}

Expression both(Expression a, Expression b) {
  Expression result{.op = Expression::Op::logical_and};
  result.parts.push_back(std::move(a));
  result.parts.push_back(std::move(b));
  return result;
}

}  // namespace

/// Reads one row, with the groups that it uses.
class RowReader {
 public:
  RowReader(const House& house, std::string_view name) : house_(house) { result_.name = name; }

  tl::expected<Architecture, std::string> read() {
    if (house_.blocks_.contains("base") && !stands_alone()) use("base", {}, 0);
    use(result_.name, {}, 0);
    if (fault_.empty()) finish();
    if (!fault_.empty()) return tl::unexpected(fault_);
    return std::move(result_);
  }

 private:
  using Condition = std::optional<std::pair<Expression, std::string>>;  // and its text
  /// Whether the row begins with "alone": it has none of the keys that all others have.
  bool stands_alone() const {
    const auto block = house_.blocks_.find(result_.name);
    return block != house_.blocks_.end() && block->second.first < block->second.last &&
           house_.statements_[block->second.first].text == "alone";
  }
  void refuse(std::string_view sentence) {
    if (!fault_.empty()) return;
    fault_ = std::string(sentence);
    if (at_ == nullptr) return;  // a house of empty rows
    fault_ = std::string(at_->file) + ":" + std::to_string(at_->line) + ": " + fault_ + ": " +
             std::string(at_->text);
  }

  void use(std::string_view name, const Condition& condition, int depth) {
    const auto block = house_.blocks_.find(name);
    if (block == house_.blocks_.end()) return refuse("there is no group of this name");
    if (depth > 8) return refuse("groups use one another");
    for (std::size_t i = block->second.first; i < block->second.last && fault_.empty(); ++i) {
      at_ = &house_.statements_[i];
      read_statement(condition, depth);
    }
  }

  void read_statement(const Condition& condition, int depth) {
    std::string_view text = at_->text;
    const std::string_view word = take_word(text);
    if (word == "use") {
      const std::string_view name = take_word(text);
      Condition inner = condition;
      take_condition(text, inner);
      if (at_end(text)) use(name, inner, depth + 1);
    } else if (word == "let") {
      read_let(text);
    } else if (word == "require" || word == "optional") {
      read_key(text, word == "require", condition);
    } else if (word == "layer" || word == "whole") {
      read_tensors(text, word == "layer", condition);
    } else if (word == "fact" || word == "memory") {
      read_fact(text, condition, word == "memory");
    } else if (word == "refuse") {
      read_refusal(text, condition);
    } else if (word == "variants") {
      read_variants(text, condition);
    } else if (word == "alone") {
      at_end(text);  // read before all others
    } else if (word == "file") {
      result_.file_kind = take_word(text);
      at_end(text);
    } else if (word == "without") {
      while (!text.empty()) forget(take_word(text));
    } else if (word == "waits") {
      result_.waits = text;
    } else if (word == "pass") {
      while (!text.empty()) result_.pass.emplace_back(take_word(text));
    } else if (const std::string fault = read_memory_statement(word, text, result_);
               !fault.empty()) {
      refuse(fault);
    }
  }

  bool at_end(std::string_view text) {
    if (!trimmed(text).empty()) refuse("the end of the line is not understood");
    return fault_.empty();
  }

  Expression expression(std::string_view& text) {
    auto result = take_expression(text);
    if (result) return *std::move(result);
    refuse(result.error());
    return {};
  }

  void take_condition(std::string_view& text, Condition& condition) {
    if (!take_keyword(text, "if")) return;
    const std::string_view before = text;
    Expression own = expression(text);
    std::string own_text(trimmed(before.substr(0, before.size() - text.size())));
    if (condition) {
      own = both(condition->first, std::move(own));
      own_text = "(" + condition->second + ") and (" + own_text + ")";
    }
    condition.emplace(std::move(own), std::move(own_text));
  }

  void read_let(std::string_view text) {
    const std::string name(take_word(text));
    if (!take_keyword(text, "=")) return refuse("a \"=\" is missing");
    const std::string_view before = text;
    Expression value = expression(text);
    if (!at_end(text)) return;
    row_.lets.insert_or_assign(name, std::move(value));
    auto* shown = find_row(result_.numbers, &std::pair<std::string, std::string>::first, name);
    if (shown == nullptr) shown = &result_.numbers.emplace_back(name, "");
    shown->second = before;
  }

  void read_fact(std::string_view text, const Condition& outer, bool is_memory) {
    ArchitectureRow::Fact fact{.name = std::string(take_word(text)), .is_memory = is_memory};
    if (is_memory && !is_memory_number(fact.name)) return refuse("there is no such number");
    if (!take_keyword(text, "=")) return refuse("a \"=\" is missing");
    fact.value = expression(text);
    Condition condition = outer;
    take_condition(text, condition);
    if (!at_end(text)) return;
    if (condition) fact.condition = condition->first;
    row_.facts.push_back(std::move(fact));
  }

  void read_refusal(std::string_view text, const Condition& outer) {
    Expression condition = expression(text);
    text = trimmed(text);
    if (!text.starts_with(':')) return refuse("a \":\" is missing");
    if (outer) condition = both(outer->first, std::move(condition));
    row_.refusals.push_back({std::move(condition), std::string(trimmed(text.substr(1)))});
  }

  void read_variants(std::string_view text, const Condition& outer) {
    ArchitectureRow::Variants variants{.name = std::string(take_word(text))};
    Condition condition = outer;
    take_condition(text, condition);
    if (!take_keyword(text, "=")) return refuse("a \"=\" is missing");
    std::vector<std::string>* list = &variants.described;
    while (!text.empty()) {
      const std::string_view word = take_word(text);
      if (word == "others")
        list = &variants.others;
      else
        list->emplace_back(word);
    }
    if (condition) variants.condition = condition->first;
    row_.variants.push_back(std::move(variants));
  }

  void read_key(std::string_view text, bool is_required, const Condition& outer) {
    ArchitectureRow::Key key{.name = std::string(take_word(text)), .is_required = is_required};
    std::string_view type = take_word(text);
    ArchitectureKey shown{.name = key.name, .type = std::string(type), .is_required = is_required};
    key.is_array = type.ends_with("[]");
    if (key.is_array) type.remove_suffix(2);
    const auto* found = find_row(types, &decltype(types)::value_type::first, type);
    if (found == nullptr) return refuse("there is no such type");
    key.type = found->second;
    if (take_keyword(text, "per")) {
      if (!take_keyword(text, "layer")) return refuse("\"layer\" is missing");
      key.is_per_layer = true;
      shown.type += " per layer";
    }
    if (take_keyword(text, "=")) read_values(text, key);
    Condition condition = outer;
    take_condition(text, condition);
    if (!at_end(text)) return;
    if (condition) {
      key.condition = condition->first;
      shown.condition = condition->second;
    }
    forget_key(key.name);
    row_.keys.push_back(std::move(key));
    result_.keys.push_back(std::move(shown));
  }

  void read_values(std::string_view& text, ArchitectureRow::Key& key) {
    key.is_list = text.starts_with('[');
    if (key.is_list && !key.is_array && !key.is_per_layer) {
      return refuse("a list goes with an array, or with a key per layer");
    }
    if (!key.is_list) return read_value(text, key);
    text.remove_prefix(1);
    for (;;) {
      read_value(text, key);
      text = trimmed(text);
      if (!fault_.empty()) return;
      const char next = text.empty() ? '\0' : text.front();
      if (next != ',' && next != ']') return refuse("a \"]\" is missing");
      text = trimmed(text.substr(1));
      if (next == ']') return;
    }
  }

  void read_value(std::string_view& text, ArchitectureRow::Key& key) {
    text = trimmed(text);
    if (key.type == ValueType::string) {
      const std::size_t end = text.find('"', 1);
      if (!text.starts_with('"') || end == text.npos) return refuse("a text is missing");
      key.values.emplace_back(std::string(text.substr(1, end - 1)));
      text = trimmed(text.substr(end + 1));
    } else if (key.type == ValueType::float32) {
      double number = 0;
      const auto [end, error] = read_real(text.data(), text.data() + text.size(), number);
      if (error != std::errc()) return refuse("a number is missing");
      key.values.emplace_back(number);
      text = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
    } else if (key.type == ValueType::boolean &&
               (text.starts_with("true") || text.starts_with("false"))) {
      const bool is_true = text.starts_with("true");
      key.values.emplace_back(Expression{.number = is_true ? 1 : 0});
      text = trimmed(text.substr(is_true ? 4 : 5));
    } else {
      key.values.emplace_back(expression(text));
      text = trimmed(text);
    }
  }

  void read_tensors(std::string_view text, bool is_of_layers, const Condition& outer) {
    const std::size_t colon = text.find(':');
    if (colon == text.npos) return refuse("a \":\" is missing");
    std::string_view names = trimmed(text.substr(0, colon));
    text = trimmed(text.substr(colon + 1));
    ArchitectureRow::Tensor tensor{.is_of_layers = is_of_layers};
    ArchitectureTensor shown{.is_of_layers = is_of_layers};
    const std::string_view before = text;
    do {
      if (!tensor.shape.empty()) text.remove_prefix(1);
      tensor.shape.push_back(expression(text));
      text = trimmed(text);
    } while (fault_.empty() && text.starts_with(','));
    shown.shape = trimmed(before.substr(0, before.size() - text.size()));
    tensor.is_optional = shown.is_optional = take_keyword(text, "optional");
    tensor.is_sampled = !tensor.is_optional;
    Condition condition = outer;
    take_condition(text, condition);
    text = trimmed(text);
    if (take_keyword(text, "sampled")) {
      if (!tensor.is_optional) return refuse("what is not optional is in the sample anyway");
      tensor.is_sampled = true;
      if (!text.empty()) tensor.sampled = expression(text);
    }
    if (!at_end(text)) return;
    if (condition) {
      tensor.condition = condition->first;
      shown.condition = condition->second;
    }
    if (tensor.shape.size() > 4) return refuse("a tensor has at most 4 dimensions");
    if (names.empty()) return refuse("a name is missing");
    while (!names.empty()) {
      tensor.name = take_word(names);
      shown.name = tensor_name(tensor.name, is_of_layers, {});
      const auto is_same = [&](const ArchitectureRow::Tensor& each) {
        return each.name == tensor.name && each.is_of_layers == is_of_layers;
      };
      // Behind the last line for the same name.
      const auto last = std::find_if(row_.tensors.rbegin(), row_.tensors.rend(), is_same).base();
      const auto place = last == row_.tensors.begin() ? row_.tensors.end() : last;
      const auto index = place - row_.tensors.begin();
      row_.tensors.insert(place, tensor);
      result_.tensors.insert(result_.tensors.begin() + index, shown);
    }
  }

  void forget_key(std::string_view name) {
    std::erase_if(row_.keys, [&](const auto& key) { return key.name == name; });
    std::erase_if(result_.keys, [&](const auto& key) { return key.name == name; });
  }

  void forget(std::string_view name) {
    const std::size_t before = row_.keys.size() + row_.tensors.size();
    forget_key(name);
    for (std::size_t i = row_.tensors.size(); i-- > 0;) {
      if (row_.tensors[i].name != name) continue;
      row_.tensors.erase(row_.tensors.begin() + static_cast<std::ptrdiff_t>(i));
      result_.tensors.erase(result_.tensors.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (before == row_.keys.size() + row_.tensors.size()) {
      refuse("there is no key or tensor \"" + std::string(name) + "\"");
    }
  }

  /// Every name in an expression has to be a let or a key.
  void finish() {
    const auto check = [&](const Expression& expression) {
      for_each_name(expression, [&](const Expression& each) {
        if (each.op == Expression::Op::has_tensor || each.op == Expression::Op::size) {
          const bool is_known = std::ranges::any_of(row_.tensors, [&](const auto& tensor) {
            return tensor.name == each.text && tensor.is_of_layers != each.is_of_model;
          });
          if (!is_known) refuse_name("tensor", each.text);
        } else if (const bool may_be_let = each.op == Expression::Op::name ||
                                           each.op == Expression::Op::is_text ||
                                           each.op == Expression::Op::is_variant;
                   !may_be_let || !row_.lets.contains(each.text)) {
          const bool is_known = std::ranges::find(row_.keys, each.text,
                                                  &ArchitectureRow::Key::name) != row_.keys.end();
          if (!is_known) refuse_name("key or number", each.text);
        }
      });
    };
    for (const auto& [name, value] : row_.lets) check(value);
    for (const ArchitectureRow::Key& key : row_.keys) {
      if (key.condition) check(*key.condition);
      for (const auto& value : key.values) {
        if (const auto* number = std::get_if<Expression>(&value)) check(*number);
      }
    }
    for (const ArchitectureRow::Fact& fact : row_.facts) {
      check(fact.value);
      if (fact.condition) check(*fact.condition);
    }
    for (const ArchitectureRow::Variants& variants : row_.variants) {
      check(Expression{.op = Expression::Op::is_text, .text = variants.name});
      if (variants.condition) check(*variants.condition);
      result_.variants.insert(result_.variants.end(), variants.described.begin(),
                              variants.described.end());
      const auto let = row_.lets.find(variants.name);
      const Expression* key = let == row_.lets.end() ? nullptr : &let->second;
      while (key != nullptr && !key->parts.empty()) key = &key->parts[0];
      for (ArchitectureRow::Key& each : row_.keys) {
        each.names_variant |= each.name == (key == nullptr ? variants.name : key->text);
      }
    }
    sort_unique(result_.variants);
    for (const ArchitectureRow::Refusal& refusal : row_.refusals) check(refusal.condition);
    for (const ArchitectureRow::Tensor& tensor : row_.tensors) {
      for (const Expression& size : tensor.shape) check(size);
      if (tensor.condition) check(*tensor.condition);
      if (tensor.sampled) check(*tensor.sampled);
    }
    if (result_.tensors.empty()) {
      result_.keys.clear();
      result_.numbers.clear();
      if (result_.waits.empty()) refuse("the row has no tensor and no \"waits\"");
    } else if (!result_.waits.empty()) {
      refuse("the row has tensors, and \"waits\"");
    }
    const auto requires_heads = [](const ArchitectureKey& key) {
      return key.name == "attention.head_count" && key.is_required;
    };
    result_.has_attention =
        (result_.tensors.empty() || std::ranges::any_of(result_.keys, requires_heads)) &&
        (!result_.memory || result_.memory->recurrent == RecurrentLayers::never);
    result_.row = std::make_shared<const ArchitectureRow>(std::move(row_));
  }

  void refuse_name(const std::string& what, const std::string& name) {
    if (!fault_.empty()) return;
    fault_ = std::string(at_->file) + ": " + result_.name + ": no " + what + " \"" + name + "\"";
  }

  const House& house_;
  const House::Statement* at_ = house_.statements_.data();
  Architecture result_;
  ArchitectureRow row_;
  std::string fault_;
};

tl::expected<Architecture, std::string> House::read(std::string_view name) const {
  return RowReader(*this, name).read();
}

}  // namespace ingot::architectures

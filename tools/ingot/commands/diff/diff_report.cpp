// SPDX-License-Identifier: MIT
#include "commands/diff/diff_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ingot/text.hpp>
#include <optional>

#include "cli/table.hpp"
#include "commands/diff/vocabulary_diff.hpp"
#include "commands/json_members.hpp"
#include "text/error_total.hpp"
#include "text/value_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// The columns for values: for one alone, for each of two, and for arrays, which are only previews.
struct ValueRoom {
  std::size_t one;
  std::size_t half;
  std::size_t array;
};

ValueRoom value_room(const Console& console, std::size_t name_columns) {
  constexpr std::size_t around = 10;  // "~ key NAME: A -> B"
  const std::size_t room = console.room(name_columns + around, 40);
  return {room, room / 2, std::min<std::size_t>(room, 60)};
}

std::size_t columns_of(const Value& value, std::size_t columns, const ValueRoom& room) {
  return value.is_array() ? room.array : columns;
}

std::string value_type_text(const Value& value) {
  const auto name = [](ValueType type) { return std::string(name_of(type)); };
  return value.is_array() ? name(value.as_array().element_type()) + "[]" : name(value.type());
}

bool is_same_element(const Value& a, const Value& b) {
  // Elements of arrays within arrays are compared as they are shown.
  return short_value_text(a, 1000) == short_value_text(b, 1000);
}

/// The first element in which two arrays of one type differ; nothing if one only goes on longer.
std::optional<std::uint64_t> first_difference(const Value& a, const Value& b) {
  const Array first = a.as_array();
  const Array second = b.as_array();
  std::uint64_t index = 0;
  for (auto x = first.begin(), y = second.begin(); x != first.end() && y != second.end();
       ++x, ++y, ++index) {
    if (!is_same_element(*x, *y)) return index;
  }
  return std::nullopt;
}

bool are_alike_arrays(const KeyDifference& key) {
  return key.a != nullptr && key.b != nullptr && key.a->is_array() && key.b->is_array() &&
         key.a->as_array().element_type() == key.b->as_array().element_type();
}

/// "element 7: "a" -> "b"" of two arrays of one type.
std::string array_change_text(const Value& a, const Value& b, const ValueRoom& room) {
  const std::uint64_t size_a = a.as_array().size();
  const std::uint64_t size_b = b.as_array().size();
  std::string text = value_type_text(a);
  if (size_a != size_b) {
    text += fmt::format(", {} -> {} elements", format_digits(size_a), format_digits(size_b));
  }
  if (const auto index = first_difference(a, b)) {
    text += fmt::format(", from element {} on: {} -> {}", *index,
                        short_value_text(a.as_array()[*index], room.half),
                        short_value_text(b.as_array()[*index], room.half));
  }
  return text;
}

std::string typed_text(const Value& value, const ValueRoom& room) {
  return short_value_text(value, columns_of(value, room.half, room)) +
         (value.is_array() ? std::string() : " (" + value_type_text(value) + ")");
}

std::string change_text(const KeyDifference& key, const ValueRoom& room) {
  if (are_alike_arrays(key)) return array_change_text(*key.a, *key.b, room);
  if (key.a->type() == key.b->type() && !key.a->is_array()) {
    return short_value_text(*key.a, room.half) + " -> " + short_value_text(*key.b, room.half);
  }
  return typed_text(*key.a, room) + " -> " + typed_text(*key.b, room);
}

/// "- key NAME = VALUE", in a terminal on lines that break between words.
template <class... Args>
void print_difference(Console& console, DiffSign sign, fmt::format_string<Args...> format,
                      Args&&... args) {
  console.print_prose(paint_sign(console, sign) + fmt::format(format, std::forward<Args>(args)...),
                      Style::plain, 2);
}

void print_keys(Console& console, const ModelDifference& difference) {
  for (const KeyDifference& key : difference.keys) {
    if (!console.out().is_open()) return;
    const std::string shown = escape(key.key);
    const std::string name = console.paint(Style::strong, shown);
    const ValueRoom room = value_room(console, display_columns(shown));
    const auto one = [&](const Value& value) {
      return short_value_text(value, columns_of(value, room.one, room));
    };
    if (key.b == nullptr) {
      print_difference(console, DiffSign::removed, "key {} = {}", name, one(*key.a));
    } else if (key.a == nullptr) {
      print_difference(console, DiffSign::added, "key {} = {}", name, one(*key.b));
    } else {
      print_difference(console, DiffSign::changed, "key {}: {}", name, change_text(key, room));
    }
  }
}

std::string tensor_text(const TensorInfo& tensor) {
  return fmt::format("{}, {}", type_text(tensor.type), shape_text(tensor.shape));
}

void print_tensors(Console& console, const ModelDifference& difference) {
  Output& out = console.out();
  for (const TensorDifference& tensor : difference.tensors) {
    if (!out.is_open()) return;
    const std::string name = console.paint(Style::strong, escape(tensor.name));
    if (tensor.b == nullptr) {
      print_difference(console, DiffSign::removed, "tensor {}: {}", name, tensor_text(*tensor.a));
    } else if (tensor.a == nullptr) {
      print_difference(console, DiffSign::added, "tensor {}: {}", name, tensor_text(*tensor.b));
    } else if (std::ranges::equal(tensor.a->shape, tensor.b->shape)) {
      print_difference(console, DiffSign::changed, "tensor {}: {} -> {}", name,
                       type_text(tensor.a->type), type_text(tensor.b->type));
    } else {
      print_difference(console, DiffSign::changed, "tensor {}: {} -> {}", name,
                       tensor_text(*tensor.a), tensor_text(*tensor.b));
    }
  }
}

/// Tensors whose stored bytes differ, but for those whose weights are in a table of their own.
void print_data(Console& console, const Comparison& comparison) {
  Output& out = console.out();
  std::size_t pair = 0;  // the pairs are in the same order
  for (const DataDifference& data : comparison.difference.data) {
    if (!out.is_open()) return;
    if (comparison.has_distances) {
      while (comparison.pairs[pair].a != data.a) ++pair;
      if (!comparison.distances[pair].is_same()) continue;
    }
    print_difference(console, DiffSign::changed, "data {}: from byte {} of {} on{}",
                     console.paint(Style::strong, escape(data.name)),
                     format_digits(data.first_difference), format_digits(data.a->size_bytes),
                     comparison.has_distances ? "; the weights are the same" : "");
  }
}

std::string number_text(double number) {
  return std::isinf(number) ? "inf" : fmt::format("{:.4g}", number);
}

WeightDistance sum_of(const std::vector<WeightDistance>& distances) {
  WeightDistance sum;
  const auto error_of = [](const WeightDistance& distance) { return distance.error; };
  for_each_in_total(distances, error_of, [&](const WeightDistance& distance) {
    sum.error.add(distance.error);
    sum.squared_b += distance.squared_b;
    sum.differing += distance.differing;
  });
  return sum;
}

void print_distances(Console& console, const Comparison& comparison) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < comparison.pairs.size(); ++i) {
    if (!comparison.distances[i].is_same()) rows.push_back(i);
  }
  if (rows.empty()) return;
  const std::vector<Column> columns = {{"name", Align::left, Narrow::shorten},
                                       {"weights", Align::right, Narrow::hide},
                                       {"differ", Align::right, Narrow::hide},
                                       {"max", Align::right},
                                       {"RMSE", Align::right},
                                       {"SQNR dB", Align::right},
                                       {"cosine", Align::right, Narrow::hide}};
  print_table(console, columns, rows.size(), [&](std::size_t row, std::span<std::string> cells) {
    const TensorPair& pair = comparison.pairs[rows[row]];
    const WeightDistance& distance = comparison.distances[rows[row]];
    cells[0] = pair.a->name;
    cells[1] = format_count(pair.a->element_count);
    cells[2] = format_count(distance.differing);
    cells[3] = number_text(distance.error.largest);
    cells[4] = number_text(distance.error.rmse());
    cells[5] = fmt::format("{:.2f}", distance.error.sqnr_db());
    cells[6] = fmt::format("{:.6f}", distance.cosine());
  });
  const WeightDistance sum = sum_of(comparison.distances);
  console.print_prose(
      fmt::format("of these tensors together: max {}, RMSE {}, SQNR {:.2f} dB, cosine {:.6f}",
                  number_text(sum.error.largest), number_text(sum.error.rmse()),
                  sum.error.sqnr_db(), sum.cosine()));
}

void print_summary(Console& console, const Comparison& comparison) {
  const ModelDifference& difference = comparison.difference;
  std::string line = fmt::format("{} and {} differ", counted(difference.keys.size(), "key"),
                                 counted(difference.tensors.size(), "tensor"));
  if (difference.is_same()) {
    line = "no difference";
  } else if (difference.has_data && !comparison.has_distances) {
    line += fmt::format("; the stored bytes of {} of {} differ", difference.data.size(),
                        counted(difference.compared_tensors, "tensor"));
  }
  if (comparison.has_distances && !difference.is_same()) {
    const auto differing = std::ranges::count_if(
        comparison.distances, [](const WeightDistance& distance) { return !distance.is_same(); });
    line += fmt::format("; the weights of {} of {} differ", differing,
                        counted(comparison.pairs.size(), "tensor"));
  }
  if (!difference.has_data) line += "; stored bytes were not compared";
  if (difference.has_other_key_order) line += "; keys are in another order";
  if (difference.has_other_tensor_order) line += "; tensors are in another order";
  console.print_prose(line, Style::strong);
}

std::string_view change_name(bool has_a, bool has_b) {
  if (!has_a) return "added";
  return has_b ? "changed" : "removed";
}

void write_value(JsonStream& json, const char* name, const Value* value) {
  json.key(name);
  if (value == nullptr) return json.null();
  const auto object = json.object(Layout::line);
  json.member("type", name_of(value->type()));
  if (value->is_array()) {
    const Array array = value->as_array();
    json.member("element_type", name_of(array.element_type()));
    json.member("count", array.size());
  } else {
    write_value_member(json, *value);
  }
}

void write_tensor(JsonStream& json, const char* name, const TensorInfo* tensor) {
  json.key(name);
  if (tensor == nullptr) return json.null();
  const auto object = json.object(Layout::line);
  json.member("type", type_text(tensor->type));
  json.values("shape", tensor->shape);
  json.member("bytes", tensor->size_bytes);
}

void write_stored(JsonStream& json, const ModelDifference& difference) {
  json.key("stored");
  if (!difference.has_data) return json.null();
  const auto object = json.object();
  json.member("compared", difference.compared_tensors);
  json.objects("differing", difference.data, [&](const DataDifference& data) {
    json.member("name", data.name);
    json.member("first_difference", data.first_difference);
  });
}

void write_distances(JsonStream& json, const Comparison& comparison) {
  json.key("data");
  if (!comparison.has_distances) return json.null();
  json.objects(comparison.pairs.size(), [&](std::size_t i) {
    const bool is_same = comparison.has_same_bytes[i];
    json.member("name", comparison.pairs[i].a->name);
    json.member("same_bytes", is_same);
    json.member("elements", comparison.pairs[i].a->element_count);
    write_members(json, comparison.distances[i]);
  });
}

}  // namespace

void print_diff_text(Console& console, const Comparison& comparison) {
  print_keys(console, comparison.difference);
  if (!comparison.difference.keys.empty()) {
    print_vocabulary_difference(console, comparison.a, comparison.b);
  }
  print_tensors(console, comparison.difference);
  print_data(console, comparison);
  if (comparison.has_distances) print_distances(console, comparison);
  print_summary(console, comparison);
}

void print_diff_json(Console& console, const Comparison& comparison) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("a", comparison.file_a);
  json.member("b", comparison.file_b);
  write_members(json, comparison.difference);
  json.objects("keys", comparison.difference.keys, [&](const KeyDifference& key) {
    json.member("key", key.key);
    json.member("change", change_name(key.a != nullptr, key.b != nullptr));
    write_value(json, "a", key.a);
    write_value(json, "b", key.b);
    json.key("first_difference");
    are_alike_arrays(key) ? json.value(first_difference(*key.a, *key.b)) : json.null();
  });
  json.objects("tensors", comparison.difference.tensors, [&](const TensorDifference& tensor) {
    json.member("name", tensor.name);
    json.member("change", change_name(tensor.a != nullptr, tensor.b != nullptr));
    write_tensor(json, "a", tensor.a);
    write_tensor(json, "b", tensor.b);
  });
  write_vocabulary_difference(json, comparison.a, comparison.b);
  write_stored(json, comparison.difference);
  write_distances(json, comparison);
}

}  // namespace ingot::cli

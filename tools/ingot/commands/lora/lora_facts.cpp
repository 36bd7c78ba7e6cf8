// SPDX-License-Identifier: MIT
#include "commands/lora/lora_facts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/text.hpp>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "text/value_text.hpp"

namespace ingot::cli {

template <>
inline constexpr bool is_json_row<LoraChange> = true;

namespace {

/// Changes of one tensor in many layers that are alike but for the layer.
struct Target {
  std::string name;  ///< "blk.*.attn_q.weight"
  const LoraChange* first = nullptr;
  std::uint64_t count = 0;
};

/// "blk.7.attn_q.weight" as "blk.*.attn_q.weight".
std::string without_layer(std::string_view name) {
  constexpr std::string_view prefix = "blk.";
  if (!name.starts_with(prefix)) return std::string(name);
  const std::size_t end = name.find('.', prefix.size());
  return end == name.npos ? std::string(name)
                          : std::string(prefix) + "*" + std::string(name.substr(end));
}

bool are_alike(const LoraChange& a, const LoraChange& b) {
  const auto is_same = [](const TensorInfo* x, const TensorInfo* y) {
    if (x == nullptr || y == nullptr) return x == y;
    return x->type == y->type && std::ranges::equal(x->shape, y->shape);
  };
  return is_same(a.a, b.a) && is_same(a.b, b.b);
}

std::vector<Target> targets_of(const LoraAdapter& adapter) {
  std::vector<Target> targets;
  std::map<std::string, std::size_t, std::less<>> places;
  for (const LoraChange& change : adapter.changes) {
    std::string name = without_layer(change.name);
    const auto place = places.find(name);
    if (place != places.end() && are_alike(*targets[place->second].first, change)) {
      ++targets[place->second].count;
      continue;
    }
    places.insert_or_assign(name, targets.size());
    targets.push_back({std::move(name), &change, 1});
  }
  return targets;
}

std::uint64_t bytes_of(const LoraChange& change) {
  return change.a->size_bytes + (change.is_whole() ? 0 : change.b->size_bytes);
}

std::uint64_t parameters_of(const LoraChange& change) {
  return change.a->element_count + (change.is_whole() ? 0 : change.b->element_count);
}

/// The sums over all changes.
template <class Of>
std::uint64_t sum(const LoraAdapter& adapter, const Of& of) {
  std::uint64_t total = 0;
  for (const LoraChange& change : adapter.changes) total += of(change);
  return total;
}

void print_page(Console& console, const std::string& file, const LoraAdapter& adapter) {
  const std::vector<Target> targets = targets_of(adapter);
  const std::vector<Column> columns = {{"tensor", Align::left, Narrow::shorten},
                                       {"count", Align::right},
                                       {"rank", Align::right},
                                       {"scale", Align::right},
                                       {"rows x columns", Align::left},
                                       {"types", Align::left}};
  print_table(console, columns, targets.size(), [&](std::size_t row, auto cells) {
    const Target& target = targets[row];
    const LoraChange& change = *target.first;
    cells[0] = target.name;
    cells[1] = fmt::format("{}", target.count);
    cells[2] = change.is_whole() ? "whole" : fmt::format("{}", change.rank);
    cells[3] = fmt::format("{:.4g}", change.scale);
    cells[4] = fmt::format("{} x {}", change.row_count(), change.row_elements());
    cells[5] = type_text(change.a->type);
    if (!change.is_whole() && change.b->type != change.a->type) {
      cells[5] += ", " + type_text(change.b->type);
    }
  });
  console.print_line(
      Style::strong,
      fmt::format("{}: LoRA for {}, alpha {:.6g}, {} tensors, {} parameters, {}", escape(file),
                  escape(adapter.architecture), adapter.alpha,
                  format_digits(adapter.changes.size()), format_digits(sum(adapter, parameters_of)),
                  format_bytes(sum(adapter, bytes_of))));
  if (adapter.is_invoked) {
    console.out().print("It counts only behind certain tokens (aLoRA), so it cannot be merged.\n");
  }
}

void print_json(Console& console, const std::string& file, const LoraAdapter& adapter) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("file", file);
  json.member("parameters", sum(adapter, parameters_of));
  json.member("bytes", sum(adapter, bytes_of));
  write_members(json, adapter);
}

}  // namespace

void print_adapter(Console& console, const std::string& file, const LoraAdapter& adapter) {
  console.is_json() ? print_json(console, file, adapter) : print_page(console, file, adapter);
}

}  // namespace ingot::cli

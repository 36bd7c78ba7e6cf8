// SPDX-License-Identifier: MIT
// The statements of what a model keeps in memory, and of its vocabulary.
#include <algorithm>
#include <array>
#include <utility>

#include "architectures/row_scope.hpp"
#include "base/ranges.hpp"
#include "base/strings.hpp"

namespace ingot {
namespace architectures {
namespace {

constexpr Words<LayerWindows, 4> window_kinds = {{{"none", LayerWindows::none},
                                                  {"full_last", LayerWindows::full_last},
                                                  {"full_first", LayerWindows::full_first},
                                                  {"by_key", LayerWindows::by_key}}};
constexpr Words<LayerState, 7> state_kinds = {
    {{"none", LayerState::none},
     {"ssm", LayerState::ssm},
     {"rwkv", LayerState::rwkv},
     {"rwkv_single", LayerState::rwkv_single},
     {"short_convolution", LayerState::short_convolution},
     {"delta_attention", LayerState::delta_attention},
     {"lightning_attention", LayerState::lightning_attention}}};
constexpr Words<RecurrentLayers, 6> recurrent_kinds = {
    {{"never", RecurrentLayers::never},
     {"always", RecurrentLayers::always},
     {"beside_attention", RecurrentLayers::beside_attention},
     {"without_kv_heads", RecurrentLayers::without_kv_heads},
     {"without_kv_heads_and_ffn", RecurrentLayers::without_kv_heads_and_ffn},
     {"by_interval", RecurrentLayers::by_interval}}};
constexpr Words<Purpose, 4> purposes = {
    {{"generates", Purpose::generates},
     {"generates_without_cache", Purpose::generates_without_cache},
     {"encodes", Purpose::encodes},
     {"encodes_with_cache", Purpose::encodes_with_cache}}};

/// Takes a word of a table off the text; what is wrong with it, or nothing.
template <class Table, class Value>
std::string take_choice(const Table& table, std::string_view& text, Value& value) {
  const std::string_view word = take_word(text);
  const auto* found = find_row(table, &Table::value_type::first, word);
  if (found == nullptr) return "there is no \"" + std::string(word) + "\"";
  value = found->second;
  return {};
}

constexpr std::string_view no_number = "a number is missing";
constexpr std::string_view odd_end = "the end of the line is not understood";

std::string read_windows(std::string_view& text, ArchitectureMemory& memory) {
  std::string fault = take_choice(window_kinds, text, memory.windows);
  if (!fault.empty()) return fault;
  if (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    memory.period = parse_number<std::uint64_t>(take_word(text)).value_or(0);
  }
  while (!text.empty()) {
    const std::string_view what = take_word(text);
    const auto number = parse_number<std::uint64_t>(take_word(text));
    if (!number) return std::string(no_number);
    if (what == "window")
      memory.window = *number;
    else if (what == "layers")
      memory.only_for_layers = *number;
    else if (what == "own_cache")
      memory.own_cache_layers = *number;
    else
      return std::string(odd_end);
  }
  return {};
}

std::string read_tokenizer(std::string_view text, Architecture& row) {
  const std::string_view kind = take_word(text);
  row.has_scored_tokens = kind == "spm";
  if (kind != "spm" && kind != "bpe") return "there is no such tokenizer";
  if (text.empty()) return {};
  const auto tokens = parse_number<std::uint32_t>(text);
  if (!tokens || *tokens > 65536) return std::string(no_number);
  row.sample_tokens = *tokens;
  return {};
}

}  // namespace

bool is_memory_number(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 7> names = {"compressed", "indexer", "loops", "router",
                                                     "shared",     "state",   "work"};
  return std::ranges::find(names, name) != names.end();
}

std::string read_memory_statement(std::string_view word, std::string_view text, Architecture& row) {
  if (word == "tokenizer") return read_tokenizer(text, row);
  ArchitectureMemory memory = row.memory.value_or(ArchitectureMemory{});
  std::string fault;
  if (word == "purpose") {
    fault = take_choice(purposes, text, memory.purpose);
  } else if (word == "windows") {
    fault = read_windows(text, memory);
  } else if (word == "state") {
    fault = take_choice(state_kinds, text, memory.state);
    if (fault.empty() && take_word(text) != "recurrent") fault = "\"recurrent\" is missing";
    if (fault.empty()) fault = take_choice(recurrent_kinds, text, memory.recurrent);
    if (fault.empty() && !text.empty()) {
      const auto interval = parse_number<std::uint64_t>(take_word(text));
      if (!interval) return std::string(no_number);
      memory.interval = *interval;
    }
  } else {
    fault = "the statement is not known";
  }
  if (fault.empty() && !trimmed(text).empty()) fault = odd_end;
  if (fault.empty()) row.memory = memory;
  return fault;
}

}  // namespace architectures

std::optional<std::int64_t> memory_number(const Architecture& architecture,
                                          const ArchitectureHeader& header, std::string_view name,
                                          std::optional<std::uint64_t> layer) {
  const architectures::RowScope scope(architecture);
  std::optional<std::int64_t> number;
  for (const ArchitectureRow::Fact& fact : architecture.row->facts) {
    if (!fact.is_memory || fact.name != name) continue;
    if (architectures::holds(fact.condition, scope, header, layer) != true) continue;
    number = architectures::evaluate(fact.value, scope, header, layer);
  }
  return number;
}

}  // namespace ingot

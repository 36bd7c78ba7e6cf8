// SPDX-License-Identifier: MIT
#include "huggingface/export/special_tokens_plan.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ranges.hpp"
#include "huggingface/import/tokenizer/token_kinds.hpp"
#include "ingot/summary.hpp"

namespace ingot::huggingface {
namespace {

/// Positions in token_id_names and token_switch_keys.
enum Kind : std::size_t { bos = 0, eos = 1, unk = 2, sep = 3, eot = 6 };
constexpr std::size_t switch_sep = 2;

struct NumberedToken {
  std::size_t kind;  ///< Position in token_id_names.
  std::uint32_t id;
};

struct Switch {
  std::size_t kind;  ///< Position in token_switch_keys.
  bool value;
};

class SpecialTokensPlanner {
 public:
  SpecialTokensPlanner(const FolderFacts& facts, const FolderVocabulary& vocabulary)
      : facts_(facts), vocabulary_(vocabulary) {}

  SpecialTokensPlan plan() {
    read_keys();
    choose_named();
    choose_frame();
    write();
    return std::move(plan_);
  }

 private:
  void read_keys() {
    for (const KeyValue& entry : facts_.model.metadata()) {
      for (std::size_t kind = 0; kind < token_id_names.size(); ++kind) {
        if (entry.key != token_id_key(token_id_names[kind].second)) continue;
        const auto id = entry.value.get<std::uint32_t>();
        if (id && !is_written_by_rule(kind, *id)) ids_.push_back({kind, *id});
      }
      for (std::size_t kind = 0; kind < token_switch_keys.size(); ++kind) {
        if (entry.key != token_switch_keys[kind].second) continue;
        if (const auto value = entry.value.get<bool>()) switches_.push_back({kind, *value});
      }
    }
  }

  /// Ids that steps of the tokenizer know; see tokenizer_families.cpp of the import. Files of GLM
  /// tell no unknown token: its key comes after that of the end of a turn, which they cannot hold.
  bool is_written_by_rule(std::size_t kind, std::uint32_t id) const {
    const bool has_turn = find_row(ids_, &NumberedToken::kind, std::size_t{eot}) != nullptr;
    if (kind == unk && has_turn && has_tokenizer_step(facts_.architecture, "glm")) return true;
    if (kind != eot) return false;
    const Value* const size = find_architecture_key(facts_.model, suffixes::vocab_size);
    const bool is_code_llama = has_tokenizer_step(facts_.architecture, "llama") &&
                               size != nullptr && size->get<std::uint64_t>().value_or(0) == 32016;
    return (is_code_llama && id == 32010) ||
           (has_tokenizer_step(facts_.architecture, "gemma_fim") && id == 107);
  }

  /// Whether tokenizer_config.json can name the token by its text.
  bool can_be_named(std::uint32_t id) const {
    if (id >= vocabulary_.tokens.size()) return false;
    const auto found = vocabulary_.listed_by_text.find(vocabulary_.tokens[id].text);
    return found != vocabulary_.listed_by_text.end() && found->second == id;
  }

  /// The import takes named tokens first, in the order of their kinds, and then those of which
  /// config.json has the id.
  void choose_named() {
    while (named_count_ < ids_.size() && can_be_named(ids_[named_count_].id) &&
           (named_count_ == 0 || ids_[named_count_ - 1].kind < ids_[named_count_].kind)) {
      ++named_count_;
    }
  }

  const NumberedToken* find_named(std::size_t kind) const {
    const auto named = std::span(ids_).first(named_count_);
    return find_row(named, &NumberedToken::kind, kind);
  }

  std::string_view text_of(std::uint32_t id) const { return vocabulary_.tokens[id].text; }

  /// The switches that a frame sets come first, then those that tokenizer_config.json states, both
  /// in the order of the kinds. A frame agrees with its switches if that leads to this order.
  void choose_frame() {
    for (const bool is_true : {true, false}) {
      for (std::size_t count = switches_.size(); count > 0; --count) {
        if (!may_frame(count, is_true) || !ascends(count, switches_.size())) continue;
        framed_count_ = count;
        return set_frame();
      }
    }
  }

  bool ascends(std::size_t begin, std::size_t end) const {
    return std::is_sorted(switches_.begin() + static_cast<std::ptrdiff_t>(begin),
                          switches_.begin() + static_cast<std::ptrdiff_t>(end),
                          [](const Switch& a, const Switch& b) { return a.kind < b.kind; });
  }

  bool may_frame(std::size_t count, bool is_true) const {
    bool has_first = false;
    for (std::size_t i = 0; i < count; ++i) {
      const Switch& one = switches_[i];
      if (one.kind == switch_sep) {
        if (!has_first || one.value || !first_separates_nothing()) return false;
        continue;
      }
      if (find_named(one.kind) == nullptr || (is_true && !one.value)) return false;
      has_first = has_first || one.kind == bos;
    }
    return ascends(0, count);
  }

  /// Two texts with the first token between them count as separated if it is a separator, too.
  bool first_separates_nothing() const {
    const NumberedToken* const first = find_named(bos);
    for (const std::size_t kind : {eos, sep}) {
      const NumberedToken* const other = find_named(kind);
      if (other != nullptr && text_of(other->id) == text_of(first->id)) return false;
    }
    return true;
  }

  void set_frame() {
    for (std::size_t i = 0; i < framed_count_; ++i) {
      const std::size_t kind = switches_[i].kind;
      if (kind == switch_sep) {
        plan_.frame.separates_pairs = true;
      } else {
        (kind == bos ? plan_.frame.first : plan_.frame.last) = find_named(kind)->id;
      }
    }
  }

  void write() {
    // If the last token of the frame is not the named one, the import takes the named one for the
    // end of a turn.
    const NumberedToken* const turn = find_named(eot);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const auto& [kind, id] = ids_[i];
      if (kind == eot && has_tokenizer_step(facts_.architecture, "hunyuan")) plan_.first_end = id;
      if (kind >= eot) continue;
      const std::string name(token_id_names[kind].first);
      if (i < named_count_) {
        const bool is_swapped = kind == eos && turn != nullptr && plan_.frame.last;
        plan_.named[name + "_token"] = std::string(text_of(is_swapped ? turn->id : id));
      }
      plan_.model_ids[name + "_token_id"] = id;
    }
    for (const Switch& one : switches_) {
      plan_.named["add_" + std::string(token_switch_keys[one.kind].first) + "_token"] = one.value;
    }
  }

  const FolderFacts& facts_;
  const FolderVocabulary& vocabulary_;
  std::vector<NumberedToken> ids_;  // ids in the order of their keys
  std::size_t named_count_ = 0;     // number of named ids, the first of ids_
  std::vector<Switch> switches_;    // switches in the order of their keys
  std::size_t framed_count_ = 0;    // number of switches of the frame, the first of switches_
  SpecialTokensPlan plan_;
};

}  // namespace

SpecialTokensPlan plan_special_tokens(const FolderFacts& facts,
                                      const FolderVocabulary& vocabulary) {
  return SpecialTokensPlanner(facts, vocabulary).plan();
}

}  // namespace ingot::huggingface

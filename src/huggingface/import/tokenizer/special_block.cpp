// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/special_block.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/token_kinds.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::string_view lowercase_key = "tokenizer.ggml.normalizer.lowercase";
constexpr std::string_view strip_accents_key = "tokenizer.ggml.normalizer.strip_accents";

template <class Pairs>
auto find_kind(Pairs& pairs, std::string_view kind) {
  return std::ranges::find_if(pairs, [&](const auto& pair) { return pair.first == kind; });
}

/// A special token as tokenizer_config.json names it, or as a rule has replaced it.
struct TokenName {
  std::string text;        // its content, if it is an object
  bool is_object = false;  // equal to no text, as the reference compares them

  [[nodiscard]] bool is_set() const { return is_object || !text.empty(); }
  [[nodiscard]] bool is(std::string_view other) const { return !is_object && text == other; }
};

std::vector<JsonView> elements_of(JsonView value) {
  std::vector<JsonView> list;
  for (const JsonView element : value.elements()) list.push_back(element);
  return list;
}

/// The steps of a sequence, which is the member `list`; without it, the one step that it is.
std::vector<JsonView> steps_of(JsonView step, std::string_view list) {
  return step[list].exists() ? elements_of(step[list]) : std::vector<JsonView>{step};
}

std::string_view special_in(JsonView item) { return item["SpecialToken"]["id"].text(); }
std::string_view sequence_in(JsonView item) { return item["Sequence"]["id"].text(); }

}  // namespace

std::vector<std::string> usual_token_kinds() {
  return {"bos", "eos", "unk", "sep", "pad", "cls", "mask"};
}

/// Reads one block. The steps have the order and the rules of the reference converter, since the
/// order decides on the order of keys.
class SpecialBlock::Reader {
 public:
  Reader(const TokenizerFiles& files, SpecialBlockOptions options, std::vector<Error>& remarks)
      : files_(files), options_(std::move(options)), remarks_(remarks) {}

  [[nodiscard]] Result<SpecialBlock> read() {
    if (options_.has_merges) {
      INGOT_TRY(block_.merges_, read_merges(files_));
      if (block_.merges_.empty() && !options_.as_reference) add_empty_merges();
    }
    if (files_.tokenizer.root().exists()) {
      read_normalizer();
      read_post_processors();
    }
    if (has_config()) INGOT_TRY_VOID(read_tokenizer_config());
    read_model_config();
    return std::move(block_);
  }

 private:
  /// The engine refuses such a vocabulary without the key; an empty list makes every letter a
  /// token.
  void add_empty_merges() {
    block_.has_empty_merges_ = true;
    remarks_.push_back({Errc::engine_may_misread, Error::no_offset,
                        std::string(keys::tokenizer_ggml_merges),
                        "the tokenizer has no merges; an empty list is written, without which "
                        "llama.cpp does not load the model"});
  }

  [[nodiscard]] bool has_config() const { return files_.tokenizer_config.root().size() != 0; }

  [[nodiscard]] TokenName name_of(std::string_view kind) const {
    const auto replaced = names_.find(kind);
    if (replaced != names_.end()) return replaced->second;
    const JsonView token = files_.tokenizer_config.root()[std::string(kind) + "_token"];
    return {std::string(content_of(token)), token.is_object() && token.size() != 0};
  }

  void rename(std::string_view kind, const TokenName& name) {
    if (has_config()) names_.insert_or_assign(std::string(kind), name);
  }

  void set_switch(std::string_view kind, bool value) {
    const auto found = find_kind(block_.switches_, kind);
    if (found != block_.switches_.end()) {
      found->second = value;
    } else {
      block_.switches_.emplace_back(kind, value);
    }
  }

  void offer(std::string_view kind, std::int64_t id, std::string_view file) {
    const bool is_in_range =
        id >= 0 && id <= std::numeric_limits<std::uint32_t>::max() &&
        (!options_.token_count || static_cast<std::uint64_t>(id) < *options_.token_count);
    if (is_in_range) {
      block_.offer(kind, id);
    } else if (!block_.has(kind)) {
      remarks_.push_back({Errc::left_out, Error::no_offset, files_.folder->locate(file),
                          "the " + std::string(kind) + " token has the id " + std::to_string(id) +
                              ", which no token has"});
    }
  }

  void read_normalizer() {
    for (const JsonView step : steps_of(files_.tokenizer.root()["normalizer"], "normalizers")) {
      const std::string_view type = step["type"].text();
      if (type == "Lowercase") block_.lowercase_ = true;
      if (type == "StripAccents") block_.strip_accents_ = true;
      if (type == "BertNormalizer") {
        if (const auto value = step["lowercase"].boolean()) block_.lowercase_ = value;
        if (const auto value = step["strip_accents"].boolean()) block_.strip_accents_ = value;
      }
    }
  }

  void read_post_processors() {
    bos_ = name_of("bos");
    eos_ = name_of("eos");
    cls_ = name_of("cls");
    sep_ = name_of("sep");
    if (!bos_.is_set() && cls_.is_set()) rename("bos", bos_ = cls_);
    if (!eos_.is_set() && sep_.is_set()) rename("eos", eos_ = sep_);
    for (const JsonView processor :
         steps_of(files_.tokenizer.root()["post_processor"], "processors")) {
      const std::string_view type = processor["type"].text();
      if (type == "RobertaProcessing") read_roberta(processor);
      if (type == "TemplateProcessing") read_template(processor);
    }
  }

  void read_roberta(JsonView processor) {
    for (const char* kind : {"bos", "eos", "sep"}) set_switch(kind, true);
    const auto settle = [&](const char* kind, TokenName& name, const TokenName& otherwise) {
      if (name.is_set() || !has_config()) return;
      const JsonView pair = processor[kind];
      name = pair.is_array() ? TokenName{std::string(pair.at(0).text())} : otherwise;
      rename(kind, name);
    };
    settle("cls", cls_, bos_);
    settle("sep", sep_, eos_);
  }

  void read_template(JsonView processor) {
    std::string_view first;
    std::string_view last;
    const std::vector<JsonView> single = elements_of(processor["single"]);
    if (single.size() > 1) {
      first = special_in(single.front());
      if (!first.empty()) read_first(first);
      last = special_in(single.back());
      if (!last.empty()) read_last(last);
    }
    read_pair(elements_of(processor["pair"]), first, last);
  }

  void read_first(std::string_view first) {
    const TokenName name{std::string(first)};
    if (!bos_.is(first) && !cls_.is(first)) {
      if (!bos_.is_set()) rename("bos", bos_ = name);
      if (!cls_.is_set()) rename("cls", cls_ = name);
    }
    set_switch("bos", bos_.is(first) || cls_.is(first));
  }

  void read_last(std::string_view last) {
    const TokenName name{std::string(last)};
    if (!has_config()) {
      eos_ = name;
    } else if (!eos_.is(last)) {
      for (const char* kind : {"eot", "eom"}) {
        if (std::ranges::find(options_.kinds, kind) != options_.kinds.end()) {
          continue;
        }
        options_.kinds.emplace_back(kind);
        rename(kind, eos_);
        break;
      }
      rename("eos", eos_ = name);
    }
    set_switch("eos", true);
  }

  void read_pair(const std::vector<JsonView>& pair, std::string_view first, std::string_view last) {
    std::span<const JsonView> items(pair);
    const auto begins = [&] { return !items.empty() && special_in(items.front()) == first; };
    const auto ends = [&] { return !items.empty() && special_in(items.back()) == last; };
    if (!first.empty() && begins()) items = items.subspan(1);
    if (!last.empty() && ends()) items = items.first(items.size() - 1);
    // The items are A, separators, B.
    if (items.size() < 3 || sequence_in(items.front()) != "A" || sequence_in(items.back()) != "B") {
      return;
    }
    items = items.subspan(1, items.size() - 2);
    const auto separates = [&](JsonView item) {
      const std::string_view text = special_in(item);
      return !text.empty() && (sep_.is(text) || eos_.is(text));
    };
    const bool adds_sep = (separates(items.front()) && last.empty()) ||
                          (items.size() == 2 && separates(items.back()));
    set_switch("sep", adds_sep);
    if (adds_sep && !sep_.is_set()) rename("sep", eos_);
  }

  Result<void> read_tokenizer_config() {
    INGOT_TRY(block_.templates_, ChatTemplates::read(files_));
    INGOT_TRY(const auto added, files_.tokens_of_tokenizer());
    for (const std::string& kind : options_.kinds) {
      const auto wanted = files_.tokenizer_config.root()["add_" + kind + "_token"].boolean();
      if (wanted) set_switch(kind, *wanted);
      const std::string text = name_of(kind).text;
      const auto found =
          std::ranges::find_if(added, [&](const AddedToken& token) { return token.text == text; });
      if (found != added.end()) offer(kind, found->id, file_names::tokenizer);
    }
    return {};
  }

  void read_model_config() {
    const JsonView root = files_.model_config.root();
    for (const std::string& kind : options_.kinds) {
      const std::string name = kind + "_token_id";
      JsonView id = root[name];
      if (!id.exists() || id.is_null()) id = root["text_config"][name];
      if (id.integer()) offer(kind, *id.integer(), file_names::model_config);
    }
  }

  const TokenizerFiles& files_;
  SpecialBlockOptions options_;
  std::vector<Error>& remarks_;
  SpecialBlock block_;
  std::map<std::string, TokenName, std::less<>> names_;  // names that the rules have replaced
  TokenName bos_, eos_, cls_, sep_;                      // the names that the rules use
};

Result<SpecialBlock> SpecialBlock::read(const TokenizerFiles& files, SpecialBlockOptions options,
                                        std::vector<Error>& remarks) {
  return Reader(files, std::move(options), remarks).read();
}

bool SpecialBlock::has(std::string_view kind) const noexcept {
  return find_kind(ids_, kind) != ids_.end();
}

void SpecialBlock::offer(std::string_view kind, std::int64_t id) {
  if (!has(kind)) ids_.emplace_back(kind, static_cast<std::uint32_t>(id));
}

void SpecialBlock::replace(std::string_view kind, std::int64_t id) {
  const auto found = find_kind(ids_, kind);
  if (found == ids_.end()) return offer(kind, id);
  found->second = static_cast<std::uint32_t>(id);
}

void SpecialBlock::write(KeyPlan& keys) const {
  keys.from("the tokenizer's files");
  if (!merges_.empty() || has_empty_merges_) {
    keys.set_array(keys::tokenizer_ggml_merges, std::span<const std::string>(merges_));
  }
  for (const auto& [kind, id] : ids_) {
    const auto found = find_kind(token_id_names, kind);
    if (found != token_id_names.end()) keys.set(token_id_key(found->second), id);
  }
  for (const auto& [kind, value] : switches_) {
    const auto found = find_kind(token_switch_keys, kind);
    if (found != token_switch_keys.end()) keys.set_bool(found->second, value);
  }
  templates_.write(keys);
  keys.from(std::string(file_names::tokenizer));
  if (lowercase_) keys.set_bool(lowercase_key, *lowercase_);
  if (strip_accents_) keys.set_bool(strip_accents_key, *strip_accents_);
}

}  // namespace ingot::huggingface

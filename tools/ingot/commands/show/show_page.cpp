// SPDX-License-Identifier: MIT
#include "commands/show/show_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/metadata_keys.hpp>
#include <ingot/summary.hpp>
#include <ingot/text.hpp>
#include <string_view>
#include <vector>

#include "cli/table.hpp"
#include "cli/wrap.hpp"
#include "commands/show/projector_facts.hpp"
#include "text/chat_facts.hpp"
#include "text/memory_facts.hpp"
#include "text/model_facts.hpp"
#include "text/shown_keys.hpp"
#include "text/value_text.hpp"
#include "text/vocabulary_facts.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr std::size_t label_columns = 11;
constexpr std::size_t widest_page = 80;
using Items = std::vector<std::string>;

/// "32", or "8 to 64" where layers differ.
std::string layer_text(const LayerNumber& number) {
  if (number.minimum == number.maximum) return fmt::format("{}", number.minimum);
  return fmt::format("{} to {}", number.minimum, number.maximum);
}

std::string file_name(const std::string& path) {
  if (path == "-") return "standard input";
  return path.substr(path.rfind('/') + 1);
}

/// The page while it is written: labels at the left, facts beside them.
class Page {
 public:
  Page(Console& console, const std::string& file, const Model& model, bool shows_all_keys)
      : console_(console),
        file_(file),
        model_(model),
        summary_(summarize(model)),
        width_(std::min(console.width(), widest_page)),
        shows_all_keys_(shows_all_keys) {}

  void print() {
    print_title();
    print_shape();
    print_types();
    print_memory();
    print_tokenizer();
    print_origin();
    print_file();
  }

 private:
  /// Facts beside a label, in as many lines as they need; nothing without facts.
  void line(std::string_view label, const Items& items) {
    if (items.empty()) return;
    std::string text;
    std::size_t used = label_columns;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
      const std::size_t columns = display_columns(item);
      if (i > 0 && used + 1 + columns > width_) {
        text += "\n" + std::string(label_columns, ' ');
        used = label_columns;
      } else if (i > 0) {
        text += ' ';
        ++used;
      }
      text += item;
      used += columns;
    }
    write_line(label, text);
  }

  /// Prints one text of the file beside a label.
  void text_line(std::string_view label, const std::optional<std::string_view>& text) {
    if (text) write_line(label, escape_shortened(*text, console_.room(label_columns)));
  }

  /// A text of the file that is one of several facts.
  [[nodiscard]] std::string shown(std::string_view text, std::size_t columns) const {
    return escape_shortened(text, console_.part(columns));
  }

  void write_line(std::string_view label, std::string_view text) {
    start_line();
    console_.out().print("{}{}\n", console_.paint(Style::faint, padded(label, label_columns)),
                         text);
  }

  /// Puts a blank line before the next output, if there is any.
  void start_group() { is_group_start_ = true; }

  void start_line() {
    if (is_group_start_) console_.out().put('\n');
    is_group_start_ = false;
  }

  void print_title() {
    const std::string title =
        summary_.name && !summary_.name->empty() ? std::string(*summary_.name) : file_name(file_);
    console_.print_line(Style::strong, escape_middle(title, console_.room(0)));
    Items facts;
    if (summary_.architecture) facts.push_back(shown(*summary_.architecture, 32));
    const auto kind = find_text(model_, keys::general_type);
    if (kind && *kind != "model") facts.push_back(shown(*kind, 16));
    if (summary_.parameter_count > 0) {
      facts.push_back(format_count(summary_.parameter_count) + " parameters");
    } else if (summary_.token_count && model_.tensors().empty()) {
      facts.emplace_back("vocabulary only");
    }
    const ForeignFile* foreign = console_.foreign();
    facts.push_back(
        format_bytes(foreign != nullptr ? foreign->file_bytes : total_file_bytes(model_)));
    if (summary_.bits_per_weight) {
      facts.push_back(fmt::format("{:.2f} bits per weight", *summary_.bits_per_weight));
    }
    const std::string_view separator = console_.is_unicode() ? " \u00b7 " : ", ";
    console_.print_prose(joined(facts, separator), Style::plain, 0);
    start_group();
  }

  void print_shape() {
    Items shape;
    if (summary_.block_count) shape.push_back(plural(*summary_.block_count, "layer", "layers"));
    if (summary_.embedding_length) {
      shape.push_back(fmt::format("width {}", *summary_.embedding_length));
    }
    if (summary_.feed_forward_length) {
      shape.push_back("feed-forward " + layer_text(*summary_.feed_forward_length));
    }
    if (summary_.expert_count.value_or(0) > 0) {
      std::string experts = plural(*summary_.expert_count, "expert", "experts");
      if (summary_.expert_used_count)
        experts += fmt::format(" ({} used)", *summary_.expert_used_count);
      shape.push_back(experts);
    }
    line("shape", shape);
    line("attention", attention_items());
    line("context", context_items());
    for (const auto& [label, facts] : projector_facts(summary_)) line(label, facts);
    start_group();
  }

  [[nodiscard]] Items attention_items() const {
    if (!summary_.head_count || summary_.head_count->maximum == 0) return {};
    Items items = {layer_text(*summary_.head_count) +
                   (summary_.head_count->maximum == 1 ? " head" : " heads")};
    if (summary_.head_count_kv) {
      items.push_back(layer_text(*summary_.head_count_kv) + " key-value" +
                      (summary_.head_count_kv->maximum == 1 ? " head" : " heads"));
    }
    if (const auto size = head_size(model_, summary_))
      items.push_back(fmt::format("head size {}", *size));
    if (const auto window = architecture_number(model_, suffixes::attention_sliding_window);
        window.value_or(0) > 0) {
      items.push_back("sliding window " + format_digits(*window));
    }
    return items;
  }

  [[nodiscard]] Items context_items() const {
    Items items;
    if (summary_.context_length) {
      items.push_back(plural(*summary_.context_length, "token", "tokens"));
    }
    if (const auto base = architecture_float(model_, suffixes::rope_freq_base)) {
      items.push_back("rope base " + *base);
    }
    const Value* scaling = find_architecture_key(model_, suffixes::rope_scaling_type);
    if (scaling != nullptr && scaling->type() == ValueType::string) {
      const std::string_view kind = scaling->get<std::string_view>().value_or("");
      const auto factor = architecture_float(model_, suffixes::rope_scaling_factor);
      if (kind != "none") {
        items.push_back("rope scaling " + shown(kind, 16) + (factor ? " x " + *factor : ""));
      }
    }
    return items;
  }

  void print_types() {
    std::size_t type_columns = 0;
    const std::size_t rows = std::min(summary_.types.size(), console_.part(12));
    for (std::size_t i = 0; i < rows; ++i) {
      type_columns = std::max(type_columns, type_text(summary_.types[i].type).size());
    }
    for (std::size_t i = 0; i < rows; ++i) {
      write_line(i == 0 ? "types" : "", type_row(summary_.types[i], type_columns));
    }
    if (rows < summary_.types.size()) {
      write_line("", plural(summary_.types.size() - rows, "more type", "more types"));
    }
    if (const auto grid = usual_grid(model_)) write_line("weights", "on a " + grid_text(*grid));
    if (summary_.file_type && rows > 0) write_line("label", file_type_text(*summary_.file_type));
    start_group();
  }

  [[nodiscard]] std::string type_row(const TypeShare& share, std::size_t type_columns) const {
    const double part = summary_.tensor_bytes == 0 ? 0.0
                                                   : static_cast<double>(share.size_bytes) /
                                                         static_cast<double>(summary_.tensor_bytes);
    const std::string facts = fmt::format("  {:>6}  {:>9}  {}", fmt::format("{:.1f}%", part * 100),
                                          format_bytes(share.size_bytes),
                                          plural(share.tensor_count, "tensor", "tensors"));
    const std::size_t used = label_columns + type_columns + 34;
    const std::size_t cells = width_ > used + 8 ? std::min<std::size_t>(width_ - used, 28) : 8;
    return padded(type_text(share.type), type_columns) + "  " +
           console_.paint(Style::accent, bar(part, cells, console_.is_unicode())) + facts;
  }

  /// The label of the file, which may differ from its content.
  static std::string file_type_text(std::uint64_t file_type) {
    constexpr std::uint64_t guessed = 1024;
    const std::string_view name = file_type_name(file_type);
    const std::string_view remark = file_type >= guessed && !name.empty() ? ", guessed" : "";
    return fmt::format("{} (general.file_type {}{})", name.empty() ? "unknown" : name, file_type,
                       remark);
  }

  void print_memory() {
    const std::optional<MemoryFacts> facts = memory_facts(model_);
    if (!facts) return;
    Items items = {format_bytes(facts->weights_bytes) + " weights"};
    if (facts->cache_growth_bytes > 0) {
      items.push_back(format_bytes(facts->cache_growth_bytes) + " per 1k tokens");
    }
    items.push_back(facts->smallest_card
                        ? fmt::format("{} card for {} tokens", card_text(*facts->smallest_card),
                                      format_digits(facts->context))
                        : "no common card");
    if (facts->own_context > facts->context) {
      items.push_back(fmt::format("{} for its own {}",
                                  facts->card_for_own ? card_text(*facts->card_for_own) : "none",
                                  format_digits(facts->own_context)));
    }
    line("memory", items);
    start_group();
  }

  void print_tokenizer() {
    Items items;
    if (summary_.tokenizer_model) items.push_back(shown(*summary_.tokenizer_model, 24));
    const std::string pre = pre_tokenizer_text(summary_.tokenizer_model.value_or(""),
                                               summary_.tokenizer_pre.value_or(""));
    if (!pre.empty()) items.push_back(pre);
    if (summary_.token_count) items.push_back(plural(*summary_.token_count, "token", "tokens"));
    if (summary_.merge_count) items.push_back(plural(*summary_.merge_count, "merge", "merges"));
    if (items.empty() && summary_.vocab_size) {
      items.push_back(plural(*summary_.vocab_size, "token", "tokens"));
    }
    line("tokenizer", items);
    line("", special_token_items());
    if (const Value* chat_template = model_.find(keys::tokenizer_chat_template)) {
      print_template(chat_template->bytes().size());
    } else if (summary_.token_count) {
      line("template", {"none"});
    }
    start_group();
  }

  /// Prints the prompt format and the features of the chat template.
  void print_template(std::size_t size_bytes) {
    const std::optional<ChatFacts> facts = chat_facts(model_);
    const bool is_known = facts && !facts->format.empty();
    line("template", {is_known ? std::string(facts->format) + " format" : "unknown format",
                      plural(size_bytes, "byte", "bytes")});
    if (!facts) return;
    if (!facts->problem.empty()) return line("", {facts->problem + "; see `ingot check`"});
    line("", Items(facts->features.begin(), facts->features.end()));
    if (facts->reached_limit) line("", {"takes too long to be tried in full; see `ingot check`"});
  }

  [[nodiscard]] Items special_token_items() const {
    const std::size_t most = console_.part(16);
    Items items;
    for (const SpecialToken& token : special_tokens(model_)) {
      if (items.size() == most) {
        items.emplace_back("...");
        break;
      }
      // A vocabulary that was not read has no say.
      std::string text =
          summary_.token_count || model_.is_verified() ? " (not in the vocabulary)" : "";
      if (token.text) text = " \"" + shown(*token.text, 32) + "\"";
      items.push_back(fmt::format("{} {}{}", shown(role_label(token.role), 16), token.id, text));
    }
    return items;
  }

  void print_origin() {
    const auto first_of = [&](std::initializer_list<std::string_view> keys) {
      std::optional<std::string_view> text;
      for (const std::string_view key : keys) {
        if (!text) text = find_text(model_, key);
      }
      return text;
    };
    text_line("author", first_of({keys::general_author, keys::general_organization}));
    text_line("base", first_of({"general.base_model.0.name", "general.base_model.0.repo_url"}));
    text_line("quantized", first_of({keys::general_quantized_by}));
    text_line("license", first_of({keys::general_license, keys::general_license_name}));
    text_line("source", first_of({keys::general_source_url, keys::general_source_repo_url,
                                  keys::general_source_huggingface_repository, keys::general_url,
                                  keys::general_repo_url}));
    start_group();
  }

  /// The name of the file; of a reference, which of the repository's files and commits it means.
  void print_file_name() {
    const std::optional<RemoteFileName> remote = console_.remote().opened_file(file_);
    const std::string name = remote ? remote->file_name : file_name(file_);
    write_line("file", escape_middle(name, console_.room(label_columns)));
    if (remote && !remote->commit.empty()) line("", {"commit " + escape(remote->commit)});
  }

  /// A file of another format: its own facts.
  void print_foreign(const ForeignFile& foreign) {
    Items items = {std::string(foreign.format)};
    for (const FileFact& fact : foreign.facts) {
      items.push_back(fact.name + " " + escape_shortened(fact.value, width_));
    }
    items.push_back(plural(model_.tensors().size(), "tensor", "tensors"));
    items.push_back(plural(foreign.file_bytes, "byte", "bytes"));
    line("", items);
  }

  void print_file() {
    if (file_ != "-") print_file_name();
    if (console_.foreign() != nullptr) return print_foreign(*console_.foreign());
    const ModelFile& first = model_.files().front();
    if (const Import* import = console_.imported()) {
      line("", {"a folder, as what `ingot convert` makes of it:", escape(import->file_name())});
    }
    line(file_ == "-" ? "file" : "",
         {fmt::format("GGUF version {}", first.version),
          first.byte_order == Endian::big ? "big-endian" : "little-endian",
          fmt::format("alignment {}", first.alignment),
          plural(shown_key_count(model_, shows_all_keys_), "key", "keys"),
          plural(model_.tensors().size(), "tensor", "tensors")});
    Items sizes;
    if (!model_.is_split() && !model_.tensors().empty()) {
      sizes.push_back("data from byte " + format_digits(first.data_offset));
    }
    sizes.push_back(plural(total_file_bytes(model_), "byte", "bytes"));
    if (const std::uint64_t trailing = trailing_bytes(model_); trailing > 0) {
      sizes.push_back(format_digits(trailing) + " of them after the last tensor");
    }
    line("", sizes);
    print_shards();
  }

  void print_shards() {
    if (!model_.is_split()) return;
    constexpr std::size_t max_named = 4;
    const std::vector<ShardFact> shards = shard_facts(model_);
    Items missing;
    for (const ShardFact& shard : shards) {
      if (shard.is_present) continue;
      missing.push_back(shard.path ? escape_middle(file_name(*shard.path), console_.room(20))
                                   : fmt::format("number {}", shard.index + 1));
    }
    write_line("shards",
               fmt::format("{} of {} present", shards.size() - missing.size(), shards.size()));
    if (missing.empty()) return;
    if (missing.size() > max_named) {
      missing[max_named - 1] = "and " + format_digits(missing.size() - max_named + 1) + " more";
      missing.resize(max_named);
    }
    for (std::size_t i = 0; i < missing.size(); ++i) {
      write_line("", (i == 0 ? "missing: " : "         ") + missing[i]);
    }
  }

  Console& console_;
  const std::string& file_;
  const Model& model_;
  Summary summary_;
  std::size_t width_;
  bool shows_all_keys_;
  bool is_group_start_ = false;
};

}  // namespace

void print_show_page(Console& console, const std::string& file, const Model& model,
                     bool shows_all_keys) {
  Page(console, file, model, shows_all_keys).print();
}

}  // namespace ingot::cli

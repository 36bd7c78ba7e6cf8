// SPDX-License-Identifier: MIT
#include "huggingface/import/check/folder_rules.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/messages.hpp"
#include "base/strings.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "huggingface/import/tokenizer/token_list.hpp"
#include "huggingface/rules/architecture_rules.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/text.hpp"

namespace ingot::huggingface::rules {
namespace {

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return "[" + joined(shape) + "]";
}

/// The number of shards that a name such as model-00001-of-00003.safetensors counts; 0 without.
std::uint32_t shards_in_name(std::string_view name) {
  constexpr std::string_view ending = ".safetensors";
  const std::size_t of = name.rfind("-of-");
  if (of == std::string_view::npos || !name.ends_with(ending)) return 0;
  const std::string_view digits =
      name.substr(of + 4, name.size() - ending.size() - std::min(name.size(), of + 4));
  return parse_number<std::uint32_t>(digits).value_or(0);
}

void report_missing_weights(FolderInspection& inspection) {
  const ModelFolder& folder = inspection.folder();
  std::uint32_t counted = 0;
  std::uint32_t present = 0;
  for (const std::string& name : inspection.weight_files()) {
    if (!folder.has(name)) {
      inspection.report(name, quoted_name(name) + " is missing; " +
                                  std::string(inspection.folder().index_file()) + " names it");
      continue;
    }
    counted = std::max(counted, shards_in_name(name));
    ++present;
  }
  if (folder.has(folder.index_file())) return;
  if (inspection.weight_files().empty()) {
    inspection.report({}, "no weights: model.safetensors, or shards and their index, are missing");
  } else if (counted > 1) {
    inspection.report({}, std::string(folder.index_file()) + " is missing; there are " +
                              std::to_string(present) + " of " + std::to_string(counted) +
                              " shards");
  }
}

}  // namespace

void folder_pickle(FolderInspection& inspection) {
  for (const std::string& name : inspection.folder().files()) {
    const bool is_weights = name.ends_with(".bin") &&
                            (name.starts_with("pytorch_model") ||
                             name.starts_with("adapter_model") || name == "training_args.bin");
    if (!is_weights && !ends_with_one(name, {".pt", ".pth", ".pkl", ".pickle", ".ckpt"})) continue;
    inspection.report(name, quoted_name(name) + " is a pickle by its name");
  }
}

void folder_code(FolderInspection& inspection) {
  for (const std::string& name : inspection.folder().files()) {
    if (name.ends_with(".py")) inspection.report(name, quoted_name(name) + " is a program");
  }
  if (inspection.config() && inspection.config()->find("auto_map") != nullptr) {
    inspection.report("config.json", "auto_map asks loaders to run a program");
  }
}

void folder_link(FolderInspection& inspection) {
  for (const auto& [name, problem] : inspection.links_out()) {
    inspection.report(name, quoted_name(name) + ": " + escape(problem));
  }
}

void folder_file_missing(FolderInspection& inspection) {
  const ModelFolder& folder = inspection.folder();
  if (!folder.has(folder.config_file())) inspection.report({}, "config.json is missing");
  report_missing_weights(inspection);
  const auto has_one = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(names, [&](std::string_view name) { return folder.has(name); });
  };
  using namespace file_names;
  if (!has_one({tokenizer, sentencepiece, vocabulary, vocabulary_lines, tekken})) {
    inspection.report({},
                      "no tokenizer: tokenizer.json, tokenizer.model, tekken.json, or vocab.json "
                      "and merges.txt are missing");
  } else if (folder.has(vocabulary) && !has_one({tokenizer, sentencepiece, merges})) {
    inspection.report({}, "merges.txt is missing; vocab.json is of no use without");
  }
}

void folder_index_wrong(FolderInspection& inspection) {
  if (inspection.index_error()) {
    inspection.report(inspection.folder().index_file(), inspection.index_error()->message());
    return;
  }
  const ModelFolder& folder = inspection.folder();
  const auto& tensors = inspection.tensors();
  const std::vector<std::string>& named = inspection.weight_files();
  for (const std::string& name : folder.files()) {
    const bool is_named = std::ranges::find(named, name) != named.end();
    if (is_named || !folder.is_weight_file(name)) continue;
    inspection.report(name, quoted_name(name) + " is not named by the index; some loaders take it");
  }
  std::string_view last;
  for (const auto& [name, listed] : tensors) {
    if (name == last) continue;
    last = name;
    if (tensors.count(name) > 1) {
      inspection.report(listed.file, "it is in several files", name);
    }
    if (inspection.index().empty()) continue;
    const auto wanted = inspection.index().find(name);
    if (wanted == inspection.index().end()) {
      inspection.report(listed.file, "it is not in the index", name);
    } else if (wanted->second != listed.file && tensors.count(name) == 1) {
      inspection.report(
          listed.file,
          "it is in this file, not in " + quoted_name(wanted->second) + " as the index has it",
          name);
    }
  }
  for (const auto& [name, file] : inspection.index()) {
    if (!folder.has(file) || tensors.count(name) != 0) continue;
    inspection.report(folder.index_file(), "it is not in " + quoted_name(file), name);
  }
}

namespace {

/// Numbers of a planned model, by its keys.
class PlannedNumbers {
 public:
  explicit PlannedNumbers(const Import& import) : entries_(import.metadata()) {
    for (const KeyValue& entry : entries_) {
      if (entry.key != keys::general_architecture) continue;
      prefix_ = std::string(entry.value.get<std::string_view>().value_or("")) + ".";
    }
  }

  /// The value of a key; nothing if it is missing or a list.
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view suffix) const {
    const std::string key = prefix_ + std::string(suffix);
    for (const KeyValue& entry : entries_) {
      if (entry.key != key) continue;
      const auto number = entry.value.get<std::uint64_t>();
      return number ? std::optional(*number) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  std::vector<KeyValue> entries_;
  std::string prefix_;
};

/// A dimension that a number of config.json decides.
struct ExpectedSize {
  std::string_view ending;  ///< The ending of the tensor's name.
  std::size_t dimension;    ///< 0: the fastest-varying.
  std::optional<std::uint64_t> size;
  std::string_view meaning;
};

std::vector<ExpectedSize> expected_sizes(const PlannedNumbers& numbers) {
  const auto width = numbers.find(suffixes::embedding_length);
  const auto feed_forward = numbers.find(suffixes::feed_forward_length);
  std::vector<ExpectedSize> sizes = {
      {"token_embd.weight", 0, width, "the width of the model"},
      {"output_norm.weight", 0, width, "the width of the model"},
      {".attn_norm.weight", 0, width, "the width of the model"},
      {".ffn_norm.weight", 0, width, "the width of the model"},
      {".ffn_down.weight", 0, feed_forward, "the width of the feed-forward layers"},
      {".ffn_gate.weight", 1, feed_forward, "the width of the feed-forward layers"},
  };
  const auto heads = numbers.find(suffixes::attention_head_count);
  // If keys are compressed, heads have other sizes.
  if (!heads || *heads == 0 || !width || numbers.find("attention.kv_lora_rank")) return sizes;
  const auto kv_heads = numbers.find(suffixes::attention_head_count_kv).value_or(*heads);
  const auto key = numbers.find(suffixes::attention_key_length).value_or(*width / *heads);
  const auto value = numbers.find(suffixes::attention_value_length).value_or(*width / *heads);
  if (key > *width * 64 || value > *width * 64 || kv_heads > *heads) return sizes;
  sizes.push_back({".attn_q.weight", 1, *heads * key, "heads of queries times their size"});
  sizes.push_back({".attn_k.weight", 1, kv_heads * key, "heads of keys times their size"});
  sizes.push_back({".attn_v.weight", 1, kv_heads * value, "heads of values times their size"});
  sizes.push_back({".attn_output.weight", 0, *heads * value, "heads times the size of values"});
  return sizes;
}

/// The embeddings of tokens, by the names that models have for them; the end of the list if none.
std::multimap<std::string, ListedTensor>::const_iterator find_embeddings(
    const FolderInspection& inspection) {
  const auto& tensors = inspection.tensors();
  for (const TensorKind& kind : RuleTable::builtin().tensor_kinds()) {
    if (kind.kind != "token_embd") continue;
    for (const std::string& from : kind.from) {
      const std::string name = from + ".weight";
      const auto found = std::ranges::find_if(tensors, [&](const auto& tensor) {
        return tensor.first == name || tensor.first.ends_with("." + name);
      });
      if (found != tensors.end()) return found;
    }
  }
  return tensors.end();
}

/// Rows that the import leaves out are none too many.
bool cuts_embeddings(const FolderInspection& inspection) {
  if (inspection.import() == nullptr) return false;
  const auto& tensors = inspection.import()->tensors();
  return std::ranges::any_of(tensors, [](const ImportedTensor& tensor) {
    return tensor.transform.find("cut_rows_to_vocab") != std::string::npos;
  });
}

void check_row_count(FolderInspection& inspection) {
  const auto embeddings = find_embeddings(inspection);
  if (embeddings == inspection.tensors().end() || !inspection.config()) return;
  const auto& [name, listed] = *embeddings;
  const auto stated = inspection.config()->find_count("vocab_size");
  if (!stated || !*stated || listed.shape.empty() || listed.shape[0] == **stated) return;
  if (listed.shape[0] > **stated && cuts_embeddings(inspection)) return;
  inspection.report(listed.file,
                    "it has " + std::to_string(listed.shape[0]) +
                        " rows; config.json states a vocab_size of " + std::to_string(**stated),
                    name);
}

}  // namespace

void folder_shape_wrong(FolderInspection& inspection) {
  check_row_count(inspection);
  if (inspection.import() == nullptr) return;
  const std::vector<ExpectedSize> sizes = expected_sizes(PlannedNumbers(*inspection.import()));
  for (const ImportedTensor& tensor : inspection.import()->tensors()) {
    for (const ExpectedSize& wanted : sizes) {
      if (!wanted.size || !tensor.name.ends_with(wanted.ending)) continue;
      if (tensor.shape.size() <= wanted.dimension ||
          tensor.shape[wanted.dimension] == *wanted.size) {
        continue;
      }
      const std::string& source = tensor.sources.front();
      inspection.report({},
                        "it becomes " + quoted_name(tensor.name) + " of " +
                            shape_text(tensor.shape) + "; config.json makes " +
                            std::string(wanted.meaning) + " " + std::to_string(*wanted.size),
                        source);
    }
  }
}

void folder_vocabulary_size(FolderInspection& inspection) {
  const auto embeddings = find_embeddings(inspection);
  if (embeddings == inspection.tensors().end() || embeddings->second.shape.empty()) return;
  const auto files = TokenizerFiles::read(inspection.folder());
  if (!files) return;
  const auto count = count_token_ids(*files);
  const std::uint64_t rows = embeddings->second.shape[0];
  if (!count || *count <= rows) return;
  inspection.report(embeddings->second.file,
                    "it has " + std::to_string(rows) + " rows; the tokenizer has ids up to " +
                        std::to_string(*count - 1),
                    embeddings->first);
}

void folder_unsupported(FolderInspection& inspection) {
  const std::optional<Error>& refusal = inspection.refusal();
  if (!refusal) return;
  const bool is_known_quantization =
      !inspection.config() || has_known_quantization(*inspection.config());
  if (refusal->code == Errc::architecture_unsupported) {
    inspection.report(
        "config.json",
        "the class " + quoted_name(inspection.config()->model_class()) + " is unknown");
  } else if (!is_known_quantization || refusal->code == Errc::pre_tokenizer_unknown) {
    inspection.report({}, refusal->message());
  }
}

}  // namespace ingot::huggingface::rules

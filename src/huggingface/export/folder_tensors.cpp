// SPDX-License-Identifier: MIT
#include "huggingface/export/folder_tensors.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/export/arranged_return.hpp"
#include "huggingface/export/mxfp4_return.hpp"
#include "huggingface/export/undo_transforms.hpp"
#include "huggingface/import/tensors/tensor_name_map.hpp"
#include "ingot/folder_export.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/summary.hpp"

namespace ingot {
namespace huggingface {
namespace {

constexpr std::string_view layer_mark = "{layer}";

/// The most parts of stacks; no model has as many.
constexpr std::uint64_t max_parts = std::uint64_t{1} << 20;

/// The names of tensors in folders.
class FolderNames {
 public:
  FolderNames(const RuleTable& table, const Architecture& architecture)
      : table_(table), architecture_(architecture) {
    for (const TensorKind& kind : table.tensor_kinds()) {
      const auto& own = architecture.tensors;
      if (std::ranges::find(own, kind.kind) == own.end()) continue;
      kinds_.insert_or_assign(kind.name, kind.kind);
    }
  }

  /// Whether config.json stands for the tensor.
  bool is_extra(std::string_view name) const {
    const auto& extra = architecture_.extra_tensors;
    return std::ranges::find(extra, name, &ExtraTensorRule::tensor) != extra.end();
  }

  /// The name in folders, by the first of some rules that has one; nothing if there is none.
  std::optional<std::string> find(std::string_view gguf_name,
                                  std::span<const FolderRule> rules) const {
    std::string_view ending;
    for (const std::string_view usual : {".weight", ".bias", ".scale"}) {
      if (gguf_name.ends_with(usual)) ending = usual;
    }
    gguf_name.remove_suffix(ending.size());
    const auto layer = parse_layer_name(gguf_name);
    const auto kind =
        kinds_.find(layer ? "blk.{layer}." + std::string(layer->rest) : std::string(gguf_name));
    if (kind == kinds_.end()) return std::nullopt;
    std::string name = name_of_kind(kind->second + std::string(ending), rules);
    if (name.empty() && ending != ".scale") name = name_of_kind(kind->second, rules);
    if (name.empty()) return std::nullopt;
    const bool is_whole = name.ends_with('!');
    if (is_whole) name.pop_back();
    const std::size_t mark = name.find(layer_mark);
    if (mark != name.npos) {
      name.replace(mark, layer_mark.size(), layer ? std::to_string(layer->layer) : "");
    }
    return is_whole ? name : name.append(ending);
  }

 private:
  std::string name_of_kind(const std::string& kind, std::span<const FolderRule> rules) const {
    for (const FolderRule& rule : rules) {
      const auto found = rule.names_by_kind.find(kind);
      if (found != rule.names_by_kind.end()) return found->second;
    }
    const auto found = table_.folder().names_by_kind.find(kind);
    return found == table_.folder().names_by_kind.end() ? std::string() : found->second;
  }

  const RuleTable& table_;
  const Architecture& architecture_;
  std::map<std::string, std::string, std::less<>> kinds_;  // kinds by the name in GGUF
};

/// Names that appear together in the import, and the tensors that have them.
struct Block {
  std::string group;  ///< The group; empty for a tensor alone.
  std::vector<FolderTensor> tensors;
};

class FolderPlanner {
 public:
  FolderPlanner(const FolderFacts& facts, const FolderConfig& folder, const Config& config,
                std::uint64_t layer_count, const FolderExportOptions& options)
      : facts_(facts),
        folder_(folder),
        folder_names_(facts.table, facts.architecture),
        names_(facts.table, facts.architecture, layer_count),
        undo_(facts, config, names_),
        arranged_(facts, config, names_),
        options_(options) {}

  Result<FolderTensors> plan() {
    for (const TensorInfo& tensor : facts_.model.tensors()) {
      if (folder_names_.is_extra(tensor.name)) continue;
      INGOT_TRY_VOID(add(tensor));
    }
    INGOT_TRY_VOID(judge_rounded());
    distribute();
    return std::move(result_);
  }

 private:
  Result<void> add(const TensorInfo& tensor) {
    if (options_.packing == FolderPacking::none && !options_.type) {
      INGOT_TRY(auto pair, return_mxfp4(facts_, names_, tensor));
      if (pair) return add_pair(std::move(*pair));
    }
    INGOT_TRY(const std::optional<Packing> packing, choose_packing(tensor));
    INGOT_TRY(OutputTensor output,
              output_of(tensor, packing ? packing->type : output_type(tensor)));
    const auto name = folder_names_.find(tensor.name, std::span(folder_.rule, 1));
    if (!name) return add_stack(tensor, std::move(output), packing);
    if (returned_.contains(*name)) return {};
    INGOT_TRY(const auto returned, arranged_.find(*name));
    if (returned) return add_returned(*name, output, *returned);
    if (packing && options_.packing == FolderPacking::gptq && output.shape.size() != 2) {
      return fail(Errc::would_be_lost, std::string(tensor.name), "GPTQ has matrices alone");
    }
    FolderTensor single{.output = std::move(output), .packing = packing};
    single.output.name = *name;
    INGOT_TRY_VOID(undo_.undo(single));
    blocks_.emplace_back().tensors.push_back(std::move(single));
    return {};
  }

  Result<void> add_pair(std::vector<MadeTensor> pair) {
    if (pair.empty()) return {};
    auto& tensors = blocks_.emplace_back().tensors;
    for (MadeTensor& one : pair) {
      tensors.push_back({.output = std::move(one.output), .make = std::move(one.make)});
    }
    return {};
  }

  /// A tensor without a name of its own: one that the import made of many, or that is left out.
  Result<void> add_stack(const TensorInfo& tensor, OutputTensor output,
                         const std::optional<Packing>& packing) {
    INGOT_TRY(auto stack, undo_.unstack(output));
    if (stack && options_.packing == FolderPacking::mlx) {
      FolderTensor whole{.output = std::move(output), .packing = packing};
      whole.output.name = mlx_stack_name(stack->tensors.at(0).output.name);
      blocks_.emplace_back().tensors.push_back(std::move(whole));
      return {};
    }
    if (stack && (part_count_ += stack->tensors.size()) <= max_parts) {
      if (blocks_.empty() || blocks_.back().group != stack->group) {
        blocks_.push_back({.group = stack->group, .tensors = {}});
      }
      auto& tensors = blocks_.back().tensors;
      for (FolderTensor& part : stack->tensors) part.packing = packing;
      std::move(stack->tensors.begin(), stack->tensors.end(), std::back_inserter(tensors));
      return {};
    }
    result_.lost.push_back({Errc::left_out, Error::no_offset, std::string(tensor.name),
                            "folders of this architecture have no such tensor"});
    return {};
  }

  /// A tensor that is made of several, or of numbers in another order, when the first of them
  /// comes.
  Result<void> add_returned(const std::string& name, const OutputTensor& first,
                            const ReturnedTensor& returned) {
    if (options_.packing != FolderPacking::none) {
      return fail(Errc::would_be_lost, std::string(first.source->name),
                  "folders have its numbers in another order, in which no blocks are packed");
    }
    returned_.insert(name);
    FolderTensor single{.output = first};
    single.output.name = name;
    single.output.shape = returned.shape;
    std::uint64_t elements = 0;
    for (const TensorInfo* part : returned.from) {
      if (output_type(*part) != first.type) single.output.type = TensorType::f32;
      elements += part->element_count;
    }
    single.output.size_bytes = find_type(single.output.type)->bytes_of(elements);
    single.make = returned.make(single.output.type);
    blocks_.emplace_back().tensors.push_back(std::move(single));
    return {};
  }

  TensorType output_type(const TensorInfo& tensor) const {
    const bool is_quantized = find_type(tensor.type)->block_elements > 1;
    if (!is_quantized && !is_float(tensor.type)) return tensor.type;
    if (options_.type) return *options_.type;
    return is_quantized ? TensorType::f32 : tensor.type;
  }

  /// The packing of a tensor, for which its blocks are looked at; nothing if it has none.
  Result<std::optional<Packing>> choose_packing(const TensorInfo& tensor) {
    bool is_exact = true;
    std::optional<Packing> packing = find_packing(options_.packing, tensor, is_exact);
    if (!packing) return packing;
    if (is_exact) {
      INGOT_TRY(const OutputTensor whole, output_of(tensor, tensor.type));
      INGOT_TRY(const BlockFacts facts, look_at_blocks(facts_.model, whole, options_.thread_count));
      const bool needs_zeros =
          options_.packing == FolderPacking::gptq && tensor.type == TensorType::q4_1;
      is_exact = !needs_zeros || facts.has_whole_zeros;
      if (is_exact) result_.group = std::min(result_.group, facts.group);
      if (!is_exact) packing->type = TensorType::q4_0;
    }
    if (!is_exact) {
      rounded_.push_back(std::string(tensor.name) + " (" +
                         std::string(find_type(tensor.type)->name) + ")");
      result_.group = 32;  // that of the blocks it is rounded to
    }
    return packing;
  }

  /// Refuses weights that would be rounded, or lists them.
  Result<void> judge_rounded() {
    constexpr std::size_t most_names = 8;
    if (rounded_.empty()) return {};
    const std::size_t others = rounded_.size() - std::min(rounded_.size(), most_names);
    const std::size_t count = rounded_.size();
    rounded_.resize(count - others);
    Error error{
        .code = Errc::would_be_lost,
        .subject = std::to_string(count) + " weights",
        .detail = "not held exactly, and rounded only if that is wanted: " + joined(rounded_) +
                  (others == 0 ? "" : " and " + std::to_string(others) + " more"),
        .remedy = Remedy::allow_loss};
    if (!options_.is_lossy) return fail(std::move(error));
    error.code = Errc::left_out;
    error.detail = "rounded: " + error.detail.substr(error.detail.find(": ") + 2);
    result_.lost.push_back(std::move(error));
    return {};
  }

  void distribute() {
    FolderFiles& files = result_.files;
    const std::uint64_t layers = folder_.values.value("num_hidden_layers", std::uint64_t{0});
    for (Block& block : blocks_) {
      for (FolderTensor& tensor : block.tensors) {
        tensor.output.name =
            name_before_renames(facts_.architecture.renames, std::move(tensor.output.name), layers);
      }
      std::ranges::sort(block.tensors,
                        [](const auto& a, const auto& b) { return a.output.name < b.output.name; });
      const bool goes_on =
          !files.empty() && files.back().back().output.name < block.tensors.front().output.name;
      if (!goes_on) files.emplace_back();
      std::move(block.tensors.begin(), block.tensors.end(), std::back_inserter(files.back()));
    }
  }

  const FolderFacts& facts_;
  const FolderConfig& folder_;
  FolderNames folder_names_;
  TensorNameMap names_;
  UndoTransforms undo_;
  ArrangedReturn arranged_;
  const FolderExportOptions& options_;
  std::vector<std::string> rounded_;
  std::vector<Block> blocks_;
  std::uint64_t part_count_ = 0;
  std::set<std::string> returned_;  // names of tensors that are made of several
  FolderTensors result_;
};

/// The numbers of heads of a layer, which some models have one by one, in a configuration that has
/// only those numbers of which the undoing of transforms makes use.
Result<Config> config_of_layer(const FolderFacts& facts, std::optional<std::uint32_t> layer) {
  nlohmann::ordered_json config = {
      {"architectures", nlohmann::ordered_json::array({facts.architecture.name})}};
  const auto add = [&](const char* member, std::string_view suffix) {
    const Value* const value = find_architecture_key(facts.model, suffix);
    if (value == nullptr || (value->is_array() && !layer)) return;
    const auto count = value->is_array() ? value->as_array().get<std::uint64_t>(*layer)
                                         : value->get<std::uint64_t>();
    if (count) config[member] = *count;
  };
  add("num_attention_heads", suffixes::attention_head_count);
  add("num_key_value_heads", suffixes::attention_head_count_kv);
  return read_config(config);
}

class Renamer {
 public:
  Renamer(const FolderFacts& facts, std::uint64_t layer_count, std::vector<Error>& remarks)
      : facts_(facts),
        folder_names_(facts.table, facts.architecture),
        names_(facts.table, facts.architecture, layer_count),
        remarks_(remarks) {}

  Result<void> add(OutputTensor tensor) {
    const std::string_view name = tensor.source->name;
    if (folder_names_.is_extra(name)) {
      remark(Errc::left_out, name);
      return {};
    }
    const auto layer = parse_layer_name(name);
    INGOT_TRY(const Config config,
              config_of_layer(facts_, layer ? std::optional(layer->layer) : std::nullopt));
    const UndoTransforms undo(facts_, config, names_);
    INGOT_TRY(auto stack, undo.unstack(tensor));
    if (stack && (part_count_ += stack->tensors.size()) <= max_parts) {
      for (FolderTensor& part : stack->tensors) renamed_.push_back(std::move(part.output));
      return {};
    }
    FolderTensor single{.output = std::move(tensor)};
    if (const auto found = folder_names_.find(name, facts_.architecture.folders)) {
      single.output.name = *found;
      INGOT_TRY_VOID(undo.undo(single));
      if (single.number) {
        return fail(Errc::architecture_unsupported, facts_.architecture.name,
                    "the import changes the numbers of " + *found +
                        "; a whole folder has those from before");
      }
    } else {
      remark(Errc::name_kept, name);
    }
    renamed_.push_back(std::move(single.output));
    return {};
  }

  std::vector<OutputTensor> take() { return std::move(renamed_); }

 private:
  void remark(Errc code, std::string_view name) {
    remarks_.push_back({code, Error::no_offset, std::string(name), {}});
  }

  const FolderFacts& facts_;
  FolderNames folder_names_;
  TensorNameMap names_;
  std::vector<Error>& remarks_;
  std::vector<OutputTensor> renamed_;
  std::uint64_t part_count_ = 0;
};

}  // namespace

Result<FolderTensors> plan_folder_tensors(const FolderFacts& facts, const FolderConfig& folder,
                                          const FolderExportOptions& options) {
  INGOT_TRY(Config config, read_config(folder.values));
  INGOT_TRY(config, settled_config(config, facts.architecture, {}));
  INGOT_TRY(const std::uint64_t layers, config.layer_count());
  return FolderPlanner(facts, folder, config, layers, options).plan();
}

}  // namespace huggingface

Result<std::vector<OutputTensor>> rename_as_in_folders(const Model& model,
                                                       std::vector<OutputTensor> tensors,
                                                       std::vector<Error>& remarks) {
  using huggingface::Architecture;
  const Result<huggingface::RuleTable>& table = huggingface::RuleTable::builtin();
  if (!table) return fail(table.error());
  const Summary summary = summarize(model);
  const std::string name(summary.architecture.value_or(""));
  const auto found = std::ranges::find_if(table->architectures(), [&](const Architecture& one) {
    return one.name == name && (!one.folders.empty() || one.has_folder_names);
  });
  if (found == table->architectures().end()) return fail(Errc::architecture_unsupported, name);
  const std::uint64_t layers = std::min(summary.block_count.value_or(0), huggingface::max_layers);
  const huggingface::FolderFacts facts{model, *table, *found};
  huggingface::Renamer renamer(facts, layers, remarks);
  for (OutputTensor& tensor : tensors) INGOT_TRY_VOID(renamer.add(std::move(tensor)));
  return renamer.take();
}

}  // namespace ingot

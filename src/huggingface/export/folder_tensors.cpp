// SPDX-License-Identifier: MIT
#include "huggingface/export/folder_tensors.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "huggingface/export/undo_transforms.hpp"
#include "formats/foreign/hf_names.hpp"
#include "huggingface/import/tensors/tensor_name_map.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::string_view layer_mark = "{layer}";

/// The most parts of stacks; no model has as many.
constexpr std::uint64_t max_parts = std::uint64_t{1} << 20;

/// Names that appear together in the import, and the tensors that have them.
struct Block {
  std::string group;  ///< The group; empty for a tensor alone.
  std::vector<FolderTensor> tensors;
};

class FolderPlanner {
 public:
  FolderPlanner(const FolderFacts& facts, const FolderConfig& folder, const Config& config,
                std::uint64_t layer_count, std::optional<TensorType> type)
      : facts_(facts),
        folder_(folder),
        names_(facts.table, facts.architecture, layer_count),
        undo_(facts, config, names_),
        type_(type) {
    for (const TensorKind& kind : facts.table.tensor_kinds()) {
      const auto& own = facts.architecture.tensors;
      if (std::ranges::find(own, kind.kind) == own.end()) continue;
      kinds_.insert_or_assign(kind.name, kind.kind);
    }
  }

  Result<FolderTensors> plan() {
    for (const TensorInfo& tensor : facts_.model.tensors()) {
      if (is_extra(tensor.name)) continue;
      INGOT_TRY_VOID(add(tensor));
    }
    distribute();
    return std::move(result_);
  }

 private:
  /// Whether config.json stands for the tensor.
  bool is_extra(std::string_view name) const {
    const auto& extra = facts_.architecture.extra_tensors;
    return std::ranges::find(extra, name, &ExtraTensorRule::tensor) != extra.end();
  }

  Result<void> add(const TensorInfo& tensor) {
    INGOT_TRY(OutputTensor output, output_of(tensor, output_type(tensor)));
    INGOT_TRY(auto stack, undo_.unstack(output));
    if (stack && (part_count_ += stack->tensors.size()) <= max_parts) {
      if (blocks_.empty() || blocks_.back().group != stack->group) {
        blocks_.push_back({.group = stack->group, .tensors = {}});
      }
      auto& tensors = blocks_.back().tensors;
      std::move(stack->tensors.begin(), stack->tensors.end(), std::back_inserter(tensors));
      return {};
    }
    const auto name = name_of(tensor.name);
    if (!name) {
      result_.lost.push_back({Errc::left_out, Error::no_offset, std::string(tensor.name),
                              "folders of this architecture have no such tensor"});
      return {};
    }
    FolderTensor single{.output = std::move(output)};
    single.output.name = *name;
    INGOT_TRY_VOID(undo_.undo(single));
    blocks_.emplace_back().tensors.push_back(std::move(single));
    return {};
  }

  TensorType output_type(const TensorInfo& tensor) const {
    const bool is_quantized = find_type(tensor.type)->block_elements > 1;
    if (!is_quantized && !is_float(tensor.type)) return tensor.type;
    if (type_) return *type_;
    return is_quantized ? TensorType::f32 : tensor.type;
  }

  /// The name in folders; nothing if there is none.
  std::optional<std::string> name_of(std::string_view gguf_name) const {
    const auto parts = formats::split_tensor_name(gguf_name);
    const std::string base = (parts.layer ? "blk.{layer}." : "") + std::string(parts.stem);
    const auto kind = kinds_.find(base);
    if (kind == kinds_.end()) return std::nullopt;
    for (const auto* names : {&folder_.rule->names_by_kind, &facts_.table.folder().names_by_kind}) {
      const auto found = names->find(kind->second);
      if (found == names->end()) continue;
      std::string name = found->second;
      const std::size_t mark = name.find(layer_mark);
      if (mark != name.npos)
        name.replace(mark, layer_mark.size(), parts.layer ? std::to_string(*parts.layer) : "");
      return name.append(parts.ending);
    }
    return std::nullopt;
  }

  void distribute() {
    FolderFiles& files = result_.files;
    for (Block& block : blocks_) {
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
  TensorNameMap names_;
  UndoTransforms undo_;
  std::optional<TensorType> type_;
  std::map<std::string, std::string, std::less<>> kinds_;  // kinds by the name in GGUF
  std::vector<Block> blocks_;
  std::uint64_t part_count_ = 0;
  FolderTensors result_;
};

}  // namespace

Result<FolderTensors> plan_folder_tensors(const FolderFacts& facts, const FolderConfig& folder,
                                          std::optional<TensorType> type) {
  INGOT_TRY(const Config config, read_config(folder.values));
  INGOT_TRY(const std::uint64_t layers, config.layer_count());
  return FolderPlanner(facts, folder, config, layers, type).plan();
}

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
#include "huggingface/export/check_return.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "huggingface/import/tensors/tensor_plan.hpp"
#include "ingot/import.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/store.hpp"

namespace ingot::huggingface {
namespace {

/// The most lines of a message.
constexpr std::size_t max_lines = 100;

/// The folder as files; the data of tensors is zeros.
class SketchStore final : public Store {
 public:
  explicit SketchStore(const FolderSketch& sketch) : sketch_(sketch) {}

  [[nodiscard]] Result<std::unique_ptr<Source>> open(const std::string& name) const override {
    const std::string file = name.substr(prefix().size());
    if (const auto text = sketch_.texts.find(file); text != sketch_.texts.end()) {
      return borrow_memory(std::as_bytes(std::span(text->second)));
    }
    for (const formats::SafetensorsShard& shard : sketch_.shards) {
      if (file_name(shard) == file) return open_shard(shard);
    }
    return fail(Errc::io_error, name, "no such file");
  }

  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& folder) const override {
    std::vector<std::string> names;
    const auto add = [&](const std::string& file) {
      const std::string path = prefix() + file;
      if (path.substr(0, path.rfind('/')) == folder) names.push_back(path);
    };
    for (const auto& [name, text] : sketch_.texts) add(name);
    for (const formats::SafetensorsShard& shard : sketch_.shards) add(file_name(shard));
    return names;
  }

 private:
  [[nodiscard]] std::string prefix() const { return sketch_.name + "/"; }
  static std::string file_name(const formats::SafetensorsShard& shard) {
    return shard.path.substr(shard.path.rfind('/') + 1);
  }

  static std::unique_ptr<Source> open_shard(const formats::SafetensorsShard& shard) {
    return read_through(shard.head.size() + shard.data_bytes,
                        [&head = shard.head](std::uint64_t offset, std::span<std::byte> bytes) {
                          std::memset(bytes.data(), 0, bytes.size());
                          if (offset >= head.size()) return true;
                          const auto begin = static_cast<std::size_t>(offset);
                          std::memcpy(bytes.data(), head.data() + begin,
                                      std::min(bytes.size(), head.size() - begin));
                          return true;
                        });
  }

  const FolderSketch& sketch_;
};

/// The type whose import would give the model; nothing for types that no import makes.
std::optional<TensorType> import_type(const Model& model) {
  const auto file_type = model.get_or<std::uint64_t>(keys::general_file_type, ~std::uint64_t{0});
  auto type = type_of_file_type(file_type);
  // Experts of MXFP4 stay what they are; the type is that of the others.
  const TensorInfo* const embeddings = model.find_tensor("token_embd.weight");
  if (type == TensorType::mxfp4 && embeddings != nullptr) type = embeddings->type;
  return type && huggingface::is_import_type(*type) ? type : std::nullopt;
}

bool is_same(const Value& a, const Value& b) {
  const auto left = a.bytes();
  const auto right = b.bytes();
  return a.type() == b.type() && left.size() == right.size() &&
         a.as_array().element_type() == b.as_array().element_type() &&
         a.as_array().size() == b.as_array().size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0);
}

class Comparison {
 public:
  Comparison(const Model& model, const FolderSketch& sketch)
      : model_(model),
        sketch_(sketch),
        type_(sketch.is_packed ? std::nullopt : import_type(model)) {}

  ReturnCheck run() {
    const SketchStore store(sketch_);
    const TensorType type = type_.value_or(TensorType::f16);
    const auto import = plan_import(store, sketch_.name, {.type = type});
    if (!import) {
      check_.loses_pre = import.error().code == Errc::pre_tokenizer_unknown;
      lose("the folder", "its import is refused: " + import.error().message());
      return std::move(check_);
    }
    compare_keys((*import)->metadata());
    compare_tensors((*import)->tensors());
    if (!type_ && !sketch_.is_packed) {
      lose(std::string(keys::general_file_type),
           "an import makes F32, F16, BF16, Q8_0, TQ1_0 and TQ2_0; the weights are decoded, and "
           "quantizing them anew need not give the same bytes");
    }
    if (dropped_ > 0) {
      check_.lost.push_back(
          {Errc::left_out, Error::no_offset, "the folder", std::to_string(dropped_) + " more"});
    }
    return std::move(check_);
  }

 private:
  void lose(std::string subject, std::string detail) {
    if (check_.lost.size() >= max_lines) {
      ++dropped_;
      return;
    }
    check_.lost.push_back(
        {Errc::left_out, Error::no_offset, std::move(subject), std::move(detail)});
  }

  /// Keys that are of the file and not of the model.
  bool is_compared(std::string_view key) const {
    const bool is_type = key == keys::general_file_type && !type_;
    return !is_type && !key.starts_with("split.") && key != layout_index_key;
  }

  void compare_keys(const std::vector<KeyValue>& made) {
    std::unordered_map<std::string_view, const Value*> by_key;
    for (const KeyValue& entry : made) by_key.emplace(entry.key, &entry.value);
    std::vector<std::string_view> wanted;
    for (const KeyValue& entry : model_.metadata()) {
      if (!is_compared(entry.key)) continue;
      wanted.push_back(entry.key);
      const auto found = by_key.find(entry.key);
      const bool is_lost = found == by_key.end() || !is_same(*found->second, entry.value);
      if (is_lost && entry.key == keys::tokenizer_ggml_pre) check_.loses_pre = true;
      if (!is_lost) continue;
      lose(std::string(entry.key), found == by_key.end() ? "no file of a folder holds this key"
                                                         : "a new import gives another value");
    }
    std::vector<std::string_view> order;
    for (const KeyValue& entry : made) {
      if (!is_compared(entry.key)) continue;
      order.push_back(entry.key);
      if (model_.find(entry.key) == nullptr) {
        lose(std::string(entry.key), "a new import adds this key");
      }
    }
    compare_order(wanted, order, "keys");
  }

  void compare_tensors(const std::vector<ImportedTensor>& made) {
    std::unordered_map<std::string_view, const ImportedTensor*> by_name;
    for (const ImportedTensor& tensor : made) by_name.emplace(tensor.name, &tensor);
    std::vector<std::string_view> wanted;
    for (const TensorInfo& tensor : model_.tensors()) {
      wanted.push_back(tensor.name);
      const auto found = by_name.find(tensor.name);
      if (found == by_name.end()) {
        lose(std::string(tensor.name), "a new import has no such tensor");
      } else if (!std::equal(tensor.shape.begin(), tensor.shape.end(), found->second->shape.begin(),
                             found->second->shape.end())) {
        lose(std::string(tensor.name), "a new import gives it another shape");
      } else if (type_ && tensor.type != found->second->type) {
        lose(std::string(tensor.name),
             "a new import makes it " + std::string(find_type(found->second->type)->name));
      }
    }
    std::vector<std::string_view> order;
    for (const ImportedTensor& tensor : made) {
      order.push_back(tensor.name);
      if (model_.find_tensor(tensor.name) == nullptr) {
        lose(tensor.name, "a new import adds this tensor");
      }
    }
    if (sketch_.keeps_order) compare_order(wanted, order, "tensors");
  }

  /// Compares the order of names, if both sides have the same names.
  void compare_order(const std::vector<std::string_view>& wanted,
                     const std::vector<std::string_view>& made, const char* things) {
    if (wanted.size() != made.size() || !check_.lost.empty()) return;
    const auto [first, other] = std::mismatch(wanted.begin(), wanted.end(), made.begin());
    if (first == wanted.end()) return;
    lose(std::string(*first), std::string("a new import orders ") + things +
                                  " otherwise from here on: next is " + std::string(*other));
  }

  const Model& model_;
  const FolderSketch& sketch_;
  std::optional<TensorType> type_;
  ReturnCheck check_;
  std::size_t dropped_ = 0;
};

}  // namespace

ReturnCheck check_return(const Model& model, const FolderSketch& sketch) {
  return Comparison(model, sketch).run();
}

}  // namespace ingot::huggingface

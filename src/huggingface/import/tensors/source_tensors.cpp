// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/source_tensors.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/messages.hpp"
#include "base/ranges.hpp"
#include "formats/safetensors/safetensors_reader.hpp"
#include "huggingface/folder/refusal.hpp"
#include "ingot/limits.hpp"

namespace ingot::huggingface {
namespace {

/// Numbers of one byte each, by a table of their values as BF16.
class ByteNumbers final : public NumberSource {
 public:
  ByteNumbers(std::shared_ptr<const Source> file, std::uint64_t file_offset,
              const std::uint16_t* values)
      : file_(std::move(file)), file_offset_(file_offset), values_(values) {}

  [[nodiscard]] TensorType type() const noexcept override { return TensorType::bf16; }
  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    // The bytes go to the second half, so that each is read before its place is written.
    const std::size_t count = destination.size() / 2;
    const std::span<std::byte> bytes = destination.last(count);
    INGOT_TRY_VOID(file_->read(file_offset_ + first, bytes));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t value = values_[std::to_integer<std::size_t>(bytes[i])];
      destination[2 * i] = static_cast<std::byte>(value & 0xff);
      destination[2 * i + 1] = static_cast<std::byte>(value >> 8);
    }
    return {};
  }

 private:
  std::shared_ptr<const Source> file_;
  std::uint64_t file_offset_;
  const std::uint16_t* values_;
};

Failure no_weights(const ModelFolder& folder) {
  const bool is_pickle = std::ranges::any_of(folder.files(), [](const std::string& name) {
    return name.starts_with("pytorch_model") && name.ends_with(".bin");
  });
  return refuse(
      folder.locate(""),
      is_pickle ? std::string("pytorch_model*.bin can run programs of others and is not read; save "
                              "the model as safetensors first")
                : "the folder has no " + std::string(folder.weights_name()) + "*.safetensors");
}

Result<std::vector<std::string>> list_files(const ModelFolder& folder,
                                            formats::WeightMap& weight_map) {
  const std::string_view index = folder.index_file();
  if (folder.has(index)) {
    INGOT_TRY(const std::string text, folder.read_text(index, max_table_bytes));
    INGOT_TRY(weight_map, with_subject(folder.locate(index), formats::parse_weight_map(text)));
    if (weight_map.empty()) return no_weights(folder);
  }
  std::vector<std::string> names = list_weight_files(folder, weight_map);
  if (names.empty()) return no_weights(folder);
  return names;
}

/// Refuses an index that does not name exactly the tensors of the files.
Result<void> check_index(const formats::WeightMap& weight_map,
                         const std::map<std::string, std::string>& file_of) {
  if (weight_map.empty()) return {};
  for (const auto& [name, file] : file_of) {
    if (weight_map.count(name) == 0) {
      return fail(Errc::index_mismatch, name, "it is in " + file + ", and not in the index");
    }
  }
  for (const auto& [name, file] : weight_map) {
    if (file_of.count(name) == 0) {
      return fail(Errc::index_mismatch, name, "the index names " + file + ", which lacks it");
    }
  }
  return {};
}

/// The tensors of files, and the file of each.
Result<std::vector<SourceTensor>> read_headers(const ModelFolder& folder,
                                               const std::vector<std::string>& names,
                                               std::map<std::string, std::string>& file_of) {
  std::vector<SourceTensor> tensors;
  Limits limits;
  for (const std::string& file_name : names) {
    if (!folder.has(file_name)) {
      return fail(Errc::index_mismatch, file_name, "the index names the file, which is not there");
    }
    INGOT_TRY(std::unique_ptr<Source> source, folder.open_file(file_name));
    INGOT_TRY(formats::SafetensorsFile opened,
              with_subject(folder.locate(file_name),
                           formats::open_safetensors_file(std::move(source), limits)));
    auto& stored = opened.header.tensors;
    std::ranges::sort(stored, [](const auto& a, const auto& b) { return a.name < b.name; });
    const std::shared_ptr<const Source> file = std::move(opened.source);
    for (formats::SafetensorsTensor& tensor : stored) {
      const auto [known, is_new] = file_of.try_emplace(tensor.name, file_name);
      if (!is_new) {
        return fail(Errc::tensor_duplicate, tensor.name,
                    "it is in " + known->second + " and in " + file_name);
      }
      tensors.push_back({.name = std::move(tensor.name),
                         .shape = std::move(tensor.shape),
                         .dtype = formats::find_dtype(tensor.dtype),
                         .file = file,
                         .file_offset = opened.data_offset + tensor.begin,
                         .size_bytes = tensor.end - tensor.begin});
    }
  }
  return tensors;
}

}  // namespace

std::vector<std::string> list_weight_files(const ModelFolder& folder,
                                           const formats::WeightMap& index) {
  std::set<std::string> files;
  for (const auto& entry : index) files.insert(entry.second);
  if (index.empty()) {
    std::ranges::copy_if(folder.files(), std::inserter(files, files.end()),
                         [&](const std::string& name) { return folder.is_weight_file(name); });
  }
  return {files.begin(), files.end()};
}

Result<std::shared_ptr<const NumberSource>> SourceTensor::numbers() const {
  if (computed != nullptr) return computed;
  if (!dtype->type) {
    return fail(Errc::element_type_unsupported, name, std::string(dtype->name));
  }
  if (dtype->byte_values != nullptr) {
    return std::shared_ptr<const NumberSource>(
        std::make_shared<ByteNumbers>(file, file_offset, dtype->byte_values));
  }
  return std::shared_ptr<const NumberSource>(
      std::make_shared<StoredNumbers>(file, file_offset, *dtype->type, dtype->bits / 8));
}

std::string described(const SourceTensor& tensor) {
  return (tensor.dtype == nullptr ? "" : std::string(tensor.dtype->name) + " ") +
         shape_text(tensor.shape);
}

Result<std::vector<std::byte>> SourceTensor::read_all(std::uint64_t max_bytes) const {
  if (file == nullptr || size_bytes > max_bytes) {
    return refuse(name, "at most " + std::to_string(max_bytes) + " bytes are expected");
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size_bytes));
  INGOT_TRY_VOID(file->read(file_offset, bytes));
  return bytes;
}

Result<std::vector<SourceTensor>> list_tensors(const ModelFolder& folder) {
  formats::WeightMap weight_map;
  INGOT_TRY(const std::vector<std::string> files, list_files(folder, weight_map));
  std::map<std::string, std::string> file_of;
  INGOT_TRY(std::vector<SourceTensor> tensors, read_headers(folder, files, file_of));
  INGOT_TRY_VOID(check_index(weight_map, file_of));
  return tensors;
}

Result<std::vector<SourceTensor>> list_tensors_of(const ModelFolder& folder,
                                                  const std::vector<std::string>& files) {
  std::map<std::string, std::string> file_of;
  return read_headers(folder, files, file_of);
}

namespace {

using Undo = Result<void> (*)(const nlohmann::json& settings, std::vector<SourceTensor>& tensors);

struct KnownQuantization {
  std::string_view method;
  Undo undo;  ///< nullptr: a transform of its architecture.
  std::string_view settings = "quantization_config";
};

constexpr std::array known_quantizations = {
    KnownQuantization{"gptq", undo_gptq},
    KnownQuantization{"awq", undo_awq},
    KnownQuantization{"bitsandbytes", undo_bitsandbytes},
    KnownQuantization{"fp8", undo_fp8},
    KnownQuantization{"fp8_e4m3", undo_mistral_fp8, "quantization"},
    KnownQuantization{"compressed-tensors", undo_compressed},
    KnownQuantization{"modelopt", undo_modelopt},
    KnownQuantization{"mlx", undo_mlx, "quantization"},
    KnownQuantization{"mxfp4", nullptr},
};

/// The method, empty if it has no name; nothing without quantization.
std::optional<std::string> method_of(const Config& config) {
  const nlohmann::json* const value = config.find("quantization_config.quant_method");
  if (value != nullptr && value->is_string()) return value->get<std::string>();
  if (config.find("quantization.group_size") != nullptr) return "mlx";
  // Mistral's own form names the type of the weights.
  const nlohmann::json* const form = config.find("quantization.qformat_weight");
  if (form != nullptr && form->is_string()) return form->get<std::string>();
  if (config.find("quantization_config") == nullptr) return std::nullopt;
  return std::string();
}

const KnownQuantization* find_known(std::string_view method) {
  return find_row(known_quantizations, &KnownQuantization::method, method);
}

}  // namespace

bool has_known_quantization(const Config& config) {
  const auto method = method_of(config);
  return !method || find_known(*method) != nullptr;
}

Result<void> undo_quantization(const Config& config, std::vector<SourceTensor>& tensors) {
  const auto method = method_of(config);
  const KnownQuantization* const known = method ? find_known(*method) : nullptr;
  if (method && known == nullptr) {
    std::string names;
    for (const KnownQuantization& one : known_quantizations) {
      names += (names.empty() ? "" : ", ") + std::string(one.method);
    }
    return refuse("config.json",
                  "the quantization method `" + *method + "` is not supported; known are " + names);
  }
  if (known != nullptr && known->undo != nullptr) {
    INGOT_TRY_VOID(known->undo(*config.find(known->settings), tensors));
  }
  return undo_mlx_arrangement(config, tensors);
}

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
// Writes safetensors: one file, or shards and an index.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/foreign/planner.hpp"
#include "formats/safetensors/gguf_metadata_text.hpp"
#include "formats/safetensors/safetensors_dtypes.hpp"
#include "formats/safetensors/safetensors_header.hpp"
#include "ingot/output_set.hpp"

namespace ingot::convert {
namespace {

using interop::safetensors_prefix_bytes;

constexpr std::string_view ending = ".safetensors";

bool holds(TensorType type) { return interop::find_dtype(type) != nullptr; }

std::string json_text(std::string_view text) { return nlohmann::json(text).dump(); }

struct Shard {
  std::string path;
  std::vector<OutputTensor> tensors;
  std::string head;  // everything before the data
  std::uint64_t data_bytes = 0;
};

/// `"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}`
std::string entry_text(const OutputTensor& tensor, std::uint64_t begin) {
  std::string text = json_text(tensor.name) + R"(:{"dtype":")" +
                     std::string(interop::find_dtype(tensor.type)->name) + R"(","shape":[)";
  for (std::size_t i = tensor.shape.size(); i-- > 0;) {
    text += std::to_string(tensor.shape[i]) + (i > 0 ? "," : "");
  }
  return text + R"(],"data_offsets":[)" + std::to_string(begin) + "," +
         std::to_string(begin + tensor.size_bytes) + "]}";
}

/// Readers map the file and want each element at a multiple of its size. Most models have that in
/// their own order; for the others the large elements come first, as the reference writes them.
void align(std::vector<OutputTensor>& tensors) {
  const auto element_bytes = [](const OutputTensor& tensor) {
    return find_type(tensor.type)->block_bytes;
  };
  std::uint64_t end = 0;
  bool is_aligned = true;
  for (const OutputTensor& tensor : tensors) {
    is_aligned = is_aligned && end % element_bytes(tensor) == 0;
    end += tensor.size_bytes;
  }
  if (is_aligned) return;
  std::stable_sort(tensors.begin(), tensors.end(), [&](const auto& a, const auto& b) {
    return element_bytes(a) > element_bytes(b);
  });
}

/// `{"__metadata__":{...}`, without the end.
std::string metadata_text(std::span<const std::pair<std::string, std::string>> entries) {
  // Loaders of models look for "format": it names the library whose layout the tensors have.
  std::string text = R"({"__metadata__":{"format":"pt")";
  for (const auto& [key, value] : entries) text += "," + json_text(key) + ":" + json_text(value);
  return text + "}";
}

Result<void> make_head(Shard& shard, std::string text) {
  for (const OutputTensor& tensor : shard.tensors) {
    text += "," + entry_text(tensor, shard.data_bytes);
    shard.data_bytes += tensor.size_bytes;
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the data begins at a multiple of 8
  if (text.size() > interop::max_safetensors_header_bytes) {
    return fail(Errc::limit_exceeded, shard.path,
                "a header of " + std::to_string(text.size()) + " bytes; 100000000 are allowed");
  }
  std::uint64_t size = text.size();
  for (std::size_t i = 0; i < safetensors_prefix_bytes; ++i, size >>= 8) {
    shard.head.push_back(static_cast<char>(size & 0xFF));
  }
  shard.head += text;
  return {};
}

Result<void> check_names(std::span<const OutputTensor> tensors) {
  std::vector<std::string_view> names;
  for (const OutputTensor& tensor : tensors) {
    if (tensor.name == "__metadata__") return fail(Errc::name_does_not_fit, tensor.name);
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return fail(Errc::tensor_duplicate, std::string(*twice));
}

/// Fills files up to a size, in order.
std::vector<std::vector<OutputTensor>> distribute(std::vector<OutputTensor> tensors,
                                                  std::uint64_t metadata_bytes,
                                                  std::uint64_t max_bytes,
                                                  std::vector<Error>& remarks) {
  constexpr std::uint64_t longest_offset = ~std::uint64_t{0} / 2;
  constexpr std::uint64_t fixed_bytes = safetensors_prefix_bytes + 64;
  std::vector<std::vector<OutputTensor>> shards(1);
  std::uint64_t used = fixed_bytes + metadata_bytes;
  for (OutputTensor& tensor : tensors) {
    const std::uint64_t entry_bytes = entry_text(tensor, longest_offset).size() + 1;
    const std::uint64_t wanted = entry_bytes + tensor.size_bytes;
    if (max_bytes > 0 && fixed_bytes + wanted > max_bytes) {
      remarks.push_back({Errc::above_file_limit, Error::no_offset, tensor.name,
                         std::to_string(wanted) + " bytes"});
    }
    if (max_bytes > 0 && !shards.back().empty() && used + wanted > max_bytes) {
      shards.emplace_back();
      used = fixed_bytes;
    }
    used += wanted;
    shards.back().push_back(std::move(tensor));
  }
  return shards;
}

std::string five_digits(std::size_t number) {
  std::string text = std::to_string(number);
  if (text.size() < 5) text.insert(0, 5 - text.size(), '0');
  return text;
}

std::string stem_of(const std::string& path) {
  return path.ends_with(ending) ? path.substr(0, path.size() - ending.size()) : path;
}

std::string shard_path(const std::string& path, std::size_t index, std::size_t count) {
  if (count == 1) return path;
  return stem_of(path) + "-" + five_digits(index + 1) + "-of-" + five_digits(count) +
         std::string(ending);
}

std::string index_text(std::span<const Shard> shards) {
  std::uint64_t total = 0;
  for (const Shard& shard : shards) total += shard.data_bytes;
  std::string text = "{\n  \"metadata\": {\n    \"total_size\": " + std::to_string(total) +
                     "\n  },\n  \"weight_map\": {";
  bool is_first = true;
  for (const Shard& shard : shards) {
    const std::string file = json_text(shard.path.substr(shard.path.rfind('/') + 1));
    for (const OutputTensor& tensor : shard.tensors) {
      text += (is_first ? "\n    " : ",\n    ") + json_text(tensor.name) + ": " + file;
      is_first = false;
    }
  }
  return text + "\n  }\n}\n";
}

class FileSink final : public TensorSink {
 public:
  explicit FileSink(OutputFile& file) : file_(file) {}
  Result<void> begin(const OutputTensor&) override { return {}; }
  Result<void> write(std::span<const std::byte> piece) override { return file_.write(piece); }
  Result<void> end() override { return {}; }

 private:
  OutputFile& file_;
};

class SafetensorsConversion final : public Conversion {
 public:
  SafetensorsConversion(const Model& model, const ConvertOptions& options)
      : model_(model), replace_(options.replace), threads_(options.thread_count) {}

  Result<void> plan(const std::string& path, const ConvertOptions& options) {
    INGOT_TRY(std::vector<OutputTensor> tensors,
              plan_plain_tensors(model_, options, holds, remarks_));
    INGOT_TRY_VOID(check_names(tensors));
    std::map<const TensorInfo*, TensorType> types;
    for (const OutputTensor& tensor : tensors) types[tensor.source] = tensor.type;
    INGOT_TRY(const auto metadata, interop::metadata_as_text(model_, [&](const TensorInfo& tensor) {
                const auto found = types.find(&tensor);
                return found == types.end() ? tensor.type : found->second;  // left out
              }));
    std::string first_text = metadata_text(metadata);
    auto parts =
        distribute(std::move(tensors), first_text.size(), options.max_file_bytes, remarks_);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Shard shard;
      shard.path = shard_path(path, i, parts.size());
      shard.tensors = std::move(parts[i]);
      align(shard.tensors);
      INGOT_TRY_VOID(make_head(shard, i == 0 ? std::move(first_text) : metadata_text({})));
      outputs_.push_back(shard.path);
      total_bytes_ += shard.data_bytes;
      shards_.push_back(std::move(shard));
    }
    if (shards_.size() > 1) {
      outputs_.push_back(stem_of(path) + std::string(ending) + ".index.json");
    }
    return {};
  }

  Result<void> run(const WriteProgress& progress) const override {
    OutputSet outputs(replace_);
    std::uint64_t before = 0;
    for (const Shard& shard : shards_) {
      INGOT_TRY(OutputFile* const file,
                outputs.add(shard.path, shard.head.size() + shard.data_bytes));
      INGOT_TRY_VOID(file->write(std::as_bytes(std::span(shard.head))));
      FileSink sink(*file);
      INGOT_TRY_VOID(
          stream_tensors(model_, shard.tensors, sink, {.thread_count = threads_},
                         [&](std::uint64_t done) { return !progress || progress(before + done); }));
      before += shard.data_bytes;
    }
    if (shards_.size() > 1) INGOT_TRY_VOID(outputs.add_text(outputs_.back(), index_text(shards_)));
    return outputs.commit_as_one();
  }

 private:
  const Model& model_;
  bool replace_;
  unsigned threads_;
  std::vector<Shard> shards_;
};

}  // namespace

Result<std::unique_ptr<Conversion>> plan_safetensors(const Model& model, const std::string& path,
                                                     const ConvertOptions& options) {
  auto conversion = std::make_unique<SafetensorsConversion>(model, options);
  INGOT_TRY_VOID(conversion->plan(path, options));
  return std::unique_ptr<Conversion>(std::move(conversion));
}

}  // namespace ingot::convert

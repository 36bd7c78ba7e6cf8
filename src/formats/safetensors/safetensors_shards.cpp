// SPDX-License-Identifier: MIT
#include "formats/safetensors/safetensors_shards.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ranges.hpp"
#include "formats/safetensors/safetensors_dtypes.hpp"
#include "formats/safetensors/safetensors_header.hpp"

namespace ingot::formats {
namespace {

using formats::safetensors_prefix_bytes;

constexpr std::string_view ending = ".safetensors";

std::string json_text(std::string_view text) { return nlohmann::json(text).dump(); }

/// `"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}`
std::string entry_text(const OutputTensor& tensor, std::uint64_t begin) {
  std::string dtype(formats::find_dtype(tensor.type)->name);
  if (tensor.is_unsigned) dtype.front() = 'U';
  std::string text = json_text(tensor.name) + R"(:{"dtype":")" + dtype + R"(","shape":[)";
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
  std::ranges::stable_sort(
      tensors, [&](const auto& a, const auto& b) { return element_bytes(a) > element_bytes(b); });
}

std::string five_digits(std::size_t number) {
  std::string text = std::to_string(number);
  if (text.size() < 5) text.insert(0, 5 - text.size(), '0');
  return text;
}

std::string stem_of(const std::string& path) {
  return path.ends_with(ending) ? path.substr(0, path.size() - ending.size()) : path;
}

}  // namespace

std::string safetensors_metadata_text(
    std::span<const std::pair<std::string, std::string>> entries) {
  // Loaders of models look for "format": it names the library whose layout the tensors have.
  std::string text = R"({"__metadata__":{"format":"pt")";
  for (const auto& [key, value] : entries) text += "," + json_text(key) + ":" + json_text(value);
  return text + "}";
}

Result<SafetensorsShard> make_safetensors_shard(std::string path, std::vector<OutputTensor> tensors,
                                                std::string metadata) {
  SafetensorsShard shard{.path = std::move(path), .tensors = std::move(tensors)};
  align(shard.tensors);
  std::string text = std::move(metadata);
  for (const OutputTensor& tensor : shard.tensors) {
    text += "," + entry_text(tensor, shard.data_bytes);
    shard.data_bytes += tensor.size_bytes;
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');  // lets the data begin at a multiple of 8
  if (text.size() > formats::max_safetensors_header_bytes) {
    return fail(Errc::limit_exceeded, shard.path,
                "a header of " + std::to_string(text.size()) + " bytes; 100000000 are allowed");
  }
  std::uint64_t size = text.size();
  for (std::size_t i = 0; i < safetensors_prefix_bytes; ++i, size >>= 8) {
    shard.head.push_back(static_cast<char>(size & 0xFF));
  }
  shard.head += text;
  return shard;
}

Result<void> check_safetensors_names(std::span<const OutputTensor> tensors) {
  if (std::ranges::find(tensors, "__metadata__", &OutputTensor::name) != tensors.end()) {
    return fail(Errc::name_does_not_fit, "__metadata__");
  }
  const auto twice = find_duplicate(tensors, &OutputTensor::name);
  if (twice) return fail(Errc::tensor_duplicate, *twice);
  return {};
}

std::vector<std::vector<OutputTensor>> distribute_over_shards(std::vector<OutputTensor> tensors,
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

std::string safetensors_shard_path(const std::string& path, std::size_t index, std::size_t count) {
  if (count == 1) return path;
  return stem_of(path) + "-" + five_digits(index + 1) + "-of-" + five_digits(count) +
         std::string(ending);
}

std::string safetensors_index_path(const std::string& path) {
  return stem_of(path) + std::string(ending) + ".index.json";
}

std::string safetensors_index_text(std::span<const SafetensorsShard> shards) {
  std::uint64_t total = 0;
  for (const SafetensorsShard& shard : shards) total += shard.data_bytes;
  std::string text = "{\n  \"metadata\": {\n    \"total_size\": " + std::to_string(total) +
                     "\n  },\n  \"weight_map\": {";
  bool is_first = true;
  for (const SafetensorsShard& shard : shards) {
    const std::string file = json_text(shard.path.substr(shard.path.rfind('/') + 1));
    for (const OutputTensor& tensor : shard.tensors) {
      text += (is_first ? "\n    " : ",\n    ") + json_text(tensor.name) + ": " + file;
      is_first = false;
    }
  }
  return text + "\n  }\n}\n";
}

}  // namespace ingot::formats

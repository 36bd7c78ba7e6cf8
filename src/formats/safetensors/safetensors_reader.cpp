// SPDX-License-Identifier: MIT
// Opens safetensors files as a model.
#include "formats/safetensors/safetensors_reader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_order.hpp"
#include "base/paths.hpp"
#include "formats/foreign/foreign_model.hpp"
#include "formats/foreign/reader.hpp"
#include "formats/safetensors/gguf_metadata_text.hpp"
#include "formats/safetensors/safetensors_dtypes.hpp"
#include "formats/safetensors/safetensors_index.hpp"
#include "io/folder_file.hpp"

namespace ingot::formats {
namespace {

bool is_safetensors(const Probe& probe) {
  if (probe.is_folder || probe.name.ends_with(".safetensors.index.json")) return true;
  if (probe.name.ends_with(".safetensors")) return true;
  // A header of a plausible size that begins with { is nothing else.
  if (probe.first_bytes.size() <= safetensors_prefix_bytes) return false;
  const auto byte_at = [&](std::size_t i) {
    return std::to_integer<unsigned>(probe.first_bytes[i]);
  };
  for (std::size_t i = 4; i < safetensors_prefix_bytes; ++i) {
    if (byte_at(i) != 0) return false;
  }
  return byte_at(safetensors_prefix_bytes) == '{';
}

Result<void> add_tensors(const SafetensorsFile& file, std::size_t position,
                         std::vector<ForeignTensor>& tensors) {
  for (const SafetensorsTensor& stored : file.header.tensors) {
    const SafetensorsDtype& dtype = *find_dtype(stored.dtype);
    if (!dtype.type) {
      return fail(Errc::element_type_unsupported, stored.name, std::string(dtype.name));
    }
    tensors.push_back({.name = stored.name,
                       .type = *dtype.type,
                       .shape = {stored.shape.rbegin(), stored.shape.rend()},
                       .file = position,
                       .file_offset = file.data_offset + stored.begin,
                       .byte_values = dtype.byte_values});
  }
  return {};
}

Result<void> check_index(const WeightMap& weight_map, const std::string& path,
                         const SafetensorsHeader& header) {
  const std::string file_name = path.substr(path.rfind('/') + 1);
  for (const SafetensorsTensor& tensor : header.tensors) {
    const auto entry = weight_map.find(tensor.name);
    if (entry == weight_map.end() || entry->second != file_name) {
      return fail(Errc::index_mismatch, tensor.name,
                  "it is in " + file_name + ", which the index does not say");
    }
  }
  return {};
}

/// The keys of all files; of entries that several have, the first counts.
Result<ModelWriter> make_keys(const std::vector<SafetensorsFile>& files) {
  ModelWriter keys;
  std::set<std::string_view> seen;
  for (const SafetensorsFile& file : files) {
    const auto& entries = file.header.metadata;
    const auto exact = std::ranges::find_if(
        entries, [](const auto& entry) { return entry.first == exact_metadata_key; });
    if (exact != entries.end()) {
      INGOT_TRY_VOID(add_exact_metadata(exact->second, keys));
      return keys;  // the other entries repeat it
    }
    for (const auto& [key, value] : entries) {
      if (seen.insert(key).second) keys.set_string("safetensors." + key, value);
    }
  }
  return keys;
}

Result<OpenedModel> assemble(std::vector<SafetensorsFile> files,
                             std::span<const ForeignTensor> tensors, std::uint64_t file_bytes,
                             const OpenOptions& options) {
  INGOT_TRY(ModelWriter keys, make_keys(files));
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::uint64_t> data_offsets;
  for (SafetensorsFile& file : files) {
    data_offsets.push_back(file.data_offset);
    sources.push_back(std::move(file.source));
  }
  const std::string shards = std::to_string(sources.size());
  INGOT_TRY(Model model, make_foreign_model(std::move(keys), tensors, std::move(sources), options));
  return OpenedModel{.model = std::move(model),
                     .format = FileFormat::safetensors,
                     .file_bytes = file_bytes,
                     .facts = {{"shards", shards}},
                     .data_offsets = std::move(data_offsets)};
}

Result<OpenedModel> open_safetensors(const Store& store, const std::string& name,
                                     const OpenAnyOptions& options) {
  INGOT_TRY(const SafetensorsFiles found, find_safetensors_files(store, name));
  Limits limits = options.gguf.limits;
  std::vector<std::string> paths;
  std::vector<SafetensorsFile> files;
  std::vector<ForeignTensor> tensors;
  std::uint64_t file_bytes = 0;
  for (const std::string& file_name : found.names) {
    const std::string& file_path = paths.emplace_back(store.locate(file_name));
    Result<std::unique_ptr<Source>> source =
        file_name == name ? store.open(name) : io::open_found(store, file_name);
    if (!source) {
      Error error = std::move(source).error();
      if (file_name != name) error.subject = file_path;
      if (&store == &file_system()) error.detail += set_aside_remark(file_path);
      return fail(std::move(error));
    }
    Result<SafetensorsFile> file = open_safetensors_file(*std::move(source), limits);
    if (!file) {
      if (file.error().subject.empty() && found.names.size() > 1) file.error().subject = file_path;
      return fail(std::move(file).error());
    }
    if (!found.weight_map.empty()) {
      INGOT_TRY_VOID(check_index(found.weight_map, file_name, file->header));
    }
    file_bytes += file->source->size_bytes();
    INGOT_TRY_VOID(add_tensors(*file, files.size(), tensors));
    files.push_back(*std::move(file));
  }
  if (!found.weight_map.empty() && found.weight_map.size() != tensors.size()) {
    return fail(Errc::index_mismatch, {},
                std::to_string(found.weight_map.size()) + " tensors in the index, " +
                    std::to_string(tensors.size()) + " in the shards");
  }
  INGOT_TRY(OpenedModel opened, assemble(std::move(files), tensors, file_bytes, options.gguf));
  opened.paths = std::move(paths);
  return opened;
}

}  // namespace

Result<SafetensorsFile> open_safetensors_file(std::unique_ptr<Source> source, Limits& limits) {
  SafetensorsFile file;
  file.source = std::move(source);
  const std::uint64_t file_bytes = file.source->size_bytes();
  if (file_bytes < safetensors_prefix_bytes) return fail(Errc::truncated, file_bytes, {});
  std::array<std::byte, safetensors_prefix_bytes> prefix;
  INGOT_TRY_VOID(file.source->read(0, prefix));
  const auto header_bytes = load_little<std::uint64_t>(prefix.data());
  if (header_bytes > max_safetensors_header_bytes) {
    return fail(Errc::safetensors_header, 0, {},
                std::to_string(header_bytes) + " bytes of header; at most 100000000 are allowed");
  }
  if (header_bytes > file_bytes - safetensors_prefix_bytes) {
    return fail(Errc::truncated, file_bytes, "header");
  }
  if (header_bytes > limits.max_header_bytes) {
    return fail(Errc::limit_exceeded, 0, "header",
                "all files of a set share the limits of one file; " +
                    std::to_string(limits.max_header_bytes) + " bytes are left");
  }
  file.data_offset = safetensors_prefix_bytes + header_bytes;
  std::string text(static_cast<std::size_t>(header_bytes), '\0');
  INGOT_TRY_VOID(
      file.source->read(safetensors_prefix_bytes, std::as_writable_bytes(std::span(text))));
  INGOT_TRY(file.header,
            parse_safetensors_header(text, file_bytes - file.data_offset, limits.max_tensors));
  limits.max_header_bytes -= header_bytes;
  limits.max_tensors -= file.header.tensors.size();
  return file;
}

Result<OpenedModel> open_safetensors_source(std::unique_ptr<Source> source,
                                            const OpenOptions& options) {
  const std::uint64_t file_bytes = source->size_bytes();
  std::vector<SafetensorsFile> files(1);
  Limits limits = options.limits;
  INGOT_TRY(files[0], open_safetensors_file(std::move(source), limits));
  std::vector<ForeignTensor> tensors;
  INGOT_TRY_VOID(add_tensors(files[0], 0, tensors));
  return assemble(std::move(files), tensors, file_bytes, options);
}

constinit const FormatReader safetensors_reader{is_safetensors, open_safetensors};

}  // namespace ingot::formats

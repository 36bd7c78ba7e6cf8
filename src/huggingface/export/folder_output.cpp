// SPDX-License-Identifier: MIT
#include "huggingface/export/folder_output.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "ingot/output_set.hpp"
#include "ingot/quantize.hpp"
#include "io/file_descriptor.hpp"

namespace ingot::huggingface {
namespace {

namespace fs = std::filesystem;

/// The file that readers look for: it appears last.
constexpr std::string_view last_file = "config.json";

/// Files that loaders and the import read if they are there.
constexpr std::array<std::string_view, 12> model_files = {"tokenizer.model",
                                                          "added_tokens.json",
                                                          "vocab.json",
                                                          "vocab.txt",
                                                          "merges.txt",
                                                          "tekken.json",
                                                          "modules.json",
                                                          "chat_template.jinja",
                                                          "chat_template.json",
                                                          "adapter_config.json",
                                                          "special_tokens_map.json",
                                                          "model.safetensors.index.json"};

bool is_model_file(std::string_view name) {
  return name.ends_with(".safetensors") || name.starts_with("pytorch_model") ||
         std::ranges::find(model_files, name) != model_files.end();
}

}  // namespace

MakeTensor change_each_number(const OutputTensor& tensor,
                              std::function<float(float number)> change) {
  return [tensor, change = std::move(change)](const Model& model, unsigned thread_count,
                                              const DataSink& sink) {
    OutputTensor wide = tensor;
    const std::uint64_t elements = tensor.size_bytes / find_type(tensor.type)->block_bytes;
    wide.type = TensorType::f32;
    wide.size_bytes = elements * sizeof(float);
    std::vector<float> numbers;
    std::vector<std::byte> bytes;
    return stream_tensor(model, wide,
                         [&](std::span<const std::byte> piece) -> Result<void> {
                           numbers.resize(piece.size() / sizeof(float));
                           std::memcpy(numbers.data(), piece.data(),
                                       numbers.size() * sizeof(float));
                           std::ranges::transform(numbers, numbers.begin(), change);
                           bytes.resize(numbers.size() * find_type(tensor.type)->block_bytes);
                           INGOT_TRY_VOID(quantize(tensor.type, numbers, numbers.size(), bytes));
                           return sink(bytes);
                         },
                         {.thread_count = thread_count});
  };
}

FolderOutput::FolderOutput(const Model& model, FolderContent content,
                           const FolderExportOptions& options)
    : model_(model),
      content_(std::move(content)),
      replace_(options.replace),
      thread_count_(options.thread_count) {
  warnings_ = content_.lost;
  remarks_ = content_.remarks;
}

Result<void> FolderOutput::choose_folder(const std::string& folder) {
  folder_ = folder;
  for (const formats::SafetensorsShard& shard : content_.shards) {
    outputs_.push_back(shard.path);
    total_bytes_ += shard.data_bytes;
  }
  for (const auto& [name, text] : content_.texts) {
    if (name != last_file) outputs_.push_back(folder_ + "/" + name);
  }
  outputs_.push_back(folder_ + "/" + std::string(last_file));
  return check_folder();
}

Result<void> FolderOutput::check_folder() const {
  std::error_code error;
  const fs::file_status status = fs::status(folder_, error);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status)) {
    return fail(Errc::invalid_argument, folder_, "it is a file; a folder is written");
  }
  if (!replace_ && !fs::is_empty(folder_, error)) return fail(Errc::already_exists, folder_);
  return check_others();
}

/// Another process may put such a file there until this one's get their names.
Result<void> FolderOutput::check_others() const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().generic_string();
    const bool is_output = std::ranges::find(outputs_, folder_ + "/" + name) != outputs_.end();
    if (is_output || !is_model_file(name)) continue;
    return fail(Errc::invalid_argument, folder_ + "/" + name,
                "loaders would take this file for a part of the model; remove it first");
  }
  if (error) return io::fail_with_errno(error.value(), folder_, "list it");
  return {};
}

Result<void> FolderOutput::run(const WriteProgress& progress) const {
  OutputSet outputs(replace_);
  for (const std::string& output : outputs_) {
    INGOT_TRY_VOID(outputs.make_folder(fs::path(output).parent_path().generic_string()));
  }
  return write(outputs, progress);
}

Result<void> FolderOutput::write(OutputSet& outputs, const WriteProgress& progress) const {
  std::uint64_t before = 0;
  for (const formats::SafetensorsShard& shard : content_.shards) {
    INGOT_TRY(OutputFile* const file,
              outputs.add(shard.path, shard.head.size() + shard.data_bytes));
    INGOT_TRY_VOID(file->write(std::as_bytes(std::span(shard.head))));
    INGOT_TRY_VOID(write_shard(
        shard, *file, [&](std::uint64_t done) { return !progress || progress(before + done); }));
    before += shard.data_bytes;
  }
  for (const auto& [name, text] : content_.texts) {
    if (name != last_file) INGOT_TRY_VOID(outputs.add_text(folder_ + "/" + name, text));
  }
  const std::string last(last_file);
  INGOT_TRY_VOID(outputs.add_text(folder_ + "/" + last, content_.texts.at(last)));
  return outputs.commit(KeyFile::last, [this] { return check_others(); });
}

/// Writes a shard. Tensors that are not made are copied in long runs, so that reading
/// runs ahead.
Result<void> FolderOutput::write_shard(const formats::SafetensorsShard& shard, OutputFile& file,
                                       const WriteProgress& progress) const {
  const std::span<const OutputTensor> tensors(shard.tensors);
  std::uint64_t before = 0;
  for (std::size_t begin = 0; begin < tensors.size();) {
    std::size_t end = begin;
    std::uint64_t bytes = 0;
    const auto make = [&] { return content_.made.find(tensors[end].name); };
    while (end < tensors.size() && make() == content_.made.end()) {
      bytes += tensors[end++].size_bytes;
    }
    if (end > begin) {
      formats::ShardSink sink(file);
      INGOT_TRY_VOID(stream_tensors(model_, tensors.subspan(begin, end - begin), sink,
                                    {.thread_count = thread_count_},
                                    [&](std::uint64_t done) { return progress(before + done); }));
    } else {
      const DataSink write = [&](std::span<const std::byte> piece) { return file.write(piece); };
      INGOT_TRY_VOID(make()->second(model_, thread_count_, write));
      bytes = tensors[end++].size_bytes;
    }
    before += bytes;
    begin = end;
  }
  return {};
}

}  // namespace ingot::huggingface

// SPDX-License-Identifier: MIT
// Model folders that the reference converter has imported: the same keys, tensors and bytes.
#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "ingot/import.hpp"
#include "ingot/model.hpp"
#include "support/expect_error.hpp"
#include "support/golden_folders.hpp"
#include "support/sha256.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using nlohmann::json;

template <class T>
void append(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The SHA-256 of a value as it is stored: its type, then the value.
std::string digest_of(const Value& value) {
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(value.type()));
  if (value.is_array()) {
    append(bytes, static_cast<std::uint32_t>(value.as_array().element_type()));
    append(bytes, value.as_array().size());
  } else if (value.type() == ValueType::string) {
    append(bytes, std::uint64_t{value.bytes().size()});
  }
  bytes += as_text(value.bytes());
  return sha256_of(std::as_bytes(std::span(bytes)));
}

std::vector<std::string> lines_of_keys(const Model& model) {
  std::vector<std::string> lines;
  for (const KeyValue& entry : model.metadata()) {
    lines.push_back(std::string(entry.key) + " " + digest_of(entry.value));
  }
  return lines;
}

std::vector<std::string> lines_of_tensors(const Model& model) {
  std::vector<std::string> lines;
  for (const TensorInfo& tensor : model.tensors()) {
    std::ostringstream line;
    line << tensor.name << " " << find_type(tensor.type)->name;
    for (const std::uint64_t size : tensor.shape) line << " " << size;
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.size_bytes));
    EXPECT_THAT(model.read(tensor, 0, bytes), Succeeds());
    line << " " << sha256_of(bytes);
    lines.push_back(line.str());
  }
  return lines;
}

std::vector<std::string> expected_keys(const json& output) {
  std::vector<std::string> lines;
  for (const json& key : output["keys"]) {
    lines.push_back(key["key"].get<std::string>() + " " + key["sha256"].get<std::string>());
  }
  return lines;
}

std::vector<std::string> expected_tensors(const json& output) {
  std::vector<std::string> lines;
  for (const json& tensor : output["tensors"]) {
    std::ostringstream line;
    line << tensor["name"].get<std::string>() << " " << tensor["type"].get<std::string>();
    for (const json& size : tensor["dims"]) line << " " << size;
    line << " " << tensor["sha256"].get<std::string>();
    lines.push_back(line.str());
  }
  return lines;
}

/// The options of an output by its variant, the part of its name before the type; nothing for one
/// that is made of other parts of the folder.
std::optional<ImportOptions> options_of(std::string_view variant) {
  ImportOptions options{.as_reference = true};
  if (variant == "mtp") {
    options.next_layers_only = true;
  } else if (variant == "no-mtp") {
    options.without_next_layers = true;
  } else if (variant == "fuse") {
    options.fuse_experts = true;
  } else if (variant == "fp8-as-q8") {
    options.fp8_as_q8_0 = true;
  } else if (!variant.empty()) {
    return std::nullopt;
  }
  return options;
}

class ImportGolden : public SharedFilesTest {
 protected:
  void expect_output(const GoldenFolder& golden, const std::string& key, const json& output) {
    SCOPED_TRACE(golden.folder.string() + " as " + key);
    const std::size_t colon = key.find(':');
    const std::string type = colon == key.npos ? key : key.substr(colon + 1);
    auto options = options_of(colon == key.npos ? "" : key.substr(0, colon));
    if (!options) return;
    const json& expected = golden.expected;
    if (type != "auto") options->type = find_type(std::string_view(type))->type;
    if (expected["pre"].is_string()) options->pre = expected["pre"].get<std::string>();
    if (expected.contains("target")) {
      options->target_folder =
          (golden.folder.parent_path() / expected["target"].get<std::string>()).string();
    }
    const auto import = plan_import(file_system(), golden.folder, *options);
    expect_import(import, output);
    if (import && output.contains("file_name")) {
      EXPECT_EQ((*import)->file_name(), output["file_name"].get<std::string>());
    }
  }

  void expect_import(const Result<std::unique_ptr<Import>>& import, const json& output) {
    ASSERT_THAT(import, Succeeds());
    const std::string path = files_.path("out.gguf");
    ASSERT_THAT((*import)->write(path, true), Succeeds());
    const auto model = Model::open(path);
    ASSERT_THAT(model, Succeeds());
    EXPECT_EQ(lines_of_keys(*model), expected_keys(output));
    EXPECT_EQ(lines_of_tensors(*model), expected_tensors(output));
    EXPECT_EQ(sha256_of(read_whole(path)), output["file_sha256"].get<std::string>());
  }

  TemporaryFolder files_;
};

TEST_F(ImportGolden, FoldersBecomeTheSameBytes) {
  require_files(golden_folder_cases());
  if (IsSkipped()) return;
  for (const GoldenFolder& golden : golden_folders("")) {
    for (const auto& [type, output] : golden.expected["outputs"].items()) {
      expect_output(golden, type, output);
    }
  }
}

TEST_F(ImportGolden, FoldersOfLaterClassesBecomeTheSameBytes) {
  require_files(later_golden_folder_cases());
  if (IsSkipped()) return;
  for (const GoldenFolder& golden : golden_folders("", later_golden_folder_cases())) {
    for (const auto& [type, output] : golden.expected["outputs"].items()) {
      expect_output(golden, type, output);
    }
  }
}

TEST_F(ImportGolden, AdaptersBecomeTheSameBytes) {
  require_files(golden_folder_cases());
  if (IsSkipped()) return;
  for (const GoldenFolder& golden : golden_folders("lora")) {
    const GoldenFolder base =
        read_golden_folder(golden_folder_cases() / golden.expected["base_case"].get<std::string>());
    for (const auto& [type, output] : golden.expected["outputs"].items()) {
      SCOPED_TRACE(golden.name + " as " + type);
      ImportOptions options;
      if (type != "auto") options.type = find_type(std::string_view(type))->type;
      expect_import(
          plan_adapter_import(file_system(), golden.folder, file_system(), base.folder, options),
          output);
    }
  }
}

}  // namespace
}  // namespace ingot::test

// SPDX-License-Identifier: MIT
// Model folders that the reference converter has imported: the same keys, tensors and bytes.
#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "ingot/check.hpp"
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

/// Cases whose projectors are not the same bytes, and the reason.
const std::map<std::string, std::string, std::less<>>& projector_cases_to_come() {
  static const std::map<std::string, std::string, std::less<>> cases = {
      {"qwen25omni", "sines of positions, whose last bit depends on a library"},
  };
  return cases;
}

/// The options of an output, whose key is its type, or a variant, a colon and the type; nothing for
/// a variant that is made of other parts of the folder.
std::optional<ImportOptions> options_of(const GoldenFolder& golden, const std::string& key) {
  const std::size_t colon = key.find(':');
  const std::string variant = colon == key.npos ? "" : key.substr(0, colon);
  const std::string type = colon == key.npos ? key : key.substr(colon + 1);
  const std::map<std::string, bool ImportOptions::*> switches = {
      {"mtp", &ImportOptions::next_layers_only}, {"no-mtp", &ImportOptions::without_next_layers},
      {"fuse", &ImportOptions::fuse_experts},    {"fp8-as-q8", &ImportOptions::fp8_as_q8_0},
      {"dense", &ImportOptions::dense_modules},  {"mmproj", &ImportOptions::mmproj}};
  ImportOptions options{.as_reference = true};
  if (!variant.empty()) {
    const auto found = switches.find(variant);
    if (found == switches.end()) return std::nullopt;
    options.*found->second = true;
  }
  if (type != "auto") options.type = find_type(std::string_view(type))->type;
  const json& expected = golden.expected;
  if (expected["pre"].is_string()) options.pre = expected["pre"].get<std::string>();
  if (expected.contains("target")) {
    options.target_folder =
        (golden.folder.parent_path() / expected["target"].get<std::string>()).string();
  }
  return options;
}

class ImportGolden : public SharedFilesTest {
 protected:
  /// Returns whether the output is one that options make.
  bool expect_output(const GoldenFolder& golden, const std::string& key, const json& output) {
    SCOPED_TRACE(golden.folder.string() + " as " + key);
    const auto options = options_of(golden, key);
    if (!options) return false;
    const auto import = plan_import(file_system(), golden.folder, *options);
    if (options->mmproj && projector_cases_to_come().contains(golden.name)) {
      EXPECT_FALSE(makes_output(import, output)) << golden.name << " holds; take it off";
      return true;
    }
    expect_import(import, output);
    if (options->mmproj) expect_no_findings(golden.name);
    // The reference tells a draft by its name for some classes only.
    if (import && output.contains("file_name") && !options->next_layers_only) {
      EXPECT_EQ((*import)->file_name(), output["file_name"].get<std::string>());
    }
    return true;
  }

  /// Whether an output is the reference's, to the byte.
  bool makes_output(const Result<std::unique_ptr<Import>>& import, const json& output) {
    const std::string path = files_.path("out.gguf");
    return import && (*import)->write(path, true) &&
           sha256_of(read_whole(path)) == output["file_sha256"].get<std::string>();
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

  /// What the reference made is whole, but for two files that the engine refuses.
  void expect_no_findings(const std::string& name) {
    std::string found;
    const auto sink = [&](const Finding& finding) {
      found += std::string(finding.rule->name) + ": " + finding.message + "; ";
    };
    EXPECT_THAT(check_file(files_.path("out.gguf"), {}, {.with_data = false}, sink), Succeeds());
    if (name == "granite-speech")
      EXPECT_THAT(found, testing::StartsWith("tensor_missing: missing: a.proj_query"));
    else
      EXPECT_EQ(found, name == "mistral3-vision"
                           ? "tensor_missing: missing: v.token_embd.img_break; "
                           : "");
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
  std::map<std::string, int> counts;  // by variant
  for (const GoldenFolder& golden : golden_folders("", later_golden_folder_cases())) {
    for (const auto& [key, output] : golden.expected["outputs"].items()) {
      if (expect_output(golden, key, output)) ++counts[key.substr(0, key.find(':') + 1)];
    }
  }
  EXPECT_EQ(counts["mmproj:"], 26);
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

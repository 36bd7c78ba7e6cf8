// SPDX-License-Identifier: MIT
// Model folders of the reference: imported, written as a folder, and imported again to the same
// bytes.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "ingot/folder_export.hpp"
#include "ingot/import.hpp"
#include "support/expect_error.hpp"
#include "support/golden_folders.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using nlohmann::json;

class ExportGolden : public SharedFilesTest {
 protected:
  Result<void> import(const std::string& folder, const json& expected, TensorType type,
                      const std::string& path, bool states_pre) {
    ImportOptions options;
    options.type = type;
    if (states_pre && expected["pre"].is_string()) options.pre = expected["pre"].get<std::string>();
    auto import = plan_import(file_system(), folder, options);
    if (!import) return fail(import.error());
    return (*import)->write(path, true);
  }

  void expect_return(const std::filesystem::path& folder, const json& expected, TensorType type) {
    const TemporaryFolder files;
    const std::string before = files.path("before.gguf");
    const std::string after = files.path("after.gguf");
    ASSERT_THAT(import(folder, expected, type, before, true), Succeeds());
    const auto model = Model::open(before);
    ASSERT_THAT(model, Succeeds());
    const auto conversion = plan_folder_export(*model, files.path("back"), {.is_strict = true});
    if (!conversion && conversion.error().code == Errc::architecture_unsupported) return;
    ++architectures_[std::string(*model->get<std::string_view>("general.architecture"))];
    ASSERT_THAT(conversion, Succeeds());
    ASSERT_THAT((*conversion)->run(), Succeeds());
    ASSERT_THAT(import(files.path("back"), expected, type, after, false), Succeeds());
    EXPECT_EQ(read_whole(after), read_whole(before));
  }

  std::map<std::string, int> architectures_;
};

TEST_F(ExportGolden, FoldersComeBackToTheSameBytes) {
  require_files(golden_folder_cases());
  if (IsSkipped()) return;
  for (const GoldenFolder& golden : golden_folders("")) {
    for (const TensorType type : {TensorType::f32, TensorType::f16, TensorType::bf16,
                                  TensorType::q8_0, TensorType::tq1_0}) {
      SCOPED_TRACE(golden.name + " as " + std::string(find_type(type)->name));
      expect_return(golden.folder, golden.expected, type);
    }
  }
  for (const char* architecture : {"llama", "qwen2", "qwen3", "qwen3moe", "gemma2", "gemma3",
                                   "phi3", "smollm3", "olmo2", "gpt-oss"}) {
    EXPECT_GT(architectures_[architecture], 0) << architecture;
  }
}

TEST_F(ExportGolden, FoldersOfLaterClassesComeBackToTheSameBytes) {
  require_files(later_golden_folder_cases());
  if (IsSkipped()) return;
  for (const char* name :
       {"ernie4.5",   "ernie4.5-moe",  "lfm2",         "minimax-m2",     "phimoe",  "mamba2",
        "falcon-h1",  "granitehybrid", "nemotron-h",   "nemotron-h-moe", "kimi-k2", "deepseek32",
        "llama4",     "qwen3next",     "qwen35",       "qwen35moe",      "gemma3n", "gemma4",
        "gemma4-moe", "glm4moe",       "hunyuan-dense"}) {
    const GoldenFolder golden = read_golden_folder(later_golden_folder_cases() / name);
    for (const TensorType type : {TensorType::f32, TensorType::bf16}) {
      SCOPED_TRACE(golden.name + " as " + std::string(find_type(type)->name));
      expect_return(golden.folder, golden.expected, type);
    }
  }
  EXPECT_EQ(architectures_.size(), 20u);  // of each case, none was refused
}

}  // namespace
}  // namespace ingot::test

// SPDX-License-Identifier: MIT
// Files of other programs, and hostile ones, from the shared folder.

#include "support/shared_files.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <string>

#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/summary.hpp"
#include "support/expect_error.hpp"
#include "support/model_checks.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

/// The verdicts of the manifest, `"file": { ... "expect": "verdict" ... }`, by file.
std::map<std::string, std::string> read_verdicts(const fs::path& manifest) {
  const auto text_in_quotes = [](const std::string& line, std::size_t from) {
    const std::size_t begin = line.find('"', from) + 1;
    return line.substr(begin, line.find('"', begin) - begin);
  };
  std::map<std::string, std::string> verdicts;
  std::ifstream stream(manifest);
  std::string file;
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with("\": {")) file = text_in_quotes(line, 0);
    if (const auto at = line.find("\"expect\": "); at != std::string::npos) {
      verdicts[file] = text_in_quotes(line, at + std::strlen("\"expect\": "));
    }
  }
  return verdicts;
}

/// Whether a header that was written again is what stands in the file, apart from quirks.
bool is_round_trip(const Model& model, const Bytes& bytes) {
  const ModelFile& file = model.files()[0];
  const auto header = serialise_header(model);
  // A file of version 1 may hold values that came only with version 2.
  if (!header) return file.version == 1 && header.error().code == Errc::version_cannot_hold;
  const bool has_quirk = file.has_old_magic || !model.notices().empty();
  return has_quirk || std::equal(bytes.data(), bytes.data() + file.header_bytes, header->data());
}

class HostileFiles : public SharedFilesTest {
 protected:
  const fs::path folder_ = shared_folder() / "hostile" / "files";
};

TEST_F(HostileFiles, GetTheVerdictOfTheManifestFromEverySource) {
  require_files(folder_);
  if (HasFatalFailure() || IsSkipped()) return;
  const auto verdicts = read_verdicts(folder_ / "manifest.json");
  ASSERT_EQ(verdicts.size(), files_in(folder_, ".gguf").size());
  for (const auto& [name, verdict] : verdicts) {
    SCOPED_TRACE(name);
    const std::string path = folder_ / name;
    const Bytes bytes = read_whole(path);
    const auto in_memory = Model::open_memory(bytes);
    EXPECT_EQ(in_memory.has_value(), verdict != "reject")
        << (in_memory ? "it opens" : in_memory.error().message());
    for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
      const auto model = Model::open(path, {.access = access});
      ASSERT_EQ(model.has_value(), in_memory.has_value());
      if (model) {
        EXPECT_EQ(find_inconsistency(*model), "");
        EXPECT_EQ(find_difference(*model, *in_memory), "");
      } else {
        EXPECT_EQ(model.error().message(), in_memory.error().message());
      }
    }
    if (in_memory && in_memory->files()[0].alignment <= 65536) {
      EXPECT_TRUE(is_round_trip(*in_memory, bytes));
    }
  }
}

TEST_F(HostileFiles, OpenedLenientlyAreConsistentOrRefused) {
  require_files(folder_);
  if (HasFatalFailure() || IsSkipped()) return;
  for (const fs::path& path : files_in(folder_, ".gguf")) {
    SCOPED_TRACE(path.filename());
    const auto model = Model::open(path, {.is_lenient = true});
    if (model) {
      EXPECT_EQ(find_inconsistency(*model), "");
    } else {
      EXPECT_EQ(category_of(model.error().code), ErrorCategory::input) << model.error().message();
    }
  }
}

/// The facts about the real files from other readers.
struct RealFile {
  const char* name;
  std::size_t keys;
  std::uint64_t tokens;
  std::uint64_t merges;
  const char* architecture;
};
constexpr RealFile real_files[] = {
    {"ggml-vocab-baichuan.gguf", 18, 64000, 0, "baichuan"},
    {"ggml-vocab-bert-bge.gguf", 20, 30522, 0, "bert"},
    {"ggml-vocab-deepseek-llm.gguf", 23, 102400, 99757, "llama"},
    {"ggml-vocab-falcon.gguf", 18, 65024, 64784, "falcon"},
    {"ggml-vocab-gpt-2.gguf", 16, 50257, 50000, "gpt2"},
    {"ggml-vocab-llama-spm.gguf", 22, 32000, 0, "llama"},
    {"ggml-vocab-phi-3.gguf", 26, 32064, 0, "phi3"},
    {"ggml-vocab-starcoder.gguf", 19, 49152, 48872, "starcoder2"},
};

class RealModels : public SharedFilesTest {
 protected:
  const fs::path folder_ = shared_folder() / "models";
};

TEST_F(RealModels, OpenAndAreWrittenByteForByte) {
  require_files(folder_);
  if (HasFatalFailure() || IsSkipped()) return;
  const auto files = files_in(folder_, ".gguf");
  ASSERT_FALSE(files.empty());
  for (const fs::path& path : files) {
    SCOPED_TRACE(path.filename());
    const auto model = Model::open(path);
    ASSERT_THAT(model, Succeeds());
    EXPECT_EQ(find_inconsistency(*model), "");
    EXPECT_TRUE(model->notices().empty());
    const Bytes bytes = read_whole(path);
    const auto header = serialise_header(*model);
    ASSERT_THAT(header, Succeeds());
    EXPECT_TRUE(*header == bytes);  // they have no tensors, so this is all
  }
}

TEST_F(RealModels, HoldWhatOtherReadersFind) {
  require_files(folder_);
  if (HasFatalFailure() || IsSkipped()) return;
  for (const RealFile& expected : real_files) {
    SCOPED_TRACE(expected.name);
    const auto model = Model::open(folder_ / expected.name);
    ASSERT_THAT(model, Succeeds());
    const Summary summary = summarize(*model);
    EXPECT_EQ(model->metadata().size(), expected.keys);
    EXPECT_EQ(summary.token_count.value_or(0), expected.tokens);
    EXPECT_EQ(summary.merge_count.value_or(0), expected.merges);
    EXPECT_EQ(summary.architecture.value_or(""), expected.architecture);
    EXPECT_EQ(model->files()[0].version, 3u);
  }
}

}  // namespace
}  // namespace ingot::test

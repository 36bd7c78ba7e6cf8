// SPDX-License-Identifier: MIT
// Files that do not open, and why: what they are instead, and what is missing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingot/check.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using testing::HasSubstr;

struct Checked {
  CheckSummary summary;
  std::vector<Finding> findings;
};

Checked check(std::span<const std::byte> bytes) {
  const TemporaryFolder folder;
  Checked checked;
  const auto summary =
      check_file(folder.write("m.gguf", bytes), {}, {.with_data = true},
                 [&](const Finding& finding) { checked.findings.push_back(finding); });
  EXPECT_THAT(summary, Succeeds());
  if (summary) checked.summary = *summary;
  return checked;
}

Checked check(std::string_view text) { return check(std::as_bytes(std::span(text))); }

Bytes three_tensors() {
  GgufBuilder file;
  file.pair("general.architecture", "mpt");
  file.tensor("a", {1024}, TensorType::f32, 0);
  file.tensor("b", {1024}, TensorType::f32, 8192);
  file.tensor("c", {1024}, TensorType::f32, 4096);
  return file.pad_to(32).data(3 * 4096).bytes();
}

TEST(CheckFile, SaysWhatIsMissingOfATruncatedFile) {
  Bytes bytes = three_tensors();
  bytes.resize(bytes.size() - 4097);
  const Checked checked = check(bytes);
  ASSERT_EQ(checked.findings.size(), 1u);
  const Finding& finding = checked.findings[0];
  EXPECT_EQ(finding.rule->name, "tensor_outside_file");
  EXPECT_THAT(finding.message, HasSubstr("cut off at "));
  EXPECT_THAT(finding.message, HasSubstr(" incomplete, first c"));
  EXPECT_THAT(finding.message, HasSubstr("2 of 3"));
  EXPECT_TRUE(checked.summary.is_refused);
  EXPECT_EQ(checked.summary.errors, 1u);
}

TEST(CheckFile, SaysThatTheHeaderIsCut) {
  Bytes bytes = three_tensors();
  bytes.resize(45);
  const Checked checked = check(bytes);
  ASSERT_EQ(checked.findings.size(), 1u);
  EXPECT_TRUE(checked.findings[0].rule->is_refusal);
}

TEST(CheckFile, AnOffsetThatNoFileHasIsNoTruncation) {
  GgufBuilder file;
  file.tensor("t", {8}, TensorType::f32, std::uint64_t{1} << 63).pad_to(32).data(32);
  const Checked checked = check(file.bytes());
  ASSERT_EQ(checked.findings.size(), 1u);
  EXPECT_EQ(checked.findings[0].rule->name, "tensor_outside_file");
  EXPECT_THAT(checked.findings[0].message, testing::Not(HasSubstr("cut off at ")));
}

TEST(CheckFile, ChecksWhatOnlyAStrictReaderRefuses) {
  GgufBuilder file;
  file.pair("Not.Snake", true).tensor(std::string(65, 'n'), {8}, TensorType::f32, 0);
  const Checked checked = check(file.pad_to(32).data(32).bytes());
  ASSERT_GE(checked.findings.size(), 2u);
  EXPECT_EQ(checked.findings[0].rule->name, "tensor_name_too_long");
  EXPECT_THAT(checked.findings[0].message, HasSubstr("--lenient"));
  EXPECT_EQ(checked.findings[1].rule->name, "architecture_missing");
  EXPECT_TRUE(checked.summary.is_refused);
}

TEST(CheckFile, AFileThatIsNotThereIsAFailureOfTheSystem) {
  EXPECT_THAT(check_file("/nonexistent/m.gguf", {}, {}, [](const Finding&) { FAIL(); }),
              FailsWith(Errc::io_error));
}

TEST(CheckFile, AFolderIsRefused) {
  const TemporaryFolder folder;
  std::vector<Finding> findings;
  const auto summary =
      check_file(folder.path(""), {}, {}, [&](const Finding& f) { findings.push_back(f); });
  ASSERT_THAT(summary, Succeeds());
  EXPECT_TRUE(summary->is_refused);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule->name, "not_a_regular_file");
}

struct Impostor {
  std::string_view content;
  std::string_view said;
};

using namespace std::string_view_literals;

TEST(CheckFile, SaysWhatAFileIsInstead) {
  const Impostor impostors[] = {
      {"\n <!DOCTYPE HTML><html>"sv, "an HTML page"},
      {"<HTML lang=\"en\">"sv, "an HTML page"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0"sv, "a Git LFS pointer"},
      {"PK\x03\x04\x14\0"sv, "a zip archive"},
      {"\x08\0\0\0\0\0\0\0{\"a\":1}  "sv, "a safetensors file"},
      {"{\"error\": \"not found\"}"sv, "a JSON document"},
      {"{{ .Prompt }}"sv, "a template"},
      {"Entry not found"sv, "no such file"},
      {"\x1F\x8B\x08\0"sv, "a gzip archive"},
      {"\x80\x02}q\0"sv, "a Python pickle"},
      {"\x80\x05\x95\0"sv, "a Python pickle"},
      {"tjgg\x03\0\0\0"sv, "a GGJT file"},
      {"fmgg\x01\0\0\0"sv, "a GGMF file"},
      {"lmgg\0\0\0\0"sv, "a GGML file"},
      {"ggml\0\0\0\0"sv, "a GGML file"},
      {"BUMPWGT4"sv, "a bump file"},
      {"<?xml version=\"1.0\"?><Error>"sv, "an XML document"},
      {"\0\0\0\0\0\0\0\0\0\0\0\0"sv, "zeros"},
      {"%PDF-1.7"sv, "a PDF document"},
  };
  for (const Impostor& impostor : impostors) {
    const Checked checked = check(impostor.content);
    ASSERT_EQ(checked.findings.size(), 1u) << impostor.said;
    EXPECT_THAT(checked.findings[0].message, HasSubstr(std::string(impostor.said)));
    EXPECT_EQ(checked.findings[0].rule->name, "not_gguf");
  }
  const Checked empty = check(""sv);
  ASSERT_EQ(empty.findings.size(), 1u);
  EXPECT_THAT(empty.findings[0].message, HasSubstr("the file is empty"));
  EXPECT_EQ(identify_content({}, 100), "");
}

TEST(CheckFile, TellsModelsFromOtherFiles) {
  const auto is_model = [](std::string_view content) {
    return is_model_content(std::as_bytes(std::span(content)), content.size());
  };
  for (const std::string_view content :
       {"GGUF\x03\0\0\0"sv, "FUGG"sv, "tjgg"sv, "PK\x03\x04"sv, "\x80\x04."sv, "BUMPWGT5"sv,
        "\x08\0\0\0\0\0\0\0{\"a\":1}  "sv, "version https://git-lfs.github.com"sv}) {
    EXPECT_TRUE(is_model(content)) << content;
  }
  for (const std::string_view content : {"{\"a\": 1}"sv, "# Title"sv, "\x89PNG"sv, ""sv}) {
    EXPECT_FALSE(is_model(content)) << content;
  }
}

}  // namespace
}  // namespace ingot::test

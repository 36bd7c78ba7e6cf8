// SPDX-License-Identifier: MIT
// Which file of a repository is meant, and what hubs and registries answer.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "remote/places/json_answer.hpp"
#include "remote/places/place.hpp"
#include "support/expect_error.hpp"

namespace ingot::remote::test {
namespace {

using ingot::test::FailsWith;
using testing::HasSubstr;

std::string chosen(const std::vector<std::string>& names, std::string_view reference) {
  std::vector<RemoteFile> files;
  for (const std::string& name : names) files.push_back({name, {}, {}, {}});
  const Result<std::string> name = choose_file(files, *parse_reference(reference));
  return name ? *name : name.error().message();
}

TEST(ChooseFile, TakesTheUsualQuantizationIfNoneIsNamed) {
  EXPECT_EQ(chosen({"README.md", "a-F16.gguf", "a-Q8_0.gguf", "a-Q4_K_M.gguf"}, "hf:o/r"),
            "a-Q4_K_M.gguf");
  EXPECT_EQ(chosen({"a-F16.gguf", "a-Q8_0.gguf"}, "hf:o/r"), "a-Q8_0.gguf");
  EXPECT_EQ(chosen({"mmproj-a.gguf", "imatrix.gguf", "a-F16.gguf"}, "hf:o/r"), "a-F16.gguf");
}

TEST(ChooseFile, ComparesWholeWordsInAnyCase) {
  const std::vector<std::string> names = {"a-IQ4_XS.gguf", "a-Q4_XS.gguf", "a.q5_k_m.gguf"};
  EXPECT_EQ(chosen(names, "hf:o/r:Q4_XS"), "a-Q4_XS.gguf");
  EXPECT_EQ(chosen(names, "hf:o/r:q5_K_M"), "a.q5_k_m.gguf");
  EXPECT_THAT(chosen(names, "hf:o/r:Q2_K"), HasSubstr("hf:o/r/a-IQ4_XS.gguf"));
}

TEST(ChooseFile, TakesTheFirstShard) {
  EXPECT_EQ(chosen({"Q8_0/a-00002-of-00002.gguf", "Q8_0/a-00001-of-00002.gguf"}, "hf:o/r:Q8_0"),
            "Q8_0/a-00001-of-00002.gguf");
}

TEST(ChooseFile, ListsFilesInSeveralFolders) {
  EXPECT_THAT(chosen({"a/m-Q8_0.gguf", "b/m-Q8_0.gguf"}, "hf:o/r:Q8_0"),
              HasSubstr("hf:o/r/a/m-Q8_0.gguf, hf:o/r/b/m-Q8_0.gguf"));
}

TEST(ChooseFile, SaysWhatThereIsInstead) {
  EXPECT_THAT(chosen({"model.safetensors"}, "hf:o/r"), HasSubstr("only safetensors"));
  EXPECT_THAT(chosen({"README.md"}, "hf:o/r"), HasSubstr("no .gguf file"));
}

TEST(Refs, NameTheCommit) {
  const std::string a(40, 'a');
  const std::string b(40, 'b');
  const std::string refs = R"({"branches":[{"name":"dev","targetCommit":")" + a +
                           R"("},{"name":"main","targetCommit":")" + b + R"("}],"tags":[]})";
  EXPECT_EQ(read_refs(refs, "", ""), b);
  EXPECT_EQ(read_refs(refs, "", "dev"), a);
  EXPECT_EQ(read_refs(refs, "", "refs/pr/1"), "refs/pr/1");
  EXPECT_THAT(read_refs("{}", "", ""), FailsWith(Errc::answer_invalid));
  EXPECT_THAT(read_refs("[", "", ""), FailsWith(Errc::answer_invalid));
}

TEST(TreePage, LeavesOutWhatIsNoSafePath) {
  const std::string digest(64, '1');
  std::vector<RemoteFile> files;
  const auto read = read_tree_page(
      R"([{"type":"file","path":"a.gguf","size":5,"lfs":{"oid":")" + digest +
          R"(","size":7}},{"type":"file","path":"../x"},{"type":"directory","path":"d"},7])",
      "", files);
  ASSERT_TRUE(read);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "a.gguf");
  EXPECT_EQ(files[0].size_bytes, 7u);
  EXPECT_EQ(files[0].sha256, digest);
  EXPECT_THAT(read_tree_page("{}", "", files), FailsWith(Errc::answer_invalid));
}

TEST(RepositoriesPage, LeavesOutWhatIsNoRepository) {
  std::vector<std::string> references;
  ASSERT_TRUE(read_repositories_page(
      R"([{"id":"org/one"},{"id":"../x"},{"id":"org"},{"id":"org/a/b"},{"name":"org/no"},7])", "",
      references));
  EXPECT_EQ(references, std::vector<std::string>{"hf:org/one"});
  EXPECT_THAT(read_repositories_page("{}", "", references), FailsWith(Errc::answer_invalid));
}

TEST(Manifest, NamesTheBlobOfTheModel) {
  const std::string digest(64, 'f');
  const std::string layer =
      R"({"layers":[{"mediaType":"application/vnd.ollama.image.template","digest":"x"},)"
      R"({"mediaType":"application/vnd.ollama.image.model","size":9,"digest":"sha256:)";
  const Result<RemoteFile> file = read_manifest(layer + digest + "\"}]}", "");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->sha256, digest);
  EXPECT_EQ(file->size_bytes, 9u);
  EXPECT_THAT(read_manifest(layer + "../../etc\"}]}", ""), FailsWith(Errc::answer_invalid));
  EXPECT_THAT(read_manifest("{}", ""), FailsWith(Errc::answer_invalid));
}

TEST(JsonAnswer, IsBounded) {
  EXPECT_TRUE(parse_json_answer(R"({"a":"[[[[[[[[[[[[[[[[[[[["})", ""));
  EXPECT_THAT(parse_json_answer(std::string(100, '['), ""), FailsWith(Errc::answer_invalid));
  EXPECT_THAT(parse_json_answer(std::string(max_json_bytes + 1, ' '), ""),
              FailsWith(Errc::answer_invalid));
}

}  // namespace
}  // namespace ingot::remote::test

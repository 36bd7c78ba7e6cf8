// SPDX-License-Identifier: MIT
#include "ingot/digest_manifest.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {
namespace {

using enum DigestAlgorithm;

const std::string sha256_digits(64, 'a');
const std::string sha1_digits(40, 'b');
const std::string xxh64_digits(16, 'c');
const std::string uuid_text = "01234567-89ab-5def-8123-456789abcdef";

TEST(DigestManifest, ReadsItsOwnForm) {
  const auto entries = parse_digest_manifest(
      R"({"file": "m.gguf", "digests": {"sha256": ")" + sha256_digits +
      R"(", "md5": 5}, "uuid": ")" + uuid_text +
      R"(", "tensors": [{"name": "a\tb", "digests": {"xxh64": "CCCCCCCCCCCCCCCC"}},)" +
      R"({"name": "c", "digests": null}], "later": {}})");
  ASSERT_THAT(entries, Succeeds());
  ASSERT_EQ(entries->size(), 1u);
  const ManifestEntry& entry = entries->front();
  EXPECT_EQ(entry.file, "m.gguf");
  EXPECT_EQ(entry.digests[sha256], sha256_digits);
  EXPECT_EQ(entry.uuid, uuid_text);
  ASSERT_EQ(entry.tensors.size(), 2u);
  EXPECT_EQ(entry.tensors[0].name, "a\tb");
  EXPECT_EQ(entry.tensors[0].digests[xxh64], xxh64_digits);
  EXPECT_EQ(entry.tensors[1].digests, DigestSet());
}

TEST(DigestManifest, ReadsSeveralModelsAndShards) {
  const auto entries = parse_digest_manifest(
      R"([{"file": "x"}, {"file": "y", "digests": null, "shards": [{"file": "y1", "digests":)"
      R"({"sha1": ")" +
      sha1_digits + R"("}}, {"file": "y2"}]}])");
  ASSERT_THAT(entries, Succeeds());
  ASSERT_EQ(entries->size(), 2u);
  ASSERT_EQ((*entries)[1].shards.size(), 2u);
  EXPECT_EQ((*entries)[1].shards[0].digests[sha1], sha1_digits);
}

TEST(DigestManifest, ReadsLinesOfGgufHash) {
  const auto entries = parse_digest_manifest("xxh64     " + xxh64_digits +
                                             "  dir with blanks/m.gguf:blk.0.a:b.weight\r\n"
                                             "sha256    " +
                                             sha256_digits +
                                             "  dir with blanks/m.gguf:blk.0.a:b.weight\n"
                                             "\n"
                                             "sha1      " +
                                             sha1_digits +
                                             "  dir with blanks/m.gguf\n"
                                             "crc32     0011223344  dir with blanks/m.gguf\n"
                                             "uuid      " +
                                             uuid_text +
                                             "  dir with blanks/m.gguf\n"
                                             "xxh64     " +
                                             xxh64_digits +
                                             "  a:b/n.gguf\n"
                                             "xxh64     " +
                                             xxh64_digits + "  blob:t");
  ASSERT_THAT(entries, Succeeds());
  ASSERT_EQ(entries->size(), 3u);
  const ManifestEntry& entry = entries->front();
  EXPECT_EQ(entry.file, "dir with blanks/m.gguf");
  EXPECT_EQ(entry.weights[sha1], sha1_digits);
  EXPECT_EQ(entry.uuid, uuid_text);
  EXPECT_EQ(entry.digests, DigestSet());
  ASSERT_EQ(entry.tensors.size(), 1u);
  EXPECT_EQ(entry.tensors[0].name, "blk.0.a:b.weight");
  EXPECT_EQ(entry.tensors[0].digests[xxh64], xxh64_digits);
  EXPECT_EQ(entry.tensors[0].digests[sha256], sha256_digits);
  EXPECT_EQ((*entries)[1].file, "a:b/n.gguf");
  EXPECT_EQ((*entries)[2].file, "blob");
  EXPECT_EQ((*entries)[2].tensors[0].name, "t");
}

TEST(DigestManifest, ReadsSums) {
  const auto entries =
      parse_digest_manifest(sha256_digits + "  m.gguf\n" + sha1_digits + " *n.gguf\n");
  ASSERT_THAT(entries, Succeeds());
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].digests[sha256], sha256_digits);
  EXPECT_EQ((*entries)[1].file, "n.gguf");
  EXPECT_EQ((*entries)[1].digests[sha1], sha1_digits);
}

TEST(DigestManifest, ReadsDigestsThatStandAlone) {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {sha256_digits, ""},
      {sha256_digits + "\n", ""},
      {"sha256:" + sha256_digits, ""},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:" + sha256_digits + "\nsize 12\n",
       ""},
      {"SHA256 (a (b) = c.gguf) = " + sha256_digits, "a (b) = c.gguf"},
      {"\\" + sha256_digits + " *a\\nb\\\\c\\r", "a\nb\\c\r"},
      {"\\SHA256 (a\\nb) = " + sha256_digits, "a\nb"},
      {sha256_digits + "  a\\nb", "a\\nb"}};
  for (const auto& [text, file] : texts) {
    const auto entries = parse_digest_manifest(text);
    ASSERT_TRUE(entries) << text << entries.error().message();
    ASSERT_EQ(entries->size(), 1u) << text;
    EXPECT_EQ((*entries)[0].file, file) << text;
    EXPECT_EQ((*entries)[0].digests[DigestAlgorithm::sha256], sha256_digits) << text;
  }
}

TEST(DigestManifest, RefusesWhatIsNone) {
  const std::string other_digits(64, 'd');
  const std::vector<std::string> texts = {
      std::string(),
      std::string(" \n"),
      std::string("GGUF"),
      std::string("hello world again"),
      std::string("{"),
      std::string("[1]"),
      std::string("{}"),
      std::string(R"({"file": 1})"),
      std::string(R"({"file": "x", "digests": 1})"),
      std::string(R"({"file": "x", "digests": {"sha256": 1}})"),
      std::string(R"({"file": "x", "digests": {"sha256": "aa"}})"),
      std::string(R"({"file": "x", "uuid": "aa"})"),
      std::string(R"({"file": "x", "tensors": [{"digests": {}}]})"),
      std::string(R"({"file": "x", "tensors": [{"name": "t"}, {"name": "t"}]})"),
      "sha256    " + sha1_digits + "  m.gguf",
      "sha256    " + sha256_digits,
      "xxh64     zzzzzzzzzzzzzzzz  m.gguf",
      "uuid      " + sha1_digits + "  m.gguf",
      "sha256    " + sha256_digits + "  m.gguf:t\nsha256    " + other_digits + "  m.gguf:t",
      "sha256:" + sha1_digits,
      "\\" + sha256_digits + "  a\\x",
      "\\" + sha256_digits + "  a\\",
      "crc32     0011223344  m.gguf"};
  for (const std::string& text : texts) {
    EXPECT_THAT(parse_digest_manifest(text), FailsWith(Errc::manifest_invalid)) << text;
  }
  // Depth that would exhaust the stack of a reader that calls itself.
  EXPECT_THAT(parse_digest_manifest(std::string(1'000'000, '[')),
              FailsWith(Errc::manifest_invalid));
}

TEST(DigestManifest, AsksForTheStrongest) {
  ManifestEntry entry;
  entry.digests[sha1] = sha1_digits;
  entry.digests[xxh64] = xxh64_digits;
  entry.tensors.push_back({"t", {}});
  entry.tensors[0].digests[sha256] = sha256_digits;
  entry.weights[sha256] = sha256_digits;
  const DigestRequest request = request_for(entry);
  EXPECT_THAT(request.algorithms, testing::ElementsAre(sha256, sha1));
  EXPECT_TRUE(request.has_files);
  EXPECT_TRUE(request.has_tensors);
  EXPECT_FALSE(request.has_weights);
  EXPECT_FALSE(request.has_uuid);
  EXPECT_THAT(request_for(entry, {xxh64}).algorithms, testing::ElementsAre(xxh64));
  ManifestEntry only_uuid;
  only_uuid.uuid = uuid_text;
  EXPECT_TRUE(request_for(only_uuid).has_uuid);
}

TEST(DigestManifest, FindsWhatDiffers) {
  const Bytes bytes = GgufBuilder()
                          .tensor("a", {4}, TensorType::f32, 0)
                          .tensor("b", {4}, TensorType::f32, 32)
                          .pad_to(32)
                          .data(64)
                          .bytes();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const auto digests = compute_digests(*model, {});
  ASSERT_THAT(digests, Succeeds());
  ManifestEntry entry;
  entry.digests = digests->files[0];
  entry.tensors = {{"a", digests->tensors[0]}, {"b", digests->tensors[1]}};
  std::uint64_t compared = 0;
  EXPECT_TRUE(find_mismatches(entry, *model, *digests, &compared).empty());
  EXPECT_EQ(compared, 3u);
  entry.digests[sha256] = sha256_digits;
  entry.tensors[0].name = "z";
  const auto mismatches = find_mismatches(entry, *model, *digests, &compared);
  ASSERT_EQ(mismatches.size(), 3u);
  EXPECT_EQ(compared, 2u);
  EXPECT_EQ(mismatches[0].kind, DigestMismatch::Kind::file);
  EXPECT_EQ(mismatches[0].expected, sha256_digits);
  EXPECT_EQ(mismatches[1].name, "z");
  EXPECT_TRUE(mismatches[1].found.empty());
  EXPECT_EQ(mismatches[2].name, "a");
  EXPECT_TRUE(mismatches[2].expected.empty());
}

}  // namespace
}  // namespace ingot::test

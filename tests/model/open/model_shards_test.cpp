// SPDX-License-Identifier: MIT
// Models in several files: found by their names, checked by their keys, one table of tensors.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingot/model.hpp"
#include "ingot/shard_name.hpp"
#include "ingot/store.hpp"
#include "support/expect_error.hpp"
#include "support/model_checks.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

std::string shard_name(std::uint32_t number, std::uint32_t count,
                       const std::string& stem = "model") {
  char numbers[40];
  std::snprintf(numbers, sizeof numbers, "-%05u-of-%05u.gguf", number, count);
  return stem + numbers;
}

/// The split keys of a file; by default those of a shard of three.
struct SplitKeys {
  std::optional<std::uint16_t> index = {};
  std::optional<std::uint16_t> count = 3;
  std::optional<std::int32_t> tensor_total = 6;
};

/// A shard with two tensors that are named after it, and a key of its own.
Bytes shard(std::uint16_t index, SplitKeys keys = {}, std::string_view tensor_name = "") {
  GgufBuilder file;
  file.pair("general.architecture", "llama").pair("own", index);
  if (const auto no = keys.index ? keys.index : index; *no != 0xFFFF) file.pair("split.no", *no);
  if (keys.count) file.pair("split.count", *keys.count);
  if (keys.tensor_total) file.pair("split.tensors.count", *keys.tensor_total);
  const std::string prefix = "blk." + std::to_string(index) + ".";
  file.tensor(tensor_name.empty() ? prefix + "a" : std::string(tensor_name), {4}, TensorType::i8,
              0);
  file.tensor(prefix + "b", {4}, TensorType::i8, 32);
  const std::string data(4, static_cast<char>('0' + index));
  return file.pad_to(32).raw(data).pad_to(32).raw(data).bytes();
}

class ModelShards : public testing::Test {
 protected:
  void write_three() {
    for (std::uint16_t i = 0; i < 3; ++i) folder_.write(shard_name(i + 1u, 3), shard(i));
  }
  [[nodiscard]] Result<Model> open(std::uint32_t number, const OpenOptions& options = {}) const {
    return Model::open(folder_.path(shard_name(number, 3)), options);
  }

  TemporaryFolder folder_;
};

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> tensor_names(const Model& model) {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : model.tensors()) names.emplace_back(tensor.name);
  return names;
}

Errc only_notice(const Model& model) {
  return model.notices().size() == 1 ? model.notices()[0].code : Errc::internal;
}

TEST_F(ModelShards, OpenThroughAnyOfThem) {
  write_three();
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    for (const std::uint32_t number : {1u, 2u, 3u}) {
      const auto model = open(number, {.access = access});
      ASSERT_THAT(model, Succeeds());
      EXPECT_EQ(find_inconsistency(*model), "");
      EXPECT_TRUE(model->is_split());
      EXPECT_EQ(model->shard_count(), 3u);
      EXPECT_THAT(model->notices(), IsEmpty());
      ASSERT_EQ(model->files().size(), 3u);
      for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(model->files()[i].index, i);
        EXPECT_EQ(model->files()[i].path, folder_.path(shard_name(i + 1, 3)));
        EXPECT_EQ(model->shard_path(i), model->files()[i].path);
      }
      EXPECT_EQ(model->shard_path(3), "");
      EXPECT_THAT(tensor_names(*model),
                  ElementsAre("blk.0.a", "blk.0.b", "blk.1.a", "blk.1.b", "blk.2.a", "blk.2.b"));
      EXPECT_EQ(model->get<int>("own"), 0);  // the keys are those of the first
    }
  }
}

/// A store whose files are called otherwise than their names.
class RemoteStore final : public Store {
 public:
  [[nodiscard]] Result<std::unique_ptr<Source>> open(const std::string& name) const override {
    const auto file = files.find(name);
    if (file == files.end()) return fail(Errc::io_error, {}, "404");
    return read_through(file->second.size(), [&bytes = file->second](std::uint64_t offset,
                                                                     std::span<std::byte> to) {
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
      return true;
    });
  }
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& folder) const override {
    if (!has_list) return fail(Errc::io_error, folder, "405");
    std::vector<std::string> names;
    for (const auto& [name, bytes] : files) names.push_back(name);
    return names;
  }
  [[nodiscard]] std::string locate(const std::string& name) const override {
    return "https://example.org/" + name;
  }

  std::map<std::string, Bytes> files;
  bool has_list = true;
};

TEST_F(ModelShards, OpenFromAStoreAsFromAFolder) {
  const std::array<Bytes, 3> bytes = {shard(0), shard(1), shard(2)};
  MemoryStore memory;
  RemoteStore remote;
  for (std::uint32_t i = 0; i < 3; ++i) {
    memory.add("models/" + shard_name(i + 1, 3), bytes[i]);
    remote.files["models/" + shard_name(i + 1, 3)] = bytes[i];
  }
  for (const Store* const store :
       {static_cast<const Store*>(&memory), static_cast<const Store*>(&remote)}) {
    for (const std::uint32_t number : {1u, 2u, 3u}) {
      const auto model = Model::open(*store, "models/" + shard_name(number, 3));
      ASSERT_THAT(model, Succeeds());
      EXPECT_EQ(find_inconsistency(*model), "");
      EXPECT_THAT(model->notices(), IsEmpty());
      ASSERT_EQ(model->files().size(), 3u);
      EXPECT_EQ(model->files()[1].path, store->locate("models/" + shard_name(2, 3)));
      const TensorInfo& tensor = *model->find_tensor("blk.2.b");
      std::array<std::byte, 3> buffer{};
      const auto fetched = model->fetch(tensor, 1, buffer);
      ASSERT_THAT(fetched, Succeeds());
      EXPECT_EQ((*fetched)[2], static_cast<std::byte>('2'));
      EXPECT_THAT(model->fetch(tensor, 2, buffer), FailsWith(Errc::size_mismatch));
    }
  }
  remote.has_list = false;
  const auto alone = Model::open(remote, "models/" + shard_name(2, 3));
  ASSERT_THAT(alone, Succeeds());
  EXPECT_EQ(only_notice(*alone), Errc::shard_missing);
  EXPECT_THAT(Model::open(memory, shard_name(1, 3)), FailsWith(Errc::io_error));
}

TEST_F(ModelShards, DataComesFromTheFileOfTheTensor) {
  write_three();
  const auto model = open(2);
  ASSERT_THAT(model, Succeeds());
  for (const TensorInfo& tensor : model->tensors()) {
    const auto expected = static_cast<std::byte>('0' + tensor.shard);
    EXPECT_EQ(model->data(tensor)[3], expected);
    std::byte last{};
    ASSERT_THAT(model->read(tensor, 3, {&last, 1}), Succeeds());
    EXPECT_EQ(last, expected);
    EXPECT_EQ(tensor.name[4], '0' + static_cast<char>(tensor.shard));
  }
}

TEST_F(ModelShards, OneCanBeOpenedAlone) {
  write_three();
  const auto model = open(2, {.with_shards = false});
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->files().size(), 1u);
  EXPECT_THAT(tensor_names(*model), ElementsAre("blk.1.a", "blk.1.b"));
  EXPECT_EQ(model->files()[0].index, 1u);
  EXPECT_EQ(model->shard_count(), 3u);
  EXPECT_EQ(only_notice(*model), Errc::shard_missing);
}

TEST_F(ModelShards, AMissingOneIsNoticed) {
  write_three();
  fs::remove(folder_.path(shard_name(2, 3)));
  const auto model = open(3);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(find_inconsistency(*model), "");
  EXPECT_EQ(model->shard_count(), 3u);
  EXPECT_THAT(tensor_names(*model), ElementsAre("blk.0.a", "blk.0.b", "blk.2.a", "blk.2.b"));
  ASSERT_EQ(only_notice(*model), Errc::shard_missing);
  EXPECT_EQ(model->notices()[0].subject, folder_.path(shard_name(2, 3)));
  EXPECT_EQ(model->notices()[0].detail, "2 of 3 are here");
}

TEST_F(ModelShards, WithoutTheFirstTheKeysAreThoseOfTheNext) {
  write_three();
  fs::remove(folder_.path(shard_name(1, 3)));
  const auto model = open(3);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->get<int>("own"), 1);
  EXPECT_EQ(model->notices()[0].subject, folder_.path(shard_name(1, 3)));
}

TEST_F(ModelShards, KeysThatDoNotMatchTheNameAreRefused) {
  write_three();
  const std::string second = shard_name(2, 3);
  folder_.write(second, shard(1, {.index = 2}));
  EXPECT_THAT(open(1), FailsWith(Errc::shard_mismatch, Error::no_offset, folder_.path(second)));
  EXPECT_THAT(open(2), FailsWith(Errc::shard_mismatch, Error::no_offset, folder_.path(second)));
  folder_.write(second, shard(1, {.count = 4}));
  EXPECT_THAT(open(1), FailsWith(Errc::shard_mismatch));
  EXPECT_THAT(open(2), FailsWith(Errc::shard_mismatch));
  folder_.write(second, shard(1, {.index = 0xFFFF}));  // says nothing
  const auto model = open(1);
  ASSERT_THAT(model, FailsWith(Errc::shard_mismatch));
  EXPECT_EQ(model.error().detail, "split.no should be 1 by the file's name, it has none");
}

TEST_F(ModelShards, TheSameTensorInTwoIsRefused) {
  write_three();
  folder_.write(shard_name(3, 3), shard(2, {}, "blk.0.b"));
  const auto model = open(1);
  ASSERT_THAT(model, FailsWith(Errc::tensor_duplicate, Error::no_offset, "blk.0.b"));
  EXPECT_EQ(model.error().detail, "it is in " + folder_.path(shard_name(1, 3)) + " and in " +
                                      folder_.path(shard_name(3, 3)));
}

TEST_F(ModelShards, OneThatIsBrokenIsRefusedAndNamed) {
  write_three();
  folder_.write(shard_name(3, 3), Bytes(10));
  const auto model = open(1);
  ASSERT_THAT(model, FailsWith(Errc::not_gguf));
  EXPECT_EQ(model.error().context, std::vector{folder_.path(shard_name(3, 3))});
}

TEST_F(ModelShards, ANameWithoutKeysIsJustAName) {
  folder_.write(shard_name(1, 3), shard(0, {.index = 0xFFFF, .count = {}, .tensor_total = {}}));
  folder_.write(shard_name(2, 3), Bytes(10));  // not even looked at
  const auto model = open(1);
  ASSERT_THAT(model, Succeeds());
  EXPECT_FALSE(model->is_split());
  EXPECT_EQ(model->shard_count(), 1u);
  EXPECT_EQ(model->files().size(), 1u);
  EXPECT_THAT(model->notices(), IsEmpty());
  EXPECT_EQ(model->shard_path(0), "");
}

TEST_F(ModelShards, KeysWithoutANameAreBelieved) {
  const auto model = Model::open(folder_.write("renamed.gguf", shard(1)));
  ASSERT_THAT(model, Succeeds());
  EXPECT_TRUE(model->is_split());
  EXPECT_EQ(model->shard_count(), 3u);
  EXPECT_EQ(model->files()[0].index, 1u);
  EXPECT_EQ(only_notice(*model), Errc::shard_missing);
  EXPECT_EQ(model->notices()[0].subject, "");  // nobody knows its name
}

TEST_F(ModelShards, KeysThatMakeNoSenseAreNoticed) {
  const auto open_as = [&](SplitKeys keys) {
    return Model::open(folder_.write("model.gguf", shard(1, keys)));
  };
  for (const SplitKeys keys : {SplitKeys{.index = 3}, SplitKeys{.index = 0xFFFF}}) {
    const auto model = open_as(keys);
    ASSERT_THAT(model, Succeeds());
    EXPECT_EQ(only_notice(*model), Errc::shard_keys_wrong);
    EXPECT_EQ(model->shard_count(), 1u);
  }
  // Merging shards leaves such keys behind.
  const auto merged = open_as({.index = 0, .count = 0});
  ASSERT_THAT(merged, Succeeds());
  EXPECT_THAT(merged->notices(), IsEmpty());
  EXPECT_FALSE(merged->is_split());
}

TEST_F(ModelShards, AHostileCountCostsNothing) {
  folder_.write(shard_name(1, 65535), shard(0, {.count = 65535}));
  const auto model = Model::open(folder_.path(shard_name(1, 65535)));
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->shard_count(), 65535u);
  EXPECT_EQ(model->files().size(), 1u);
  EXPECT_EQ(only_notice(*model), Errc::shard_missing);

  const Bytes huge = GgufBuilder().pair("split.count", ~std::uint64_t{0}).bytes();
  const auto lying = Model::open(folder_.write("model.gguf", huge));
  ASSERT_THAT(lying, Succeeds());
  EXPECT_EQ(only_notice(*lying), Errc::shard_keys_wrong);
}

TEST_F(ModelShards, ShareTheLimitsOfOneFile) {
  write_three();
  Limits exact{.max_header_bytes = 0, .max_keys = 0, .max_tensors = 0};
  {
    const auto model = open(1);
    ASSERT_THAT(model, Succeeds());
    for (const ModelFile& file : model->files()) {
      exact.max_header_bytes += file.header_bytes;
      exact.max_keys += file.metadata.size();
      exact.max_tensors += file.tensors.size();
    }
  }
  for (const std::uint32_t number : {1u, 2u, 3u}) {
    EXPECT_THAT(open(number, {.limits = exact}), Succeeds());
    for (std::uint64_t Limits::*const limit :
         {&Limits::max_header_bytes, &Limits::max_keys, &Limits::max_tensors}) {
      Limits less = exact;
      less.*limit -= 1;
      const auto refused = open(number, {.limits = less});
      ASSERT_THAT(refused, FailsWith(Errc::limit_exceeded));
      EXPECT_THAT(refused.error().message(), HasSubstr("all shards of a set share the limits"));
      less.*limit = exact.*limit / 2;  // more than one of them needs
      EXPECT_THAT(open(number, {.with_shards = false, .limits = less}), Succeeds());
    }
  }
}

TEST_F(ModelShards, TotalsThatLieAreNoticed) {
  for (std::uint16_t i = 0; i < 3; ++i) {
    folder_.write(shard_name(i + 1u, 3), shard(i, {.tensor_total = 7}));
  }
  const auto model = open(1);
  ASSERT_THAT(model, Succeeds());
  ASSERT_EQ(only_notice(*model), Errc::shard_keys_wrong);
  EXPECT_EQ(model->notices()[0].subject, "split.tensors.count");
  EXPECT_EQ(model->notices()[0].detail, "found 7, the files hold 6");
}

TEST_F(ModelShards, ASetOfOneIsASet) {
  const std::string path =
      folder_.write(shard_name(1, 1), shard(0, {.count = 1, .tensor_total = 2}));
  const auto model = Model::open(path);
  ASSERT_THAT(model, Succeeds());
  EXPECT_TRUE(model->is_split());
  EXPECT_EQ(model->shard_count(), 1u);
  EXPECT_THAT(model->notices(), IsEmpty());
}

TEST_F(ModelShards, OtherSetsInTheFolderAreLeftAlone) {
  write_three();
  folder_.write(shard_name(2, 3, "other"), Bytes(10));
  folder_.write(shard_name(2, 4), Bytes(10));
  folder_.write("model-00002-of-00003.gguf.part", Bytes(10));
  folder_.write("model-0002-of-00003.gguf", Bytes(10));
  const auto model = open(1);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->files().size(), 3u);
}

TEST_F(ModelShards, NumbersThatNoSetHasAreJustNames) {
  for (const char* name : {"m-00000-of-00003.gguf", "m-00004-of-00003.gguf",
                           "m-00001-of-65536.gguf", "m-00001-of-0000x.gguf", "m-1-of-3.gguf"}) {
    const auto model = Model::open(folder_.write(name, shard(0)));
    ASSERT_THAT(model, Succeeds()) << name;
    EXPECT_EQ(model->shard_path(0), "") << name;
  }
}

TEST_F(ModelShards, AreFoundByARelativePath) {
  write_three();
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path(""));
  const auto model = Model::open(shard_name(2, 3));
  fs::current_path(before);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->files().size(), 3u);
  EXPECT_EQ(model->files()[0].path, shard_name(1, 3));
}

TEST(SplitKeys, AreTheThreeThatDescribeASet) {
  for (const char* key : {"split.no", "split.count", "split.tensors.count"}) {
    EXPECT_TRUE(is_split_key(key)) << key;
  }
  for (const char* key : {"", "split", "split.", "split.tensors", "general.alignment"}) {
    EXPECT_FALSE(is_split_key(key)) << key;
  }
}

}  // namespace
}  // namespace ingot::test

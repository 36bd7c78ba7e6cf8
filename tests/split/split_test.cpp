// SPDX-License-Identifier: MIT
#include "ingot/split.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "ingot/shard_name.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

/// A model of tensors of various sizes, the first of which has some 30 KiB.
Bytes model_bytes(WriteFormat format = {}, std::uint32_t alignment = 32) {
  ModelWriter writer;
  writer.set_string("general.architecture", "llama");
  if (alignment != 32) writer.set("general.alignment", alignment);
  writer.set("llama.block_count", std::uint32_t{3});
  const std::vector<std::string_view> words = {"a", "bc", ""};
  writer.set_array("tokenizer.ggml.tokens", std::span<const std::string_view>(words));
  for (std::uint64_t i = 0; i < 9; ++i) {
    const std::uint64_t elements = i == 0 ? 7777 : (i * 37 % 5) * 301 + i;
    const std::vector<std::uint64_t> shape = {elements};
    EXPECT_THAT(writer.add_tensor("blk." + std::to_string(i) + ".weight", TensorType::f32, shape,
                                  [elements, i](const DataSink& sink) {
                                    std::vector<float> floats(elements);
                                    std::iota(floats.begin(), floats.end(), static_cast<float>(i));
                                    return sink(std::as_bytes(std::span(floats)));
                                  }),
                Succeeds());
  }
  TemporaryFolder folder;
  EXPECT_THAT(writer.write(folder.path("m"), format), Succeeds());
  return read_whole(folder.path("m"));
}

class Split : public testing::Test {
 protected:
  /// Plans, writes, checks the sizes, merges; expects the original back.
  void expect_round_trip(const Bytes& bytes, const SplitLimits& limits) {
    const TemporaryFolder folder;
    const auto model = Model::open(folder.write("m.gguf", bytes));
    ASSERT_THAT(model, Succeeds());
    const auto plan = plan_split(*model, limits);
    ASSERT_THAT(plan, Succeeds());
    ASSERT_THAT(write_shards(*model, *plan, folder.path("s")), Succeeds());
    const auto count = static_cast<std::uint32_t>(plan->shards.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string path = shard_file_name(folder.path("s"), i, count);
      EXPECT_EQ(std::filesystem::file_size(path), plan->shards[i].file_bytes);
      if (limits.max_bytes != 0) {
        EXPECT_LE(plan->shards[i].file_bytes, limits.max_bytes);
      }
      if (limits.max_tensors != 0) {
        EXPECT_LE(plan->shards[i].tensor_count, limits.max_tensors);
      }
    }
    if (limits.shard_count != 0) {
      EXPECT_EQ(count, limits.shard_count);
    }
    const auto set = Model::open(shard_file_name(folder.path("s"), count - 1, count));
    ASSERT_THAT(set, Succeeds());
    EXPECT_TRUE(set->notices().empty());
    EXPECT_EQ(merged_bytes(*set).value(), bytes.size());
    ASSERT_THAT(merge(*set, folder.path("merged")), Succeeds());
    EXPECT_EQ(read_whole(folder.path("merged")), bytes);
  }
};

TEST_F(Split, AndMergeGiveTheSameBytesForAnyLimit) {
  const Bytes bytes = model_bytes();
  for (std::uint64_t tensors = 1; tensors < 11; ++tensors) {
    expect_round_trip(bytes, {.max_tensors = tensors});
  }
  for (std::uint32_t shards = 1; shards < 10; ++shards) {
    expect_round_trip(bytes, {.shard_count = shards});
  }
  for (std::uint64_t size = 32'000; size < bytes.size() + 1000; size += 1111) {
    expect_round_trip(bytes, {.max_bytes = size});
    expect_round_trip(bytes, {.max_bytes = size, .max_tensors = 2});
    expect_round_trip(bytes, {.max_bytes = size, .is_first_without_tensors = true});
  }
  expect_round_trip(bytes, {.shard_count = 10, .is_first_without_tensors = true});
}

TEST_F(Split, KeepsVersionByteOrderAndAlignment) {
  for (const WriteFormat format : {WriteFormat{1, Endian::little}, WriteFormat{2, Endian::little},
                                   WriteFormat{3, Endian::big}}) {
    for (const std::uint32_t alignment : {8u, 32u, 4096u}) {
      expect_round_trip(model_bytes(format, alignment), {.shard_count = 3});
      expect_round_trip(model_bytes(format, alignment), {.max_bytes = 50'000});
    }
  }
}

TEST_F(Split, GivesAModelWithoutTensorsOneFile) {
  const Bytes bytes = GgufBuilder().pair("general.architecture", "llama").bytes();
  expect_round_trip(bytes, {.max_tensors = 1});
  expect_round_trip(bytes, {.max_bytes = 10'000, .is_first_without_tensors = true});
}

TEST_F(Split, WritesTheKeysThatLlamaCppReads) {
  const TemporaryFolder folder;
  const auto model = Model::open(folder.write("m.gguf", model_bytes({}, 64)));
  ASSERT_THAT(model, Succeeds());
  const auto plan = plan_split(*model, {.shard_count = 2});
  ASSERT_THAT(plan, Succeeds());
  ASSERT_THAT(write_shards(*model, *plan, folder.path("s")), Succeeds());
  EXPECT_THAT(folder.names(),
              testing::ElementsAre("m.gguf", "s-00001-of-00002.gguf", "s-00002-of-00002.gguf"));
  const auto set = Model::open(folder.path("s-00001-of-00002.gguf"));
  ASSERT_THAT(set, Succeeds());
  for (std::size_t i = 0; i < 2; ++i) {
    const auto keys = set->files()[i].metadata;
    ASSERT_EQ(keys.size(), i == 0 ? 7u : 4u);
    const auto last = keys.last(3);
    EXPECT_EQ(last[0].key, "split.no");
    EXPECT_EQ(last[0].value.type(), ValueType::uint16);
    EXPECT_EQ(last[0].value.get<std::size_t>().value(), i);
    EXPECT_EQ(last[1].key, "split.count");
    EXPECT_EQ(last[1].value.type(), ValueType::uint16);
    EXPECT_EQ(last[1].value.get<int>().value(), 2);
    EXPECT_EQ(last[2].key, "split.tensors.count");
    EXPECT_EQ(last[2].value.type(), ValueType::int32);
    EXPECT_EQ(last[2].value.get<int>().value(), 9);
  }
  EXPECT_EQ(set->files()[1].metadata[0].key, "general.alignment");
}

TEST_F(Split, OfASetCutsItAnew) {
  const TemporaryFolder folder;
  const Bytes bytes = model_bytes();
  const auto model = Model::open(folder.write("m.gguf", bytes));
  ASSERT_THAT(model, Succeeds());
  ASSERT_THAT(write_shards(*model, *plan_split(*model, {.shard_count = 4}), folder.path("a")),
              Succeeds());
  const auto four = Model::open(folder.path("a-00001-of-00004.gguf"));
  ASSERT_THAT(four, Succeeds());
  ASSERT_THAT(write_shards(*four, *plan_split(*four, {.shard_count = 2}), folder.path("b")),
              Succeeds());
  const auto two = Model::open(folder.path("b-00001-of-00002.gguf"));
  ASSERT_THAT(two, Succeeds());
  ASSERT_THAT(merge(*two, folder.path("merged")), Succeeds());
  EXPECT_EQ(read_whole(folder.path("merged")), bytes);
}

TEST_F(Split, IsAsEvenAsTheTensorsAllow) {
  const Bytes bytes = model_bytes();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const auto plan = plan_split(*model, {.shard_count = 3});
  ASSERT_THAT(plan, Succeeds());
  std::uint64_t largest = 0;
  for (const PlannedShard& shard : plan->shards) largest = std::max(largest, shard.file_bytes);
  // A limit below the largest takes more files.
  const auto tighter = plan_split(*model, {.max_bytes = largest - 1});
  if (tighter) {
    EXPECT_GT(tighter->shards.size(), 3u);
  }
}

TEST_F(Split, SaysWhichTensorIsTooLarge) {
  const Bytes bytes = model_bytes();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const auto plan = plan_split(*model, {.max_bytes = 20'000});
  ASSERT_THAT(plan, FailsWith(Errc::split_impossible, Error::no_offset, "blk.0.weight"));
  EXPECT_THAT(plan.error().detail, testing::HasSubstr("20,000"));
  EXPECT_THAT(plan_split(*model, {.max_bytes = 50}),
              FailsWith(Errc::split_impossible, Error::no_offset, "metadata"));
  EXPECT_THAT(plan_split(*model, {.shard_count = 10}),
              FailsWith(Errc::split_impossible, Error::no_offset, "shards"));
  EXPECT_THAT(plan_split(*model, {}), FailsWith(Errc::invalid_argument));
  EXPECT_THAT(plan_split(*model, {.max_tensors = 1, .shard_count = 1}),
              FailsWith(Errc::invalid_argument));
}

TEST_F(Split, PlansWhatDoesNotExistYet) {
  ModelWriter keys;
  keys.set_string("general.architecture", "llama");
  const std::vector<std::uint64_t> shape = {std::uint64_t{1} << 40};
  std::vector<TensorInfo> tensors(300);
  std::vector<std::string> names(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    names[i] = "t" + std::to_string(i);
    tensors[i] = {.name = names[i], .shape = shape, .size_bytes = std::uint64_t{1} << 40};
  }
  const auto plan = plan_split(keys, tensors, {.max_bytes = std::uint64_t{10} << 40});
  ASSERT_THAT(plan, Succeeds());
  EXPECT_EQ(plan->shards.size(), 34u);  // nine each: the tenth has no room beside a header
  EXPECT_EQ(plan->tensor_count, 300u);
  EXPECT_EQ(shard_keys(keys, *plan, 33).find("split.no")->get<int>().value(), 33);
  EXPECT_FALSE(shard_keys(keys, *plan, 33).find("general.architecture").has_value());
}

TEST_F(Split, ReplacesOnlyOnRequestAndNeverItsInput) {
  const TemporaryFolder folder;
  const auto model = Model::open(folder.write("m.gguf", model_bytes()));
  ASSERT_THAT(model, Succeeds());
  const auto plan = plan_split(*model, {.shard_count = 2});
  const std::string second = folder.path("s-00002-of-00002.gguf");
  folder.write("s-00002-of-00002.gguf", Bytes(3));
  EXPECT_THAT(write_shards(*model, *plan, folder.path("s")),
              FailsWith(Errc::already_exists, Error::no_offset, second));
  EXPECT_THAT(folder.names(), testing::ElementsAre("m.gguf", "s-00002-of-00002.gguf"));
  for (const bool is_hard : {true, false}) {
    std::filesystem::remove(second);
    is_hard ? std::filesystem::create_hard_link(folder.path("m.gguf"), second)
            : std::filesystem::create_symlink(folder.path("m.gguf"), second);
    EXPECT_THAT(write_shards(*model, *plan, folder.path("s"), {.may_replace = true}),
                FailsWith(Errc::same_file, Error::no_offset, second));
  }
  std::filesystem::remove(second);
  std::filesystem::create_directory(second);
  EXPECT_FALSE(write_shards(*model, *plan, folder.path("s"), {.may_replace = true}));
  EXPECT_THAT(folder.names(), testing::ElementsAre("m.gguf", "s-00002-of-00002.gguf"));
}

TEST_F(Split, LeavesNothingWhenItIsStopped) {
  const TemporaryFolder folder;
  const auto model = Model::open(folder.write("m.gguf", model_bytes()));
  ASSERT_THAT(model, Succeeds());
  const auto plan = plan_split(*model, {.shard_count = 3});
  std::uint64_t last = 0;
  const auto stop_late = [&](std::uint64_t done_bytes) {
    EXPECT_GE(done_bytes, last);
    last = done_bytes;
    return done_bytes < plan->shards[0].file_bytes + plan->shards[1].file_bytes;
  };
  EXPECT_THAT(write_shards(*model, *plan, folder.path("s"), {.progress = stop_late}),
              FailsWith(Errc::interrupted));
  EXPECT_THAT(folder.names(), testing::ElementsAre("m.gguf"));
}

class Merge : public testing::Test {
 protected:
  void SetUp() override {
    const auto model = Model::open(folder_.write("m.gguf", model_bytes()));
    ASSERT_THAT(model, Succeeds());
    ASSERT_THAT(write_shards(*model, *plan_split(*model, {.shard_count = 3}), folder_.path("s")),
                Succeeds());
  }

  [[nodiscard]] std::string shard(std::uint32_t index) const {
    return shard_file_name(folder_.path("s"), index, 3);
  }

  /// Gives the last shard another key.
  void set_in_last_shard(const std::string& key, const Value& value) const {
    const auto set = Model::open(shard(0));
    ModelWriter writer;
    for (const KeyValue& entry : set->files()[2].metadata) writer.set_value(entry.key, entry.value);
    writer.set_value(key, value);
    for (const TensorInfo& tensor : set->tensors()) {
      if (tensor.shard != 2) continue;
      ASSERT_THAT(writer.add_tensor(tensor.name, *set, tensor), Succeeds());
    }
    ASSERT_THAT(writer.write(shard(2), {}, true), Succeeds());
  }

  TemporaryFolder folder_;
};

TEST_F(Merge, RefusesWhatIsNoWholeSet) {
  const auto single = Model::open(folder_.path("m.gguf"));
  EXPECT_THAT(check_mergeable(*single), FailsWith(Errc::not_a_set));
  std::filesystem::remove(shard(1));
  const auto incomplete = Model::open(shard(0));
  ASSERT_THAT(incomplete, Succeeds());
  EXPECT_THAT(merge(*incomplete, folder_.path("out")),
              FailsWith(Errc::set_incomplete, Error::no_offset, shard(1)));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("out")));
}

TEST_F(Merge, RefusesAShardThatIsCutOff) {
  std::filesystem::resize_file(shard(2), std::filesystem::file_size(shard(2)) - 1500);
  EXPECT_THAT(Model::open(shard(0)), FailsWith(Errc::tensor_outside_file));
}

TEST_F(Merge, RefusesKeysThatWouldBeLost) {
  set_in_last_shard("general.license", OwnedValue::string("mit").value());
  const auto changed = Model::open(shard(0));
  ASSERT_THAT(changed, Succeeds());
  EXPECT_THAT(check_mergeable(*changed),
              FailsWith(Errc::shard_mismatch, Error::no_offset, shard(2)));
}

TEST_F(Merge, TakesKeysThatEveryShardRepeats) {
  const auto set = Model::open(shard(0));
  set_in_last_shard("tokenizer.ggml.tokens", *set->find("tokenizer.ggml.tokens"));
  const auto changed = Model::open(shard(0));
  ASSERT_THAT(changed, Succeeds());
  ASSERT_THAT(merge(*changed, folder_.path("out")), Succeeds());
  EXPECT_EQ(read_whole(folder_.path("out")), read_whole(folder_.path("m.gguf")));
}

TEST_F(Merge, RefusesASetThatCountsItsTensorsWrong) {
  const auto set = Model::open(shard(0));
  ModelWriter writer;
  for (const KeyValue& entry : set->files()[0].metadata) writer.set_value(entry.key, entry.value);
  writer.set("split.tensors.count", std::int32_t{1000});
  for (const TensorInfo& tensor : set->files()[0].tensors) {
    ASSERT_THAT(writer.add_tensor(tensor.name, *set, tensor), Succeeds());
  }
  ASSERT_THAT(writer.write(shard(0), {}, true), Succeeds());
  const auto changed = Model::open(shard(0));
  ASSERT_THAT(changed, Succeeds());
  EXPECT_THAT(merge(*changed, folder_.path("out")), FailsWith(Errc::shard_mismatch));
}

TEST_F(Split, WritesNoPlanOfAnotherModel) {
  const TemporaryFolder folder;
  const auto model = Model::open(folder.write("m.gguf", model_bytes()));
  ASSERT_THAT(model, Succeeds());
  auto plan = plan_split(*model, {.max_tensors = 2});
  ASSERT_THAT(plan, Succeeds());
  SplitPlan shorter = *plan;
  shorter.shards.pop_back();
  SplitPlan shifted = *plan;
  ++shifted.shards[1].first_tensor;
  SplitPlan miscounted = *plan;
  ++miscounted.tensor_count;
  for (const SplitPlan& other : {SplitPlan{}, shorter, shifted, miscounted}) {
    EXPECT_THAT(write_shards(*model, other, folder.path("s")), FailsWith(Errc::invalid_argument));
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.gguf"});
}

TEST_F(Split, IntoManyShardsIsOneSet) {
  ModelWriter writer;
  writer.set_string("general.architecture", "llama");
  for (std::uint64_t i = 0; i < 150; ++i) {
    const std::vector<std::uint64_t> shape = {1};
    ASSERT_THAT(writer.add_tensor("t" + std::to_string(i), TensorType::f32, shape,
                                  [i](const DataSink& sink) {
                                    const auto number = static_cast<float>(i);
                                    return sink(std::as_bytes(std::span(&number, 1)));
                                  }),
                Succeeds());
  }
  const TemporaryFolder folder;
  ASSERT_THAT(writer.write(folder.path("m")), Succeeds());
  expect_round_trip(read_whole(folder.path("m")), {.max_tensors = 1});
}

TEST_F(Merge, NeverReplacesAShard) {
  const auto set = Model::open(shard(0));
  EXPECT_THAT(merge(*set, shard(1), {.may_replace = true}), FailsWith(Errc::same_file));
  std::filesystem::create_hard_link(shard(1), folder_.path("link"));
  EXPECT_THAT(merge(*set, folder_.path("link"), {.may_replace = true}), FailsWith(Errc::same_file));
  EXPECT_THAT(merge(*set, folder_.path("m.gguf")), FailsWith(Errc::already_exists));
  EXPECT_THAT(merge(*set, folder_.path("m.gguf"), {.may_replace = true}), Succeeds());
}

}  // namespace
}  // namespace ingot::test

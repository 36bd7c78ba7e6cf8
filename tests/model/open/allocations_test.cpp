// SPDX-License-Identifier: MIT
// Opening allocates for the tables, a handful of times, however much is in the file.

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <new>
#include <string>

#include "ingot/model.hpp"
#include "io/journal.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_memory.hpp"

namespace ingot::test {
namespace {

constexpr std::uint64_t handful = 20;

Bytes many_keys(int count) {
  GgufBuilder file;
  for (int i = 0; i < count; ++i) file.pair("a.key.that.is.not.small." + std::to_string(i), "text");
  return file.bytes();
}

Bytes many_tensors(int count) {
  GgufBuilder file;
  for (int i = 0; i < count; ++i) {
    const std::string name = "blk." + std::to_string(i) + ".attn_output.weight";
    file.tensor(name, {4, 2}, TensorType::f32, static_cast<std::uint64_t>(i) * 32);
  }
  return file.pad_to(32).data(32 * static_cast<std::size_t>(count)).bytes();
}

Bytes many_tokens(int count) {
  GgufBuilder file;
  file.array_key("tokens", ValueType::string, static_cast<std::uint64_t>(count));
  for (int i = 0; i < count; ++i) file.text("a token that is not small " + std::to_string(i));
  return file.bytes();
}

/// The allocations of one open of a file in memory.
Allocations allocations_to_open(const Bytes& bytes) {
  return allocations_of([&] {
    const auto model = Model::open_memory(bytes);
    ASSERT_TRUE(model.has_value());
  });
}

TEST(Allocations, OfKeysAreAConstantHandful) {
  const Bytes bytes = many_keys(30'000);
  const Allocations allocations = allocations_to_open(bytes);
  EXPECT_LE(allocations.count, handful);
  EXPECT_EQ(allocations.count, allocations_to_open(many_keys(10)).count);
  EXPECT_LE(allocations.bytes, 9 * bytes.size());
}

TEST(Allocations, OfTensorsAreAConstantHandful) {
  const Bytes bytes = many_tensors(20'000);
  const Allocations allocations = allocations_to_open(bytes);
  EXPECT_LE(allocations.count, handful);
  EXPECT_EQ(allocations.count, allocations_to_open(many_tensors(10)).count);
  EXPECT_LE(allocations.bytes, 9 * bytes.size());
}

TEST(Allocations, OfTokensAreNone) {
  const Bytes bytes = many_tokens(100'000);
  const Allocations allocations = allocations_to_open(bytes);
  EXPECT_LE(allocations.count, handful);
  EXPECT_EQ(allocations.count, allocations_to_open(many_tokens(10)).count);
  EXPECT_LE(allocations.bytes, 4096u);
}

TEST(Allocations, GoingThroughAnArrayAndLookingUpNamesAllocateNothing) {
  const Bytes bytes = many_tokens(10'000);
  const auto model = Model::open_memory(bytes);
  ASSERT_TRUE(model.has_value());
  std::uint64_t text_bytes = 0;
  const Allocations allocations = allocations_of([&] {
    for (const Value& token : model->find("tokens")->as_array()) {
      text_bytes += token.get<std::string_view>()->size();
    }
    text_bytes += model->find("not there") != nullptr;
    text_bytes += model->find_tensor("not there") != nullptr;
  });
  EXPECT_GT(text_bytes, 100'000u);
  EXPECT_EQ(allocations.count, 0u);
}

TEST(Allocations, RandomAccessToStringsBuildsOneIndex) {
  const Bytes bytes = many_tokens(10'000);
  const auto model = Model::open_memory(bytes);
  ASSERT_TRUE(model.has_value());
  const Array tokens = model->find("tokens")->as_array();
  const Allocations first = allocations_of([&] { static_cast<void>(tokens[9'999]); });
  EXPECT_LE(first.count, 4u);
  EXPECT_LE(first.bytes, 8 * 10'000u + 1024);
  EXPECT_EQ(allocations_of([&] { static_cast<void>(tokens[5'000]); }).count, 0u);
}

TEST(Allocations, ThatFailAnywhereGiveBadAllocAndLeaveNothing) {
  const TemporaryFolder folder;
  const std::string path = folder.write("model.gguf", many_tensors(10));
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    int succeeding = 0;
    for (bool is_open = false; !is_open; ++succeeding) {
      ASSERT_LT(succeeding, 100);
      allocations_left = succeeding;
      try {
        is_open = Model::open(path, {.access = access}).has_value();
        allocations_left = -1;
        EXPECT_TRUE(is_open) << "an error is not what happened";
      } catch (const std::bad_alloc&) {
        allocations_left = -1;  // a leak would be found by the sanitizer
      }
    }
    EXPECT_GT(succeeding, 5);
  }
}

TEST(Allocations, OfAPromiseThatTheFileCannotHoldAreFew) {
  const Bytes bytes = GgufBuilder().set_counts(1 << 20, 1 << 20).data(100).bytes();
  const Allocations allocations =
      allocations_of([&] { EXPECT_FALSE(Model::open_memory(bytes).has_value()); });
  EXPECT_LE(allocations.bytes, 4096u);
}

/// What opening allocates with a journal of 384 MiB, which is a hole after `head`, beside the
/// model.
Allocations allocations_beside_journal(const TemporaryFolder& folder, const std::string& path,
                                       const Bytes& head) {
  const std::string journal = folder.write("model.gguf.ingot-journal", head);
  std::filesystem::resize_file(journal, std::uint64_t{384} << 20);
  return allocations_of([&] {
    const auto model = Model::open(path);
    ASSERT_TRUE(model.has_value());
    EXPECT_EQ(model->notices().size(), 1u);
  });
}

TEST(Allocations, OfAForeignJournalAreNone) {
  constexpr std::uint64_t most_bytes = 16'384;
  const TemporaryFolder folder;
  const std::string path = folder.write("model.gguf", many_tensors(10));
  EXPECT_LE(allocations_beside_journal(folder, path, {}).bytes, most_bytes);
  // One that is sound as far as it is read, and of another file.
  io::EditJournal other;
  other.inode = io::identify(path)->inode + 1;
  other.file_bytes = std::filesystem::file_size(path);
  other.data_offset = other.file_bytes;
  Bytes head = io::encode(other);
  const std::uint64_t patch_bytes = (std::uint64_t{384} << 20) - head.size();
  std::memcpy(&head[72], &patch_bytes, sizeof patch_bytes);
  EXPECT_LE(allocations_beside_journal(folder, path, head).bytes, most_bytes);
}

}  // namespace
}  // namespace ingot::test

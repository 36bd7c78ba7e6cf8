// SPDX-License-Identifier: MIT
// Headers that are kept, where damaged or strange entries may lie.

#include "remote/cache/header_cache.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "support/temporary_folder.hpp"

namespace ingot::remote::test {
namespace {

namespace fs = std::filesystem;
using ingot::test::Bytes;
using ingot::test::TemporaryFolder;

Address address_of(const std::string& name) {
  return *parse_address("https://me:secret@example.org/" + name + "?signature=secret");
}

void keep(const HeaderCache& cache, const std::string& name, std::size_t size_bytes,
          const CachedFacts& facts = {.size_bytes = 1000, .tag = "\"t\"", .modified = {}}) {
  const auto recording = cache.record(address_of(name));
  ASSERT_NE(recording, nullptr);
  recording->append(0, Bytes(size_bytes, std::byte{7}));
  recording->keep(facts);
}

TEST(HeaderCache, GivesBackWhatWasKept) {
  const TemporaryFolder folder;
  const HeaderCache cache(folder.path("cache"));
  EXPECT_FALSE(cache.find(address_of("a")));
  {
    const auto recording = cache.record(address_of("a"));
    ASSERT_NE(recording, nullptr);
    recording->append(0, Bytes(10, std::byte{1}));
    recording->append(100, Bytes(10, std::byte{2}));  // not what follows
    recording->append(10, Bytes(5, std::byte{3}));
    recording->keep({.size_bytes = 1000, .tag = "\"t\"", .modified = "then", .is_immutable = true});
  }
  const auto found = cache.find(address_of("a"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes->size_bytes(), 15u);
  Bytes bytes(15);
  ASSERT_TRUE(found->bytes->read(0, bytes));
  EXPECT_EQ(bytes[9], std::byte{1});
  EXPECT_EQ(bytes[14], std::byte{3});
  EXPECT_EQ(found->facts.size_bytes, 1000u);
  EXPECT_EQ(found->facts.tag, "\"t\"");
  EXPECT_EQ(found->facts.modified, "then");
  EXPECT_TRUE(found->facts.is_immutable);
  EXPECT_FALSE(cache.find(address_of("b")));
}

TEST(HeaderCache, LeavesNothingOfWhatIsNotKept) {
  const TemporaryFolder folder;
  const HeaderCache cache(folder.path("cache"));
  { cache.record(address_of("a"))->append(0, Bytes(10)); }
  EXPECT_TRUE(fs::is_empty(folder.path("cache/headers")));
  keep(cache, "a", 10, {.size_bytes = 9, .tag = {}, .modified = {}});  // longer than the file
  EXPECT_TRUE(fs::is_empty(folder.path("cache/headers")));
}

TEST(HeaderCache, ReplacesAnEarlierEntry) {
  const TemporaryFolder folder;
  const HeaderCache cache(folder.path("cache"));
  keep(cache, "a", 10);
  const auto reader = cache.find(address_of("a"));
  keep(cache, "a", 20);
  EXPECT_EQ(cache.find(address_of("a"))->bytes->size_bytes(), 20u);
  Bytes bytes(10);
  EXPECT_TRUE(reader->bytes->read(0, bytes));
  EXPECT_EQ(cache.list().size(), 1u);
}

TEST(HeaderCache, RemovesTheOldestUse) {
  const TemporaryFolder folder;
  const HeaderCache cache(folder.path("cache"));
  for (const char* const name : {"a", "b", "c"}) {
    keep(cache, name, 500);
    for (const auto& entry : fs::directory_iterator(folder.path("cache/headers"))) {
      const fs::path notes = entry.path() / "meta.json";
      fs::last_write_time(notes, fs::last_write_time(notes) - std::chrono::minutes(1));
    }
  }
  ASSERT_TRUE(cache.find(address_of("a")));  // is used now
  cache.trim(1600);
  EXPECT_TRUE(cache.find(address_of("a")));
  EXPECT_FALSE(cache.find(address_of("b")));
  EXPECT_TRUE(cache.find(address_of("c")));
}

TEST(HeaderCache, RemovesWhatKillsHaveLeft) {
  const TemporaryFolder folder;
  const HeaderCache cache(folder.path("cache"));
  keep(cache, "a", 10);
  const fs::path old = folder.path("cache/headers/.new-abcdef");
  const fs::path young = folder.path("cache/headers/.new-ghijkl");
  for (const fs::path& path : {old, young}) fs::create_directory(path);
  fs::last_write_time(old, fs::last_write_time(old) - std::chrono::hours(48));
  cache.trim(cache_limit_bytes);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(cache.find(address_of("a")));
}

TEST(HeaderCache, IsNotUsedIfOthersCouldWriteToIt) {
  const TemporaryFolder folder;
  const HeaderCache cache(folder.path("cache"));
  keep(cache, "a", 10);
  for (const char* const name : {"cache", "cache/headers"}) {
    fs::permissions(folder.path(name), fs::perms::others_write, fs::perm_options::add);
    EXPECT_FALSE(cache.find(address_of("a"))) << name;
    EXPECT_EQ(cache.record(address_of("a")), nullptr) << name;
    EXPECT_TRUE(cache.list().empty()) << name;
    fs::permissions(folder.path(name), fs::perms::others_write, fs::perm_options::remove);
  }
  EXPECT_TRUE(cache.find(address_of("a")));
  fs::rename(folder.path("cache/headers"), folder.path("elsewhere"));
  fs::create_directory_symlink(folder.path("elsewhere"), folder.path("cache/headers"));
  EXPECT_FALSE(cache.find(address_of("a")));
}

TEST(HeaderCache, LosesNothingToThreadsBesideOneAnother) {
  const TemporaryFolder folder;
  const std::vector<std::string> names = {"a", "b", "c"};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&folder, &names, i] {
      const HeaderCache cache(folder.path("cache"));
      for (int round = 0; round < 20; ++round) {
        keep(cache, names[static_cast<std::size_t>(i) % names.size()], 100);
        static_cast<void>(cache.find(address_of("a")));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const HeaderCache cache(folder.path("cache"));
  for (const std::string& name : names) EXPECT_TRUE(cache.find(address_of(name))) << name;
  EXPECT_EQ(cache.list().size(), names.size());
}

TEST(HeaderCache, RemembersWhereAReferenceLed) {
  const TemporaryFolder folder;
  const HeaderCache cache(folder.path("cache"));
  EXPECT_FALSE(cache.recall("hf:a/b"));
  cache.remember("hf:a/b", "first");
  cache.remember("hf:a/b", "second");
  EXPECT_EQ(cache.recall("hf:a/b"), "second");
  ASSERT_TRUE(cache.clear());
  EXPECT_FALSE(cache.recall("hf:a/b"));
}

TEST(HeaderCache, IsNoneWithoutAName) {
  const HeaderCache cache("");
  EXPECT_EQ(cache.record(address_of("a")), nullptr);
  EXPECT_FALSE(cache.find(address_of("a")));
  EXPECT_EQ(cache.clear().value(), 0u);
}

}  // namespace
}  // namespace ingot::remote::test

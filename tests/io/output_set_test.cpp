// SPDX-License-Identifier: MIT
// Sets of files that replace older ones. That a kill leaves no mixture: cli.convert_killed.
#include "ingot/output_set.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/paths.hpp"
#include "io/file_lock.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

class OutputSetTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    folder_.write(name, std::as_bytes(std::span(text)));
  }

  /// Names and contents of all files.
  [[nodiscard]] std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_.path(""))) {
      if (!entry.is_regular_file()) continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      found[entry.path().filename().string()] = text.str();
    }
    return found;
  }

  Result<void> replace(
      const std::vector<std::string>& names,
      const std::function<void()>& before_naming = [] {}) const {
    OutputSet set(true);
    for (const std::string& name : names) {
      INGOT_TRY_VOID(set.add_text(folder_.path(name), "new " + name));
    }
    before_naming();
    return set.commit();
  }

  TemporaryFolder folder_;
};

TEST_F(OutputSetTest, ReplacesOlderFilesAndLeavesNothingElse) {
  write("a", "old a");
  write("index", "old index");
  ASSERT_THAT(replace({"a", "b", "index"}), Succeeds());
  EXPECT_THAT(files(),
              testing::ElementsAre(testing::Pair("a", "new a"), testing::Pair("b", "new b"),
                                   testing::Pair("index", "new index")));
}

TEST_F(OutputSetTest, AFailureWhileNamingPutsTheOlderFilesBack) {
  fs::create_directory(folder_.path("gone"));
  write("a", "old a");
  write("index", "old index");
  const auto before = files();
  for (const auto& names : {std::vector<std::string>{"a", "b", "gone/c", "index"},
                            std::vector<std::string>{"gone/c", "a", "b", "index"},
                            std::vector<std::string>{"a", "b", "index", "gone/c"}}) {
    fs::create_directory(folder_.path("gone"));
    EXPECT_THAT(replace(names, [&] { fs::remove_all(folder_.path("gone")); }),
                FailsWith(Errc::io_error));
    EXPECT_EQ(files(), before);
  }
}

TEST_F(OutputSetTest, CleansUpAfterAProcessThatWasKilled) {
  // While it named the new ones, and when it had.
  for (const bool has_index : {false, true}) {
    write(".a.ingot-old", "old a");
    write(".index.ingot-old", "old index");
    write("a", "newer a");
    if (has_index) write("index", "newer index");
    ASSERT_THAT(replace({"a", "index"}), Succeeds());
    EXPECT_THAT(files(), testing::ElementsAre(testing::Pair("a", "new a"),
                                              testing::Pair("index", "new index")));
    fs::remove(folder_.path("index"));
  }
}

TEST_F(OutputSetTest, CleansUpWhatASingleFileDrops) {
  for (const char* const name : {"a", "other"}) {  // the new one is named already, or not yet
    write(name, "newer a");
    write(".extra.ingot-old", "old extra");
    OutputSet set(true);
    ASSERT_THAT(set.add_text(folder_.path("a"), "new a"), Succeeds());
    ASSERT_THAT(set.drop(folder_.path("extra")), Succeeds());
    ASSERT_THAT(set.commit(), Succeeds());
    fs::remove(folder_.path("other"));
    EXPECT_THAT(files(), testing::ElementsAre(testing::Pair("a", "new a")));
    fs::remove(folder_.path("a"));
  }
}

TEST_F(OutputSetTest, NamesNothingIfACheckFailsWhileTheFolderIsLocked) {
  write("a", "old a");
  for (const bool has_two : {false, true}) {
    OutputSet set(true);
    ASSERT_THAT(set.add_text(folder_.path("a"), "new a"), Succeeds());
    if (has_two) {
      ASSERT_THAT(set.add_text(folder_.path("b"), "new b"), Succeeds());
    }
    const auto check = [&]() -> Result<void> {
      const Result<io::FileDescriptor> again =
          io::lock_directory(folder_.path(""), {.limit = {}, .on_wait = {}});
      return fail(again ? Errc::io_error : Errc::invalid_argument, "somebody's");
    };
    EXPECT_THAT(set.commit(KeyFile::last, check), FailsWith(Errc::invalid_argument));
    EXPECT_THAT(files(), testing::ElementsAre(testing::Pair("a", "old a")));
  }
}

TEST_F(OutputSetTest, AFailureAfterAKillLeavesNoMixture) {
  fs::create_directory(folder_.path("gone"));
  write(".a.ingot-old", "old a");
  write(".index.ingot-old", "old index");
  write("a", "newer a");
  const auto stop = [&] { fs::remove_all(folder_.path("gone")); };
  EXPECT_THAT(replace({"gone/c", "a", "index"}, stop), FailsWith(Errc::io_error));
  EXPECT_THAT(files(), testing::ElementsAre(testing::Pair("a", "old a"),
                                            testing::Pair("index", "old index")));
}

TEST_F(OutputSetTest, WhatALinkPointsToIsReplacedAndTheLinkStays) {
  write("target", "old");
  fs::create_symlink("target", folder_.path("link"));
  ASSERT_THAT(replace({"link", "index"}), Succeeds());
  EXPECT_TRUE(fs::is_symlink(folder_.path("link")));
  EXPECT_EQ(files()["target"], "new link");
}

TEST_F(OutputSetTest, AFileThatTheNewSetHasNotGoesWithTheOlderOnes) {
  write("index", "old index");
  write("extra", "old extra");
  write("other", "somebody's");
  const auto before = files();
  for (const bool fails : {true, false}) {
    fs::create_directory(folder_.path("gone"));
    OutputSet set(true);
    ASSERT_THAT(set.add_text(folder_.path(fails ? "gone/a" : "a"), "new a"), Succeeds());
    ASSERT_THAT(set.drop(folder_.path("extra")), Succeeds());
    ASSERT_THAT(set.drop(folder_.path("is not there")), Succeeds());
    ASSERT_THAT(set.add_text(folder_.path("index"), "new index"), Succeeds());
    fs::remove_all(folder_.path("gone"));
    EXPECT_EQ(set.commit().has_value(), !fails);
    if (fails) {
      EXPECT_EQ(files(), before);
    }
  }
  EXPECT_THAT(files(),
              testing::ElementsAre(testing::Pair("a", "new a"), testing::Pair("index", "new index"),
                                   testing::Pair("other", "somebody's")));
  EXPECT_THAT(OutputSet(false).drop(folder_.path("other")), FailsWith(Errc::already_exists));
}

TEST_F(OutputSetTest, WithoutTheKeyFileAKilledSetIsUndoneWithItAKilledSetIsEnded) {
  for (const bool has_key : {false, true}) {
    write(".a.ingot-old", "old a");
    write(".key.ingot-old", "old key");
    write(".extra.ingot-old", "old extra");
    write("a", "newer a");
    if (has_key) write("key", "newer key");
    OutputSet set(true);
    ASSERT_THAT(set.add_text(folder_.path("gone/x"), "x"), FailsWith(Errc::io_error));
    fs::create_directory(folder_.path("gone"));
    ASSERT_THAT(set.add_text(folder_.path("gone/x"), "x"), Succeeds());
    ASSERT_THAT(set.add_text(folder_.path("a"), "new a"), Succeeds());
    ASSERT_THAT(set.drop(folder_.path("extra")), Succeeds());
    ASSERT_THAT(set.add_text(folder_.path("key"), "new key"), Succeeds());
    fs::remove_all(folder_.path("gone"));
    EXPECT_THAT(set.commit(), FailsWith(Errc::io_error));
    auto left = files();
    EXPECT_EQ(left["a"], has_key ? "newer a" : "old a");
    EXPECT_EQ(left["key"], has_key ? "newer key" : "old key");
    EXPECT_EQ(left["extra"], has_key ? "" : "old extra");
    fs::remove(folder_.path("extra"));
  }
}

TEST_F(OutputSetTest, ManyFilesNeedFewDescriptors) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 128;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("file" + std::to_string(i));
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(replace(names), Succeeds());
    const auto found = files();
    EXPECT_EQ(found.size(), names.size());
    EXPECT_EQ(found.at("file299"), "new file299");
    EXPECT_EQ(folder_.names().size(), names.size());
  }
  {
    OutputSet dropped(true);
    for (const std::string& name : names) {
      ASSERT_THAT(dropped.add_text(folder_.path("x" + name), "x"), Succeeds());
    }
  }
  EXPECT_EQ(folder_.names().size(), names.size());
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(OutputSetTest, FoldersThatItMadeGoWithoutIt) {
  {
    OutputSet set(false);
    ASSERT_THAT(set.make_folder(folder_.path("x/y")), Succeeds());
    ASSERT_THAT(set.add_text(folder_.path("x/y/a"), "a"), Succeeds());
  }
  EXPECT_THAT(folder_.names(), testing::IsEmpty());
  OutputSet set(false);
  ASSERT_THAT(set.make_folder(folder_.path("x/y")), Succeeds());
  ASSERT_THAT(set.add_text(folder_.path("x/y/a"), "a"), Succeeds());
  ASSERT_THAT(set.commit(), Succeeds());
  EXPECT_TRUE(fs::exists(folder_.path("x/y/a")));
}

TEST_F(OutputSetTest, WaitsForAnEditorThatWaitsForTheFolder) {
  write("a", "old a");
  write("index", "old index");
  std::thread edit;
  EXPECT_THAT(replace({"a", "index"},
                      [&] {
                        // Creating the files has locked the older ones; the set lets them go.
                        edit = std::thread([&] {
                          const auto file =
                              io::open_locked(folder_.path("a"), system::Access::read, {});
                          ASSERT_THAT(file, Succeeds());
                          std::this_thread::sleep_for(std::chrono::milliseconds(50));
                          EXPECT_THAT(io::lock_directory(folder_.path(""), {}), Succeeds());
                        });
                      }),
              Succeeds());
  edit.join();
  EXPECT_EQ(files()["a"], "new a");
}

TEST_F(OutputSetTest, OfTwoSetsAtOnceOneIsThereAsAWhole) {
  const std::vector<std::string> names = {"a", "b", "c", "index"};
  for (int round = 0; round < 10; ++round) {
    std::vector<std::thread> writers;
    for (const std::string age : {"old", "new"}) {
      writers.emplace_back([&, age] {
        OutputSet set(true);
        for (const std::string& name : names) {
          ASSERT_THAT(set.add_text(folder_.path(name), age), Succeeds());
        }
        EXPECT_THAT(set.commit(), Succeeds());
      });
    }
    for (std::thread& writer : writers) writer.join();
    const auto found = files();
    ASSERT_EQ(found.size(), names.size());
    for (const std::string& name : names) ASSERT_EQ(found.at(name), found.at("index")) << round;
  }
}

TEST(SetAside, IsSaidWhereAFileIsMissing) {
  const TemporaryFolder folder;
  EXPECT_EQ(set_aside_remark(folder.path("x")), "");
  folder.write(".x.ingot-old", {});
  EXPECT_THAT(set_aside_remark(folder.path("x")), testing::HasSubstr(".x.ingot-old"));
}

}  // namespace
}  // namespace ingot::test

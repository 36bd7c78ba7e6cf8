// SPDX-License-Identifier: MIT
// Sets of files that replace older ones. That a kill leaves no mixture: cli.convert_killed.
#include "ingot/output_set.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/set_aside.hpp"
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
    return set.commit_as_one();
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
        EXPECT_THAT(set.commit_as_one(), Succeeds());
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

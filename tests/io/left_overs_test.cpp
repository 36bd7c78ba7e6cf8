// SPDX-License-Identifier: MIT
// Left-overs of killed processes: which files are taken for one, and how often a folder is read.
#include "io/left_overs.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Bytes ten_bytes(10);
const std::string digits = "0123456789abcdef";

TEST(LeftOvers, AreTakenByTheNamesThatNewFilesGet) {
  const TemporaryFolder folder;
  const std::string name = io::temporary_name(folder.path("file"));
  EXPECT_NE(name, io::temporary_name(folder.path("file")));
  folder.write(std::filesystem::path(name).filename(), ten_bytes);
  io::remove_left_overs(folder.path("other"));
  EXPECT_EQ(folder.names().size(), 1u);
  io::remove_left_overs(folder.path("file"));
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(LeftOvers, OfALongNameAreFoundToo) {
  const TemporaryFolder folder;
  const std::string path = folder.path(std::string(250, 'n'));
  folder.write(std::filesystem::path(io::temporary_name(path)).filename(), ten_bytes);
  io::remove_left_overs(path);
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(LeftOvers, OfFilesWhoseNamesBeginAlikeStay) {
  const TemporaryFolder folder;
  const std::string other = ".file." + digits + "." + digits + ".tmp";
  folder.write(other, ten_bytes);
  io::remove_left_overs(folder.path("file"));
  EXPECT_THAT(folder.names(), ElementsAre(other));
  io::remove_left_overs(folder.path("file." + digits));
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(LeftOvers, AStagingFolderIsOneIfNobodyHasItLocked) {
  const TemporaryFolder folder;
  {
    auto staging = io::StagingFolder::make(folder.path("file"));
    ASSERT_TRUE(staging.has_value());
    const std::string name = staging->next_name();
    EXPECT_NE(name, staging->next_name());
    std::ofstream(name) << "x";
    io::remove_left_overs(folder.path("file"));
    EXPECT_TRUE(std::filesystem::exists(name));
  }
  EXPECT_THAT(folder.names(), IsEmpty());
  const std::string left = folder.path(".file." + digits + ".tmp");
  std::filesystem::create_directory(left);
  std::ofstream(left + "/1") << "x";
  io::remove_left_overs(folder.path("file"));
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(LeftOvers, TheFolderOfASetIsReadOnce) {
  const TemporaryFolder folder;
  const std::string late = ".b." + digits + ".tmp";
  folder.write(".a." + digits + ".tmp", ten_bytes);
  folder.write(".c." + digits + ".tmp", ten_bytes);
  {
    io::LeftOvers list;
    const io::LeftOvers::Use use(list);
    io::remove_left_overs(folder.path("a"));
    folder.write(late, ten_bytes);
    io::remove_left_overs(folder.path("b"));
    io::remove_left_overs(folder.path("c"));
    EXPECT_THAT(folder.names(), ElementsAre(late));
  }
  io::remove_left_overs(folder.path("b"));
  EXPECT_THAT(folder.names(), IsEmpty());
}

}  // namespace
}  // namespace ingot::test

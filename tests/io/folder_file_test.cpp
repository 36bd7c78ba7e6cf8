// SPDX-License-Identifier: MIT
// Files of a folder that a stranger has filled: which links are followed.
#include "io/folder_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

class FolderFile : public testing::Test {
 protected:
  FolderFile() {
    for (const char* const folder : {"m", "m/below", "out", "hub", "hub/blobs", "hub/blobs/deep",
                                     "hub/snapshots", "hub/snapshots/1", "m-other"}) {
      fs::create_directory(path(folder));
    }
    for (const char* const file :
         {"m/here", "m/below/here", "out/secret", "hub/blobs/blob", "hub/blobs/deep/blob",
          "hub/other", "hub/snapshots/1/here", "m-other/secret"}) {
      temporary_.write(file, Bytes(3));
    }
  }

  [[nodiscard]] std::string path(const std::string& name) const { return temporary_.path(name); }
  void link(const std::string& target, const std::string& name) const {
    fs::create_symlink(target, path(name));
  }
  /// "opens", "out" for a link that leads out, or the name of another error.
  [[nodiscard]] std::string open(const std::string& folder, const std::string& name) const {
    const auto opened = io::open_in_folder(file_system(), path(folder), name);
    const auto checked = io::check_in_folder(file_system(), path(folder), name);
    if (opened) return checked ? "opens" : "differs";
    const bool leads_out = opened.error().detail.starts_with("a link leads out of the folder");
    if (leads_out == checked.has_value()) return "differs";
    return leads_out ? "out" : std::string(name_of(opened.error().code));
  }

 private:
  TemporaryFolder temporary_;
};

TEST_F(FolderFile, LinksWithinTheFolderAreFollowed) {
  link("here", "m/a");
  link("a", "m/chain");
  link("below", "m/folder");
  link("../here", "m/below/up");
  link("m", "link");
  for (const char* const name : {"here", "a", "chain", "folder/here", "below/up"}) {
    EXPECT_EQ(open("m", name), "opens") << name;
    EXPECT_EQ(open("link", name), "opens") << name;
  }
  EXPECT_EQ(open("m", "none"), "io_error");
  EXPECT_EQ(open("m", "folder"), "not_a_regular_file");
}

TEST_F(FolderFile, LinksThatLeadOutAreRefused) {
  link(path("out/secret"), "m/absolute");
  link("../out/secret", "m/relative");
  link("relative", "m/chain");
  link("../out", "m/folder");
  link("../m-other/secret", "m/alike");
  link("../m/../out/secret", "m/detour");
  link("/dev/zero", "m/device");
  link("m", "link");
  for (const char* const name :
       {"absolute", "relative", "chain", "folder/secret", "alike", "detour", "device"}) {
    EXPECT_EQ(open("m", name), "out") << name;
    EXPECT_EQ(open("link", name), "out") << name;
  }
}

TEST_F(FolderFile, OnlyTheBlobsOfTheOwnRepositoryAreOutsideAndAllowed) {
  fs::create_directory(path("hub/snapshots/1/below"));
  link("../../blobs/blob", "hub/snapshots/1/config.json");
  link("../../../blobs/blob", "hub/snapshots/1/below/config.json");
  link("../../blobs/deep/blob", "hub/snapshots/1/deep");
  link("../../other", "hub/snapshots/1/other");
  link(path("out/secret"), "hub/blobs/link");
  link("../../blobs/link", "hub/snapshots/1/chain");
  link("../hub/blobs/blob", "m/blob");
  EXPECT_EQ(open("hub/snapshots/1", "config.json"), "opens");
  EXPECT_EQ(open("hub/snapshots/1", "below/config.json"), "opens");
  EXPECT_EQ(open("hub/snapshots/1/below", "config.json"), "opens");
  for (const char* const name : {"deep", "other", "chain"}) {
    EXPECT_EQ(open("hub/snapshots/1", name), "out") << name;
  }
  EXPECT_EQ(open("m", "blob"), "out");
}

TEST_F(FolderFile, FindsTheFolderInAPath) {
  link("../out/secret", "m/secret");
  EXPECT_THAT(io::open_found(file_system(), path("m/here")), Succeeds());
  EXPECT_THAT(io::open_found(file_system(), path("m/secret")), FailsWith(Errc::import_refused));
}

}  // namespace
}  // namespace ingot::test

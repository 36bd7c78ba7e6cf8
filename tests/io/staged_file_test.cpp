// SPDX-License-Identifier: MIT
// Files that are written in several runs: locked, with notes, named in the end.
#include "io/staged_file.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using io::StagedFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t max_note_bytes = 100;

Result<StagedFile> open_in(const TemporaryFolder& folder) {
  return StagedFile::open(folder.path("part"), folder.path("notes"), "downloaded");
}

Bytes text_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(StagedFile, GoesOnWhereItEnded) {
  const TemporaryFolder folder;
  {
    auto first = open_in(folder);
    ASSERT_THAT(first, Succeeds());
    EXPECT_EQ(first->read_notes(max_note_bytes), "");
    ASSERT_THAT(first->write(0, text_bytes("abc")), Succeeds());
    ASSERT_THAT(first->write_notes("three"), Succeeds());
    const auto other = open_in(folder);
    ASSERT_THAT(other, FailsWith(Errc::file_in_use));
    EXPECT_EQ(other.error().detail, "it is being downloaded");
  }
  auto second = open_in(folder);
  ASSERT_THAT(second, Succeeds());
  EXPECT_EQ(second->read_notes(max_note_bytes), "three");
  EXPECT_EQ(second->size_bytes(), 3u);
  ASSERT_THAT(second->flush(), Succeeds());
  ASSERT_THAT(second->give_name(folder.path("model"), false), Succeeds());
  EXPECT_THAT(folder.names(), ElementsAre("model"));
  EXPECT_EQ(read_whole(folder.path("model")), text_bytes("abc"));
}

TEST(StagedFile, ReplacesAFileOnlyIfItMay) {
  const TemporaryFolder folder;
  folder.write("model", text_bytes("older"));
  fs::permissions(folder.path("model"), fs::perms{0640});
  auto staged = open_in(folder);
  ASSERT_THAT(staged, Succeeds());
  ASSERT_THAT(staged->write_notes("kept"), Succeeds());
  EXPECT_THAT(staged->give_name(folder.path("model"), false), FailsWith(Errc::already_exists));
  EXPECT_EQ(staged->read_notes(max_note_bytes), "kept");
  ASSERT_THAT(staged->give_name(folder.path("model"), true), Succeeds());
  EXPECT_THAT(folder.names(), ElementsAre("model"));
  EXPECT_THAT(read_whole(folder.path("model")), IsEmpty());
  EXPECT_EQ(fs::status(folder.path("model")).permissions(), fs::perms{0640});
}

TEST(StagedFile, LeavesWhatAnotherHasPutInItsPlace) {
  const TemporaryFolder folder;
  auto staged = open_in(folder);
  ASSERT_THAT(staged, Succeeds());
  EXPECT_EQ(staged->read_notes(max_note_bytes), "");
  fs::rename(folder.path("part"), folder.path("moved"));
  folder.write("part", text_bytes("of another"));
  folder.write("notes", text_bytes("of another"));
  EXPECT_THAT(staged->give_name(folder.path("model"), true), FailsWith(Errc::file_in_use));
  staged->remove();
  EXPECT_THAT(folder.names(), ElementsAre("moved", "notes", "part"));
  EXPECT_EQ(read_whole(folder.path("notes")), text_bytes("of another"));
}

TEST(StagedFile, LeavesItsNotesIfTheyAreToStay) {
  const TemporaryFolder folder;
  auto staged = open_in(folder);
  ASSERT_THAT(staged, Succeeds());
  ASSERT_THAT(staged->write_notes("kept"), Succeeds());
  ASSERT_THAT(staged->give_name(folder.path("model"), false, io::Notes::stay), Succeeds());
  EXPECT_THAT(folder.names(), ElementsAre("model", "notes"));
}

TEST(StagedFile, IsRemovedWithItsNotes) {
  const TemporaryFolder folder;
  auto staged = open_in(folder);
  ASSERT_THAT(staged, Succeeds());
  EXPECT_EQ(staged->read_notes(max_note_bytes), "");
  ASSERT_THAT(staged->write_notes("x"), Succeeds());
  staged->remove();
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(StagedFile, ClaimsNoRoomThatIsNotThere) {
  const TemporaryFolder folder;
  auto staged = open_in(folder);
  ASSERT_THAT(staged, Succeeds());
  EXPECT_THAT(staged->reserve(0, 0), Succeeds());
  EXPECT_THAT(staged->reserve(std::uint64_t{1} << 62, 0), FailsWith(Errc::io_error));
}

}  // namespace
}  // namespace ingot::test

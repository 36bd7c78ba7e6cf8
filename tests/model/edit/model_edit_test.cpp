// SPDX-License-Identifier: MIT
// Edits: what is changed is changed, everything else keeps its bytes, and what an edit that was cut
// off leaves is the old file.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ingot/edit.hpp"
#include "io/edit_journal.hpp"
#include "io/in_place_file.hpp"
#include "io/restored_file.hpp"
#include "support/expect_error.hpp"
#include "support/model_checks.hpp"
#include "support/sample_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

/// A file whose header ends `slack` bytes before its data.
Bytes small_file(std::size_t data_bytes = 20'000, std::string_view name = "name") {
  GgufBuilder file;
  file.pair("general.architecture", "llama").pair("general.name", name).pair("count", 7);
  file.array_pair<std::string_view>("tokens", {"<s>", "a", "b"});
  file.tensor("t", {data_bytes}, TensorType::i8, 0);
  return file.pad_to(32).data(data_bytes).bytes();
}

std::vector<std::string> keys_of(const Model& model) {
  std::vector<std::string> keys;
  for (const KeyValue& entry : model.metadata()) keys.emplace_back(entry.key);
  return keys;
}

class ModelEditTest : public testing::Test {
 protected:
  /// The data of every tensor, by name.
  static std::map<std::string, Bytes> data_of(const Model& model) {
    std::map<std::string, Bytes> data;
    for (const TensorInfo& tensor : model.tensors()) {
      Bytes bytes(tensor.size_bytes);
      EXPECT_THAT(model.read(tensor, 0, bytes), Succeeds());
      data.emplace(tensor.name, std::move(bytes));
    }
    return data;
  }

  ModelEdit open(const std::string& path) {
    auto edit = ModelEdit::open(path);
    EXPECT_THAT(edit, Succeeds());
    return *std::move(edit);
  }

  EditPlan set_name(const std::string& path, std::string_view name,
                    std::optional<std::uint64_t> slack = {}) {
    ModelEdit edit = open(path);
    edit.set("general.name", OwnedValue::string(name));
    if (slack) edit.reserve(*slack);
    const auto outcome = edit.save();
    EXPECT_THAT(outcome, Succeeds());
    return outcome ? outcome->done : EditPlan{};
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path("model.gguf");
};

// --- what changes and what stays

TEST_F(ModelEditTest, EverythingThatIsNotChangedKeepsItsBytesInEveryFormat) {
  for (const Format format : all_formats) {
    const Bytes before = file_of_everything(format);
    folder_.write("model.gguf", before);
    const std::string output = folder_.path("new.gguf");
    ModelEdit edit = open(path_);
    const auto old_data = data_of(edit.model());
    edit.set("text", std::string(1000, 'x'));
    edit.set("new", std::int16_t{-2});
    EXPECT_THAT(edit.remove_key("flag"), Succeeds());
    EXPECT_THAT(edit.rename_key("number.u8", "number.eight"), Succeeds());
    EXPECT_THAT(edit.rename_tensor("late", "renamed"), Succeeds());
    const auto old = Model::open(path_);
    ASSERT_THAT(edit.save_as(output, true), Succeeds());
    EXPECT_EQ(read_whole(path_), before);

    const auto model = Model::open(output);
    ASSERT_THAT(model, Succeeds());
    EXPECT_EQ(find_inconsistency(*model), "");
    EXPECT_EQ(model->get<std::string_view>("text")->size(), 1000u);
    EXPECT_EQ(model->get<int>("new"), -2);
    EXPECT_EQ(model->metadata().back().key, "new");
    EXPECT_EQ(model->find("flag"), nullptr);
    EXPECT_EQ(model->get<int>("number.eight"), 200);
    std::vector<std::string> expected = keys_of(*old);
    std::erase(expected, "flag");
    std::replace(expected.begin(), expected.end(), std::string("number.u8"),
                 std::string("number.eight"));
    expected.push_back("new");
    EXPECT_EQ(keys_of(*model), expected);
    for (const KeyValue& entry : old->metadata()) {
      const Value* kept = model->find(entry.key);
      if (kept == nullptr || entry.key == "text") continue;
      EXPECT_EQ(kept->type(), entry.value.type()) << entry.key;
      EXPECT_TRUE(std::equal(kept->bytes().begin(), kept->bytes().end(),
                             entry.value.bytes().begin(), entry.value.bytes().end()));
    }
    auto expected_data = old_data;
    expected_data["renamed"] = expected_data["late"];
    expected_data.erase("late");
    EXPECT_EQ(data_of(*model), expected_data);
    EXPECT_EQ(model->tensors()[0].data_offset, 48u);  // not even the gaps move
  }
}

TEST_F(ModelEditTest, AnEditAndItsOppositeGiveTheSameBytes) {
  for (const Format format : all_formats) {
    const Bytes before = file_of_everything(format);
    folder_.write("model.gguf", before);
    const std::string there = folder_.path("there.gguf"), back = folder_.path("back.gguf");
    ModelEdit edit = open(path_);
    edit.set("text", OwnedValue::string(std::string(5000, 'x')));
    EXPECT_THAT(edit.rename_tensor("late", "a longer name"), Succeeds());
    ASSERT_THAT(edit.save_as(there, true), Succeeds());
    ModelEdit undo = open(there);
    undo.set("text", OwnedValue::string("hello"));
    EXPECT_THAT(undo.rename_tensor("a longer name", "late"), Succeeds());
    ASSERT_THAT(undo.save_as(back, true), Succeeds());
    EXPECT_EQ(read_whole(back), before);
  }
}

TEST_F(ModelEditTest, OddFilesKeepTheirOddities) {
  // The old magic, and strings with the trailing NUL that old writers counted.
  GgufBuilder old_magic(v3_big, "FUGG");
  old_magic.pair("a", 1).pair("b", "text").tensor("t", {40}, TensorType::i8, 0).pad_to(32).data(40);
  folder_.write("model.gguf", old_magic.bytes());
  ModelEdit edit = open(path_);
  edit.set("a", OwnedValue::number(2));
  ASSERT_THAT(edit.save_as(folder_.path("new.gguf")), Succeeds());
  GgufBuilder expected(v3_big, "FUGG");
  expected.pair("a", 2).pair("b", "text").tensor("t", {40}, TensorType::i8, 0).pad_to(32).data(40);
  EXPECT_EQ(read_whole(folder_.path("new.gguf")), expected.bytes());

  using std::string_view_literals::operator""sv;
  const auto with_nul = [](int number) {
    GgufBuilder file(v2);
    file.pair("key\0"sv, "text\0"sv).pair("a", number).tensor("t\0"sv, {40}, TensorType::i8, 0);
    return file.pad_to(32).data(40).bytes();
  };
  folder_.write("model.gguf", with_nul(1));
  ModelEdit second = open(path_);
  second.set("a", OwnedValue::number(2));
  ASSERT_THAT(second.save_as(folder_.path("second.gguf")), Succeeds());
  EXPECT_EQ(read_whole(folder_.path("second.gguf")), with_nul(2));
}

TEST_F(ModelEditTest, TensorsThatGoTakeTheirDataAndTheRestMovesUp) {
  folder_.write("model.gguf", file_of_everything(v3));
  ModelEdit edit = open(path_);
  auto expected = data_of(edit.model());
  expected.erase("early");
  EXPECT_THAT(edit.remove_tensor("early"), Succeeds());
  EXPECT_THAT(edit.remove_tensor("early"), FailsWith(Errc::tensor_not_found));
  const auto outcome = edit.save();
  ASSERT_THAT(outcome, Succeeds());
  EXPECT_EQ(outcome->done.way, EditWay::copy);
  const auto model = Model::open(path_);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(find_inconsistency(*model), "");
  EXPECT_EQ(data_of(*model), expected);
  std::uint64_t next = 0;  // contiguous and in order, as strict readers want it
  for (const TensorInfo& tensor : model->tensors()) {
    EXPECT_EQ(tensor.data_offset, next);
    next += (tensor.size_bytes + 15) / 16 * 16;
  }
  EXPECT_EQ(model->files()[0].file_bytes, model->files()[0].data_offset + next);
}

TEST_F(ModelEditTest, AnotherAlignmentLaysTheDataOutAgain) {
  folder_.write("model.gguf", file_of_everything(v3));
  ModelEdit edit = open(path_);
  const auto data = data_of(edit.model());
  edit.set("general.alignment", OwnedValue::number(std::uint32_t{4096}));
  ASSERT_THAT(edit.save(), Succeeds());
  const auto model = Model::open(path_);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->files()[0].alignment, 4096u);
  EXPECT_EQ(data_of(*model), data);
}

TEST_F(ModelEditTest, RefusesWhatAReaderWouldRefuse) {
  folder_.write("model.gguf", small_file());
  const Bytes before = read_whole(path_);
  const auto plan = [&](const auto& change) {
    ModelEdit edit = open(path_);
    change(edit);
    return edit.plan();
  };
  const OwnedValue text = OwnedValue::string("x");
  EXPECT_THAT(plan([&](ModelEdit& e) { e.set("", text); }), FailsWith(Errc::key_empty));
  EXPECT_THAT(plan([&](ModelEdit& e) { e.set("general.alignment", text); }),
              FailsWith(Errc::alignment_wrong_type));
  EXPECT_THAT(plan([&](ModelEdit& e) {
                EXPECT_THAT(e.rename_tensor("t", std::string(65, 'n')), Succeeds());
              }),
              FailsWith(Errc::tensor_name_too_long));
  ModelEdit edit = open(path_);
  EXPECT_THAT(edit.remove_key("none"), FailsWith(Errc::key_not_found));
  EXPECT_THAT(edit.rename_key("count", "tokens"), FailsWith(Errc::name_taken));
  EXPECT_THAT(edit.rename_key("none", "x"), FailsWith(Errc::key_not_found));
  EXPECT_THAT(edit.rename_tensor("none", "x"), FailsWith(Errc::tensor_not_found));
  folder_.write("old.gguf", file_of_everything(v1));
  ModelEdit old = open(folder_.path("old.gguf"));
  old.set("wide", OwnedValue::number(std::uint64_t{1}));
  EXPECT_THAT(old.plan(), FailsWith(Errc::version_cannot_hold, Error::no_offset, "wide"));
  EXPECT_EQ(read_whole(path_), before);
}

TEST_F(ModelEditTest, TheOutputMayNotBeTheInputUnderAnotherName) {
  folder_.write("model.gguf", small_file());
  const Bytes before = read_whole(path_);
  fs::create_hard_link(path_, folder_.path("hard.gguf"));
  fs::create_symlink(path_, folder_.path("soft.gguf"));
  fs::create_directory(folder_.path("folder"));
  for (const char* name : {"model.gguf", "hard.gguf", "soft.gguf"}) {
    ModelEdit edit = open(path_);
    edit.set("count", OwnedValue::number(8));
    EXPECT_THAT(edit.save_as(folder_.path(name), true), FailsWith(Errc::same_file)) << name;
  }
  ModelEdit edit = open(path_);
  edit.set("count", OwnedValue::number(8));
  EXPECT_THAT(edit.save_as(folder_.path("folder"), true), FailsWith(Errc::not_a_regular_file));
  EXPECT_EQ(read_whole(path_), before);
}

TEST_F(ModelEditTest, ThePaddingKeyIsNotForOthers) {
  folder_.write("model.gguf", small_file());
  set_name(path_, "name", 1000);
  ModelEdit edit = open(path_);
  edit.set(padding_key, OwnedValue::number(1));
  EXPECT_THAT(edit.plan(), FailsWith(Errc::edit_impossible));
  ModelEdit removal = open(path_);
  EXPECT_THAT(removal.remove_key(padding_key), Succeeds());
  ASSERT_THAT(removal.save(), Succeeds());
  EXPECT_EQ(read_whole(path_), small_file());
}

// --- in place

TEST_F(ModelEditTest, WhatFitsIsWrittenInPlaceAndNothingElse) {
  folder_.write("model.gguf", small_file());
  const io::FileIdentity before = *io::identify(path_);
  const EditPlan same_size = set_name(path_, "NAME");
  EXPECT_EQ(same_size.way, EditWay::in_place);
  EXPECT_LT(same_size.bytes_to_write, 200u);  // the journal's head and the bytes that differ
  EXPECT_EQ(read_whole(path_), small_file(20'000, "NAME"));
  EXPECT_EQ(io::identify(path_)->inode, before.inode);
  EXPECT_EQ(set_name(path_, "NAME").way, EditWay::nothing);
  EXPECT_THAT(folder_.names(), ElementsAre("model.gguf"));
}

TEST_F(ModelEditTest, SlackIsUsedAndKeptAndThereAndBackIsTheSame) {
  folder_.write("model.gguf", small_file());
  const auto data = data_of(*Model::open(path_));
  const EditPlan roomy = set_name(path_, "name", 1000);
  EXPECT_GE(roomy.slack_bytes, 1000u);
  const Bytes with_slack = read_whole(path_);
  {
    const auto model = Model::open(path_);
    ASSERT_THAT(model, Succeeds());
    EXPECT_EQ(model->metadata().back().key, padding_key);
    EXPECT_EQ(model->metadata().back().value.type(), ValueType::string);
  }
  const std::string long_name(900, 'n');
  const EditPlan longer = set_name(path_, long_name);
  EXPECT_EQ(longer.way, EditWay::in_place);
  EXPECT_EQ(longer.data_offset, roomy.data_offset);
  EXPECT_EQ(longer.slack_bytes, roomy.slack_bytes - 896);
  {
    const auto model = Model::open(path_);
    ASSERT_THAT(model, Succeeds());
    EXPECT_EQ(find_inconsistency(*model), "");
    EXPECT_EQ(model->get<std::string_view>("general.name"), long_name);
    EXPECT_EQ(data_of(*model), data);
  }
  EXPECT_EQ(set_name(path_, "name").way, EditWay::in_place);
  EXPECT_EQ(read_whole(path_), with_slack);
  // Without slack it is the file that it was at first.
  EXPECT_EQ(set_name(path_, "name", 0).way, EditWay::copy);
  EXPECT_EQ(read_whole(path_), small_file());
}

TEST_F(ModelEditTest, EveryLengthOfAValueWorks) {
  // Around the sizes where the padding key begins to fit, zeros suffice, or nothing does.
  folder_.write("model.gguf", small_file());
  const auto data = data_of(*Model::open(path_));
  for (std::size_t length = 0; length < 130; ++length) {
    const std::string name(length, 'n');
    set_name(path_, name);
    const auto model = Model::open(path_);
    ASSERT_THAT(model, Succeeds()) << length;
    EXPECT_EQ(find_inconsistency(*model), "") << length;
    EXPECT_EQ(model->get<std::string_view>("general.name"), name);
    EXPECT_EQ(data_of(*model), data) << length;
    EXPECT_TRUE(model->notices().empty());
  }
  EXPECT_THAT(folder_.names(), ElementsAre("model.gguf"));
}

TEST_F(ModelEditTest, AHeaderThatGrowsIsInsertedWhereTheFileSystemCan) {
  folder_.write("model.gguf", small_file(200'000));
  const io::FileIdentity before = *io::identify(path_);
  if (!io::can_insert_range(folder_.path("."), before.block_bytes)) {
    GTEST_SKIP() << "the file system of the temporary folder cannot insert ranges";
  }
  const auto data = data_of(*Model::open(path_));
  const EditPlan plan = set_name(path_, std::string(5000, 'n'));
  EXPECT_EQ(plan.way, EditWay::insert_range);
  EXPECT_LT(plan.bytes_to_write, 20'000u);
  EXPECT_EQ(io::identify(path_)->inode, before.inode);
  const auto model = Model::open(path_);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(find_inconsistency(*model), "");
  EXPECT_EQ(model->get<std::string_view>("general.name")->size(), 5000u);
  EXPECT_EQ(data_of(*model), data);
  EXPECT_EQ(model->files()[0].file_bytes, plan.file_bytes);
  EXPECT_THAT(folder_.names(), ElementsAre("model.gguf"));
}

TEST_F(ModelEditTest, AFileThatIsInUseOrHasOtherNamesIsReplacedInstead) {
  folder_.write("model.gguf", small_file());
  {
    const auto reader = Model::open(path_);
    ASSERT_THAT(reader, Succeeds());
    EXPECT_EQ(set_name(path_, "NAME").way, EditWay::copy);
    EXPECT_EQ(reader->get<std::string_view>("general.name"), "name");  // it has the old file
  }
  fs::create_hard_link(path_, folder_.path("other.gguf"));
  EXPECT_EQ(set_name(path_, "Name").way, EditWay::copy);
  EXPECT_EQ(Model::open(folder_.path("other.gguf"))->get<std::string_view>("general.name"), "NAME");
  EXPECT_EQ(Model::open(path_)->get<std::string_view>("general.name"), "Name");
}

TEST_F(ModelEditTest, ASymbolicLinkStaysOne) {
  folder_.write("model.gguf", small_file());
  fs::create_symlink("model.gguf", folder_.path("link.gguf"));
  for (const char* name : {"NAME", "another and longer name, for which there is no room at all"}) {
    set_name(folder_.path("link.gguf"), name);
    EXPECT_TRUE(fs::is_symlink(folder_.path("link.gguf")));
    EXPECT_EQ(Model::open(path_)->get<std::string_view>("general.name"), name);
  }
}

TEST_F(ModelEditTest, StopsOnRequestBeforeAnythingChanges) {
  folder_.write("model.gguf", small_file());
  for (const char* name : {"NAME", "another and longer name, for which there is no room at all"}) {
    ModelEdit edit = open(path_);
    edit.set("general.name", OwnedValue::string(name));
    edit.reserve(name == std::string_view("NAME") ? 0 : 8000);
    EXPECT_THAT(edit.save([](std::uint64_t) { return false; }), FailsWith(Errc::interrupted));
    EXPECT_EQ(read_whole(path_), small_file());
    EXPECT_THAT(folder_.names(), ElementsAre("model.gguf"));
  }
}

TEST_F(ModelEditTest, ACopyOverTheFileLeavesSlackUnlessNoneIsWanted) {
  folder_.write("model.gguf", small_file());
  fs::create_hard_link(path_, folder_.path("other.gguf"));
  EXPECT_EQ(set_name(path_, "a longer name, for which there is no room", 0).slack_bytes / 32, 0u);
  folder_.write("model.gguf", small_file());
  fs::create_hard_link(path_, folder_.path("third.gguf"));
  const EditPlan plan = set_name(path_, "a longer name, for which there is no room");
  EXPECT_EQ(plan.way, EditWay::copy);
  EXPECT_GE(plan.slack_bytes, 4096u);
  EXPECT_LT(plan.slack_bytes, 4096u + 64);
  EXPECT_EQ(set_name(path_, std::string(3000, 'x')).way, EditWay::in_place);
  // Another file is not what is edited next.
  ModelEdit edit = open(path_);
  edit.reserve(0);
  ASSERT_THAT(edit.save_as(folder_.path("new.gguf")), Succeeds());
  EXPECT_EQ(Model::open(folder_.path("new.gguf"))->find(padding_key), nullptr);
}

// --- several edits at once

TEST_F(ModelEditTest, EditsAtOnceAreAllInTheFile) {
  folder_.write("model.gguf", small_file());
  std::vector<std::thread> editors;
  for (std::uint32_t i = 0; i < 8; ++i) {
    editors.emplace_back([this, i] {
      auto edit = ModelEdit::open(path_, {}, {.lock = EditLock::at_open});
      ASSERT_THAT(edit, Succeeds());
      edit->set("k.n" + std::to_string(i), OwnedValue::number(i));
      EXPECT_THAT(edit->save(), Succeeds());
    });
  }
  for (std::thread& editor : editors) editor.join();
  const auto model = Model::open(path_);
  ASSERT_THAT(model, Succeeds());
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(model->get<std::uint32_t>("k.n" + std::to_string(i)), i);
  }
  EXPECT_THAT(folder_.names(), ElementsAre("model.gguf"));
}

TEST_F(ModelEditTest, AnEditOfWhatAnotherOneHasChangedIsRefused) {
  folder_.write("model.gguf", small_file());
  for (const std::size_t length : {4u, 9000u}) {
    ModelEdit late = open(path_);
    late.set("general.name", OwnedValue::string("late"));
    late.reserve(8000);
    set_name(path_, std::string(length, 'e'));
    const Bytes before = read_whole(path_);
    EXPECT_THAT(late.save(), FailsWith(Errc::file_changed));
    EXPECT_EQ(read_whole(path_), before);
  }
}

TEST_F(ModelEditTest, AnEditThatDoesNotWaitFailsAtOnce) {
  folder_.write("model.gguf", small_file());
  const LockWait no_wait{.limit = std::chrono::milliseconds(0), .on_wait = {}};
  const auto first = ModelEdit::open(path_, {}, {.lock = EditLock::at_open});
  ASSERT_THAT(first, Succeeds());
  EXPECT_THAT(ModelEdit::open(path_, {}, {.lock = EditLock::at_open, .wait = no_wait}),
              FailsWith(Errc::file_in_use));
  auto other = ModelEdit::open(path_, {}, {.wait = no_wait});  // reads, and is locked later
  ASSERT_THAT(other, Succeeds());
  other->set("general.name", OwnedValue::string("NAME"));
  EXPECT_THAT(other->save(), FailsWith(Errc::file_in_use));
  EXPECT_EQ(read_whole(path_), small_file());
}

TEST_F(ModelEditTest, OnlyTheFileThatWasReadIsReplaced) {
  // In place, and by a copy.
  for (const char* name : {"NAME", "a longer name, for which there is no room"}) {
    folder_.write("model.gguf", small_file());
    auto edit = ModelEdit::open(path_, {}, {.lock = EditLock::at_open});
    ASSERT_THAT(edit, Succeeds());
    edit->set("general.name", OwnedValue::string(name));
    const Bytes other = small_file(30'000);
    fs::rename(folder_.write("other.gguf", other), path_);
    EXPECT_THAT(edit->save(), FailsWith(Errc::file_changed));
    EXPECT_EQ(read_whole(path_), other);
    EXPECT_THAT(folder_.names(), ElementsAre("model.gguf"));
  }
}

TEST_F(ModelEditTest, AFileSizeLimitInTheMiddleOfTheHeaderLeavesTheOldFile) {
  folder_.write("model.gguf", small_file(20'000, std::string(60'000, 'n')));
  const Bytes before = read_whole(path_);
  ModelEdit edit = open(path_);
  edit.set("count", OwnedValue::number(std::int32_t{8}));
  const rlimit limit{.rlim_cur = 30'000, .rlim_max = RLIM_INFINITY};
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto saved = edit.save();
  ::setrlimit(RLIMIT_FSIZE, &usual);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(saved, FailsWith(Errc::io_error));
  EXPECT_EQ(read_whole(path_), before);
  EXPECT_THAT(folder_.names(), ElementsAre("model.gguf"));
}

// --- journals

class JournalTest : public ModelEditTest {
 protected:
  /// The journal of an edit of the whole header of `path_`.
  io::EditJournal journal(std::uint64_t inserted_bytes = 0) {
    const auto model = Model::open(path_);
    EXPECT_THAT(model, Succeeds());
    const ModelFile& file = model->files()[0];
    const Bytes bytes = read_whole(path_);
    io::EditJournal made;
    made.inode = io::identify(path_)->inode;
    made.file_bytes = file.file_bytes;
    made.data_offset = file.data_offset;
    const auto source = read_file(path_);
    made.data_hash = *io::hash_data(**source, file.data_offset);
    made.hash_before = *io::hash_header(**source, file.data_offset);
    made.first_byte = bytes[0];
    made.inserted_bytes = inserted_bytes;
    made.patch.assign(bytes.begin(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(file.header_bytes));
    return made;
  }

  void overwrite(std::uint64_t offset, std::size_t bytes) {
    auto file = io::InPlaceFile::open(path_);
    ASSERT_THAT(file, Succeeds());
    ASSERT_THAT(file->write(offset, Bytes(bytes, std::byte{0xEE})), Succeeds());
  }

  void mark_as_torn() {
    auto file = io::InPlaceFile::open(path_);
    ASSERT_THAT(file, Succeeds());
    ASSERT_THAT(file->write(0, std::span(&io::torn_mark, 1)), Succeeds());
  }

  /// The file is seen as it was, by every kind of reader, and an edit makes it so.
  void expect_restored(const Bytes& before) {
    const Bytes torn = read_whole(path_);
    for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
      const auto model = Model::open(path_, {.access = access});
      ASSERT_THAT(model, Succeeds());
      EXPECT_EQ(find_inconsistency(*model), "");
      ASSERT_EQ(model->notices().size(), 1u);
      EXPECT_EQ(model->notices()[0].code, Errc::edit_unfinished);
      Bytes seen(before.size());
      ASSERT_THAT(model->read_file_bytes(0, 0, seen), Succeeds());
      EXPECT_EQ(seen, before);
      if (access == FileAccess::map) {
        const auto data = model->data(model->tensors()[0]);
        EXPECT_TRUE(std::equal(data.begin(), data.end(), before.end() - std::ssize(data)));
      }
      EXPECT_EQ(read_whole(path_), torn);  // readers never write
    }
    ModelEdit edit = open(path_);
    edit.set("general.name", OwnedValue::string("NAME"));
    const auto outcome = edit.save();
    ASSERT_THAT(outcome, Succeeds());
    EXPECT_TRUE(outcome->has_undone_earlier);
    EXPECT_EQ(outcome->done.way, EditWay::in_place);
    EXPECT_EQ(set_name(path_, "name").way, EditWay::in_place);
    EXPECT_EQ(read_whole(path_), before);
    EXPECT_THAT(folder_.names(), ElementsAre("model.gguf"));
  }
};

TEST_F(JournalTest, AnOverwrittenHeaderIsRestored) {
  const Bytes before = small_file();
  for (const std::size_t torn_bytes : {0u, 1u, 100u, 150u}) {
    folder_.write("model.gguf", before);
    ASSERT_THAT(io::publish_journal(journal(), io::journal_path(path_), {{.permissions = 0640}}),
                Succeeds());
    EXPECT_EQ(io::identify(io::journal_path(path_))->permissions, 0640u);
    mark_as_torn();
    overwrite(1, torn_bytes);
    expect_restored(before);
  }
}

TEST_F(JournalTest, InsertedRoomIsTakenOutAgainAtEveryStep) {
  const Bytes before = small_file(200'000);
  folder_.write("model.gguf", before);
  const std::uint64_t block_bytes = io::identify(path_)->block_bytes;
  if (!io::can_insert_range(folder_.path("."), block_bytes)) {
    GTEST_SKIP() << "the file system of the temporary folder cannot insert ranges";
  }
  enum Step { published, inserted, marked, torn, written };
  for (const Step step : {published, inserted, marked, torn, written}) {
    folder_.write("model.gguf", before);
    const std::string journal_at = io::journal_path(path_);
    ASSERT_THAT(io::publish_journal(journal(2 * block_bytes), journal_at, {{.permissions = 0640}}),
                Succeeds());
    if (step >= inserted) {
      auto file = io::InPlaceFile::open(path_);
      ASSERT_THAT(file, Succeeds());
      ASSERT_THAT(file->flush(), Succeeds());
      EXPECT_EQ(file->insert_at_front(2 * block_bytes), true);
    }
    if (step >= marked) {
      ASSERT_THAT(io::set_phase(journal_at, io::JournalPhase::inserted), Succeeds());
    }
    if (step >= torn) overwrite(1, 100);
    if (step >= written) overwrite(1, 2 * block_bytes + 100);
    expect_restored(before);
  }
}

TEST_F(JournalTest, BlocksThatWereMovedOnlyPartlyAreMovedBack) {
  // The system may die while it moves blocks: then the room is somewhere within the data.
  const Bytes before = small_file(200'000);
  folder_.write("model.gguf", before);
  const std::uint64_t block_bytes = io::identify(path_)->block_bytes;
  if (!io::can_insert_range(folder_.path("."), block_bytes)) {
    GTEST_SKIP() << "the file system of the temporary folder cannot insert ranges";
  }
  ASSERT_THAT(
      io::publish_journal(journal(block_bytes), io::journal_path(path_), {{.permissions = 0640}}),
      Succeeds());
  Bytes moved = before;
  moved.insert(moved.begin() + static_cast<std::ptrdiff_t>(3 * block_bytes), block_bytes,
               std::byte{0});
  {
    auto file = io::InPlaceFile::open(path_);
    ASSERT_THAT(file, Succeeds());
    ASSERT_THAT(file->write(0, moved), Succeeds());
    ASSERT_THAT(file->punch(3 * block_bytes, block_bytes), Succeeds());
    ASSERT_THAT(file->flush(), Succeeds());
  }
  expect_restored(before);
}

TEST_F(JournalTest, OfAnotherFileOrDamagedIsIgnoredByReadersAndStopsAnEdit) {
  folder_.write("model.gguf", small_file());
  const io::EditJournal good = journal();
  const auto refused = [&](const Bytes& bytes) {
    folder_.write("model.gguf.ingot-journal", bytes);
    const auto model = Model::open(path_);
    ASSERT_THAT(model, Succeeds());
    ASSERT_EQ(model->notices().size(), 1u);
    EXPECT_EQ(model->notices()[0].code, Errc::journal_ignored);
    ModelEdit edit = open(path_);
    edit.set("general.name", OwnedValue::string("NAME"));
    EXPECT_THAT(edit.save(), FailsWith(Errc::journal_invalid));
    EXPECT_EQ(read_whole(path_), small_file());
  };
  Bytes damaged = io::encode(good);
  damaged[90] ^= std::byte{1};
  refused(damaged);
  refused({});
  refused(Bytes(1000));
  Bytes cut = io::encode(good);
  cut.pop_back();
  refused(cut);
  io::EditJournal other = good;
  other.inode += 1;
  refused(io::encode(other));
  other = good;
  other.patch_offset = ~std::uint64_t{0};
  refused(io::encode(other));
}

TEST_F(JournalTest, OfATornFileThatItDoesNotExplainIsNotApplied) {
  const Bytes before = small_file();
  for (int i = 0; i < 4; ++i) {
    folder_.write("model.gguf", before);
    io::EditJournal other = journal();
    mark_as_torn();
    if (i == 0) other.data_hash += 1;
    if (i == 1) other.hash_before += 1;
    if (i == 2) other.first_byte = std::byte{'X'};
    if (i == 3) overwrite(other.patch.size() + 1, 1);  // of the padding
    const Bytes torn = read_whole(path_);
    folder_.write("model.gguf.ingot-journal", io::encode(other));
    EXPECT_THAT(Model::open(path_), FailsWith(Errc::not_gguf)) << i;
    EXPECT_THAT(ModelEdit::open(path_), FailsWith(Errc::not_gguf)) << i;
    EXPECT_EQ(read_whole(path_), torn);
  }
}

TEST_F(JournalTest, OfAKilledEditIsNeverAppliedToAnotherModel) {
  // The journal and the file at every step of an edit, and then each other model in that file.
  const Bytes before = small_file();
  folder_.write("model.gguf", before);
  ASSERT_EQ(set_name(path_, "edited").way, EditWay::in_place);
  const Bytes after = read_whole(path_);
  folder_.write("model.gguf", before);
  io::EditJournal left = journal();
  {
    folder_.write("after", after);
    const auto source = read_file(folder_.path("after"));
    left.hash_after = *io::hash_header(**source, left.data_offset);
    fs::remove(folder_.path("after"));
  }
  std::vector<Bytes> others = {before, after};
  for (const char* const name : {"other", "names", "NAMES"}) {
    folder_.write("other.gguf", before);
    set_name(folder_.path("other.gguf"), name);
    others.push_back(read_whole(folder_.path("other.gguf")));
  }
  fs::remove(folder_.path("other.gguf"));
  folder_.write("model.gguf.ingot-journal", io::encode(left));
  for (const Bytes& other : others) {
    folder_.write("model.gguf", other);  // keeps the inode
    ASSERT_EQ(io::identify(path_)->inode, left.inode);
    for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
      const auto model = Model::open(path_, {.access = access});
      ASSERT_THAT(model, Succeeds());
      EXPECT_EQ(model->notices().size(), 1u);
      Bytes seen(other.size());
      ASSERT_THAT(model->read_file_bytes(0, 0, seen), Succeeds());
      EXPECT_EQ(seen, other);
    }
    // The next edit is of what is there, and the journal goes.
    folder_.write("copy.gguf", other);
    set_name(folder_.path("copy.gguf"), "next");
    ModelEdit edit = open(path_);
    edit.set("general.name", OwnedValue::string("next"));
    const auto outcome = edit.save();
    ASSERT_THAT(outcome, Succeeds());
    EXPECT_EQ(outcome->has_undone_earlier, other == before);
    EXPECT_EQ(read_whole(path_), read_whole(folder_.path("copy.gguf")));
    fs::remove(folder_.path("copy.gguf"));
    EXPECT_THAT(folder_.names(), ElementsAre("model.gguf"));
    folder_.write("model.gguf.ingot-journal", io::encode(left));
  }
}

TEST_F(JournalTest, GoesWithTheFileThatIsReplaced) {
  const Bytes before = small_file();
  for (const bool is_torn : {false, true}) {
    folder_.write("model.gguf", before);
    ASSERT_THAT(io::publish_journal(journal(), io::journal_path(path_), {{.permissions = 0640}}),
                Succeeds());
    if (is_torn) mark_as_torn();
    folder_.write("input.gguf", before);
    ModelEdit edit = open(folder_.path("input.gguf"));
    edit.set("general.name", OwnedValue::string("NAME"));
    ASSERT_THAT(edit.save_as(path_, true), Succeeds());
    fs::remove(folder_.path("input.gguf"));
    EXPECT_THAT(folder_.names(), ElementsAre("model.gguf"));
    EXPECT_EQ(set_name(path_, "NAME").way, EditWay::nothing);
  }
}

TEST_F(JournalTest, EveryFieldComesBack) {
  io::EditJournal made;
  made.phase = io::JournalPhase::inserted;
  made.inode = 1;
  made.file_bytes = 1'000'000;
  made.data_offset = 5000;
  made.data_hash = 4;
  made.inserted_bytes = 8192;
  made.patch_offset = 6;
  made.hash_before = 7;
  made.hash_after = 8;
  made.first_byte = std::byte{'G'};
  made.patch = Bytes(77, std::byte{9});
  const auto read = io::decode_journal(io::encode(made));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->phase, made.phase);
  EXPECT_EQ(read->inode, made.inode);
  EXPECT_EQ(read->file_bytes, made.file_bytes);
  EXPECT_EQ(read->data_offset, made.data_offset);
  EXPECT_EQ(read->data_hash, made.data_hash);
  EXPECT_EQ(read->inserted_bytes, made.inserted_bytes);
  EXPECT_EQ(read->patch_offset, made.patch_offset);
  EXPECT_EQ(read->hash_before, made.hash_before);
  EXPECT_EQ(read->hash_after, made.hash_after);
  EXPECT_EQ(read->first_byte, made.first_byte);
  EXPECT_EQ(read->patch, made.patch);
}

}  // namespace
}  // namespace ingot::test

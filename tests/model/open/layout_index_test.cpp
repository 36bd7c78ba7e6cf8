// SPDX-License-Identifier: MIT
// Files that are read through their layout index, and indexes that lie.

#include "ingot/layout_index.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ingot/edit.hpp"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/store.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

constexpr OpenOptions by_index{.uses_index = true};

std::vector<std::string> long_vocabulary() {
  std::vector<std::string> tokens;
  for (int i = 0; i < 100'000; ++i) tokens.push_back("token number " + std::to_string(i));
  return tokens;
}

/// A model with short keys, a vocabulary between them, and two tensors.
ModelWriter sketch() {
  ModelWriter writer;
  writer.set_string("general.architecture", "llama");
  writer.set("llama.block_count", std::uint32_t{1});
  writer.set_array("tokenizer.ggml.tokens", std::span<const std::string>(long_vocabulary()));
  writer.set("tokenizer.ggml.eos_token_id", std::uint32_t{2});
  for (const char* const name : {"a.weight", "b.weight"}) {
    const auto added = writer.add_tensor(name, TensorType::f32, std::vector<std::uint64_t>{8},
                                         [](const DataSink& sink) {
                                           const std::vector<std::byte> zeros(32);
                                           return sink(zeros);
                                         });
    EXPECT_TRUE(added);
  }
  return writer;
}

/// A source that is not in memory, and counts.
class CountingSource final : public Source {
 public:
  struct Counts {
    int reads = 0;
    std::uint64_t bytes = 0;
  };
  CountingSource(const Bytes& bytes, std::uint64_t first_bytes, std::shared_ptr<Counts> counts)
      : bytes_(bytes), first_bytes_(first_bytes), counts_(std::move(counts)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept override { return {}; }
  [[nodiscard]] std::uint64_t first_read_bytes() const noexcept override { return first_bytes_; }
  [[nodiscard]] Result<void> read(std::uint64_t offset,
                                  std::span<std::byte> destination) const override {
    ++counts_->reads;
    counts_->bytes += destination.size();
    std::memcpy(destination.data(), bytes_.data() + offset, destination.size());
    return {};
  }

 private:
  const Bytes& bytes_;
  std::uint64_t first_bytes_;
  std::shared_ptr<Counts> counts_;
};

std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : model.tensors()) {
    names.push_back(std::string(tensor.name) + "@" + std::to_string(model.file_offset(tensor)));
  }
  return names;
}

class LayoutIndex : public testing::Test {
 protected:
  std::string write(const std::string& name, WriteFormat format = {.has_index = true}) {
    const std::string path = folder_.path(name);
    EXPECT_THAT(sketch().write(path, format, true), Succeeds());
    return path;
  }
  /// The file with one element of its index set to another number.
  std::string tamper(const Bytes& bytes, std::size_t element, std::uint64_t value) {
    Bytes changed = bytes;
    // magic, version, counts; name, type, element type, count
    const std::size_t begin = 24 + 8 + layout_index_key.size() + 4 + 4 + 8;
    std::memcpy(&changed[begin + 8 * element], &value, sizeof value);
    return folder_.write("tampered.gguf", changed);
  }

  TemporaryFolder folder_;
};

TEST_F(LayoutIndex, LeadsPastTheVocabulary) {
  for (const WriteFormat format :
       {WriteFormat{.has_index = true}, WriteFormat{.version = 2, .has_index = true},
        WriteFormat{.byte_order = Endian::big, .has_index = true}}) {
    const std::string path = write("m.gguf", format);
    const auto walked = Model::open(path);
    ASSERT_THAT(walked, Succeeds());
    EXPECT_TRUE(walked->is_verified());
    EXPECT_EQ(walked->metadata()[0].key, layout_index_key);
    EXPECT_THAT(verify_layout_index(*walked), Succeeds());
    for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
      OpenOptions options = by_index;
      options.access = access;
      const auto model = Model::open(path, options);
      ASSERT_THAT(model, Succeeds());
      EXPECT_FALSE(model->is_verified());
      EXPECT_TRUE(model->notices().empty());
      EXPECT_EQ(model->files()[0].unread_keys, 1u);
      EXPECT_EQ(model->find("tokenizer.ggml.tokens"), nullptr);
      EXPECT_EQ(model->get_or<std::uint32_t>("tokenizer.ggml.eos_token_id", 0), 2u);
      EXPECT_EQ(names_of(*model), names_of(*walked));
      EXPECT_EQ(model->files()[0].header_bytes, walked->files()[0].header_bytes);
    }
  }
}

TEST_F(LayoutIndex, IsReadOnlyWhereItIsAskedFor) {
  const auto model = Model::open(write("m.gguf"));
  ASSERT_THAT(model, Succeeds());
  EXPECT_NE(model->find("tokenizer.ggml.tokens"), nullptr);
}

TEST_F(LayoutIndex, TakesTwoReads) {
  const Bytes bytes = read_whole(write("m.gguf"));
  const auto counts = std::make_shared<CountingSource::Counts>();
  constexpr std::uint64_t first_bytes = std::uint64_t{1} << 20;
  const auto model =
      Model::open_source(std::make_unique<CountingSource>(bytes, first_bytes, counts), by_index);
  ASSERT_THAT(model, Succeeds());
  EXPECT_FALSE(model->is_verified());
  EXPECT_EQ(counts->reads, 2);
  EXPECT_LE(counts->bytes, first_bytes + (64 << 10) + model->files()[0].header_bytes -
                               model->files()[0].infos_offset);
  EXPECT_GT(bytes.size(), counts->bytes + (1 << 20));
}

TEST_F(LayoutIndex, IsNotBelievedWhereItDoesNotFit) {
  const std::string path = write("m.gguf");
  const Bytes bytes = read_whole(path);
  const auto walked = Model::open(path);
  ASSERT_THAT(walked, Succeeds());
  const auto index = make_layout_index(*walked);
  ASSERT_THAT(index, Succeeds());
  for (std::size_t i = 0; i < index->size(); ++i) {
    for (const std::uint64_t value :
         {std::uint64_t{0}, (*index)[i] + 1, (*index)[i] - 1, (*index)[i] + 32,
          std::uint64_t{bytes.size()}, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
      SCOPED_TRACE(std::to_string(i) + ": " + std::to_string(value));
      for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
        OpenOptions options = by_index;
        options.access = access;
        const auto model = Model::open(tamper(bytes, i, value), options);
        ASSERT_THAT(model, Succeeds());
        // A record that is not looked at may be said to be anywhere between its neighbours.
        const bool is_of_long_key = i >= 8 && i <= 9 && model->files()[0].is_indexed;
        if (!is_of_long_key) {
          EXPECT_TRUE(model->is_verified());
          ASSERT_EQ(model->notices().size(), 1u);
          EXPECT_EQ(model->notices()[0].code, Errc::index_ignored);
        }
        EXPECT_EQ(names_of(*model), names_of(*walked));
      }
      const auto plain = Model::open(folder_.path("tampered.gguf"));
      ASSERT_THAT(plain, Succeeds());
      EXPECT_THAT(verify_layout_index(*plain), FailsWith(Errc::index_ignored));
    }
  }
}

TEST_F(LayoutIndex, IsStaleWhenTheTableHasChanged) {
  Bytes bytes = read_whole(write("m.gguf"));
  const auto walked = Model::open(folder_.path("m.gguf"));
  ASSERT_THAT(walked, Succeeds());
  bytes[walked->files()[0].infos_offset + 8] = std::byte{'z'};  // of "a.weight"
  const auto model = Model::open(folder_.write("stale.gguf", bytes), by_index);
  ASSERT_THAT(model, Succeeds());
  EXPECT_TRUE(model->is_verified());
  EXPECT_EQ(model->tensors()[0].name, "z.weight");
  ASSERT_EQ(model->notices().size(), 1u);
  EXPECT_THAT(model->notices()[0].detail, testing::HasSubstr("not the one that it was made for"));
}

TEST_F(LayoutIndex, CanShowOtherTensorsWhichIsWhyItIsUnverified) {
  // A long string that ends in a tensor table of its own.
  GgufBuilder inner;
  inner.tensor("evil.weight", {8}, TensorType::f32, 0).tensor("b.weight", {8}, TensorType::f32, 32);
  const std::size_t table_end = inner.bytes().size();
  const Bytes file = inner.pad_to(32).data(64).bytes();
  const auto inner_index = make_layout_index(*Model::open_memory(file));
  ASSERT_THAT(inner_index, Succeeds());
  const std::string table(reinterpret_cast<const char*>(file.data()) + 24, table_end - 24);
  constexpr std::uint64_t blanks = 70'000;
  ModelWriter writer = sketch();
  writer.set_string("x", std::string(blanks, ' ') + table + std::string(99, ' '));
  const std::string path = folder_.path("lie.gguf");
  ASSERT_THAT(writer.write(path, {.has_index = true}), Succeeds());
  const auto walked = Model::open(path);
  ASSERT_THAT(walked, Succeeds());
  const std::uint64_t table_offset = walked->find("x")->file_offset() + blanks;
  const std::uint64_t data_offset = (table_offset + table.size() + 31) / 32 * 32;
  const std::vector<std::uint64_t> lie = {table_offset, table.size(), (*inner_index)[3],
                                          data_offset};
  Bytes bytes = read_whole(path);
  std::memcpy(&bytes[24 + 8 + layout_index_key.size() + 16 + 8], lie.data(), 8 * lie.size());
  const auto model = Model::open(folder_.write("lie.gguf", bytes), by_index);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->tensors()[0].name, "evil.weight");
  EXPECT_FALSE(model->is_verified());
  const auto plain = Model::open(path);
  ASSERT_THAT(plain, Succeeds());
  EXPECT_EQ(plain->tensors()[0].name, "a.weight");
  EXPECT_THAT(verify_layout_index(*plain), FailsWith(Errc::index_ignored));
}

TEST_F(LayoutIndex, IsKeptTrueByEdits) {
  const std::string path = write("m.gguf", {});
  {
    auto edit = ModelEdit::open(path);
    ASSERT_THAT(edit, Succeeds());
    edit->add_index();
    ASSERT_THAT(edit->save(), Succeeds());
  }
  const auto check = [&](const char* step) {
    SCOPED_TRACE(step);
    const auto walked = Model::open(path);
    ASSERT_THAT(walked, Succeeds());
    EXPECT_THAT(verify_layout_index(*walked), Succeeds());
    const auto model = Model::open(path, by_index);
    ASSERT_THAT(model, Succeeds());
    EXPECT_FALSE(model->is_verified());
    EXPECT_TRUE(model->notices().empty());
    EXPECT_EQ(names_of(*model), names_of(*walked));
  };
  check("added");
  const auto change = [&](const char* step, const auto& make) {
    auto edit = ModelEdit::open(path, by_index);  // an edit reads all anyway
    ASSERT_THAT(edit, Succeeds());
    make(*edit);
    ASSERT_THAT(edit->save(), Succeeds());
    check(step);
  };
  change("longer",
         [](ModelEdit& edit) { edit.set("x", OwnedValue::string(std::string(99, 'x'))); });
  change("renamed", [](ModelEdit& edit) { EXPECT_TRUE(edit.rename_tensor("a.weight", "c.bias")); });
  change("without a key", [](ModelEdit& edit) { EXPECT_TRUE(edit.remove_key("x")); });
  change("without room", [](ModelEdit& edit) { edit.reserve(0); });
  change("with room", [](ModelEdit& edit) { edit.reserve(9000); });
  change("without a tensor", [](ModelEdit& edit) { EXPECT_TRUE(edit.remove_tensor("c.bias")); });
  change("realigned", [](ModelEdit& edit) {
    edit.set("general.alignment", OwnedValue::number(std::uint32_t{64}));
  });
}

TEST_F(LayoutIndex, GoesWithItsKeyAndTakesNoOther) {
  const std::string path = write("m.gguf");
  {
    auto edit = ModelEdit::open(path);
    ASSERT_THAT(edit, Succeeds());
    edit->set(layout_index_key, OwnedValue::number(std::uint64_t{1}));
    EXPECT_THAT(edit->plan(), FailsWith(Errc::edit_impossible));
  }
  auto edit = ModelEdit::open(path);
  ASSERT_THAT(edit, Succeeds());
  ASSERT_THAT(edit->remove_key(layout_index_key), Succeeds());
  ASSERT_THAT(edit->save(), Succeeds());
  EXPECT_EQ(Model::open(path)->find(layout_index_key), nullptr);
}

TEST_F(LayoutIndex, IsMadeAnewByWriters) {
  const auto model = Model::open(write("m.gguf"));
  ASSERT_THAT(model, Succeeds());
  auto writer = ModelWriter::from(*model);
  ASSERT_THAT(writer, Succeeds());
  writer->set_string("general.name", "another");
  ASSERT_THAT(writer->write(folder_.path("copy.gguf")), Succeeds());
  const auto copy = Model::open(folder_.path("copy.gguf"));
  ASSERT_THAT(copy, Succeeds());
  EXPECT_THAT(verify_layout_index(*copy), Succeeds());
  EXPECT_EQ(copy->metadata()[0].key, layout_index_key);
  EXPECT_THAT(writer->write(folder_.path("old.gguf"), {.version = 1}),
              FailsWith(Errc::version_cannot_hold));
}

TEST_F(LayoutIndex, GivesNoModelToWrite) {
  const auto model = Model::open(write("m.gguf"), by_index);
  ASSERT_THAT(model, Succeeds());
  EXPECT_THAT(make_layout_index(*model), FailsWith(Errc::invalid_argument));
  EXPECT_THAT(serialise_header(*model), FailsWith(Errc::invalid_argument));
  EXPECT_THAT(ModelWriter::from(*model)->file_bytes(), FailsWith(Errc::invalid_argument));
  EXPECT_THAT(ModelWriter::with_keys_of(*model).serialise_header(),
              FailsWith(Errc::invalid_argument));
}

}  // namespace
}  // namespace ingot::test
